"""The newest end of a workspace's log, in memory: what most watchers want is read once and shared by all.

A watcher is a position. One that keeps up is served from here; one that fell behind reads the store until it has
caught up. The tail is bounded by entries and by what they hold, so memory depends neither on how slow anybody is nor on
how large the files and pictures are that a run works on.
"""

from bisect import bisect_right
from collections.abc import Sequence

from turnkeeper.protocol.events import (
    Entry,
    Event,
    FileSaid,
    MessageSaid,
    PartSaid,
    PromptEdited,
    RunAccepted,
)
from turnkeeper.protocol.ids import Position
from turnkeeper.protocol.messages import Binary, Part, Reasoning, ShellCommand, Text, ToolCall, ToolResult

TAIL_ENTRIES_MAX = 2048
TAIL_LETTERS_MAX = 8 * 1024 * 1024


class Tail:
    """Owns the last entries, without gaps; `start` is the position just before the first of them."""

    def __init__(
        self, head: Position, *, entries_max: int = TAIL_ENTRIES_MAX, letters_max: int = TAIL_LETTERS_MAX
    ) -> None:
        self.start = head
        self.head = head
        self._entries: list[Entry] = []
        self._weights: list[int] = []
        self._letters = 0
        self._entries_max = entries_max
        self._letters_max = letters_max

    def add(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            if entry.position != self.head + 1:
                # Somebody else wrote between: what we hold no longer joins up, so readers turn to the store.
                self._drop(len(self._entries))
                self.start = Position(entry.position - 1)
            self._entries.append(entry)
            self._weights.append(weight(entry.event))
            self._letters += self._weights[-1]
            self.head = entry.position
        # Trimmed in halves, so that adding stays cheap.
        if len(self._entries) > 2 * self._entries_max or self._letters > 2 * self._letters_max:
            self._trim()

    def _trim(self) -> None:
        """Down to both bounds; the newest entry stays, whatever it holds."""
        gone, letters = max(0, len(self._entries) - self._entries_max), self._letters - self._letters_max
        letters -= sum(self._weights[:gone])
        while letters > 0 and gone < len(self._entries) - 1:
            letters -= self._weights[gone]
            gone += 1
        self._drop(gone)
        self.start = Position(self._entries[0].position - 1)

    def _drop(self, count: int) -> None:
        self._letters -= sum(self._weights[:count])
        del self._entries[:count], self._weights[:count]

    def after(self, position: Position, limit: int) -> Sequence[Entry] | None:
        """The entries after `position`; None when the store must be asked."""
        if position < self.start:
            return None
        first = bisect_right(self._entries, position, key=lambda entry: entry.position)
        return self._entries[first : first + limit]


def weight(event: Event) -> int:
    """About how many letters an event holds, where they can be many."""
    match event:
        case FileSaid(file=file):
            return len(file.content)
        case PartSaid(part=part):
            return letters_in(part)
        case MessageSaid(message=message):
            return sum(map(letters_in, message.parts))
        case RunAccepted(prompt=prompt) | PromptEdited(prompt=prompt):
            return len(prompt.text) + sum(len(attached.content) for attached in prompt.attachments)
        case _:
            return 0


def letters_in(part: Part) -> int:
    match part:
        case Text(text):
            return len(text)
        case Reasoning():
            return len(part.thinking) + len(part.signature) + len(part.provider_data)
        case ToolCall():
            return len(part.input) + len(part.provider_data)
        case ToolResult():
            return len(part.content) + len(part.data) + len(part.metadata)
        case Binary():
            return len(part.data)
        case ShellCommand():
            return len(part.output)
        case _:
            return 0
