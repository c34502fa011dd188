"""Setting and removing single keys of a configuration file, with everything else in it left as a person wrote it.

A key is a dotted path: `options.tui.compact_mode`, `hooks.PreToolUse.0.command`, `models.-1` for a new last element; a
backslash keeps a dot inside a name (`providers.a\\.b`), and a colon makes a number a name (`providers.:302`). A change
that would make the file unusable is refused and nothing is written. Several keys change together or not at all.
"""

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from turnkeeper.protocol.config import Scope
from turnkeeper.protocol.problems import BadRequest
from turnkeeper.settings import atomic, json_edit, trust
from turnkeeper.settings.checking import check
from turnkeeper.settings.dirs import crush_data_dir, find_dirs
from turnkeeper.settings.files import CRUSH_FILE, OUR_FILE, workspace_places
from turnkeeper.settings.load import Loaded
from turnkeeper.settings.merging import RESET, split_key
from turnkeeper.settings.reading import ConfigProblem, Document, Tree, as_list, as_tree, parse, read_text

REMOVED = object()
"""What a key is set to when it is to go."""

Change = tuple[list[str | int], Any]


class KeyProblem(BadRequest):
    """This key cannot be set."""


def set_in_scope(loaded: Loaded, scope: Scope, values: Mapping[str, Any]) -> None:
    """Set keys in the file of a scope. Reload afterwards to see them."""
    machine = find_dirs(loaded.environment).data
    set_fields(scope_file(loaded, scope), values, trust_dir=machine)


def remove_in_scope(loaded: Loaded, scope: Scope, keys: Sequence[str]) -> None:
    """Remove keys from the file of a scope, also those that the original wrote down in its own file of that scope."""
    machine = find_dirs(loaded.environment).data
    remove_fields(scope_file(loaded, scope), keys, inherited=_theirs(loaded, scope), trust_dir=machine)


def scope_file(loaded: Loaded, scope: Scope) -> Path:
    """The file that a scope is written to: the machine's, or the workspace's own."""
    folder = find_dirs(loaded.environment).data if scope is Scope.GLOBAL else loaded.settings.data_dir
    return folder / OUR_FILE


def _theirs(loaded: Loaded, scope: Scope) -> tuple[Path, ...]:
    if scope is Scope.GLOBAL:
        return (crush_data_dir(loaded.environment) / CRUSH_FILE,)
    places = workspace_places(loaded.settings.workdir, loaded.settings.data_dir)
    return tuple(place.path for place in places if place.path.name == CRUSH_FILE)


def set_fields(path: Path, values: Mapping[str, Any], *, trust_dir: Path | None = None) -> None:
    """Set keys of the file, all in one step. None says nothing, so it removes."""
    _write(path, {key: REMOVED if value is None else value for key, value in values.items()}, trust_dir)


def remove_fields(
    path: Path, keys: Sequence[str], *, inherited: Sequence[Path] = (), trust_dir: Path | None = None
) -> None:
    """Remove keys; one that is not there is no error.

    What the files of the original (`inherited`) still say is not ours to remove; it is forgotten by name.
    """
    below = [parse(str(file), text).tree for file in inherited if (text := read_text(file))]
    forgotten = [key for key in keys if any(_has(tree, split_key(key)) for tree in below)]
    _write(path, dict.fromkeys(keys, REMOVED), trust_dir, forgotten)


def _write(path: Path, values: Mapping[str, Any], trust_dir: Path | None, forgotten: Sequence[str] = ()) -> None:
    known = _is_trusted(path, trust_dir)

    def edit(text: str) -> str:
        tree = parse(str(path), text).tree
        changes = [(_path_of(key, tree), value) for key, value in values.items()]
        if new := [key for key in forgotten if key not in as_list(tree.get(RESET))]:
            changes.append(([RESET], [*as_list(tree.get(RESET)), *new]))
        after = edited(str(path), text, changes)
        check(parse(str(path), after))
        return after

    text = atomic.change(path, edit)
    if known and trust_dir:
        _trust_again(path, text, trust_dir)


def edited(path: str, text: str, changes: Sequence[Change]) -> str:
    """The text with the changes made; comments, order and spaces elsewhere stay."""
    expected: Tree = json.loads(json.dumps(parse(path, text).tree, default=str))
    for keys, value in changes:
        put(expected, keys, value)
    is_toml = path.endswith(".toml")
    result = (_edited_toml if is_toml else _edited_json)(text, changes)
    # Whatever an edit of the text may have misread: what a reader will find is what was asked for.
    if _says(path, result, expected):
        return result
    return _fresh_toml(expected) if is_toml else json.dumps(expected, indent=2, ensure_ascii=False) + "\n"


def _says(path: str, text: str, expected: Tree) -> bool:
    """Whether a text says what was asked for; an empty table says nothing, whether it is there or not."""
    try:
        return _plain(parse(path, text).tree) == _plain(expected)
    except ConfigProblem:
        return False


def put(tree: Any, keys: Sequence[str | int], value: Any, *, table: Callable[[], Any] = dict) -> None:
    """Set or remove one value inside objects and lists, making what is missing on the way."""
    for key, following in pairwise(keys):
        held: Any = _get(tree, key)
        if not isinstance(held, dict | list):
            if value is REMOVED:
                return
            held = list[Any]() if isinstance(following, int) else table()
            _store(tree, key, held)
        tree = _get(tree, key)
    if value is not REMOVED:
        _store(tree, keys[-1], value)
    elif _get(tree, keys[-1]) is not None:
        del tree[keys[-1]]


def _get(tree: Any, key: str | int) -> Any:
    if isinstance(tree, dict):
        return as_tree(tree).get(key) if isinstance(key, str) else None  # type: ignore[union-attr]
    return tree[key] if isinstance(key, int) and 0 <= key < len(tree) else None


def _store(tree: Any, key: str | int, value: Any) -> None:
    if isinstance(tree, dict) == isinstance(key, int):
        raise KeyProblem(f"{key}: a {'name' if isinstance(tree, dict) else 'number'} was expected in this key")
    if not isinstance(key, int) or 0 <= key < len(tree):
        tree[key] = value
    elif key in (-1, len(tree)):
        tree.append(value)
    else:
        raise KeyProblem(f"{key}: the list has {len(tree)} elements")


def _path_of(key: str, tree: Tree) -> list[str | int]:
    """The key's parts; a number is a place in a list where a list is, or where nothing is yet and it begins one."""
    if not key or any(not part for part in split_key(key)):
        raise KeyProblem(f"{key!r} is not a key")
    path: list[str | int] = []
    held: Any = tree
    for part in split_key(key):
        is_place = part.isdecimal() or part == "-1"
        name: str | int = part.removeprefix(":") if part[1:].isdecimal() else part
        if is_place and path and (isinstance(held, list) or (held is None and part in ("0", "-1"))):
            name = len(as_list(held)) if part == "-1" else int(part)
        path.append(name)
        held = _get(held, name) if isinstance(held, dict | list) else None
    return path


def _edited_json(text: str, changes: Sequence[Change]) -> str:
    for keys, value in changes:
        text = json_edit.without_value(text, keys) if value is REMOVED else json_edit.with_value(text, keys, value)
    return text


def _edited_toml(text: str, changes: Sequence[Change]) -> str:
    import tomlkit

    document = tomlkit.parse(text)
    for keys, value in changes:
        put(document, keys, _without_none(value), table=tomlkit.table)
    return tomlkit.dumps(document)


def _fresh_toml(tree: Tree) -> str:
    import tomlkit

    text = tomlkit.dumps(_without_none(tree))
    tomllib.loads(text)
    return text


def _without_none(value: Any) -> Any:
    """TOML has no word for nothing, so nothing is left out."""
    if value is REMOVED:
        return value
    if (tree := as_tree(value)) is not None:
        return {key: _without_none(item) for key, item in tree.items() if item is not None}
    return [_without_none(item) for item in as_list(value) if item is not None] if isinstance(value, list) else value


def _plain(tree: Tree) -> Any:
    return _without_empty(json.loads(json.dumps(_without_none(tree), default=str)))


def _without_empty(value: Any) -> Any:
    if (tree := as_tree(value)) is not None:
        kept = {key: _without_empty(item) for key, item in tree.items()}
        return {key: item for key, item in kept.items() if item != {}}
    return [_without_empty(item) for item in as_list(value)] if isinstance(value, list) else value


def _has(tree: Tree, keys: Sequence[str]) -> bool:
    held: Any = tree
    for key in keys:
        held = (as_tree(held) or {}).get(key)
    return held is not None


def _is_trusted(path: Path, trust_dir: Path | None) -> bool:
    if trust_dir is None:
        return False
    tree = parse(str(path), read_text(path) or "").tree
    return not trust.risky(tree) or trust.load_trust(trust_dir).of(path, trust.tree_digest(tree))


def _trust_again(path: Path, text: str, trust_dir: Path) -> None:
    """What was trusted and is changed through us is trusted still: whoever may ask us to write it may also run it."""
    tree, _ = check(Document(path=str(path), text=text, tree=parse(str(path), text).tree))
    if trust.risky(tree):
        trust.trust(trust_dir, path, trust.tree_digest(tree))
