"""Where vi's motions lead in a text, and how much of it an operator takes on the way. Pure; places are offsets.

A line's end is the place of its newline, or the end of the text. A word is a run of letters, digits and underscores, or
a run of other signs; an empty line counts as a word when one goes forwards or back.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto


class Takes(Enum):
    """What an operator takes: up to the place, the place too, or whole lines."""

    UP_TO = auto()
    WITH = auto()
    LINES = auto()


@dataclass(frozen=True, slots=True)
class Reach:
    to: int
    takes: Takes = Takes.UP_TO


def reach(motion: str, text: str, at: int, count: int | None, column: int) -> Reach | None:
    """Where a motion leads, `count` times. None where it leads nowhere; `column` is where j and k would like to be."""
    if motion in _STEPS:
        step, takes = _STEPS[motion]
        to = at
        for _ in range(min(count or 1, len(text) + 1)):
            to = step(text, to)
        return Reach(to, takes)
    match motion:
        case "j" | "k":
            return _vertical(text, at, (count or 1) * (1 if motion == "j" else -1), column)
        case "$":
            lowest = _vertical(text, at, (count or 1) - 1, 0) if count and count > 1 else Reach(at)
            return lowest and Reach(max(line_start(text, lowest.to), line_end(text, lowest.to) - 1), Takes.WITH)
        case "gg" | "G":
            last = text.count("\n")
            line = min((count - 1) if count else (0 if motion == "gg" else last), last)
            return Reach(first_sign(text, nth_line(text, line)), Takes.LINES)
        case _:
            return None


def line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def first_sign(text: str, at: int) -> int:
    """The first place of the line that is not blank."""
    start, end = line_start(text, at), line_end(text, at)
    line = text[start:end]
    return start + len(line) - len(line.lstrip()) if line.strip() else start


def nth_line(text: str, line: int) -> int:
    """Where a line begins; lines count from 0."""
    at = 0
    for _ in range(line):
        at = text.index("\n", at) + 1
    return at


def word_on(text: str, at: int) -> int:
    """The beginning of the next word."""
    kind = _kind(text, at)
    while at < len(text) and kind and _kind(text, at) == kind:
        at += 1
    while at < len(text) and not _kind(text, at):
        at += 1
        if text[at - 1 : at + 1] == "\n\n":
            return at
    return at


def word_back(text: str, at: int) -> int:
    at -= 1
    while at > 0 and not _kind(text, at):
        if text[at - 1 : at + 1] == "\n\n":
            return at
        at -= 1
    kind = _kind(text, at)
    while at > 0 and _kind(text, at - 1) == kind:
        at -= 1
    return max(0, at)


def word_end(text: str, at: int) -> int:
    """The last place of this word, or of the next where this is its last."""
    at += 1
    while at < len(text) and not _kind(text, at):
        at += 1
    return min(this_word_end(text, at), max(0, len(text) - 1))


def this_word_end(text: str, at: int) -> int:
    kind = _kind(text, at)
    while at + 1 < len(text) and _kind(text, at + 1) == kind:
        at += 1
    return at


def words_taken(text: str, at: int, to: int) -> int:
    """How far an operator goes that was told to go on to a word: not over the end of the last word's line."""
    taken = text[at:to]
    ends = taken.find("\n", len(taken.rstrip()))
    return to if ends < 0 else at + ends


def _left(text: str, at: int) -> int:
    return max(line_start(text, at), at - 1)


def _right(text: str, at: int) -> int:
    return min(line_end(text, at), at + 1)


def _vertical(text: str, at: int, lines: int, column: int) -> Reach | None:
    line, last = text.count("\n", 0, at), text.count("\n")
    wanted = max(0, min(line + lines, last))
    if wanted == line:
        return None
    start = nth_line(text, wanted)
    return Reach(min(start + column, max(start, line_end(text, start) - 1)), Takes.LINES)


def _kind(text: str, at: int) -> int:
    if not 0 <= at < len(text) or text[at].isspace():
        return 0
    return 1 if text[at].isalnum() or text[at] == "_" else 2


_STEPS: dict[str, tuple[Callable[[str, int], int], Takes]] = {
    "h": (_left, Takes.UP_TO),
    "l": (_right, Takes.UP_TO),
    "w": (word_on, Takes.UP_TO),
    "b": (word_back, Takes.UP_TO),
    "e": (word_end, Takes.WITH),
    "0": (line_start, Takes.UP_TO),
    "^": (first_sign, Takes.UP_TO),
}
