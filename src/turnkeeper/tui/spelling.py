"""The doors before the last one, for terminals that show less: no colours where none are wanted, and no boxes in ASCII.

Both are put over whatever is drawn, by us or by Textual, so that no part of the screen can forget about them.
"""

from collections.abc import Callable
from functools import lru_cache

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

FAR = 0.35
"""How much lighter than black, or darker than white, a ground is that was meant to stand out."""
_NONE = Style.from_color(RichColor.default(), RichColor.default())
_PARTS = dict.fromkeys("▁▂▃▄▅▆▇▔▉▊▋▍▎▏", " ")
_BOXES = {
    **dict.fromkeys("╭╮╰╯┌┐└┘├┤┬┴┼╔╗╚╝", "+"),
    **dict.fromkeys("─━═", "-"),
    **dict.fromkeys("│┃║▌▐", "|"),
    **dict.fromkeys("█", "#"),
}
_MARKS = {"…": ".", "–": "-", "—": "-", **dict.fromkeys("“”„", '"'), **dict.fromkeys("‘’", "'")}
_IN_ASCII = str.maketrans(_PARTS | _BOXES | _MARKS)


class Colourless(LineFilter):
    """Takes all colours away. What stood out by its ground stands out reversed: a cursor, a chosen row."""

    def __init__(self, is_dark: Callable[[], bool]) -> None:
        super().__init__()
        self._is_dark = is_dark

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        del background
        is_dark = self._is_dark()
        return [
            Segment(text, None if style is None else colourless(style, is_dark=is_dark), control)
            for text, style, control in segments
        ]


@lru_cache(4096)
def colourless(style: Style, *, is_dark: bool) -> Style:
    ground = style.color if style.reverse else style.bgcolor
    reverse = ground is not None and not ground.is_default and _is_far(Color.from_rich_color(ground), is_dark=is_dark)
    return style + _NONE + Style(reverse=reverse or bool(style.reverse))


def _is_far(ground: Color, *, is_dark: bool) -> bool:
    return ground.brightness > FAR if is_dark else ground.brightness < 1 - FAR


class Ascii(LineFilter):
    """Boxes, bars and marks in letters that every terminal has; each takes the same cell."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        del background
        if all(segment.text.isascii() for segment in segments):
            return segments
        return [
            segment if segment.control else segment._replace(text=segment.text.translate(_IN_ASCII))
            for segment in segments
        ]


ASCII_ONLY = Ascii()
