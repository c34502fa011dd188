"""What somebody is about to name: a file after an `@`, a command after a `/` at the very beginning. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto

from turnkeeper.tui.commands import Command
from turnkeeper.tui.editor.fuzzy import match

_FILE = re.compile(r"(?:^|(?<=[\s(\[\"'`]))@([^\s@]*)\Z")
_COMMAND = re.compile(r"/([\w:?-]*)")


class Kind(Enum):
    FILE = auto()
    COMMAND = auto()


@dataclass(frozen=True, slots=True)
class Naming:
    """`query` was typed so far; it stands, with its sign, from `begins` to `ends`."""

    kind: Kind
    query: str
    begins: int
    ends: int


@dataclass(frozen=True, slots=True)
class Offer:
    """Something that can be chosen, and which of its letters were typed."""

    name: str
    about: str = ""
    at: tuple[int, ...] = ()


def naming(text: str, at: int) -> Naming | None:
    """What is being named where the cursor is, if anything."""
    if (command := _COMMAND.fullmatch(text)) and at == len(text):
        return Naming(Kind.COMMAND, command[1], 0, at)
    if found := _FILE.search(text[:at]):
        return Naming(Kind.FILE, found[1], found.start(), at)
    return None


def offered(query: str, commands: Iterable[Command]) -> list[Offer]:
    """The commands that fit, best first; one of whose other names a piece was written is told with that name."""
    found: list[tuple[tuple[int, int], Offer]] = []
    for place, command in enumerate(commands):
        if not query:
            found.append(((0, place), Offer(command.name, command.about)))
        elif own := match(query, command.name):
            found.append(((own.rank, own.spread), Offer(command.name, command.about, own.at)))
        elif others := [fits for alias in command.aliases if query.lower() in alias and (fits := match(query, alias))]:
            best = min(others, key=lambda one: one.order)
            about = f"{command.about} ({best.text})"
            found.append(((best.rank, best.spread + 1), Offer(command.name, about)))
    return [offer for _, offer in sorted(found, key=lambda pair: pair[0])]
