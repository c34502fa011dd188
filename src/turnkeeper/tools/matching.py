"""Finding in a file what a model remembers of it.

First the text exactly as given. Failing that, whole lines that differ in nothing but white space, with the replacement
indented as the file is. Failing that, the nearest stretch, shown so that the next attempt can be exact.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from math import gcd

from turnkeeper.tools.making import Refusal

SHOWN_LINES_MAX = 20
COMPARED_LINES_MAX = 50_000
COMPARED_HEIGHT_MAX = 200
ALIKE_LETTERS_MAX = 400

Stretch = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class Match:
    """Which stretches of the text become what, in order."""

    changes: tuple[Stretch, ...]
    exact: bool = True


def matched(text: str, old: str, new: str, *, replace_all: bool) -> Match:
    """Where `old` stands in `text`; refuses when it stands nowhere, or in several places and one was meant."""
    if starts := exact_starts(text, old, apart=replace_all):
        if len(starts) > 1 and not replace_all:
            raise Refusal(
                f"old_string appears {len(starts)} times in the file. "
                "Give more of the surrounding lines so that it is unique, or set replace_all."
            )
        return Match(tuple((start, start + len(old), new) for start in starts))
    found = loose_stretches(text, old, apart=replace_all)
    if len(found) > 1 and not replace_all:
        raise Refusal(
            f"old_string was not found exactly, and {len(found)} places match it apart from white space. "
            "Give more of the surrounding lines, copied exactly from the file."
        )
    if found:
        return Match(tuple((start, end, reindented(new, old, text[start:end], text)) for start, end in found), False)
    raise Refusal(f"old_string was not found in the file.\n{diagnosis(text, old)}".rstrip())


def exact_starts(text: str, old: str, *, apart: bool) -> list[int]:
    """Where it stands, one after the other; unless `apart`, one that overlaps the only other counts as well."""
    starts: list[int] = []
    at = text.find(old)
    while at >= 0:
        starts.append(at)
        at = text.find(old, at + len(old))
    if len(starts) == 1 and not apart and (other := text.find(old, starts[0] + 1)) >= 0:
        starts.append(other)
    return starts


def squeezed(line: str) -> str:
    return " ".join(line.split())


def loose_stretches(text: str, old: str, *, apart: bool) -> list[tuple[int, int]]:
    """Whole lines of the text that read as `old` does, white space aside; without the last line's ending.

    Unless `apart`, those that overlap are counted one by one.
    """
    wanted = [squeezed(line) for line in old.split("\n")]
    ends_with_newline = len(wanted) > 1 and not wanted[-1]
    if ends_with_newline:
        wanted.pop()
    if not any(wanted):
        return []
    lines = text.split("\n")
    plain = [squeezed(line) for line in lines]
    places = line_places(lines)
    found: list[tuple[int, int]] = []
    at = 0
    while at + len(wanted) <= len(plain):
        if plain[at] == wanted[0] and plain[at : at + len(wanted)] == wanted:
            last = at + len(wanted) - 1
            end = places[last] + len(lines[last])
            # A trailing line feed of `old` is part of what is replaced, if the file has one there.
            found.append((places[at], end + 1 if ends_with_newline and last + 1 < len(lines) else end))
            at += len(wanted) if apart else 1
        else:
            at += 1
    return found


def line_places(lines: Sequence[str]) -> list[int]:
    places: list[int] = []
    at = 0
    for line in lines:
        places.append(at)
        at += len(line) + 1
    return places


def reindented(new: str, old: str, actual: str, whole: str) -> str:
    """`new` as written for the indentation of `old`, moved to that of the file."""
    theirs, ours = indent_unit(f"{old}\n{new}"), indent_unit(whole)
    first_old = next((line for line in old.split("\n") if line.strip()), "")
    first_actual = next((line for line in actual.split("\n") if line.strip()), "")
    offset = depth(first_actual, ours) - depth(first_old, theirs)
    lines = [shifted(line, theirs, ours, offset) for line in new.split("\n")]
    return "\n".join(lines)


def shifted(line: str, theirs: str, ours: str, offset: int) -> str:
    if not line.strip():
        return ""
    units = max(depth(line, theirs) + offset, 0)
    return ours * units + alignment(line, theirs) + line.lstrip(" \t")


def indent_of(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def depth(line: str, unit: str) -> int:
    indent = indent_of(line)
    return indent.count("\t") + indent.count(" ") // (len(unit) if unit != "\t" else 4)


def alignment(line: str, unit: str) -> str:
    """Spaces beyond whole units, as in a comment's second line."""
    return " " * (indent_of(line).count(" ") % (len(unit) if unit != "\t" else 4))


def indent_unit(text: str) -> str:
    """One level of indentation: a tab if any line uses one, else the step that all space indents share."""
    indents = [indent_of(line) for line in text.split("\n") if line.strip()]
    if any("\t" in indent for indent in indents):
        return "\t"
    widths = [len(indent) for indent in indents if len(indent) > 1]
    if not widths:
        return "    "
    step = gcd(*widths)
    return " " * (step if step > 1 else min(widths))


def diagnosis(text: str, old: str) -> str:
    """The nearest place, so that the model sees what differs."""
    lines, wanted = text.split("\n"), old.strip("\n").split("\n")[:COMPARED_HEIGHT_MAX]
    if len(lines) > COMPARED_LINES_MAX or not old.strip():
        return "Read the file again and copy the text exactly."
    if found := loose_within(lines, old):
        first, last = found
        return f"The text on lines {first + 1}-{last} differs in white space alone:\n{visible(lines[first:last])}"
    return nearest(lines, wanted)


def loose_within(lines: Sequence[str], old: str) -> tuple[int, int] | None:
    """Lines that hold `old`, white space aside, where it does not fill whole lines."""
    words = squeezed(old)
    for at in range(len(lines)):
        height = old.strip("\n").count("\n") + 1
        if words and words in squeezed("\n".join(lines[at : at + height])):
            return at, min(at + height, len(lines))
    return None


def nearest(lines: Sequence[str], wanted: Sequence[str]) -> str:
    """The window of the file that shares most lines with what was looked for, if that is at least half of them."""
    plain = [squeezed(line) for line in lines]
    keys = [squeezed(line) for line in wanted]
    height = len(keys)
    best, best_score = -1, 0.0
    for at in range(max(len(plain) - height + 1, 1)):
        score = sum(1 for mine, key in zip(plain[at : at + height], keys, strict=False) if mine == key and key)
        if score > best_score:
            best, best_score = at, float(score)
    if best_score * 2 < height:
        best = alike(plain, keys) if height == 1 else -1
    if best < 0:
        return "Nothing in the file is close to it; read the file again."
    first, last = max(best - 1, 0), min(best + height + 1, len(lines))
    return f"The closest text is on lines {first + 1}-{last}:\n{visible(lines[first:last])}"


def alike(plain: Sequence[str], keys: Sequence[str]) -> int:
    """The line most like the one that was looked for."""
    best, best_ratio = -1, 0.6
    for at, line in enumerate(plain[:2000]):
        matcher = SequenceMatcher(None, line[:ALIKE_LETTERS_MAX], keys[0][:ALIKE_LETTERS_MAX])
        if line and matcher.quick_ratio() > best_ratio and (ratio := matcher.ratio()) > best_ratio:
            best, best_ratio = at, ratio
    return best


def visible(lines: Sequence[str]) -> str:
    """Tabs as arrows and leading spaces as dots."""
    shown = [
        re.sub(r"^[ ]+", lambda found: "·" * len(found[0]), line.replace("\t", "→")) for line in lines[:SHOWN_LINES_MAX]
    ]
    return "\n".join(shown)
