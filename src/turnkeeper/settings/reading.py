"""The text of a configuration file made into a tree, and everything that can be wrong with it said with its place.

`crush.json` may hold comments and trailing commas. A problem names the file, the line and the key; it never repeats the
value, which may be a secret.
"""

import json
import re
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec

from turnkeeper.protocol.problems import BadRequest
from turnkeeper.settings import marks
from turnkeeper.settings.settings import Source

Tree = dict[str, Any]

FILE_BYTES_MAX = 4 << 20


class ConfigProblem(BadRequest):
    """The configuration cannot be used."""

    def __init__(
        self, message: str = "", *, source: Source | None = None, also: "Sequence[ConfigProblem]" = ()
    ) -> None:
        first = f"{source}: {message}" if source else message
        super().__init__("\n".join([first, *(str(problem) for problem in also)]))
        self.source = source
        self.also = tuple(also)


class TomlError(ConfigProblem):
    """The file is not TOML."""


class JsonError(ConfigProblem):
    """The file is not JSON."""


class Document(msgspec.Struct, frozen=True):
    """One file, understood: its tree, and where each key of it stands."""

    path: str
    text: str
    tree: Tree
    lines: dict[marks.Path, int] = {}
    """Filled for what is not text of our own, such as a script; otherwise found when asked for."""

    def source(self, path: marks.Path) -> Source:
        """The place of a key, or of the nearest thing around it."""
        return Source(self.path, self.line(path))

    def line(self, path: marks.Path) -> int:
        found = self.lines or line_numbers(self)
        while path and path not in found:
            path = path[:-1]
        return found.get(path, 1)


def line_numbers(document: Document) -> dict[marks.Path, int]:
    """The line of every key, counted in one pass over the text."""
    if document.lines or not document.text:
        return document.lines
    walk = marks.toml_marks if document.path.endswith(".toml") else marks.json_marks
    numbers: dict[marks.Path, int] = {}
    line, seen = 1, 0
    for path, mark in sorted(walk(document.text).items(), key=_offset):
        line += document.text.count("\n", seen, mark.key)
        seen = mark.key
        numbers[path] = line
    return numbers


def _offset(entry: tuple[marks.Path, marks.Mark]) -> int:
    return entry[1].key


def as_tree(value: Any) -> Tree | None:
    """The value, if it is an object."""
    return cast(Tree, value) if isinstance(value, dict) else None


def as_list(value: Any) -> list[Any]:
    """The value, if it is a list; else an empty one."""
    return cast(list[Any], value) if isinstance(value, list) else []


def read_text(path: Path) -> str | None:
    """The file's text; None when there is no such file."""
    try:
        raw = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigProblem(f"cannot be read: {error.strerror}", source=Source(str(path))) from error
    if len(raw) > FILE_BYTES_MAX:
        raise ConfigProblem(f"is larger than {FILE_BYTES_MAX} bytes", source=Source(str(path)))
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ConfigProblem("is not UTF-8", source=Source(str(path), line)) from error


def parse(path: str, text: str) -> Document:
    """What the file says, by the ending of its name."""
    read: Callable[[str, str], Any] = parse_toml if path.endswith(".toml") else parse_json
    tree = as_tree(read(path, text))
    if tree is None:
        raise JsonError("an object was expected at the top", source=Source(path, 1))
    return Document(path=path, text=text, tree=tree)


def parse_toml(path: str, text: str) -> Tree:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"^(.*) \(at line (\d+), column (\d+)\)$", str(error), re.DOTALL)
        if found is None:
            raise TomlError(f"not valid TOML: {error}", source=Source(path, text.count("\n") + 1)) from error
        line = int(found[2])
        raise TomlError(f"not valid TOML: {found[1]} (column {found[3]})", source=Source(path, line)) from error
    except RecursionError as error:
        raise TomlError("not valid TOML: nested too deeply", source=Source(path, 1)) from error


def parse_json(path: str, text: str) -> Any:
    if not text.strip():
        return {}
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _parse_json5(path, text)


def _parse_json5(path: str, text: str) -> Any:
    """The slower way, for comments. Its messages give an offset, of which we make a line."""
    import pyjson5

    try:
        return pyjson5.decode(text, maxdepth=marks.DEPTH_MAX)
    except pyjson5.Json5Exception as error:
        message = str(error.args[0]) if error.args else "cannot be understood"
        found = re.search(r" near (\d+)", message)
        offset = int(found[1]) - 1 if found else 0
        # What was found there is named by its code point, and could only be one character of a secret.
        told = re.sub(r" (?:starting )?near \d+|b(?='\w+')", "", message)
        source = Source(path, marks.line_at(text, offset))
        raise JsonError(f"not valid JSON: {told}", source=source) from error
