"""Going back through what was said before, without losing what is being written.

Latest first. The draft is what stands before the latest; what is changed on the way, there or in an old entry, is there
again when one comes by.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from turnkeeper.protocol.messages import Message, ShellCommand

ENTRIES_MAX = 1000
DRAFT = -1


@dataclass(frozen=True, slots=True)
class Browsing:
    """Where somebody is in their history."""

    entries: tuple[str, ...] = ()
    at: int = DRAFT
    changed: Mapping[int, str] = field(default_factory=dict[int, str])

    @property
    def text(self) -> str:
        if self.at in self.changed:
            return self.changed[self.at]
        return "" if self.at == DRAFT else self.entries[self.at]

    def older(self, text: str) -> "Browsing | None":
        """One further back, leaving `text`; None at the end."""
        return self._at(self.at + 1, text) if self.at + 1 < len(self.entries) else None

    def newer(self, text: str) -> "Browsing | None":
        return self._at(self.at - 1, text) if self.at > DRAFT else None

    def added(self, text: str) -> "Browsing":
        """After something was said: it is the latest, and one writes anew."""
        return Browsing(distinct((text, *self.entries)))

    def with_entries(self, entries: Iterable[str]) -> "Browsing":
        """With what was learnt of earlier; where somebody is browsing, nothing moves under their hands."""
        return self if self.at != DRAFT else replace(self, entries=distinct((*self.entries, *entries)))

    def _at(self, at: int, text: str) -> "Browsing":
        changed = self.changed if text == self.text else {**self.changed, self.at: text}
        return replace(self, at=at, changed=changed)


def distinct(texts: Iterable[str]) -> tuple[str, ...]:
    """Each once, where it was latest; nothing blank."""
    return tuple(dict.fromkeys(text for text in texts if text.strip()))[:ENTRIES_MAX]


def prompts(said: Iterable[Message]) -> tuple[str, ...]:
    return distinct(message.text for message in said)


def commands(said: Iterable[Message]) -> tuple[str, ...]:
    """What was typed for the shell."""
    return distinct(part.command for message in said for part in message.parts if isinstance(part, ShellCommand))
