"""Searching the conversation: a word is typed at the lower edge, and the window goes from one find to the next."""

from textual import events
from textual.content import Content
from textual.message import Message
from textual.strip import Strip

from turnkeeper.tui.chat.ink import Line, joined
from turnkeeper.tui.chat.items import Ending, Item, Picture, Prompt, Said, Shell, Summary, Thought, Used
from turnkeeper.tui.chat.opening import Opening

QUERY_CHARACTERS_MAX = 200
COUNTED_ITEMS_MAX = 64


class Finding(Opening):
    """Owns what is searched for, whether it is still being typed, and where it was found last."""

    class Left(Message):
        """Esc, and nothing here to leave."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.query_text = ""
        self.is_typing = False
        self._found: tuple[int, int] = (-1, 0)
        self._note = ""

    def action_search(self) -> None:
        self.query_text, self._note, self.is_typing = "", "", True
        self._found = (-1, 0)
        self.refresh()

    def action_leave(self) -> None:
        if not self.leave():
            self.action_bottom()
            self.post_message(self.Left())

    def leave(self) -> bool:
        """End the search, else the selection; whether there was either."""
        if self.query_text or self.is_typing:
            self.query_text, self.is_typing, self._note = "", False, ""
            self.refresh()
        elif self.text_selection is not None:
            self.screen.clear_selection()
        else:
            return False
        return True

    def action_next_found(self) -> None:
        self._go(1)

    def action_previous_found(self) -> None:
        self._go(-1)

    async def _on_key(self, event: events.Key) -> None:
        """While a word is typed, keys are letters; also those that come at once with the key that begins it."""
        if not self.is_typing and not self._begins(event.key):
            return
        match event.key:
            case _ if not self.is_typing:
                self.action_search()
            case "enter":
                self.is_typing = False
            case "escape":
                self.leave()
            case "backspace":
                self.query_text = self.query_text[:-1]
                self._search()
            case _ if event.is_printable and event.character and len(self.query_text) < QUERY_CHARACTERS_MAX:
                self.query_text += event.character
                self._search()
            case _:
                return
        event.stop()
        event.prevent_default()
        self.refresh()

    def _begins(self, key: str) -> bool:
        bound = self.screen.active_bindings.get(key)
        return bound is not None and bound.node is self and bound.binding.action == "search"

    def _search(self) -> None:
        """From the end backwards: what was said last is most likely meant."""
        self._found = (len(self.sheet.items), 0)
        self._note = ""
        if self.query_text:
            self._go(-1)
        self.refresh()

    def _go(self, step: int) -> None:
        """To the next line with the word, in this item or in one after it; all the way around if need be."""
        wanted = self.query_text.casefold()
        items = self.sheet.items
        if not wanted or not items:
            return
        here, line = self._found
        if not 0 <= here < len(items):
            here, line = (len(items), 0) if step < 0 else (-1, 0)
        elif (number := self._line_of(here, wanted, line, step)) is not None:
            self._reach(here, number)
            return
        for distance in range(1, len(items) + 1):
            index = (here + step * distance) % len(items) if 0 <= here < len(items) else here + step * distance
            index %= len(items)
            if wanted in searchable(items[index]).casefold():
                number = self._line_of(index, wanted, None, step)
                if number is None:
                    self.sheet.expand(items[index].key, expanded=True)
                    number = self._line_of(index, wanted, None, step)
                self._reach(index, number or 0)
                return
        self._note = "nothing found"
        self.refresh()

    def _line_of(self, index: int, wanted: str, after: int | None, step: int) -> int | None:
        """The first line with the word, from the beginning or the end, or beyond the line `after`."""
        lines = self.sheet.lines(index)
        numbers = range(len(lines)) if step > 0 else range(len(lines) - 1, -1, -1)
        for number in numbers:
            if after is not None and (number - after) * step <= 0:
                continue
            if wanted in lines[number].content.plain.casefold():
                return number
        return None

    def _reach(self, index: int, number: int) -> None:
        self._found = (index, number)
        self._note = self._place()
        self.focus_key = self.sheet.items[index].key
        self.bring(index, number)
        self.refresh()

    def _place(self) -> str:
        """Which of how many this one is; nothing, where counting them would mean drawing half a day's work."""
        wanted = self.query_text.casefold()
        having = [at for at, item in enumerate(self.sheet.items) if wanted in searchable(item).casefold()]
        if len(having) > COUNTED_ITEMS_MAX:
            return ""
        places = [(at, number) for at in having for number in self._lines_with(at, wanted) or [0]]
        return f"{places.index(self._found) + 1} of {len(places)}" if self._found in places else ""

    def _lines_with(self, index: int, wanted: str) -> list[int]:
        lines = self.sheet.lines(index)
        return [number for number, line in enumerate(lines) if wanted in line.content.plain.casefold()]

    # How it looks

    def decorated(self, y: int, strip: Strip, line: Line) -> Strip:
        width = strip.cell_length
        if self.query_text and (marked := self._marked(y, line)) is not None:
            strip = self.made(marked, self.visual_style, width, line.fill, line.inset)
        if y == self.rows_high - 1 and (self.is_typing or self.query_text):
            return self.made(self._prompt(width), self.visual_style, width, "banner")
        return strip

    def _marked(self, y: int, line: Line) -> Content | None:
        plain, wanted = line.content.plain.casefold(), self.query_text.casefold()
        at = plain.find(wanted)
        if at < 0 or len(plain) != len(line.content.plain):
            return None
        style = "found-here" if self.rows[y][:2] == self._found else "found"
        content = line.content
        while at >= 0:
            content = content.stylize(style, at, at + len(wanted))
            at = plain.find(wanted, at + len(wanted))
        return content

    def _prompt(self, width: int) -> Content:
        keys = "enter keeps, esc ends" if self.is_typing else "n next, N previous, esc ends"
        left = f" /{self.query_text}{'_' if self.is_typing else ''}  {self._note}"
        return joined(left, " " * max(1, width - len(left) - len(keys) - 1), keys)


def searchable(item: Item) -> str:
    """All text of an item, also what is folded away."""
    match item:
        case Prompt(text=text) | Said(text=text) | Thought(text=text) | Summary(text=text):
            return text
        case Used():
            return f"{item.name}\n{item.input}\n{item.content or item.output}"
        case Shell():
            return f"{item.command}\n{item.output}"
        case Ending():
            return f"{item.title}\n{item.message}"
        case Picture():
            return item.attached.name
        case _:
            return ""
