"""A row of answers to choose from, by key, by arrow or by mouse; as many rows as it needs."""

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget


@dataclass(frozen=True, slots=True)
class Choice:
    id: str
    label: str
    key: str = ""
    is_open: bool = True


class Choices(Widget, can_focus=False):
    """Owns which answer is chosen. `Given` says that one was clicked."""

    DEFAULT_CSS = """
    Choices { height: auto; width: 1fr; margin-top: 1; }
    """
    choices: reactive[tuple[Choice, ...]] = reactive(tuple[Choice, ...](), layout=True)
    at: reactive[int] = reactive(0)

    @dataclass
    class Given(Message):
        choice: Choice

    @property
    def choice(self) -> Choice:
        return self.choices[self.at]

    def step(self, by: int) -> None:
        """Choose the next that can be given, around the end."""
        count = len(self.choices)
        for far in range(1, count + 1):
            index = (self.at + by * far) % count
            if self.choices[index].is_open:
                self.at = index
                return

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        del container, viewport
        return len(rows(self.choices, width))

    def render(self) -> Content:
        return Content("\n").join(
            Content(" ").join(self._drawn(index) for index, _ in row)
            for row in rows(self.choices, self.content_size.width)
        )

    def _drawn(self, index: int) -> Content:
        choice = self.choices[index]
        said = face(choice)
        if index == self.at:
            return Content.styled(f"[{said[1:-1]}]", "$background on $primary bold")
        if not choice.is_open:
            return Content.styled(said, "$text-disabled on $panel")
        return Content.styled(said, "$foreground on $panel")

    def on_click(self, event: events.Click) -> None:
        at_row = rows(self.choices, self.content_size.width)
        if not 0 <= event.y < len(at_row):
            return
        for index, begin in at_row[event.y]:
            choice = self.choices[index]
            if begin <= event.x < begin + len(face(choice)) and choice.is_open:
                self.at = index
                self.post_message(self.Given(choice))


def face(choice: Choice) -> str:
    key = f"{choice.key} " if choice.key else ""
    return f" {key}{choice.label} "


def rows(choices: Sequence[Choice], width: int) -> list[list[tuple[int, int]]]:
    """Which answers stand in which row, and where each begins."""
    found: list[list[tuple[int, int]]] = [[]]
    begin = 0
    for index, choice in enumerate(choices):
        length = len(face(choice))
        if found[-1] and begin + length > width:
            found.append([])
            begin = 0
        found[-1].append((index, begin))
        begin += length + 1
    return found
