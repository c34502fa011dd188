"""Writing as in vi: a state machine that is told a key and says what becomes of the text. Pure.

    insert   keys write;  esc → normal
    normal   [count] motion · [count] operator [count] motion · x D C p P u ctrl+r · i a I A o O → insert · v → visual
    visual   [count] motion;  y d x c take what is marked;  v or esc → normal

The motions are h j k l w b e 0 ^ $ gg G, the operators d c y, doubled for whole lines. In normal and visual mode the
cursor stands on a letter, never behind the last of its line. Undoing is the editor's: it is only said how often.
"""

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from turnkeeper.tui.editor import motions
from turnkeeper.tui.editor.motions import Reach, Takes, line_end, line_start

COUNT_MAX = 9999


class Mode(StrEnum):
    INSERT = "insert"
    NORMAL = "normal"
    VISUAL = "visual"


@dataclass(frozen=True, slots=True)
class Vim:
    """What is remembered between two keys."""

    mode: Mode = Mode.INSERT
    keys: str = ""
    """The beginning of a command that is not whole yet."""
    register: str = ""
    holds_lines: bool = False
    anchor: int = 0
    """Where marking began."""
    column: int | None = None
    """Where j and k would like to be, after a shorter line."""


@dataclass(frozen=True, slots=True)
class Done:
    """After a key: the text, the cursor, and how often to undo (below zero: to redo)."""

    vim: Vim
    text: str
    at: int
    undo: int = 0


COMMAND = re.compile(
    r"(?P<before>[1-9]\d*)?(?:(?P<operator>[dcy])(?P<after>[1-9]\d*)?)?(?P<what>gg|[hjklweb0^$GdcyxDCpPuiaIAoOv]|ctrl\+r)?"
)
MOTIONS = frozenset(("h", "j", "k", "l", "w", "b", "e", "0", "^", "$", "gg", "G"))
NAMED = frozenset(("escape", "ctrl+r", "backspace", "left", "right", "space", "home", "end"))
"""Keys without a letter that mean something."""
SAME = {"backspace": "h", "left": "h", "space": "l", " ": "l", "right": "l", "home": "0", "end": "$"}


def pressed(vim: Vim, text: str, at: int, key: str) -> Done:
    """After a key in normal or visual mode. A key that means nothing ends what was begun and changes nothing."""
    # The mouse, or an arrow, may have left the cursor behind the last letter of its line.
    at = rested(text, at)
    if key == "escape":
        return _rest(replace(vim, mode=Mode.NORMAL, keys="", column=None), text, at)
    keys = vim.keys + SAME.get(key, key)
    whole = COMMAND.fullmatch(keys)
    if keys.endswith("g") and not keys.endswith("gg") and COMMAND.fullmatch(keys + "g"):
        return Done(replace(vim, keys=keys), text, at)
    vim = replace(vim, keys="")
    if whole is None:
        return _rest(vim, text, at)
    operator, what = whole["operator"] or "", whole["what"] or ""
    if not what:
        # In visual mode an operator takes what is marked, and needs no motion.
        if operator and vim.mode is Mode.VISUAL:
            return _marked(vim, text, at, operator)
        return Done(replace(vim, keys=keys), text, at)
    count = _count(whole["before"], whole["after"])
    if vim.mode is Mode.VISUAL:
        return _in_visual(vim, text, at, what, count)
    if operator:
        return _operate(vim, text, at, operator, what, count)
    return _command(vim, text, at, what, count)


def left_insert(vim: Vim, text: str, at: int) -> Done:
    """After esc in insert mode."""
    return _rest(replace(vim, mode=Mode.NORMAL, keys="", column=None), text, max(line_start(text, at), at - 1))


def marked(vim: Vim, text: str, at: int) -> tuple[int, int]:
    """From where to where the text is marked in visual mode, the letter under the cursor with it."""
    return min(vim.anchor, at), min(len(text), max(vim.anchor, at) + 1)


def _count(before: str | None, after: str | None) -> int | None:
    if before is None and after is None:
        return None
    return min(COUNT_MAX, int(before or 1) * int(after or 1))


def _command(vim: Vim, text: str, at: int, what: str, count: int | None) -> Done:
    match what:
        case "i" | "a" | "I" | "A" | "o" | "O":
            return _insert(vim, text, at, what)
        case "v":
            return Done(replace(vim, mode=Mode.VISUAL, anchor=at, column=None), text, at)
        case "u":
            return Done(vim, text, at, undo=count or 1)
        case "ctrl+r":
            return Done(vim, text, at, undo=-(count or 1))
        case "x":
            return _take(vim, text, at, min(line_end(text, at), at + (count or 1)), "d")
        case "D" | "C":
            return _take(vim, text, at, line_end(text, at), what.lower())
        case "p" | "P":
            return _put(vim, text, at, count or 1, above=what == "P")
        case _:
            return _move(vim, text, at, what, count)


def _move(vim: Vim, text: str, at: int, what: str, count: int | None) -> Done:
    column = vim.column if vim.column is not None else at - line_start(text, at)
    found = motions.reach(what, text, at, count, column)
    vim = replace(vim, column=column if what in ("j", "k") else None)
    return _rest(vim, text, at if found is None else found.to)


def _insert(vim: Vim, text: str, at: int, what: str) -> Done:
    vim = replace(vim, mode=Mode.INSERT, column=None)
    start, end = line_start(text, at), line_end(text, at)
    match what:
        case "a":
            return Done(vim, text, min(end, at + 1))
        case "I":
            return Done(vim, text, motions.first_sign(text, at))
        case "A":
            return Done(vim, text, end)
        case "o":
            return Done(vim, f"{text[:end]}\n{text[end:]}", end + 1)
        case "O":
            return Done(vim, f"{text[:start]}\n{text[start:]}", start)
        case _:
            return Done(vim, text, at)


def _in_visual(vim: Vim, text: str, at: int, what: str, count: int | None) -> Done:
    match what:
        case "v":
            return _rest(replace(vim, mode=Mode.NORMAL), text, at)
        case "x":
            return _marked(vim, text, at, "d")
        case _ if what in MOTIONS:
            return _move(vim, text, at, what, count)
        case _:
            return _rest(vim, text, at)


def _marked(vim: Vim, text: str, at: int, operator: str) -> Done:
    begins, ends = marked(vim, text, at)
    return _take(replace(vim, mode=Mode.NORMAL), text, begins, ends, operator)


def _operate(vim: Vim, text: str, at: int, operator: str, what: str, count: int | None) -> Done:
    if what == operator:
        last = min(text.count("\n"), text.count("\n", 0, at) + (count or 1) - 1)
        return _take_lines(vim, text, at, motions.nth_line(text, last), operator)
    if what not in MOTIONS:
        return _rest(vim, text, at)
    found = _taken(text, at, operator, what, count)
    if found is None:
        return _rest(vim, text, at)
    if found.takes is Takes.LINES:
        return _take_lines(vim, text, min(at, found.to), max(at, found.to), operator)
    begins, ends = min(at, found.to), max(at, found.to)
    with_last = found.takes is Takes.WITH and ends < line_end(text, ends)
    return _take(vim, text, begins, ends + 1 if with_last else ends, operator)


def _taken(text: str, at: int, operator: str, what: str, count: int | None) -> Reach | None:
    """Where an operator's motion leads: to change words is to change to the end of the last, without blanks behind."""
    if operator == "c" and what == "w" and not text[at : at + 1].isspace() and at < len(text):
        ends = motions.this_word_end(text, at)
        for _ in range(min((count or 1) - 1, len(text))):
            ends = motions.word_end(text, ends)
        return Reach(ends, Takes.WITH)
    found = motions.reach(what, text, at, count, at - line_start(text, at))
    if found and what == "w":
        return Reach(motions.words_taken(text, at, found.to))
    return found


def _take(vim: Vim, text: str, begins: int, ends: int, operator: str) -> Done:
    vim = replace(vim, column=None)
    if ends > begins:
        vim = replace(vim, register=text[begins:ends], holds_lines=False)
    match operator:
        case "y":
            return _rest(vim, text, begins)
        case "c":
            return Done(replace(vim, mode=Mode.INSERT), text[:begins] + text[ends:], begins)
        case _:
            return _rest(vim, text[:begins] + text[ends:], begins)


def _take_lines(vim: Vim, text: str, first: int, last: int, operator: str) -> Done:
    begins, ends = line_start(text, first), line_end(text, last)
    vim = replace(vim, register=text[begins:ends], holds_lines=True, column=None)
    match operator:
        case "y":
            return _rest(vim, text, min(first, last))
        case "c":
            return Done(replace(vim, mode=Mode.INSERT), text[:begins] + text[ends:], begins)
        case _:
            # With the newline behind them; of the last lines, with the one before them.
            left = text[:begins] + text[ends + 1 :] if ends < len(text) else text[: max(0, begins - 1)]
            return _rest(vim, left, motions.first_sign(left, min(begins, len(left))))


def _put(vim: Vim, text: str, at: int, count: int, *, above: bool) -> Done:
    if not vim.register and not vim.holds_lines:
        return _rest(vim, text, at)
    if vim.holds_lines:
        lines = "\n".join([vim.register] * count)
        if above:
            start = line_start(text, at)
            after = f"{text[:start]}{lines}\n{text[start:]}"
        else:
            start = line_end(text, at) + 1
            after = f"{text[: start - 1]}\n{lines}{text[start - 1 :]}"
        return _rest(vim, after, motions.first_sign(after, start))
    put = vim.register * count
    begins = at if above or at >= line_end(text, at) else at + 1
    after = text[:begins] + put + text[begins:]
    return _rest(vim, after, begins if "\n" in put else begins + len(put) - 1)


def _rest(vim: Vim, text: str, at: int) -> Done:
    """The cursor on a letter, wherever a command left it."""
    return Done(vim, text, max(0, min(at, len(text))) if vim.mode is Mode.INSERT else rested(text, at))


def rested(text: str, at: int) -> int:
    """The place on a letter that is nearest, if the line has any."""
    at = max(0, min(at, len(text)))
    return max(line_start(text, at), at - 1) if at == line_end(text, at) else at
