"""A table as lines: columns as wide as their text where there is room, and broken within their cells where not."""

from collections.abc import Sequence
from typing import NamedTuple

from textual.content import Content

from turnkeeper.tui.chat.ink import Ink, joined, styled, wrapped

COLUMN_MIN = 4


class Cell(NamedTuple):
    content: Content
    align: str = ""
    """As the style says: `text-align:right`."""


def table(rows: Sequence[Sequence[Cell]], width: int, ink: Ink) -> list[Content]:
    """The first row is the heading."""
    if not rows or not rows[0]:
        return []
    if ink.plain:
        return _told(rows, width)
    count = len(rows[0])
    natural = [max(row[at].content.cell_length for row in rows if at < len(row)) for at in range(count)]
    between = f" {ink.glyphs.bar} "
    widths = fitted(natural, max(count * COLUMN_MIN, width - (count - 1) * len(between)))
    lines: list[Content] = []
    for number, row in enumerate(rows):
        lines += _row(row, widths, styled(between, "rule"), heading=number == 0)
        if number == 0:
            rule = ink.glyphs.rule
            cross = f"{rule}{'┼' if rule == '─' else '+'}{rule}"
            lines.append(styled(cross.join(rule * width for width in widths), "rule"))
    return lines


def fitted(natural: Sequence[int], room: int) -> list[int]:
    """Widths that fit into the room: what is narrow stays as it is, what is wide shares the rest."""
    widths = [max(1, width) for width in natural]
    while sum(widths) > room and max(widths) > COLUMN_MIN:
        widest = max(widths)
        second = max((width for width in widths if width < widest), default=COLUMN_MIN)
        those = [at for at, width in enumerate(widths) if width == widest]
        over = sum(widths) - room
        less = max(1, min(widest - max(second, COLUMN_MIN), -(-over // len(those))))
        for at in those:
            widths[at] -= less
    return widths


def _row(row: Sequence[Cell], widths: Sequence[int], between: Content, *, heading: bool) -> list[Content]:
    columns = [cell.content.wrap(max(2, width)) for cell, width in zip(row, widths, strict=False)]
    lines: list[Content] = []
    for at in range(max(map(len, columns), default=0)):
        parts: list[Content] = []
        for cell, column, width in zip(row, columns, widths, strict=False):
            text = column[at] if at < len(column) else Content("")
            text = text.stylize_before("strong") if heading else text
            parts.append(_aligned(text, width, cell.align))
        lines.append(between.join(parts))
    return lines


def _aligned(text: Content, width: int, align: str) -> Content:
    room = max(0, width - text.cell_length)
    if align.endswith("right"):
        return joined(" " * room, text)
    if align.endswith("center"):
        return joined(" " * (room // 2), text, " " * (room - room // 2))
    return joined(text, " " * room)


def _told(rows: Sequence[Sequence[Cell]], width: int) -> list[Content]:
    """Row after row, each value with the name of its column."""
    head = [cell.content.plain for cell in rows[0]]
    lines: list[Content] = []
    for number, row in enumerate(rows[1:], start=1):
        said = "; ".join(f"{name}: {cell.content.plain}" for name, cell in zip(head, row, strict=False))
        lines += wrapped(Content(f"row {number}: {said}"), width)
    return lines or wrapped(Content("table: " + ", ".join(head)), width)
