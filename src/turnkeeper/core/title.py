"""A session's title, from what a model answered or from the prompt itself."""

import re
import unicodedata

from turnkeeper.protocol.sessions import UNTITLED

NOBODYS_TITLES = frozenset({"", "New Session", "non-interactive", UNTITLED})
"""What programs call a session before anybody has named it."""
TITLE_COLUMNS_MAX = 50
THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
STRAY_TAGS = re.compile(r"</?think(?:ing)?>", re.IGNORECASE)


def title_of(answer: str, prompt: str = "") -> str:
    """In one line: the answer without its thinking, else the prompt, else the name of what has none."""
    told = one_line(STRAY_TAGS.sub("", THINKING.sub("", answer))).strip("\"'“”«» ")
    return cut(told or one_line(prompt)) or UNTITLED


def one_line(text: str) -> str:
    return " ".join("".join(" " if unicodedata.category(c) in ("Cc", "Cs") else c for c in text).split())


def cut(text: str) -> str:
    if columns(text) <= TITLE_COLUMNS_MAX:
        return text
    kept = ""
    for letter in text:
        if columns(kept + letter) >= TITLE_COLUMNS_MAX:
            break
        kept += letter
    return f"{kept.rstrip()}…"


def columns(text: str) -> int:
    """How wide a terminal shows it: wide letters take two columns, combining ones none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
