"""Options and paths among the words of a command."""

import posixpath
import re
from collections.abc import Sequence

from turnkeeper.tools.shell_words import Word

LONG_BEGINNING_MIN = 1


def forbidden_option(text: str, short: str, long: Sequence[str]) -> bool:
    """Whether the word is one of these options, however shortened, clustered or joined with its value."""
    if text.startswith("--"):
        name = text[2:].partition("=")[0]
        return len(name) >= LONG_BEGINNING_MIN and any(option.startswith(name) for option in long)
    return text.startswith("-") and any(letter in short for letter in text[1:])


def stays_inside(word: Word, inside: str) -> bool:
    """Whether the word, if it is a path, leads into the workspace: relative and never upwards, or below `inside`."""
    if not word.literal and not word.pattern:
        return False
    texts = [word.text]
    if word.text.startswith("-"):
        texts = [word.text.partition("=")[2], word.text[2:].lstrip("=")]
    return all(_path_stays(text, inside) for text in texts)


def _path_stays(text: str, inside: str) -> bool:
    if text.startswith("~") or ".." in re.split(r"[/:=]", text):
        return False
    if not text.startswith("/"):
        return True
    path = posixpath.normpath(text)
    return path == "/dev/null" or (inside != "" and (path == inside or path.startswith(inside.rstrip("/") + "/")))
