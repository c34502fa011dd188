"""Where in a file each key stands: for messages that name the line, and for edits that leave the rest alone.

The text is one that a real parser has accepted already; here it is only walked, so a mark may be missing and is never
wrong about what is there. JSON is read with comments, trailing commas and unquoted names.
"""

import json
import re

import msgspec

Path = tuple[str | int, ...]
"""Where a value is inside its file: names of objects' members, positions in arrays."""

DEPTH_MAX = 100

_JSON_BLANK = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)+", re.DOTALL)
_TOML_BLANK = re.compile(r"(?:\s+|\#[^\n]*)+")
_JSON_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'', re.DOTALL)
_TOML_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'',
    re.DOTALL,
)
_JSON_SCALAR = re.compile(r"[^\s,\[\]{}/]+")
_TOML_SCALAR = re.compile(r"[^\s,\[\]{}#]+(?: \d\d:[\d:.+Z-]*)?")
_NAME = re.compile(r"[^\s.,:=\[\]{}\"'#]+")


class Mark(msgspec.Struct, frozen=True):
    """Offsets into the text: where the key begins, and where its value begins and ends."""

    key: int
    start: int
    end: int


def line_at(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def dotted(path: Path) -> str:
    """A path as people write it. A dot inside a name gets a backslash before it."""
    return ".".join(str(part).replace("\\", "\\\\").replace(".", "\\.") for part in path)


def json_marks(text: str) -> dict[Path, Mark]:
    walk = _Walk(text, blank=_JSON_BLANK, string=_JSON_STRING, scalar=_JSON_SCALAR, between=":")
    start = walk.skip(0)
    if start < len(text):
        walk.value((), start, start)
    return walk.marks


def toml_marks(text: str) -> dict[Path, Mark]:
    walk = _Walk(text, blank=_TOML_BLANK, string=_TOML_STRING, scalar=_TOML_SCALAR, between="=")
    table: Path = ()
    counts: dict[Path, int] = {}
    at = walk.skip(0)
    while at < len(text):
        if text[at] == "[":
            table, at = _toml_header(walk, at, counts)
        else:
            at = walk.member(table, at)
        at = walk.skip(at)
    return walk.marks


def _toml_header(walk: "_Walk", at: int, counts: dict[Path, int]) -> tuple[Path, int]:
    """`[a.b]`, or `[[a.b]]`, which is the next element of a list; a list in the middle means its last element."""
    brackets = 2 if walk.text.startswith("[[", at) else 1
    names, end = walk.names(walk.skip(at + brackets))
    mark = Mark(at, at, end + brackets)
    path: Path = ()
    for name in names:
        path = (*path, counts[path]) if path in counts else path
        path = (*path, name)
        walk.marks.setdefault(path, mark)
    if brackets == 2:
        counts[path] = counts.get(path, -1) + 1
        path = (*path, counts[path])
        walk.marks.setdefault(path, mark)
    elif path in counts:
        path = (*path, counts[path])
    return path, mark.end


class _Walk:
    """One pass over one text; owns the marks found so far."""

    def __init__(
        self,
        text: str,
        *,
        blank: re.Pattern[str],
        string: re.Pattern[str],
        scalar: re.Pattern[str],
        between: str,
    ) -> None:
        self.text = text
        self.marks: dict[Path, Mark] = {}
        self._blank = blank
        self._string = string
        self._scalar = scalar
        self._between = between

    def skip(self, at: int) -> int:
        found = self._blank.match(self.text, at)
        return found.end() if found else at

    def names(self, at: int) -> tuple[list[str], int]:
        """A key: one name, or in TOML several with dots between."""
        names: list[str] = []
        while True:
            found = self._string.match(self.text, at) or _NAME.match(self.text, at)
            if found is None:
                return names or [""], max(at, at + (not names))
            names.append(_unquoted(found.group()))
            at = self.skip(found.end())
            if self._between == ":" or not self.text.startswith(".", at):
                return names, at
            at = self.skip(at + 1)

    def member(self, path: Path, at: int) -> int:
        """`key = value` or `key: value`."""
        key = at
        names, at = self.names(at)
        if self.text.startswith(self._between, at):
            at = self.skip(at + 1)
        for count in range(1, len(names)):
            self.marks.setdefault((*path, *names[:count]), Mark(key, key, key))
        return self.value((*path, *names), key, at)

    def value(self, path: Path, key: int, at: int) -> int:
        end = self._inside(path, at)
        self.marks[path] = Mark(key, at, end)
        return end

    def _inside(self, path: Path, at: int) -> int:
        opening = self.text[at : at + 1]
        if opening in ("{", "[") and len(path) < DEPTH_MAX:
            return self._container(path, at + 1, "}" if opening == "{" else "]")
        found = self._string.match(self.text, at) or self._scalar.match(self.text, at)
        return found.end() if found else at + 1

    def _container(self, path: Path, at: int, closing: str) -> int:
        count = 0
        while (at := self.skip(at)) < len(self.text):
            if self.text[at] == closing:
                return at + 1
            at = self.member(path, at) if closing == "}" else self.value((*path, count), at, at)
            at = self.skip(at)
            at += self.text.startswith(",", at)
            count += 1
        return at


def _unquoted(name: str) -> str:
    if name.startswith('"'):
        try:
            return str(json.loads(name, strict=False))
        except ValueError:
            return name[1:-1]
    return name[1:-1] if name.startswith("'") else name
