"""Commands: what was run, what it says while it runs, how it ended and how long it took; and background jobs."""

import re

from turnkeeper.tui.chat.code import highlighted_raw
from turnkeeper.tui.chat.ink import Ink, cleaned, folded, lines_of, one_line
from turnkeeper.tui.chat.items import Standing, Used
from turnkeeper.tui.chat.shown import Body, Facts, Note, Shown, failure_body, output_body
from turnkeeper.tui.side.activity import clock

SUBJECT_CELLS = 80
SHOWN_SECONDS_MIN = 0.1
BESIDE_CELLS = 32
"""What else a heading may hold; a description stands there only if it takes nothing from the command."""

_EXIT = re.compile(r"^Exit code (.+)$", re.MULTILINE)
_REMARK = re.compile(r"^(?:Hint: |The command was stopped after |Stopped: |Could not be stopped: ).*$", re.MULTILINE)
_STATUS = re.compile(r"\AStatus: (.*)\n+")


def bash(used: Used, facts: Facts, ink: Ink) -> Shown:
    command = facts.text("command")
    bodies = [command_body(command, ink), *result_bodies(used, facts, ink)]
    said = tuple(notes(used, facts))
    description = one_line(facts.text("description"))
    if len(description) + len(command) + BESIDE_CELLS <= ink.width:
        said += ((description, "muted"),)
    return Shown("Bash", one_line(command), said, tuple(bodies), went_wrong=bool(_EXIT.search(used.content)))


def command_body(command: str, ink: Ink) -> Body:
    """The command in full, where the heading cannot show all of it."""
    if not ink.expanded or ("\n" not in command.strip() and len(command) <= SUBJECT_CELLS):
        return Body()
    lines = [piece for line in highlighted_raw(command, language="bash") for piece in folded(line, ink.width)]
    return Body(lines_of(lines[: ink.room]))


def result_bodies(used: Used, facts: Facts, ink: Ink) -> list[Body]:
    if used.standing.is_going_on:
        return [output_body(used.output, ink, is_end=True)]
    output = facts.told_text("output")
    if used.is_error and not output:
        return [failure_body(used, ink)]
    remarks = "\n".join(found[0] for found in _REMARK.finditer(used.content[-4000:]))
    shown = output or ("" if facts.told else used.content)
    return [output_body(shown, ink, is_end=True), output_body(remarks, ink, style="warn")]


def notes(used: Used, facts: Facts) -> list[Note]:
    found: list[Note] = []
    if exit := _EXIT.search(used.content):
        found.append((f"exit {exit[1]}", "bad"))
    if facts.told.get("background"):
        found.append((f"in the background as {facts.told_text('shell_id')}", "accent"))
    seconds = (facts.number("end_time") - facts.number("start_time")) / 1000
    if used.standing is Standing.DONE and seconds >= SHOWN_SECONDS_MIN:
        found.append((f"{seconds:.1f}s" if seconds < 10 else clock(seconds), "muted"))
    return found


def job_output(used: Used, facts: Facts, ink: Ink) -> Shown:
    status = _STATUS.match(used.content)
    text = used.content[status.end() :] if status else used.content
    text = re.sub(r"\n?Next position: \d+\s*\Z", "", text)
    body = failure_body(used, ink) if used.is_error else output_body(text, ink, is_end=True)
    said = ((status[1], "muted"),) if status else ()
    return Shown("Job output", _job(facts), said, (body,))


def job_kill(used: Used, facts: Facts, ink: Ink) -> Shown:
    body = failure_body(used, ink) if used.is_error else output_body(used.content, ink)
    return Shown("Job kill", _job(facts), (), (body,))


def _job(facts: Facts) -> str:
    what = facts.told_text("description") or facts.told_text("command")
    return one_line(f"{facts.text('shell_id')} {what}")


def shell_text(command: str, output: str, exit_code: int) -> str:
    ending = f"\n(exit {exit_code})" if exit_code else ""
    return f"$ {command}\n{cleaned(output).rstrip()}{ending}"
