"""The first line of a tool's use: where it stands, what it is, what it was used on."""

from textual.content import Content

from turnkeeper.tui.chat.ink import Ink, clipped, joined, styled
from turnkeeper.tui.chat.items import Standing, Used
from turnkeeper.tui.chat.shown import Shown
from turnkeeper.tui.glyphs import Glyphs

_STYLES = {
    Standing.PENDING: "muted",
    Standing.WAITING: "warn",
    Standing.ASKING: "warn",
    Standing.RUNNING: "accent",
    Standing.DONE: "good",
    Standing.FAILED: "bad",
    Standing.DENIED: "bad",
    Standing.CANCELLED: "warn",
    Standing.INTERRUPTED: "warn",
    Standing.UNUSED: "muted",
}


def heading(used: Used, shown: Shown, ink: Ink) -> Content:
    """What it was used on gives way first, so that the state is always there to be read."""
    standing = Standing.FAILED if shown.went_wrong and used.standing is Standing.DONE else used.standing
    style = _STYLES[standing]
    by = f" by {ink.name_of(used.by)}" if used.by and standing is Standing.DENIED else ""
    notes = [note if isinstance(note, Content) else styled(*note) for note in shown.notes]
    if standing in (Standing.WAITING, Standing.ASKING) and ink.answer_key:
        by = f" ({ink.answer_key} answers)"
    if ink.plain:
        begin = f"Tool {shown.title}, {standing.value}{by}: "
        return clipped(
            joined(begin, Content(", ").join(filter(None, (Content(shown.subject), *notes)))),
            ink.width,
            ellipsis=ink.glyphs.ellipsis,
        )
    word = "" if used.standing is Standing.DONE else f"{standing.value}{by}"
    between = styled(" · " if ink.glyphs.name == "unicode" else " | ", "muted")
    tail = between.join([Content(""), *filter(None, notes), *([styled(word, style)] if word else [])])
    begin = joined((f"{sign_of(standing, ink.glyphs)} ", style), (shown.title, "title"))
    room = max(12, ink.width - begin.cell_length - tail.cell_length)
    subject = styled(f" {shown.subject}" if shown.subject else "", "subject")
    named = clipped(subject, room, ellipsis=ink.glyphs.ellipsis)
    return clipped(joined(begin, named, tail), ink.width, ellipsis=ink.glyphs.ellipsis)


def sign_of(standing: Standing, glyphs: Glyphs) -> str:
    match standing:
        case Standing.DONE:
            return glyphs.ok
        case Standing.FAILED | Standing.DENIED:
            return glyphs.failed
        case Standing.RUNNING:
            return glyphs.running
        case Standing.WAITING | Standing.ASKING:
            return glyphs.warning
        case Standing.CANCELLED | Standing.INTERRUPTED:
            return glyphs.stopped
        case Standing.PENDING | Standing.UNUSED:
            return glyphs.waiting
