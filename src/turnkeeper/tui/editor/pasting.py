"""What a paste is: text to insert, so much text that it is better attached, or the paths of pictures. Pure.

Terminals paste a file that is dropped on them as its path: bare, quoted, with escaped spaces, as a `file://` URI, and
several of them in a row. A path counts only where all of them are pictures' paths.
"""

import re
import shlex
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

LINES_MAX = 10
COLUMNS_MAX = 1000
PATHS_MAX = 20
PICTURES = {".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png"}
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_WINDOWS = re.compile(r"[A-Za-z]:[\\/]")


@dataclass(frozen=True, slots=True)
class Insert:
    text: str


@dataclass(frozen=True, slots=True)
class Attach:
    """Too much to look at in an editor."""

    text: str


@dataclass(frozen=True, slots=True)
class Pictures:
    """Readings of the paste as paths, the likeliest first; where none of them is there, it was text."""

    readings: tuple[tuple[str, ...], ...]
    text: str


Paste = Insert | Attach | Pictures


def understood(raw: str) -> Paste:
    text = cleaned(raw)
    if readings := picture_paths(text):
        return Pictures(readings, text)
    lines = text.split("\n")
    if len(lines) > LINES_MAX or max(map(len, lines)) > COLUMNS_MAX:
        return Attach(text)
    return Insert(text)


def cleaned(raw: str) -> str:
    """Lines end as ours do, and nothing in it steers a terminal."""
    return _CONTROLS.sub("", raw.replace("\r\n", "\n").replace("\r", "\n"))


def picture_paths(text: str) -> tuple[tuple[str, ...], ...]:
    """Every way to read the text as nothing but paths of pictures."""
    stripped = text.strip()
    if not stripped or len(stripped) > COLUMNS_MAX * LINES_MAX:
        return ()
    lines = tuple(line.strip() for line in stripped.split("\n") if line.strip())
    readings = (split(stripped), tuple(map(unquoted, lines)))
    pictures = (reading for reading in readings if reading and all(map(is_picture_path, reading)))
    return tuple(dict.fromkeys(reading for reading in pictures if len(reading) <= PATHS_MAX))


def split(text: str) -> tuple[str, ...]:
    """As a shell would split it; on Windows a backslash is part of a path and escapes nothing."""
    try:
        words = shlex.split(text, posix=not _WINDOWS.search(text))
    except ValueError:
        return ()
    return tuple(map(unquoted, words))


def unquoted(word: str) -> str:
    if len(word) > 1 and word[0] == word[-1] and word[0] in "\"'":
        word = word[1:-1]
    if word.startswith("file://"):
        path = unquote(urlsplit(word).path)
        return path[1:] if _WINDOWS.match(path[1:]) else path
    return word


def is_picture_path(word: str) -> bool:
    is_path = word.startswith(("/", "~/", "./", "../", "\\\\")) or bool(_WINDOWS.match(word))
    return is_path and picture_type(word) != ""


def picture_type(path: str) -> str:
    """The media type that a name promises; empty where it promises no picture."""
    return next((kind for ending, kind in PICTURES.items() if path.lower().endswith(ending)), "")
