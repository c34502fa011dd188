"""Files: looked at, written, changed, fetched. A change is a diff, also the one that was not allowed."""

import re

from turnkeeper.tui.chat.diffs import Change, compared, read_diff
from turnkeeper.tui.chat.ink import Ink, joined, one_line
from turnkeeper.tui.chat.items import Standing, Used
from turnkeeper.tui.chat.shown import (
    Body,
    Facts,
    Note,
    Shown,
    arguments,
    change_body,
    code_body,
    failure_body,
    output_body,
)

_NUMBER = re.compile(r"^ *(\d+)\|", re.MULTILINE)


def view(used: Used, facts: Facts, ink: Ink) -> Shown:
    path = facts.text("file_path")
    notes = arguments(facts.given, ("file_path",))
    return Shown("View", ink.path(one_line(path)), notes, (_viewed(used, facts, ink, path),))


def _viewed(used: Used, facts: Facts, ink: Ink, path: str) -> Body:
    if used.is_error:
        return failure_body(used, ink)
    if used.mime_type.startswith("image/"):
        return output_body(f"{ink.glyphs.image} {used.content}", ink)
    if facts.told.get("resource_type") == "skill":
        name, about = facts.told_text("resource_name"), facts.told_text("resource_description")
        return output_body(f"skill {name}: {about}", ink)
    content = facts.told_text("content")
    first = _NUMBER.search(used.content[:4000])
    if not content:
        return output_body(used.content, ink) if used.content and not first else Body()
    start = int(first[1]) if first else facts.number("offset") + 1
    return code_body(f"{content}\n", ink, path=path, start=start)


def write(used: Used, facts: Facts, ink: Ink) -> Shown:
    path, content = facts.text("file_path"), facts.text("content")
    change = read_diff(facts.told_text("diff"))
    if change.removed:
        body = change_body(change, ink, path=path, copied=content)
    else:
        body = code_body(content, ink, path=path) if content else Body()
    return Shown("Write", ink.path(one_line(path)), _counts(change, ink), (*_refusal(used, ink), body))


def edit(used: Used, facts: Facts, ink: Ink) -> Shown:
    change = _told(facts) or compared(facts.text("old_string"), facts.text("new_string"))
    notes = _counts(change, ink)
    if facts.given.get("replace_all") is True:
        notes += (("every occurrence", "muted"),)
    return _edited("Edit", used, facts, ink, change, notes)


def multiedit(used: Used, facts: Facts, ink: Ink) -> Shown:
    edits = facts.items("edits")
    change = _told(facts)
    if change is None:
        parts = [compared(str(one.get("old_string", "")), str(one.get("new_string", ""))) for one in edits]
        rows = tuple(row for part in parts for row in part.rows)
        change = Change(rows, sum(part.added for part in parts), sum(part.removed for part in parts))
    failed = len(facts.items("edits_failed"))
    notes = _counts(change, ink)
    if len(edits) > 1:
        notes += ((f"{len(edits)} edits", "muted"),)
    if failed:
        notes += ((f"{failed} of them failed", "bad"),)
    return _edited("Multi-edit", used, facts, ink, change, notes)


def _edited(title: str, used: Used, facts: Facts, ink: Ink, change: Change, notes: tuple[Note, ...]) -> Shown:
    path = facts.text("file_path")
    bodies = [*_refusal(used, ink)]
    # A change that could not be made is shown only where it was refused, not where it did not fit.
    if used.standing is not Standing.FAILED and change.rows:
        bodies.append(change_body(change, ink, path=path, copied=facts.told_text("diff")))
    failed = [f"edit {one.get('index', '')}: {one.get('error', '')}" for one in facts.items("edits_failed")]
    bodies.extend(output_body(text, ink, style="warn") for text in failed)
    return Shown(title, ink.path(one_line(path)), notes if change.rows else (), tuple(bodies))


def _told(facts: Facts) -> Change | None:
    """The change the tool told of, in whichever of the two forms."""
    if diff := facts.told_text("diff"):
        return read_diff(diff)
    if "old_content" in facts.told or "new_content" in facts.told:
        return compared(facts.told_text("old_content"), facts.told_text("new_content"))
    return None


def _refusal(used: Used, ink: Ink) -> tuple[Body, ...]:
    return (failure_body(used, ink),) if used.is_error else ()


def _counts(change: Change, ink: Ink) -> tuple[Note, ...]:
    if not change.rows:
        return ()
    if ink.plain:
        return ((f"{change.added} added", ""), (f"{change.removed} removed", ""))
    return (joined((f"+{change.added}", "good"), " ", (f"-{change.removed}", "bad")),)


def download(used: Used, facts: Facts, ink: Ink) -> Shown:
    notes = ((f"to {ink.path(facts.text('file_path'))}", "muted"),) if facts.text("file_path") else ()
    body = failure_body(used, ink) if used.is_error else output_body(used.content, ink)
    return Shown("Download", one_line(facts.text("url")), notes, (body,))
