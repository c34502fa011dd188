"""The keys that a person gave us: kept in the keyring of their system, or in a file that only they can read.

What the keyring keeps is written down as the command that asks it, so whoever uses the key (a server, later) needs to
know nothing of keyrings. A key stands in nothing that is printed, logged or passed on a command line.
"""

import importlib
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from turnkeeper.settings.dirs import find_dirs
from turnkeeper.settings.editing import remove_fields, set_fields
from turnkeeper.settings.files import OUR_FILE
from turnkeeper.settings.marks import dotted
from turnkeeper.settings.reading import Tree, as_tree, parse, read_text

SERVICE = "turnkeeper"
ASKING = f"-m keyring get {SERVICE}"
FIELDS = ("api_key", "oauth")


def keep(provider: str, key: str, *, env: Mapping[str, str], in_keyring: bool) -> str:
    """Keep a provider's key; returns where it is. Whatever was kept for it before is forgotten."""
    forget(provider, env=env)
    file = keys_file(env)
    if in_keyring:
        _keyring().set_password(SERVICE, provider, key)
        asking = f"{shlex.quote(sys.executable)} {ASKING} {shlex.quote(provider)}"
        set_fields(file, {field_of(provider): f"$({asking})"})
        return "the keyring of this system"
    # In a value a dollar begins a variable; inside single quotes it is one.
    set_fields(file, {field_of(provider): shlex.quote(key) if "$" in key else key})
    return str(file)


def forget(provider: str, *, env: Mapping[str, str]) -> bool:
    """Forget what was kept for a provider; False if nothing was."""
    held = _held(keys_file(env)).get(provider)
    if held is None:
        return False
    if ASKING in str(held) and has_keyring():
        try:
            _keyring().delete_password(SERVICE, provider)
        except _keyring().errors.PasswordDeleteError:
            pass  # somebody removed it there before
    entry = as_tree(_providers(keys_file(env)).get(provider)) or {}
    only = set(entry) <= set(FIELDS)
    names = [dotted(("providers", provider))] if only else [field_of(provider, field) for field in FIELDS]
    remove_fields(keys_file(env), names)
    return True


def kept(env: Mapping[str, str]) -> list[str]:
    """The providers of whom something is kept."""
    return sorted(_held(keys_file(env)))


def keys_file(env: Mapping[str, str]) -> Path:
    return find_dirs(env).data / OUR_FILE


def field_of(provider: str, field: str = "api_key") -> str:
    return dotted(("providers", provider, field))


def has_keyring() -> bool:
    """Whether this system has a keyring that can be used from here."""
    try:
        found = _keyring().get_keyring()
        return float(found.priority) > 0
    except Exception:  # noqa: BLE001 - whatever a stranger's keyring does to say that it is not there
        return False


def _keyring() -> Any:
    return importlib.import_module("keyring")


def _providers(file: Path) -> Tree:
    return as_tree(parse(str(file), read_text(file) or "").tree.get("providers")) or {}


def _held(file: Path) -> dict[str, Any]:
    entries = {name: as_tree(entry) or {} for name, entry in _providers(file).items()}
    return {name: entry.get("api_key", "") for name, entry in entries.items() if any(one in entry for one in FIELDS)}
