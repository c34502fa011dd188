"""A configuration as it may be shown to somebody who does not own it: every secret replaced, everything else as it is.

Fields that hold secrets are hidden whole; a bare `$NAME` stays, since it names a secret and is none. What was hidden in
one place is then hidden wherever else it occurs, such as in an argument or an address.
"""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import msgspec

from turnkeeper.protocol.config import Config
from turnkeeper.settings.reading import Tree, as_list, as_tree
from turnkeeper.settings.trust import texts

HIDDEN = "********"
SECRET_LETTERS_MIN = 8
"""What is shorter is hidden where it stands, and not looked for elsewhere: it is as likely to be a plain word."""

_BARE = re.compile(r"\$\w+|\$\{\w+\}")
_SECRET_NAME = re.compile(r"key|token|secret|passw|credential|auth|cookie|bearer|signature", re.IGNORECASE)
_HARMLESS_NAME = re.compile(
    r"max_tokens|tokens$|budget_tokens|token_url|auth_url|auth_style|aws_auth_refresh", re.IGNORECASE
)
_SECRET_SHAPE = re.compile(r"\b(?:sk|pk|rk|xox[abp]|gh[opsu]|glpat|hf|gsk|AIza|AKIA)[-_A-Za-z0-9]{12,}")
_ALL_VALUES = ("env", "headers", "extra_headers")
_FLAG = re.compile(r"--?[\w-]+")


def masked(config: Config) -> Config:
    """The same configuration without a secret in it."""
    tree = _tree(config)
    secrets = sorted({text for text in _secrets(tree) if len(text) >= SECRET_LETTERS_MIN}, key=len, reverse=True)
    return msgspec.convert(_without(_hidden(tree), secrets), Config)


def masked_text(text: str, config: Config) -> str:
    """A message without the secrets of this configuration."""
    secrets = sorted(_secrets(_tree(config)), key=len, reverse=True)
    return str(_without(text, [secret for secret in secrets if len(secret) >= SECRET_LETTERS_MIN]))


def _tree(config: Config) -> Tree:
    """As JSON has it, where every sequence is a list."""
    return msgspec.json.decode(msgspec.json.encode(config), type=dict[str, Any])


def _secrets(value: Any) -> Iterator[str]:
    """Every text that `_hidden` hides."""
    for key, item in (as_tree(value) or {}).items():
        if is_secret(key) or key in _ALL_VALUES:
            yield from (text for text in texts(item) if not _BARE.fullmatch(text) and text)
        elif key == "args":
            yield from (text for text, secret in _arguments(as_list(item)) if secret)
        else:
            yield from _secrets(item)
            yield from _in_address(item)
    for item in as_list(value):
        yield from _secrets(item)


def _in_address(value: Any) -> Iterator[str]:
    """Passwords and the values of queries."""
    if isinstance(value, str) and "://" in value:
        try:
            parts = urlsplit(value)
        except ValueError:
            yield value
            return
        yield from filter(None, (parts.username, parts.password))
        yield from (part.partition("=")[2] for part in parts.query.split("&") if "=" in part)


def _hidden(value: Any) -> Any:
    if (tree := as_tree(value)) is not None:
        return {key: _hidden_entry(key, item) for key, item in tree.items()}
    return [_hidden(item) for item in as_list(value)] if isinstance(value, list) else value


def _hidden_entry(key: str, item: Any) -> Any:
    if is_secret(key) or key in _ALL_VALUES:
        return _blotted(item)
    if key == "args":
        return [_blotted(text) if secret else text for text, secret in _arguments(as_list(item))]
    return _hidden(item)


def _blotted(item: Any) -> Any:
    """Every text inside is hidden; numbers and names of keys stay."""
    match item:
        case str():
            return item if not item or _BARE.fullmatch(item) else HIDDEN
        case list():
            return [_blotted(one) for one in as_list(item)]
        case dict():
            return {key: _blotted(one) for key, one in (as_tree(item) or {}).items()}
        case _:
            return item


def _arguments(arguments: list[Any]) -> Iterator[tuple[str, bool]]:
    """Each argument, and whether it is what a flag such as `--token` says."""
    told = False
    for argument in map(str, arguments):
        name, equals, said = argument.partition("=")
        named = _FLAG.fullmatch(name) is not None and is_secret(name)
        yield argument, bool(told or (named and equals and said)) and not _BARE.fullmatch(argument)
        told = named and not equals


def is_secret(name: str) -> bool:
    """Whether what has this name should be seen by nobody but its owner."""
    return bool(_SECRET_NAME.search(name)) and not _HARMLESS_NAME.search(name)


def _without(value: Any, secrets: list[str]) -> Any:
    match value:
        case str():
            for secret in secrets:
                value = value.replace(secret, HIDDEN)
            return _SECRET_SHAPE.sub(HIDDEN, value)
        case list():
            return [_without(item, secrets) for item in as_list(value)]
        case dict():
            return {key: _without(item, secrets) for key, item in (as_tree(value) or {}).items()}
        case _:
            return value


def visible(tree: Tree) -> Tree:
    """A tree of settings as it may be printed."""
    return _without(_hidden(tree), [text for text in _secrets(tree) if len(text) >= SECRET_LETTERS_MIN])
