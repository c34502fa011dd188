"""How commands speak: tables for people, JSON for programs, and nothing but text where nobody looks.

Colours are for terminals alone; `NO_COLOR` turns them off, `FORCE_COLOR` on. A table is cut to the terminal's width
where there is one, and never in a pipe. What is printed holds no control characters but its own, whatever was said by a
model or is in a file's name.
"""

import os
import re
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

import msgspec

GAP = "  "
_CONTROL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"
    # Also what turns the direction of writing: a command must read as what it is.
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]"
)
_JSON_CONTROL = re.compile("[\x7f-\x9f]")
_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36"}


def emit(value: Any) -> None:
    """One JSON document, for programs."""
    print(as_json(msgspec.json.format(msgspec.json.encode(value, order="sorted"), indent=2)))


def as_json(encoded: bytes) -> str:
    """The same document, whose strings a terminal cannot obey either: JSON itself leaves some controls as they are."""
    return _JSON_CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", encoded.decode())


def table(headings: Sequence[str], rows: Iterable[Sequence[object]], *, right: Sequence[str] = ()) -> None:
    """Columns under their headings; the last one gives way where the terminal is too narrow. `right` stand right."""
    cells = [[plain(str(cell)).replace("\n", " ") for cell in row] for row in rows]
    widths = [max(map(width, column)) for column in zip(headings, *cells, strict=True)]
    shown_width = terminal_columns() if is_terminal(sys.stdout) else None
    for index, row in enumerate([list(headings), *cells]):
        line = GAP.join(
            padded(cell, size, to_the_right=heading in right)
            for cell, size, heading in zip(row, widths, headings, strict=True)
        ).rstrip()
        line = line if shown_width is None else cut(line, shown_width)
        print(style(line, "bold") if index == 0 else line)


def say(text: str) -> None:
    """Something about what is done, beside what was asked for: it goes to stderr."""
    print(plain(text), file=sys.stderr, flush=True)


def style(text: str, *names: str, stream: TextIO | None = None) -> str:
    """`text` in colours, where the stream shows them."""
    if not has_colours(stream or sys.stdout):
        return text
    return f"\x1b[{';'.join(_STYLES[name] for name in names)}m{text}\x1b[0m"


def has_colours(stream: TextIO) -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (is_terminal(stream) and os.environ.get("TERM") != "dumb")


def is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:  # it was closed
        return False


def terminal_columns() -> int:
    import shutil

    return shutil.get_terminal_size().columns


def plain(text: str) -> str:
    """Text without what a terminal would obey."""
    return _CONTROL.sub("", text)


def width(text: str) -> int:
    """How many columns a terminal gives it."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def padded(text: str, size: int, *, to_the_right: bool = False) -> str:
    space = " " * (size - width(text))
    return space + text if to_the_right else text + space


def cut(text: str, size: int) -> str:
    if width(text) <= size:
        return text
    kept = ""
    for char in text:
        if width(kept + char) >= size:
            break
        kept += char
    return kept + "…"


def ago(seconds: float) -> str:
    """A length of time as people say it."""
    for size, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size:.0f} {name}"
    return f"{max(0.0, seconds):.0f} s"
