"""What drawn lines say: their text, without the drawing around it, and whole where a line was broken for want of room.

Whoever draws says which letters are drawing (`drawing`) and which lines go on from the one before (`broken`). Both are
marks in place of a style, so they stay with their letters wherever these are put.
"""

from collections.abc import Iterable, Sequence

from textual.content import Content

DRAWING = "drawing"
GOES_ON = "goes-on-after-"
"""Followed by how many spaces stood where the line was broken."""


def drawing(content: Content | str) -> Content:
    """Letters at the beginning of a line that nobody said: margins, bars, line numbers."""
    return (content if isinstance(content, Content) else Content(content)).stylize(DRAWING)


def broken(whole: str, pieces: Sequence[Content]) -> list[Content]:
    """The pieces of a text, each knowing what it goes on from."""
    marked: list[Content] = []
    at = 0
    for piece in pieces:
        begin = whole.find(piece.plain, at)
        gap = whole[at:begin]
        is_rest = bool(marked) and begin >= 0 and "\n" not in gap
        marked.append(piece.stylize(f"{GOES_ON}{len(gap)}") if is_rest else piece)
        at = max(at, begin + len(piece.plain))
    return marked


def is_mark(style: object) -> bool:
    return isinstance(style, str) and (style == DRAWING or style.startswith(GOES_ON))


def unmarked(content: Content) -> Content:
    """As it is shown: what says where text begins has no look, and need not be looked up."""
    return Content(content.plain, [span for span in content.spans if not is_mark(span.style)])


def text_under(parts: Iterable[tuple[Content, int, int]]) -> str:
    """The text of lines from one letter to another of each; -1 is the end of it."""
    lines: list[str] = []
    for content, start, end in parts:
        begin, gap = _beginning(content)
        text = content.plain[max(start, begin) : None if end < 0 else end]
        if gap is not None and lines:
            lines[-1] += " " * gap + text
        else:
            lines.append(text)
    return "\n".join(line.rstrip() for line in lines)


def text_in(lines: Iterable[Content]) -> str:
    return text_under((line, 0, -1) for line in lines)


def _beginning(content: Content) -> tuple[int, int | None]:
    """Where the text of a line begins; and how far from the line before, if it goes on from there."""
    begin, gap = 0, None
    for span in content.spans:
        if span.style == DRAWING:
            begin = max(begin, span.end)
        elif isinstance(span.style, str) and span.style.startswith(GOES_ON):
            begin, gap = max(begin, span.start), int(span.style.removeprefix(GOES_ON))
    return begin, gap
