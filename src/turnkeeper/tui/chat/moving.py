"""Moving through the conversation, by lines, pages, items and prompts; with the wheel; and what has the focus."""

from collections.abc import Callable

from textual import events

from turnkeeper.tui.chat.items import Footer, Item, Prompt, Shell
from turnkeeper.tui.chat.page import Page, Top

WHEEL_LINES = 3


def is_stop(item: Item) -> bool:
    """Whether there is anything to do with it: what a run took is only read."""
    return not isinstance(item, Footer)


class Moving(Page):
    """Owns which item has the focus: where a person stands. Without one, it is the last one in sight."""

    @property
    def current(self) -> int | None:
        """The item that keys act on."""
        place = self.sheet.place(self.focus_key) if self.focus_key else None
        shown = [index for index, _, _ in self.rows]
        if place is not None and place in shown:
            return place
        if not shown:
            return None
        shown = [index for index in shown if is_stop(self.sheet.items[index])] or shown
        return shown[-1] if self.follows or place is None or place > shown[-1] else shown[0]

    def focus_item(self, index: int) -> None:
        """Give an item the focus, and bring it into sight if it is not."""
        if not 0 <= index < len(self.sheet.items):
            return
        self.focus_key = self.sheet.items[index].key
        self.bring(index)
        self.refresh()

    def bring(self, index: int, line: int = 0) -> None:
        """Into sight, by as little as is needed: the line, and of its item what fits."""
        height = len(self.sheet.lines(index))
        shown = [(at, number) for at, number, _ in self.rows]
        whole = range(line, height if line == 0 else line + 1)
        if shown and all((index, number) in shown for number in whole):
            return
        above = bool(shown) and (index, line) < shown[0]
        is_last = index == len(self.sheet.items) - 1
        if above or height > self.rows_high:
            self.stand(Top(index, 0 if line < self.rows_high else line))
        else:
            end = self._forth(Top(index, line), len(whole))
            self.stand(self._back(end, self.rows_high), follows=is_last and line == 0)

    def focus_near(self, step: int, wanted: Callable[[Item], bool] = is_stop) -> None:
        """The next item of some kind, after the one that has the focus or before it."""
        here = self.current
        if here is None:
            return
        if not self.focus_key:
            here -= step
        index = here + step
        while 0 <= index < len(self.sheet.items):
            if wanted(self.sheet.items[index]):
                self.focus_item(index)
                return
            index += step
        if step > 0:
            self.action_bottom()

    def action_line_down(self) -> None:
        self.move(1)

    def action_line_up(self) -> None:
        self.move(-1)

    def action_page_down(self) -> None:
        self.move(max(1, self.rows_high - 2))

    def action_page_up(self) -> None:
        self.move(-max(1, self.rows_high - 2))

    def action_half_down(self) -> None:
        self.move(max(1, self.rows_high // 2))

    def action_half_up(self) -> None:
        self.move(-max(1, self.rows_high // 2))

    def action_top(self) -> None:
        self.stand(Top())
        if self.sheet.items:
            self.focus_key = self.sheet.items[0].key
            self.refresh()

    def action_bottom(self) -> None:
        self.focus_key = ""
        self.stand(self.top, follows=True)
        self.refresh()

    def action_next(self) -> None:
        self.focus_near(1)

    def action_previous(self) -> None:
        self.focus_near(-1)

    def action_next_prompt(self) -> None:
        self.focus_near(1, _is_from_a_person)

    def action_previous_prompt(self) -> None:
        self.focus_near(-1, _is_from_a_person)

    def _on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        _taken(event)
        self.move(WHEEL_LINES)

    def _on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        _taken(event)
        self.move(-WHEEL_LINES)


def _taken(event: events.Event) -> None:
    """Nobody else is to answer it: not what is around this, and not what this is made from."""
    event.stop()
    event.prevent_default()


def _is_from_a_person(item: Item) -> bool:
    return isinstance(item, Prompt | Shell)
