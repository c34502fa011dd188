"""A change on paper, in one column or two: line numbers, the language's colours, and what differs marked."""

from collections.abc import Iterable, Sequence
from itertools import zip_longest

from textual.content import Content

from turnkeeper.tui.chat.code import highlighted
from turnkeeper.tui.chat.diffs import Change, Row
from turnkeeper.tui.chat.ink import Ink, Line, clipped, joined, styled

SPLIT_WIDTH_MIN = 120
_FILL = {"-": "removed", "+": "added", " ": "", "@": ""}
_WORD = {"-": "removed-word", "+": "added-word"}

Half = tuple[Row, Content] | None


def draw_change(change: Change, ink: Ink, *, path: str, width: int, rows_max: int) -> tuple[list[Line], int]:
    """The first lines of a change, and how many there are."""
    is_split = (width >= SPLIT_WIDTH_MIN if ink.split is None else ink.split) and not ink.plain
    if is_split:
        pairs = _paired(change.rows)
        shown = pairs[:rows_max]
        coloured = _coloured([row for pair in shown for row in pair if row], path)
        return _side_by_side(shown, coloured, ink, width), len(pairs)
    shown = change.rows[:rows_max]
    coloured = _coloured(shown, path)
    return [_line(row, coloured[id(row)], ink, width, _digits(change.rows)) for row in shown], len(change.rows)


def _digits(rows: Iterable[Row]) -> int:
    return len(str(max((max(row.old, row.new) for row in rows), default=1)))


def _coloured(rows: Iterable[Row], path: str) -> dict[int, Content]:
    """Each row's text in its language's colours. Each side is read as a whole, so that what spans lines is known."""
    found: dict[int, Content] = {}
    rows = list({id(row): row for row in rows}.values())
    for kinds in ("- ", "+ "):
        side = [row for row in rows if row.kind in kinds]
        for row, line in zip(side, highlighted("\n".join(row.text for row in side), path=path), strict=False):
            found[id(row)] = _with_marks(row, line)
    return {id(row): found.get(id(row), Content(row.text)) for row in rows}


def _with_marks(row: Row, line: Content) -> Content:
    for start, end in row.marks:
        line = line.stylize(_WORD[row.kind], start, end)
    return line


def _line(row: Row, text: Content, ink: Ink, width: int, digits: int) -> Line:
    if row.kind == "@":
        return Line(styled(f"{' ' * digits} {ink.glyphs.ellipsis}", "gutter"))
    if ink.plain:
        word = {"-": "removed", "+": "added", " ": "same"}[row.kind]
        return Line(clipped(joined(f"{word} {row.new or row.old}: ", text), width, shift=ink.shift))
    number = styled(f"{row.new or row.old:>{digits}} ", "gutter")
    sign = styled(f"{row.kind} ", _sign(row.kind))
    room = width - digits - 3
    return Line(
        joined(number, sign, clipped(text, room, shift=ink.shift, ellipsis=ink.glyphs.ellipsis)), _FILL[row.kind]
    )


def _sign(kind: str) -> str:
    return {"-": "bad", "+": "good"}.get(kind, "gutter")


def _paired(rows: Sequence[Row]) -> list[tuple[Row | None, Row | None]]:
    """What stands beside what: lines that went with those that came in their place."""
    pairs: list[tuple[Row | None, Row | None]] = []
    gone: list[Row] = []
    came: list[Row] = []

    def put() -> None:
        pairs.extend(zip_longest(gone, came))
        gone.clear()
        came.clear()

    for row in rows:
        match row.kind:
            case "-":
                if came:
                    put()
                gone.append(row)
            case "+":
                came.append(row)
            case _:
                put()
                pairs.append((row, row))
    put()
    return pairs


def _side_by_side(
    pairs: Sequence[tuple[Row | None, Row | None]], coloured: dict[int, Content], ink: Ink, width: int
) -> list[Line]:
    digits = _digits(row for pair in pairs for row in pair if row)
    left = (width - 3) // 2
    right = width - 3 - left
    between = styled(f" {ink.glyphs.bar} ", "rule")
    lines: list[Line] = []
    for old, new in pairs:
        if old is not None and old.kind == "@":
            lines.append(Line(styled(f"{' ' * digits} {ink.glyphs.ellipsis}", "gutter")))
            continue
        halves = (
            _half(old, old and old.old, left, coloured, ink, digits),
            _half(new, new and new.new, right, coloured, ink, digits),
        )
        lines.append(Line(between.join(halves)))
    return lines


def _half(
    row: Row | None, number: int | None, width: int, coloured: dict[int, Content], ink: Ink, digits: int
) -> Content:
    if row is None:
        return Content(" " * width)
    text = clipped(coloured[id(row)], width - digits - 3, shift=ink.shift, ellipsis=ink.glyphs.ellipsis)
    half = joined(styled(f"{number:>{digits}} ", "gutter"), styled(f"{row.kind} ", _sign(row.kind)), text)
    half = joined(half, " " * max(0, width - half.cell_length))
    return half.stylize_before(_FILL[row.kind]) if _FILL[row.kind] else half
