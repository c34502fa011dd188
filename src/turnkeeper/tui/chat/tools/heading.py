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
    standing = Standing.FAILED if shown.went_wrong and used.standing is Standing.DONE else used.standing
    style = _STYLES[standing]
    notes = [styled(f" {text}", note_style) for text, note_style in shown.notes if text]
    if ink.plain:
        by = f" by {ink.name_of(used.by)}" if used.by and used.standing is Standing.DENIED else ""
        begin = f"Tool {shown.title}, {standing.value}{by}: "
        return clipped(joined(begin, shown.subject, *notes), ink.width)
    sign = styled(f"{sign_of(standing, ink.glyphs)} ", style)
    word = ""
    if used.standing is not Standing.DONE:
        by = f" by {ink.name_of(used.by)}" if used.by and used.standing is Standing.DENIED else ""
        word = f" {used.standing.value}{by}"
    title = styled(shown.title, "title")
    subject = f" {shown.subject}" if shown.subject else ""
    tail = joined(*notes, (word, style))
    # What it was used on gives way first, so that the state is always there to be read.
    room = max(12, ink.width - sign.cell_length - title.cell_length - tail.cell_length)
    named = clipped(styled(subject, "subject"), room, ellipsis=ink.glyphs.ellipsis)
    return clipped(joined(sign, title, named, tail), ink.width, ellipsis=ink.glyphs.ellipsis)


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
