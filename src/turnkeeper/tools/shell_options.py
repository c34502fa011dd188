"""Options and paths among the words of a command."""

import posixpath
import re
from collections.abc import Sequence

from turnkeeper.tools.shell_words import Word, names

LONG_BEGINNING_MIN = 1
OWN = names("exclude ignore-rev pretty")
"""Harmless options that begin as a feared one does, and are no beginning of it."""
ENVIRONMENT = re.compile(r"\$(\{[A-Z_]+\}|[A-Z_]+(?!\w))")
"""Variables that no line sets without being asked about."""
COUNTED = "n"
COUNTS = re.compile(r"%[-+ #'0-9.*]*[hjlLtz]*n")


def forbidden_option(text: str, short: str, long: Sequence[str]) -> bool:
    """Whether the word is one of these options, however shortened, clustered or joined with its value."""
    if text.startswith("--"):
        name = text[2:].partition("=")[0]
        if len(name) < LONG_BEGINNING_MIN or name in OWN:
            return False
        return any(option.startswith(name) or name.startswith(option) for option in long)
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


def prints_only(words: Sequence[Word]) -> bool:
    """Of `printf`: `-v` and `%n` set a variable, which may be `PATH`."""
    rest = words[1:] if words and words[0].text == "--" else words
    if not rest or rest[0].splits or rest[0].lead == "" or (rest is words and rest[0].lead == "-"):
        return False
    text = rest[0].text if rest[0].literal else ENVIRONMENT.sub(COUNTED, rest[0].text)
    return (rest[0].literal or not re.search(r"[$`]", text)) and not COUNTS.search(text.replace("%%", ""))
