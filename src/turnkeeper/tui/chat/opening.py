"""Looking closer and taking along: expanding, copying, links, wide lines, times."""

import re
from dataclasses import replace

from textual import events
from textual.geometry import Offset
from textual.message import Message
from textual.selection import Selection

from turnkeeper.tui.chat.ink import Ink
from turnkeeper.tui.chat.moving import Moving
from turnkeeper.tui.chat.page import STRIDE, Top
from turnkeeper.tui.host import Host

SHIFT_CELLS = 8

_WORD = re.compile(r"[\w./:@#%&?=+~-]+")


class Opening(Moving):
    """Owns the wishes how things are shown, and which of several code blocks or links is the next one to take."""

    class Copied(Message):
        """Somebody wants this text to be copied."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._split: bool | None = None
        self._times: bool | None = None
        self._taken: tuple[str, str, int] = ("", "", 0)

    def ink(self) -> Ink:
        ink = super().ink()
        app = self.app
        if isinstance(app, Host):
            split = app.settings.split_diffs if self._split is None else self._split
            times = app.settings.timestamps if self._times is None else self._times
            return replace(ink, split=split, times=times)
        return replace(ink, split=self._split, times=bool(self._times))

    # Expanding

    def action_expand(self) -> None:
        if (index := self.current) is not None:
            self.open(index)

    def open(self, index: int) -> None:
        """Expand or fold one item; where it begins stays where it is, as far as it is in sight."""
        key = self.sheet.items[index].key
        drawn = self.sheet.drawn(index)
        self.focus_key = key
        if drawn.expandable:
            first = next((row for row in self.rows if row[0] == index), None)
            self.sheet.expand(key, expanded=not self.sheet.is_expanded(key))
            if first is not None and first[1] > 0:
                self.stand(Top(index, 0))
            elif self.rows:
                self.stand(Top(self.rows[0][0], self.rows[0][1]))
        self.refresh()

    def action_expand_all(self) -> None:
        self.sheet.expand_all(expanded=not self.sheet.expanded_all)
        self.redraw()

    def action_split(self) -> None:
        ink = self.sheet.ink
        shown = ink.width - 6 >= 120 if ink.split is None else ink.split
        self._split = not shown
        self.redraw()

    def action_times(self) -> None:
        self._times = not self.sheet.ink.times
        self.redraw()

    def action_left(self) -> None:
        self._shift(-SHIFT_CELLS)

    def action_right(self) -> None:
        self._shift(SHIFT_CELLS)

    def _shift(self, cells: int) -> None:
        if (index := self.current) is not None:
            self.sheet.shift(self.sheet.items[index].key, cells)
            self.settle()

    # Taking along

    def action_copy(self) -> None:
        """What is selected; if nothing is, the item."""
        if text := self.selected():
            self.post_message(self.Copied(text))
        elif (index := self.current) is not None:
            self.post_message(self.Copied(self.sheet.drawn(index).text))

    def selected(self) -> str:
        selection = self.text_selection
        found = self.get_selection(selection) if selection is not None else None
        return found[0] if found else ""

    def action_copy_code(self) -> None:
        if block := self._take("code"):
            self.post_message(self.Copied(block))
        else:
            self._tell("There is no code block in this.")

    def action_open_link(self) -> None:
        if url := self._take("links"):
            self.app.open_url(url)
        else:
            self._tell("There is no link in this.")

    def _tell(self, said: str) -> None:
        if isinstance(self.app, Host):
            self.app.say(said)

    def _take(self, what: str) -> str:
        """The last of an item's code blocks or links; asked again, the one before it."""
        index = self.current
        if index is None:
            return ""
        drawn = self.sheet.drawn(index)
        found = drawn.code if what == "code" else drawn.links
        if not found:
            return ""
        key = self.sheet.items[index].key
        count = self._taken[2] + 1 if self._taken[:2] == (key, what) else 1
        self._taken = (key, what, count)
        return found[-1 - (count - 1) % len(found)]

    # The mouse

    async def _on_click(self, event: events.Click) -> None:
        """A click gives the focus, and expands where it is on the heading or on what says that there is more."""
        event.prevent_default()
        y = event.y
        if not 0 <= y < len(self.rows):
            return
        index, number, line = self.rows[y]
        match event.chain:
            case 1:
                self.focus_key = self.sheet.items[index].key
                says_more = any(span.style == "hint" for span in line.content.spans)
                if (number == 1 or says_more) and not self.selected():
                    self.open(index)
                self.refresh()
            case 2:
                self._select_word(index, number, line.content.plain, event.x)
            case _:
                self._select(index, number, 0, len(line.content.plain))

    def _select_word(self, index: int, number: int, text: str, x: int) -> None:
        for found in _WORD.finditer(text):
            if found.start() <= x < found.end():
                self._select(index, number, found.start(), found.end())

    def _select(self, index: int, number: int, start: int, end: int) -> None:
        row = index * STRIDE + number
        self.screen.selections = {self: Selection(Offset(start, row), Offset(end, row))}
        if text := self.selected():
            self.post_message(self.Copied(text))

    def on_mouse_up(self) -> None:
        """What was selected by dragging is copied when the button is let go."""
        self.call_after_refresh(self._copy_selected)

    def _copy_selected(self) -> None:
        if text := self.selected():
            self.post_message(self.Copied(text))
