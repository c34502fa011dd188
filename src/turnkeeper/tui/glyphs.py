"""Signs, in two alphabets: one for terminals that show Unicode, one for those that do not.

No state is told by a sign or a colour alone where a word fits beside it. In plain mode, for screen readers, words stand
in place of signs.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Glyphs:
    name: str
    ok: str
    failed: str
    running: str
    waiting: str
    stopped: str
    person: str
    model: str
    prompt: str
    newline: str
    shell: str
    bullet: str
    here: str
    more: str
    less: str
    up: str
    down: str
    bar: str
    rule: str
    full: str
    empty: str
    ellipsis: str
    thinking: str
    file: str
    image: str
    close: str
    warning: str
    queued: str
    branch: str
    corner: str
    spinner: tuple[str, ...]


UNICODE = Glyphs(
    name="unicode",
    ok="✓",
    failed="×",
    running="●",
    waiting="◌",
    stopped="■",
    person="▌",
    model="◆",
    prompt="❯",
    newline="↵",
    shell="!",
    bullet="•",
    here="▸",
    more="▸",
    less="▾",
    up="↑",
    down="↓",
    bar="│",
    rule="─",
    full="█",
    empty="░",
    ellipsis="…",
    thinking="✻",
    file="▤",
    image="▣",
    close="×",
    warning="▲",
    queued="▷",
    branch="├─",
    corner="└─",
    spinner=tuple("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"),
)
ASCII = Glyphs(
    name="ascii",
    ok="+",
    failed="x",
    running="*",
    waiting="o",
    stopped="#",
    person="|",
    model="*",
    prompt=">",
    newline="\\",
    shell="!",
    bullet="-",
    here=">",
    more=">",
    less="v",
    up="^",
    down="v",
    bar="|",
    rule="-",
    full="#",
    empty=".",
    ellipsis="...",
    thinking="~",
    file="f",
    image="i",
    close="x",
    warning="!",
    queued=">",
    branch="|-",
    corner="`-",
    spinner=tuple("|/-\\"),
)
COERCED = ("C.UTF-8", "C.utf8", "UTF-8")
"""What Python puts into `LC_CTYPE` where the language is C."""
BY_NAME = {glyphs.name: glyphs for glyphs in (UNICODE, ASCII)}


def glyphs_for(wish: str, env: Mapping[str, str]) -> Glyphs:
    """As somebody wished (`unicode`, `ascii`), else as the terminal's language says."""
    if wish in BY_NAME:
        return BY_NAME[wish]
    ctype, lang = env.get("LC_CTYPE", ""), env.get("LANG", "")
    if ctype in COERCED and lang in ("C", "POSIX"):
        # Python's own doing, to read and write files by; the terminal was never asked.
        ctype = ""
    language = env.get("LC_ALL") or ctype or lang
    is_wide = "utf" in language.lower() and env.get("TERM") not in ("linux", "dumb")
    return UNICODE if is_wide else ASCII


def glyphs_of(widget: Any) -> Glyphs:
    """The signs of the application a widget is in."""
    return getattr(widget.app, "glyphs", None) or glyphs_for("", os.environ)


def is_plain(widget: Any) -> bool:
    """Whether the application speaks to a screen reader: words, no boxes, nothing that moves."""
    return bool(getattr(widget.app, "plain", False))
