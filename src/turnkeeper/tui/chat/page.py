"""A window on the sheet: which rows are in sight, and how they look on the terminal.

Where the window stands is kept as an item and a line of it, not as a number of rows: whatever turns out to be higher
than it was thought to be, above or below, what a person is reading stays where it is. The scroll position that Textual
knows is derived from that, for the scroll bar.
"""

from collections.abc import Sequence
from typing import NamedTuple, cast

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual import events, on
from textual.color import Color
from textual.content import Content
from textual.geometry import Region, Size
from textual.reactive import Reactive
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget

from turnkeeper.tui.chat.copied import text_under, unmarked
from turnkeeper.tui.chat.ink import STYLES, Ink, Line
from turnkeeper.tui.chat.items import Item
from turnkeeper.tui.chat.sheet import Sheet
from turnkeeper.tui.chat.style import CSS
from turnkeeper.tui.glyphs import glyphs_for, glyphs_of, is_plain

STRIDE = 100_000
"""Rows are told to Textual's selection as an item's number times this, which they stay however high others are."""
SELECTED_LINES_MAX = 50_000

# Set without their watchers, which would lay out the whole screen again for each line that comes.
_VIRTUAL_SIZE = cast(Reactive[Size], Widget.virtual_size)
_SCROLL_TARGET_Y = cast(Reactive[float], Widget.scroll_target_y)


class Top(NamedTuple):
    """The first line in sight: which item, and which line of it."""

    item: int = 0
    line: int = 0


class Page(ScrollView, can_focus=True):
    """Owns the sheet, and where the window on it stands."""

    COMPONENT_CLASSES = {f"chat--{name}" for name in STYLES}
    DEFAULT_CSS = CSS

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.sheet = Sheet(Ink(80, glyphs_for("unicode", {})))
        self.follows = True
        """Whether the end stays in sight."""
        self.focus_key = ""
        self._top = Top()
        self._rows: list[tuple[int, int, Line]] = []
        self._palette: dict[str, Style] = {}

    # What is in sight

    @property
    def rows(self) -> Sequence[tuple[int, int, Line]]:
        """What is in sight: an item's number, which line of it, and the line."""
        return self._rows

    @property
    def rows_high(self) -> int:
        return max(1, self.scrollable_content_region.height)

    def ink(self) -> Ink:
        """What is drawn with here."""
        width = max(20, self.scrollable_content_region.width)
        return Ink(width, glyphs_of(self), plain=is_plain(self))

    def settle(self) -> None:
        """See what is in sight now, and show what of it differs."""
        if not self.is_mounted or not self.size:
            return
        self._top = self._bottom() if self.follows else self._top
        rows = self._window(self._top)
        if len(rows) < self.rows_high and self._top != Top():
            self._top = self._bottom()
            rows = self._window(self._top)
        before, self._rows = self._rows, rows
        self._tell_scrollbar()
        self._show(before)

    def _window(self, top: Top) -> list[tuple[int, int, Line]]:
        rows: list[tuple[int, int, Line]] = []
        for index in range(top.item, len(self.sheet.items)):
            lines = self.sheet.lines(index)
            first = min(top.line, len(lines) - 1) if index == top.item else 0
            rows += [(index, line, lines[line]) for line in range(first, min(len(lines), first + self.rows_high))]
            if len(rows) >= self.rows_high:
                break
        return rows[: self.rows_high]

    def _bottom(self) -> Top:
        """Where the window stands when the end is in sight."""
        return self._back(Top(len(self.sheet.items), 0), self.rows_high)

    def _back(self, top: Top, rows: int) -> Top:
        """The place some rows above."""
        index, line = top
        while rows > line:
            if index == 0:
                return Top()
            rows -= line
            index -= 1
            line = len(self.sheet.lines(index))
        return Top(index, line - rows)

    def _forth(self, top: Top, rows: int) -> Top:
        """The place some rows below."""
        index, line = top[0], top[1] + rows
        while index < len(self.sheet.items):
            height = len(self.sheet.lines(index))
            if line < height:
                return Top(index, line)
            line -= height
            index += 1
        return self._bottom()

    def move(self, rows: int) -> None:
        """Up (negative) or down by some rows. Who goes to the end follows it."""
        if not self.sheet.items:
            return
        bottom = self._bottom()
        here = bottom if self.follows else self._top
        there = self._back(here, -rows) if rows < 0 else self._forth(here, rows)
        self.stand(min(there, bottom), follows=there >= bottom)

    def stand(self, top: Top, *, follows: bool = False) -> None:
        """Put the window somewhere."""
        self._top = top
        self.follows = follows
        self.settle()

    @property
    def top(self) -> Top:
        return self._top

    def put(self, items: tuple[Item, ...]) -> None:
        """Other items; what is in sight stays in sight."""
        before = self.sheet.items
        anchor = before[self._top.item].key if self._top.item < len(before) else ""
        self.sheet.put(items)
        place = None if self.follows else self.sheet.place(anchor)
        self._top = Top(min(self._top.item, max(0, len(items) - 1)) if place is None else place, self._top.line)
        self.settle()

    def _tell_scrollbar(self) -> None:
        size = Size(self.scrollable_content_region.width, self.sheet.height)
        row = self.sheet.start(self._top.item) + self._top.line
        row = max(0, size.height - self.rows_high) if self.follows else row
        self.set_reactive(_VIRTUAL_SIZE, size)
        self.set_scroll(None, row)
        self.set_reactive(_SCROLL_TARGET_Y, float(row))
        if self.show_vertical_scrollbar:
            bar = self.vertical_scrollbar
            bar.window_virtual_size = size.height
            bar.window_size = self.rows_high
            bar.position = row

    def _show(self, before: Sequence[tuple[int, int, Line]]) -> None:
        changed = [y for y in range(len(self._rows)) if y >= len(before) or before[y][2] is not self._rows[y][2]]
        gone = range(len(self._rows), len(before))
        if len(changed) + len(gone) > self.rows_high // 2:
            self.refresh()
        elif changed or gone:
            self.refresh(*(Region(0, y, self.size.width, 1) for y in (*changed, *gone)))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Moved by somebody else: the scroll bar, or a selection that goes on below."""
        if round(old_value) != round(new_value):
            row = round(new_value)
            self.follows = row >= self.max_scroll_y
            self._top = Top(*self.sheet.at(row))
            self.settle()

    @on(events.Resize)
    @on(events.Show)
    def _has_room(self) -> None:
        self.redraw()

    def redraw(self) -> None:
        """Everything in sight, with the ink as it is now."""
        before = self.sheet.height
        self.sheet.use(self.ink())
        if before and self._top.item < len(self.sheet.items):
            self._top = Top(self._top.item, min(self._top.line, len(self.sheet.lines(self._top.item)) - 1))
        self.settle()
        self.refresh()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._palette.clear()
        if self.is_mounted:
            self.sheet.forget()
            self.call_after_refresh(self.redraw)

    # How it looks

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        base = self.visual_style
        if y >= len(self._rows):
            return Strip.blank(width, base.rich_style)
        index, number, line = self._rows[y]
        strip = self.decorated(y, self._strip(line, base, width), line)
        if self.has_focus and self.sheet.items[index].key == self.focus_key and number:
            sign = ">" if self.sheet.ink.plain else self.sheet.ink.glyphs.bar
            mark = Segment(sign, (base + self.style_of("focus")).rich_style)
            strip = Strip.join([Strip([mark], 1), strip.crop(1)])
        selection = self.text_selection
        if selection is not None and (span := selection.get_span(index * STRIDE + number)) is not None:
            strip = self._selected(strip, *span)
        return strip.apply_offsets(0, index * STRIDE + number)

    def decorated(self, y: int, strip: Strip, line: Line) -> Strip:
        """What lies on top of a row; others add to it."""
        del y, line
        return strip

    def _strip(self, line: Line, base: Style, width: int) -> Strip:
        if line.strip is None or line.strip.cell_length != width:
            line.strip = self.made(line.content, base, width, line.fill, line.inset)
        return line.strip

    def made(self, content: Content, base: Style, width: int, fill: str = "", inset: int = 0) -> Strip:
        """One row of the terminal."""
        ground = base + self.style_of(fill) if fill else base
        segments = [
            Segment(text, style.rich_style)
            for text, style in unmarked(content).render(ground, end="", parse_style=self.style_of)
        ]
        strip = Strip(segments).crop_extend(0, width, ground.rich_style)
        return Strip.join([Strip.blank(inset, base.rich_style), strip.crop(inset)]) if fill and inset else strip

    def style_of(self, name: str | Style) -> Style:
        """What a name looks like in the theme of the moment."""
        if isinstance(name, Style):
            return name
        known = self._palette.get(name)
        if known is None:
            known = self._palette[name] = self._component(name) if name in STYLES else Style.null()
        return known

    def _component(self, name: str) -> Style:
        """What its component class says and nothing else, so that it can lie on any ground."""
        rules = self.get_component_styles(f"chat--{name}")
        text = rules.text_style
        return Style(
            background=rules.background if rules.has_rule("background") else None,
            foreground=rules.color if rules.has_rule("color") else None,
            bold=text.bold,
            dim=text.dim,
            italic=text.italic,
            underline=text.underline,
            reverse=text.reverse,
            strike=text.strike,
        )

    # Selecting

    def _selected(self, strip: Strip, start: int, end: int) -> Strip:
        # The ground alone: what is marked stays as readable as it was.
        rules = self.screen.get_component_styles("screen--selection")
        ground = (self.visual_style.background or Color(0, 0, 0)) + rules.background
        style = RichStyle(reverse=True) if self.app.native_ansi_color else RichStyle(bgcolor=ground.rich_color)
        text = strip.text
        first = strip.index_to_cell_position(min(start, len(text)))
        last = strip.cell_length if end < 0 else strip.index_to_cell_position(min(end, len(text)))
        before, within, after = strip.crop(0, first), strip.crop(first, last), strip.crop(last)
        marked = Strip([Segment(one.text, (one.style + style) if one.style else style) for one in within])
        return Strip.join([before, marked, after])

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The text under a selection: what was said, and not how it is drawn."""
        start, end = selection
        first = start.y if start else 0
        last = end.y if end else len(self.sheet.items) * STRIDE
        parts: list[tuple[Content, int, int]] = []
        for index in range(first // STRIDE, min(last // STRIDE + 1, len(self.sheet.items))):
            for number, line in enumerate(self.sheet.lines(index)):
                row = index * STRIDE + number
                if not first <= row <= last:
                    continue
                span = selection.get_span(row)
                if span is not None:
                    parts.append((line.content, *span))
            if len(parts) > SELECTED_LINES_MAX:
                break
        return text_under(parts).strip("\n"), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        del selection
        self.refresh()
