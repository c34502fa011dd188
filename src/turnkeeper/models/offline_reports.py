"""What the offline assistant tells of a tool's answer: a sentence, and as much of the answer as one looks at."""

import re

from turnkeeper.models.offline_calls import Call
from turnkeeper.protocol.messages import ToolResult

SHOWN_LINES_MAX = 30
NUMBERED = re.compile(r"^\s*\d+\|")
EXIT = re.compile(r"^Exit code (\d+)$")
FRAME = re.compile(r"^(?:</?file>|<cwd>.*</cwd>)$")
SUGGESTED = re.compile(r"Did you mean one of these\?\s*\n(.+)\s*$")


def report(call: Call, result: ToolResult) -> str:
    lines = [line.rstrip() for line in result.content.splitlines() if not FRAME.match(line)]
    while lines and not lines[-1]:
        lines.pop()
    if result.is_error:
        return f"{call.intention}, but that did not work: {' '.join(lines) or 'no reason was given'}"
    if call.counts:
        return counted(call, lines)
    match call.tool:
        case "ls":
            return listed(f"Here is what is in {call.arguments.get('path') or 'this directory'}", lines)
        case "glob":
            return found(call.arguments["pattern"], lines)
        case "grep":
            return matched(call.arguments, lines)
        case "view":
            return viewed(call, lines)
        case _:
            return ran(call.arguments["command"], lines)


def suggested(call: Call, result: ToolResult) -> Call | None:
    """Where there is no such file but one with nearly that name, that one is read instead."""
    near = SUGGESTED.search(result.content) if call.tool == "view" and result.is_error else None
    if near is None:
        return None
    path = near[1].strip()
    return Call("view", call.arguments | {"file_path": path}, f"I read {path}", explains=call.explains)


def ran(command: str, lines: list[str]) -> str:
    code = EXIT.match(lines[-1]) if lines else None
    said = lines[:-1] if code else lines
    if not said or said == ["no output"]:
        return f"`{command}` ended with exit code {code[1]} and said nothing." if code else "It ran and said nothing."
    return listed(f"`{command}` failed with exit code {code[1]} and says" if code else f"`{command}` says", said)


def viewed(call: Call, lines: list[str]) -> str:
    shown = [NUMBERED.sub("", line, count=1) for line in lines if NUMBERED.match(line)]
    notes = [line for line in lines if line and not NUMBERED.match(line)]
    notes = ["The file goes on." if note.startswith("(The file has more lines.") else note for note in notes]
    path = call.arguments["file_path"]
    sentence = f"I cannot explain {path}, but this is what it says" if call.explains else f"This is {path}"
    if not shown:
        return f"{path} is empty."
    return "\n\n".join([listed(sentence, shown), *notes])


def counted(call: Call, lines: list[str]) -> str:
    """A number: the tool's own where it tells one, else the sum of those it tells by file."""
    text = "\n".join(lines)
    if call.tool == "grep":
        number = sum(int(found) for found in re.findall(r": (\d+)$", text, re.MULTILINE))
    else:
        told = re.match(r"\s*(\d+)\b", text)
        if told is None:
            return f"{call.intention}, but that did not work: {' '.join(lines) or 'no reason was given'}"
        number = int(told[1])
    least = "at least " if "(There are more results" in text else ""
    one = re.sub(r"^(line|word|character|byte)s\b|(?<=file)s$", r"\1", call.counts)
    said = f"is {least}1 {one}" if number == 1 else f"are {least}{number} {call.counts}"
    return f"There {said} in {call.where}."


def found(pattern: str, lines: list[str]) -> str:
    files = paths(lines)
    if not files or lines[0].lower().startswith("no files"):
        return f"No file matches {pattern}."
    more = "at least " if len(files) < len(lines) else ""
    return listed(f"{more}{len(files)} {'file matches' if len(files) == 1 else 'files match'} {pattern}", files)


def matched(arguments: dict[str, object], lines: list[str]) -> str:
    pattern = arguments["pattern"]
    if not lines or lines[0].lower().startswith("no "):
        return f"I found {pattern!r} nowhere."
    notes = [line for line in lines if line.startswith("(")]
    told = re.search(r"\b(\d+) (?:match|file)", lines[0])
    number = told[1] if told else str(len(lines))
    more = "at least " if any("more results" in note for note in notes) else ""
    what = "file" if arguments.get("output_mode") == "files_with_matches" else "line"
    sentence = f"{pattern!r} is in {more}{number} {what}{'' if number == '1' else 's'}"
    shown = [line for line in lines[1:] if line not in notes]
    while shown and not shown[0]:
        shown.pop(0)
    while shown and not shown[-1]:
        shown.pop()
    return listed(sentence, shown) if shown else f"{sentence}."


def paths(lines: list[str]) -> list[str]:
    """The lines that name a file; a note about what was left out is in brackets."""
    return [line for line in lines if line and not line.startswith("(")]


def listed(sentence: str, lines: list[str]) -> str:
    shown = "\n".join(lines[:SHOWN_LINES_MAX])
    more = len(lines) - SHOWN_LINES_MAX
    rest = f"\n\n… and {more} more {'line' if more == 1 else 'lines'}." if more > 0 else ""
    return f"{sentence}:\n\n```\n{shown}\n```{rest}"
