"""Several files made into one, the later one above the earlier.

    an object    is merged key by key
    a list       is appended to; what is there already is not said twice
    `models`     of a provider are merged by their id
    `args`       are replaced: half of two command lines is no command line
    `recent_models` are replaced: each list is whole as it was written
    all else     is replaced
    `reset`      names keys (`options.context_paths`) that are forgotten before the file that says so is merged

The original cannot take anything out of an inherited list; `reset` is how that is said here. Nothing given is changed:
what comes back shares no list and no object that a later merge writes to.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from turnkeeper.settings.reading import Tree, as_list, as_tree

RESET = "reset"


def merge(below: Tree, above: Tree) -> Tree:
    """`above` over `below`, after forgetting what `above` wants to have forgotten."""
    base = below
    for key in reset_keys(above):
        base = without(base, split_key(key))
    return _merged(base, {key: value for key, value in above.items() if key != RESET})


def reset_keys(tree: Tree) -> list[str]:
    return [key for key in as_list(tree.get(RESET)) if isinstance(key, str)]


def _merged(below: Tree, above: Tree) -> Tree:
    result = dict(below)
    for key, value in above.items():
        result[key] = _over(key, result[key], value) if key in result else value
    return result


def _over(key: str, below: Any, above: Any) -> Any:
    match below, above:
        case dict(), dict() if key == "recent_models":
            return (as_tree(below) or {}) | (as_tree(above) or {})
        case dict(), dict():
            return _merged(as_tree(below) or {}, as_tree(above) or {})
        case list(), list() if key == "models":
            return _by_id(as_list(below), as_list(above))
        case list(), list() if key != "args":
            return [*as_list(below), *(item for item in as_list(above) if item not in below)]
        case _:
            return above


def _by_id(below: Sequence[Any], above: Sequence[Any]) -> list[Any]:
    """Models of a provider: a later one with the same id takes the place of the earlier one."""
    replaced = {_id(item): item for item in above}
    kept = [replaced.pop(_id(item), item) for item in below]
    return [*kept, *replaced.values()]


def _id(item: Any) -> str:
    return str((as_tree(item) or {}).get("id", item))


def without(tree: Tree, path: Sequence[str]) -> Tree:
    """The tree without one key; the same tree when it has no such key."""
    if not path or path[0] not in tree:
        return tree
    first, rest = path[0], path[1:]
    if not rest:
        return {key: value for key, value in tree.items() if key != first}
    inner = as_tree(tree[first])
    if inner is None:
        return tree
    left = without(inner, rest)
    return tree if left is inner else {**tree, first: left}


def split_key(key: str) -> list[str]:
    """`a.b\\.c` is `a` and then `b.c`."""
    parts, escaped = [""], False
    for letter in key:
        if escaped:
            parts[-1] += letter
            escaped = False
        elif letter == "\\":
            escaped = True
        elif letter == ".":
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def overlapping(first: Tree, second: Tree, at: tuple[str, ...] = ()) -> Iterable[tuple[str, ...]]:
    """The keys that two files of one directory both decide, for a warning; lists add up and are no conflict."""
    for key in first.keys() & second.keys():
        one, other = first[key], second[key]
        inner, outer = as_tree(one), as_tree(other)
        if inner is not None and outer is not None:
            yield from overlapping(inner, outer, (*at, key))
        elif not (isinstance(one, list) and isinstance(other, list)) and one != other:
            yield (*at, key)
