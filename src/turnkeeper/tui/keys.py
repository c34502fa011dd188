"""What a key is: one row of the key map, from which bindings and help are both made.

A row's id names where it holds and what it does (`chat.page-down`); the widget that holds it has the action of that
name (`action_page_down`). A key map in the settings gives ids other keys.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from textual.binding import Binding, BindingType


@dataclass(frozen=True, slots=True)
class Key:
    """`shown` puts it in the line of hints; `first` takes the key before whatever has the focus does."""

    id: str
    keys: str
    about: str
    shown: bool = False
    first: bool = False
    display: str | None = None

    @property
    def context(self) -> str:
        return self.id.partition(".")[0]

    @property
    def action(self) -> str:
        return self.id.rpartition(".")[2].replace("-", "_")


def bindings(keys: Iterable[Key], *contexts: str) -> list[BindingType]:
    """The rows of some contexts (all, if none is named) as a widget's `BINDINGS`."""
    return [
        Binding(
            key.keys,
            key.action,
            key.about,
            show=key.shown,
            key_display=key.display,
            priority=key.first,
            id=key.id,
        )
        for key in keys
        if not contexts or key.context in contexts
    ]
