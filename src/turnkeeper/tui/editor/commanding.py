"""What a text that begins with a slash means: a command, a mistake in one, or a prompt. Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from turnkeeper.tui.commands import Command

LEAVING = ("exit", "quit")
NEAR_MAX = 3
ALIKE_MIN = 0.75
ANYWAY = "a space before it sends it as it is"
_NAMED = re.compile(r"/([\w:?-]*)(?=\s|\Z)")
"""A path has another slash, and is no command."""


@dataclass(frozen=True, slots=True)
class Mistaken:
    """There is no such command, or none that takes something."""

    why: str


def commanded(text: str, commands: Sequence[Command]) -> Command | Mistaken | None:
    """The command that was written in full, or what is wrong with it; None for a prompt."""
    said = text.strip().lower()
    name = said if said in LEAVING else found[1] if (found := _NAMED.match(text)) else None
    if name is None:
        return None
    command = next((one for one in commands if one.is_called(name)), None)
    if command is None:
        return Mistaken(f"There is no command /{name}; {_near(name, commands)}{ANYWAY}.")
    if said.removeprefix("/") != name.lower():
        return Mistaken(f"/{name} takes nothing behind it; {ANYWAY}.")
    return command


def _near(name: str, commands: Iterable[Command]) -> str:
    """The names that are nearest, to be said."""
    called = [called for one in commands for called in (one.name, *one.aliases)]
    close = get_close_matches(name.lower(), called, NEAR_MAX, ALIKE_MIN)
    begun = [one for one in called if name and one.startswith(name.lower())]
    near = list(dict.fromkeys([*close, *begun]))[:NEAR_MAX]
    return f"there is {', '.join(f'/{one}' for one in near)}; " if near else ""
