"""A sheet of lines to look at in a dialog: drawn as the conversation is, at the width there is, and scrolled."""

from collections.abc import Callable, Sequence

from rich.segment import Segment
from textual import events
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style

from turnkeeper.tui.chat.copied import unmarked
from turnkeeper.tui.chat.ink import STYLES, Ink, Line
from turnkeeper.tui.chat.style import CSS
from turnkeeper.tui.glyphs import glyphs_of, is_plain
from turnkeeper.tui.host import host_of

SHIFT_CELLS = 5

Draw = Callable[[Ink], Sequence[Line]]


class Paper(ScrollView, can_focus=False):
    """Owns its lines, how far they are shifted, and whether changes stand side by side."""

    COMPONENT_CLASSES = {f"chat--{name}" for name in STYLES}
    DEFAULT_CSS = (
        CSS.replace("Page {", "Paper {", 1) + "Paper { background: $background; padding: 0 1; margin-top: 1; }"
    )

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.split: bool | None = None
        self.shift = 0
        self._draw: Draw | None = None
        self._lines: Sequence[Line] = ()
        self._styles: dict[str, Style] = {}

    @property
    def lines(self) -> Sequence[Line]:
        return self._lines

    def show(self, draw: Draw) -> None:
        """Show what is drawn, from its beginning."""
        self._draw = draw
        self.shift = 0
        self.redraw()
        self.scroll_home(animate=False)

    def redraw(self) -> None:
        width = self.scrollable_content_region.width
        if self._draw is None or width <= 0:
            return
        split = host_of(self).settings.split_diffs if self.split is None else self.split
        ink = Ink(width, glyphs_of(self), plain=is_plain(self), expanded=True, split=split, shift=self.shift)
        self._lines = self._draw(ink)
        self.virtual_size = Size(width, len(self._lines))
        self.refresh()

    def moved(self, cells: int) -> None:
        """See more of what lies to the left or to the right."""
        self.shift = max(0, self.shift + cells)
        self.redraw()

    def turned(self) -> None:
        """Side by side, or in one column again."""
        self.split = not self.is_split
        self.redraw()

    @property
    def is_split(self) -> bool:
        wish = host_of(self).settings.split_diffs if self.split is None else self.split
        return self.scrollable_content_region.width >= 120 if wish is None else wish

    def on_resize(self, _: events.Resize) -> None:
        self.redraw()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._styles.clear()

    def render_line(self, y: int) -> Strip:
        width, base = self.scrollable_content_region.width, self.visual_style
        at = y + int(self.scroll_offset.y)
        if at >= len(self._lines):
            return Strip.blank(width, base.rich_style)
        line = self._lines[at]
        ground = base + self._style(line.fill) if line.fill else base
        rendered = unmarked(line.content).render(ground, end="", parse_style=self._style)
        strip = Strip([Segment(text, style.rich_style) for text, style in rendered])
        return strip.crop_extend(0, width, ground.rich_style)

    def _style(self, name: str | Style) -> Style:
        if isinstance(name, Style):
            return name
        if name not in self._styles:
            known = self.get_visual_style(f"chat--{name}", partial=True) if name in STYLES else Style.null()
            self._styles[name] = known
        return self._styles[name]
