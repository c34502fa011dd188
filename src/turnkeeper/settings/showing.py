"""What is set, key by key, for people: every value that holds, what nobody has set with its default.

A key is written as one writes it to set it (`waits.connect_seconds`); lists are values. Secrets are masked.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from turnkeeper.protocol.problems import BadRequest, NotFound
from turnkeeper.settings import marks
from turnkeeper.settings.checking import unknown_key
from turnkeeper.settings.environment import GROUPS
from turnkeeper.settings.masking import visible
from turnkeeper.settings.merging import split_key
from turnkeeper.settings.reading import Tree, as_list, as_tree
from turnkeeper.settings.settings import Settings

TABLES = (*GROUPS, "agents", "rules", "shell")
NOTHING: tuple[Any, ...] = (None, "", {}, [])


class NoSuchKey(BadRequest):
    """There is no such key."""


class NothingSaid(NotFound):
    """Nobody has set this, and it has no default."""


def everything(settings: Settings) -> Tree:
    """All that holds, as one tree without secrets."""
    tree = as_tree(_whole(settings.config)) or {}
    return visible({**tree, **{group: _whole(getattr(settings, group)) for group in TABLES}})


def value_of(tree: Tree, key: str) -> Any:
    """What holds for a key; raises `NoSuchKey` where nothing can ever hold."""
    held: Any = tree
    for part in split_key(key):
        items = as_list(held)
        inner = as_tree(held) or ({str(number): item for number, item in enumerate(items)} if items else {})
        held = inner.get(part.removeprefix(":") if part[1:].isdecimal() else part)
    if held not in NOTHING:
        return held
    if strange := unknown_key(key):
        raise NoSuchKey(strange)
    raise NothingSaid(f"{key} is not set")


def leaves(tree: Tree, at: marks.Path = ()) -> Iterator[tuple[str, Any]]:
    """Every value with its whole key; what says nothing is left out."""
    for key, value in tree.items():
        if inner := as_tree(value):
            yield from leaves(inner, (*at, key))
        elif value not in NOTHING:
            yield marks.dotted((*at, key)), value


def _whole(value: Any) -> Any:
    """As JSON has it, with what the wire leaves out."""
    if isinstance(value, msgspec.Struct):
        fields = msgspec.structs.fields(value)
        return {field.encode_name: _whole(getattr(value, field.name)) for field in fields}
    if (tree := as_tree(value)) is not None:
        return {key: _whole(item) for key, item in tree.items()}
    return [_whole(item) for item in value] if isinstance(value, tuple | list) else value  # pyright: ignore[reportUnknownVariableType]
