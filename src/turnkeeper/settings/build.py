"""Which build of Turnkeeper this is: a server and a client of the same build tell each other the same."""

import os
from collections.abc import Iterator
from pathlib import Path

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def build_id() -> str:
    """When the newest file of the package was changed, so that a server from before an upgrade is recognised."""
    root = str(Path(__file__).parent.parent)
    return base36(max(_changed(root), default=0)) or "unknown"


def _changed(folder: str) -> Iterator[int]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir() and entry.name != "__pycache__":
                yield from _changed(entry.path)
            elif entry.name.endswith(".py"):
                yield entry.stat().st_mtime_ns


def base36(number: int) -> str:
    text = ""
    while number:
        number, digit = divmod(number, 36)
        text = _DIGITS[digit] + text
    return text
