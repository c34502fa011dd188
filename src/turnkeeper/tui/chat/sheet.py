"""The whole conversation as rows, of which only those in sight are drawn.

An item that was never in sight has an estimated height, and its own once it was. What was drawn is kept up to a bound
and drawn again when it comes back, so a conversation of a day costs no more than one of an hour.
"""

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from turnkeeper.tui.chat.draw import draw
from turnkeeper.tui.chat.ink import COLLAPSED_LINES, Drawn, Ink, Line
from turnkeeper.tui.chat.items import Item, Prompt, Said, Shell, Summary, Thought, Used
from turnkeeper.tui.chat.streaming import Stream

LINES_KEPT_MAX = 6_000
ITEMS_KEPT_MIN = 8
NEAR_THE_END = 64

Look = tuple[int, bool, int]
"""What a drawing depends on beside its item: the ink, whether it is expanded, how far it is shifted."""


@dataclass(slots=True)
class Kept:
    item: Item
    look: Look
    drawn: Drawn
    stream: Stream | None


class Sheet:
    """Owns the items, what was drawn of them, their heights, and which of them are expanded."""

    def __init__(self, ink: Ink) -> None:
        self.ink = ink
        self.items: tuple[Item, ...] = ()
        self.expanded_all = False
        self._inks = 0
        self._flipped: set[str] = set()
        self._shifts: dict[str, int] = {}
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self._lines_kept = 0
        self._heights: list[int] = []
        self._measured: list[bool] = []
        self._ends: list[int] = []
        self._places: dict[str, int] = {}

    @property
    def lines_kept(self) -> int:
        return self._lines_kept

    @property
    def height(self) -> int:
        ends = self._all_ends()
        return ends[-1] if ends else 0

    def put(self, items: tuple[Item, ...]) -> None:
        """Other items. Those that were here before keep their heights."""
        same = common(self.items, items)
        before = {item.key: at + same for at, item in enumerate(self.items[same:])}
        heights, measured = self._heights[:same], self._measured[:same]
        for item in items[same:]:
            at = before.get(item.key)
            heights.append(self._heights[at] if at is not None else estimated(item, self.ink.width))
            measured.append(at is not None and self.items[at] is item and self._measured[at])
        self.items, self._heights, self._measured = items, heights, measured
        del self._ends[same:]

    def use(self, ink: Ink) -> None:
        """Draw with another ink from now on."""
        if ink == self.ink:
            return
        if ink.width != self.ink.width:
            self._heights = [estimated(item, ink.width) for item in self.items]
        self.ink = ink
        self.forget()

    def forget(self) -> None:
        """Draw everything anew when it is next looked at."""
        self._inks += 1
        self._kept.clear()
        self._lines_kept = 0
        self._measured = [False] * len(self.items)
        self._ends.clear()

    def place(self, key: str) -> int | None:
        """Where an item is, counted from 0."""
        at = self._places.get(key, -1)
        if not (0 <= at < len(self.items) and self.items[at].key == key):
            self._places = {item.key: at for at, item in enumerate(self.items)}
        return self._places.get(key)

    def drawn(self, index: int) -> Drawn:
        """An item on paper; from now on its height is known."""
        item = self.items[index]
        look = (self._inks, self.is_expanded(item.key), self._shifts.get(item.key, 0))
        kept = self._kept.get(item.key)
        if kept is not None and kept.item is item and kept.look == look:
            self._kept.move_to_end(item.key)
        else:
            kept = self._draw(item, look, kept)
        self._measure(index, len(kept.drawn.lines))
        return kept.drawn

    def lines(self, index: int) -> Sequence[Line]:
        return self.drawn(index).lines

    def start(self, index: int) -> int:
        """The row an item begins at, as far as heights are known."""
        return self._all_ends()[index - 1] if index > 0 and self.items else 0

    def at(self, row: int) -> tuple[int, int]:
        """The item at a row, and which line of it."""
        ends = self._all_ends()
        index = min(bisect_right(ends, max(0, row)), max(0, len(ends) - 1))
        return index, max(0, row - self.start(index))

    # Expanding

    def is_expanded(self, key: str) -> bool:
        return (key in self._flipped) != self.expanded_all

    def expand(self, key: str, *, expanded: bool) -> None:
        if self.is_expanded(key) != expanded:
            self._flipped ^= {key}

    def expand_all(self, *, expanded: bool) -> None:
        self.expanded_all = expanded
        self._flipped.clear()
        self._measured = [False] * len(self.items)

    def shift(self, key: str, by: int) -> None:
        """Move what does not wrap by some cells."""
        self._shifts[key] = max(0, self._shifts.get(key, 0) + by)

    # Within

    def _draw(self, item: Item, look: Look, before: Kept | None) -> Kept:
        ink = replace(self.ink, expanded=look[1], shift=look[2])
        stream = before.stream if before is not None and before.look == look else None
        drawn, stream = draw(item, ink, stream)
        kept = Kept(item, look, drawn, stream)
        if before is not None:
            self._lines_kept -= len(before.drawn.lines)
        self._kept[item.key] = kept
        self._kept.move_to_end(item.key)
        self._lines_kept += len(drawn.lines)
        while self._lines_kept > LINES_KEPT_MAX and len(self._kept) > ITEMS_KEPT_MIN:
            _, oldest = self._kept.popitem(last=False)
            self._lines_kept -= len(oldest.drawn.lines)
        return kept

    def _measure(self, index: int, height: int) -> None:
        self._measured[index] = True
        if self._heights[index] != height:
            self._heights[index] = height
            del self._ends[index:]

    def _all_ends(self) -> list[int]:
        """Where each item ends; summed up again from the first whose height changed."""
        known = len(self._ends)
        if known < len(self._heights):
            begin = self._ends[-1] if known else 0
            self._ends += list(accumulate(self._heights[known:], initial=begin))[1:]
        return self._ends


def common(before: tuple[Item, ...], after: tuple[Item, ...]) -> int:
    """With how many equal items both begin. All but the last few are compared at once: that is where things change."""
    most = min(len(before), len(after))
    same = max(0, most - NEAR_THE_END)
    if before[:same] != after[:same]:
        same = 0
    while same < most and before[same] is after[same]:
        same += 1
    return same


def estimated(item: Item, width: int) -> int:
    """How many rows an item will most likely take, for next to nothing."""
    width = max(20, min(width, 120) - 4)
    match item:
        case Said(text=text) | Summary(text=text):
            return 2 + text.count("\n") + len(text) // width
        case Prompt(text=text, attached=attached):
            return 3 + text.count("\n") + len(text) // width + len(attached)
        case Used(content=content, output=output):
            return 2 + min(COLLAPSED_LINES + 1, (content or output).count("\n") + 1)
        case Shell(output=output):
            return 2 + min(COLLAPSED_LINES + 1, output.count("\n") + 1)
        case Thought():
            return 4
        case _:
            return 2
