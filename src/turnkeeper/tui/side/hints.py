"""Hints: which keys do something here, as many as there is room for."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from textual.app import App
from textual.content import Content
from textual.screen import Screen


class Hint(NamedTuple):
    key: str
    about: str


def hints_here(app: App[int], screen: Screen[Any]) -> list[Hint]:
    """The keys that are shown and hold where the focus is, in the order of the key map, each once."""
    found: dict[str, Hint] = {}
    for active in screen.active_bindings.values():
        binding = active.binding
        if binding.show and active.enabled and binding.id and binding.id not in found:
            found[binding.id] = Hint(app.get_key_display(binding), binding.description)
    return list(found.values())


def fitting(hints: Iterable[Hint], room: int) -> Content:
    """The first hints that fit into a number of cells."""
    line = Content("")
    for hint in hints:
        said = Content.assemble((hint.key, "$text bold"), " ", (short(hint.about), "$foreground-muted"))
        longer = said if not line else Content.assemble(line, "  ", said)
        if longer.cell_length > room:
            break
        line = longer
    return line


def short(about: str) -> str:
    """`Help: all keys` is `help` in a line of hints."""
    return about.partition(":")[0].partition(";")[0].partition(",")[0].lower()
