"""The newest end of a workspace's log, in memory: what most watchers want is read once and shared by all.

A watcher is a position. One that keeps up is served from here; one that fell behind reads the store until it has
caught up. The tail is bounded by entries, so memory does not depend on how slow anybody is.
"""

from bisect import bisect_right
from collections.abc import Sequence

from turnkeeper.protocol.events import Entry
from turnkeeper.protocol.ids import Position

TAIL_ENTRIES_MAX = 2048


class Tail:
    """Owns the last entries, without gaps; `start` is the position just before the first of them."""

    def __init__(self, head: Position, *, entries_max: int = TAIL_ENTRIES_MAX) -> None:
        self.start = head
        self.head = head
        self._entries: list[Entry] = []
        self._entries_max = entries_max

    def add(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            if entry.position != self.head + 1:
                # Somebody else wrote between: what we hold no longer joins up, so readers turn to the store.
                self._entries.clear()
                self.start = Position(entry.position - 1)
            self._entries.append(entry)
            self.head = entry.position
        # Trimmed in halves, so that adding stays cheap.
        if len(self._entries) > 2 * self._entries_max:
            del self._entries[: -self._entries_max]
            self.start = Position(self._entries[0].position - 1)

    def after(self, position: Position, limit: int) -> Sequence[Entry] | None:
        """The entries after `position`; None when the store must be asked."""
        if position < self.start:
            return None
        first = bisect_right(self._entries, position, key=lambda entry: entry.position)
        return self._entries[first : first + limit]
