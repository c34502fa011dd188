"""What is drawn can do nothing but be read, whoever said it and whichever part of the screen shows it.

Titles, file names, prompts and problems come from models, disks and other people. Every line of every widget passes
here last, so a part that forgets to clean its text shows letters at worst and never speaks to the terminal.
"""

import re

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from turnkeeper.tui.chat.ink import CONTROLS

_ILLEGIBLE = re.compile(f"[{CONTROLS}\n\t\u2028\u2029\ud800-\udfff]")
"""Also halves of characters: a file's name may hold bytes that no encoding knows, and no terminal can be sent them."""


class Legible(LineFilter):
    """Takes out what a terminal would obey, or could not be sent; every other cell stays where it is."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        del background
        if all(segment.text.isprintable() for segment in segments):
            return segments
        return [segment if segment.control else segment._replace(text=legible(segment.text)) for segment in segments]


LEGIBLE = Legible()


def legible(text: str) -> str:
    """As many cells as before, and nothing in them but what can be read."""
    return _ILLEGIBLE.sub(lambda found: "�" * cell_len(found[0]), text)
