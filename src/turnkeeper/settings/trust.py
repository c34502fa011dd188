"""What a project may set by itself, and what waits until a person trusts it.

A repository that was cloned a minute ago can bring configuration along. What only describes work takes effect at once.
What runs programs, opens doors or sends a key elsewhere does not, until somebody has said of exactly this content that
it is trusted: `crushrc`, hooks, MCP and LSP servers, environment variables, commands in values, permissions given in
advance, and a provider's address for which the key comes from the person. Content that changes has to be trusted again.
"""

import hashlib
import json
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any

import msgspec

from turnkeeper.settings import atomic, marks
from turnkeeper.settings.expansion import has_command
from turnkeeper.settings.merging import without
from turnkeeper.settings.reading import ConfigProblem, Tree, as_list, as_tree, parse_json, read_text

TRUST_FILE = "trusted.json"

WHOLE_TABLES = ("hooks", "mcp", "lsp", "env", "shell")
"""Tables of which every entry can run a program or change how one runs."""


class Trust(msgspec.Struct, frozen=True):
    """What has been trusted so far: a digest for each file's path."""

    path: Path
    digests: dict[str, str] = {}
    everything: bool = False

    def of(self, path: Path, digest: str) -> bool:
        return self.everything or self.digests.get(str(path)) == digest


def load_trust(data_dir: Path, *, everything: bool = False) -> Trust:
    """What was trusted on this machine. A file that cannot be understood trusts nothing."""
    path = data_dir / TRUST_FILE
    return Trust(path=path, digests=_digests(path, read_text(path) or ""), everything=everything)


def trust(data_dir: Path, file: Path, digest: str) -> None:
    """Remember that this content of this file is trusted."""
    _remember(data_dir / TRUST_FILE, file, digest)


def distrust(data_dir: Path, file: Path) -> None:
    _remember(data_dir / TRUST_FILE, file, None)


def text_digest(text: str) -> str:
    """Of a script all of it counts."""
    return hashlib.sha256(text.encode()).hexdigest()


def tree_digest(tree: Tree) -> str:
    """Of a file of settings only what waits for trust counts, so that other changes do not ask again."""
    found = {marks.dotted(path): _at(tree, path) for path in risky(tree)}
    return text_digest(json.dumps(found, sort_keys=True, default=str))


def harmless(tree: Tree, *, keyed: Container[str]) -> Tree:
    """The tree without what waits for trust."""
    for path in risky(tree, keyed=keyed):
        tree = without(tree, path)
    return tree


def risky(tree: Tree, *, keyed: Container[str] | None = None) -> list[tuple[str, ...]]:
    """The keys that wait for trust. `keyed` are the providers that may have a key from elsewhere; None means all."""
    return list(dict.fromkeys(_risky(tree, keyed)))


def _risky(tree: Tree, keyed: Container[str] | None) -> Iterator[tuple[str, ...]]:
    for table in WHOLE_TABLES:
        yield from ((table, name) for name in as_tree(tree.get(table)) or {})
    for name, entry in (as_tree(tree.get("providers")) or {}).items():
        provider = as_tree(entry) or {}
        borrows = "$" in str(provider.get("api_key", "$" if keyed is None or name in keyed else ""))
        yield from (("providers", name, key) for key in provider if _is_risky(key, provider[key], borrows=borrows))
    if as_list((as_tree(tree.get("permissions")) or {}).get("allowed_tools")):
        yield "permissions", "allowed_tools"
    if any((as_tree(rule) or {}).get("verdict") != "deny" for rule in as_list(tree.get("rules"))):
        yield ("rules",)
    if as_list(tree.get("reset")):
        yield ("reset",)


def _is_risky(key: str, value: Any, *, borrows: bool) -> bool:
    """A project may send its own key to its own address, but not a key that it does not know."""
    match key:
        case "aws_auth_refresh":
            return True
        case "base_url":
            return borrows or "$" in str(value)
        case "extra_headers":
            return any("$" in text for text in texts(value))
        case _:
            return any(has_command(text) for text in texts(value))


def texts(value: Any) -> Iterator[str]:
    """Every text inside a value."""
    match value:
        case str():
            yield value
        case list():
            for item in as_list(value):
                yield from texts(item)
        case dict():
            for item in (as_tree(value) or {}).values():
                yield from texts(item)
        case _:
            pass


def _at(tree: Tree, path: tuple[str, ...]) -> Any:
    value: Any = tree
    for key in path:
        value = (as_tree(value) or {}).get(key)
    return value


def _remember(path: Path, file: Path, digest: str | None) -> None:
    def edit(text: str) -> str:
        digests = {**_digests(path, text), str(file): digest}
        kept = {name: value for name, value in digests.items() if value is not None}
        return json.dumps(kept, indent=2, sort_keys=True) + "\n"

    atomic.change(path, edit)


def _digests(path: Path, text: str) -> dict[str, str]:
    try:
        return msgspec.convert(parse_json(str(path), text), dict[str, str])
    except (msgspec.ValidationError, ConfigProblem):
        return {}
