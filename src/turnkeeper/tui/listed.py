"""A list of rows, of which the marked one has a sign before it: on which one stands is not told by a colour alone."""

from rich.segment import Segment
from textual.strip import Strip
from textual.widgets import OptionList

from turnkeeper.tui.glyphs import glyphs_of


class Listed(OptionList):
    DEFAULT_CSS = """
    Listed > .option-list--option { padding: 0 1 0 2; }
    """

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        at = self.scroll_offset.y + y
        if self.highlighted is None or at >= len(self._lines) or tuple(self._lines[at]) != (self.highlighted, 0):
            return strip
        style = next((segment.style for segment in strip), None)
        return Strip.join([Strip([Segment(glyphs_of(self).here, style)], 1), strip.crop(1)])
