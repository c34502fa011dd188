"""What a change changed, as rows: read from a unified diff, or found by comparing two texts. In bounded time."""

import difflib
import re
from collections.abc import Iterable, Sequence

import msgspec

from turnkeeper.protocol.differences import changed
from turnkeeper.tui.chat.ink import cleaned

CONTEXT_LINES = 3
ROWS_MAX = 5000
WORDS_CHARACTERS_MAX = 400
ALIKE_MIN = 0.35
"""Lines that have less in common are another line, not a changed one."""

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_FILES = re.compile(r"^(?:---|\+\+\+|diff) ", re.MULTILINE)
_WORDS = re.compile(r"\w+|\s+|.")

Marks = tuple[tuple[int, int], ...]


class Row(msgspec.Struct, frozen=True):
    """A line of the change: ` `, `-`, `+`, or `@` between places of the file. Numbers count from 1; 0 is none."""

    kind: str
    text: str = ""
    old: int = 0
    new: int = 0
    marks: Marks = ()
    """Where within the line it differs from its other half."""


class Change(msgspec.Struct, frozen=True):
    rows: tuple[Row, ...] = ()
    added: int = 0
    removed: int = 0
    is_cut: bool = False


def looks_like_a_diff(text: str) -> bool:
    return bool(_HUNK.search(text, 0, 4000) and _FILES.search(text, 0, 4000))


def read_diff(text: str) -> Change:
    """The rows of a unified diff."""
    rows: list[Row] = []
    old = new = 0
    cut = False
    for line in cleaned(text).split("\n"):
        if found := _HUNK.match(line):
            old, new = int(found[1]), int(found[2])
            rows.append(Row("@", "", old, new))
        elif not old and not new:
            continue
        elif line[:1] == "+":
            rows.append(Row("+", line[1:], 0, new))
            new += 1
        elif line[:1] == "-":
            rows.append(Row("-", line[1:], old, 0))
            old += 1
        elif line[:1] == " ":
            rows.append(Row(" ", line[1:], old, new))
            old, new = old + 1, new + 1
        elif line.startswith("..."):
            cut = True
    return _made(rows, is_cut=cut)


def compared(before: str, after: str, *, start: int = 1) -> Change:
    """The rows between two texts, which begin at the line `start` of their file."""
    old, new = _lines(before), _lines(after)
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    middle_old, middle_new = old[head : len(old) - tail], new[head : len(new) - tail]
    rows = [Row(" ", old[at], start + at, start + at) for at in range(max(0, head - CONTEXT_LINES), head)]
    rows += _middle(middle_old, middle_new, start + head)
    for at in range(min(tail, CONTEXT_LINES)):
        line = len(old) - tail + at
        rows.append(Row(" ", old[line], start + line, start + len(new) - tail + at))
    return _made(_without_the_middle_of(rows))


def _lines(text: str) -> list[str]:
    if not text:
        return []
    lines = cleaned(text).split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for mine, yours in zip(one, other, strict=False):
        if mine != yours:
            break
        count += 1
    return count


def _middle(old: Sequence[str], new: Sequence[str], start: int) -> list[Row]:
    rows: list[Row] = []
    i = j = 0
    for i1, i2, j1, j2 in [*changed(old, new), (len(old), len(old), len(new), len(new))]:
        rows += [Row(" ", old[i + at], start + i + at, start + j + at) for at in range(i1 - i)]
        rows += [Row("-", old[at], start + at, 0) for at in range(i1, i2)]
        rows += [Row("+", new[at], 0, start + at) for at in range(j1, j2)]
        i, j = i2, j2
    return rows


def _without_the_middle_of(rows: list[Row]) -> list[Row]:
    """Long stretches in which nothing changed, without all but their edges."""
    found: list[Row] = []
    quiet: list[Row] = []
    for row in [*rows, None]:
        if row is not None and row.kind == " ":
            quiet.append(row)
            continue
        if len(quiet) > 2 * CONTEXT_LINES + 1:
            rest = quiet[-CONTEXT_LINES:]
            found += [*quiet[:CONTEXT_LINES], Row("@", "", rest[0].old, rest[0].new), *rest]
        else:
            found += quiet
        quiet = []
        if row is not None:
            found.append(row)
    return found


def _made(rows: Sequence[Row], *, is_cut: bool = False) -> Change:
    added, removed = sum(row.kind == "+" for row in rows), sum(row.kind == "-" for row in rows)
    kept = rows[1:] if rows and rows[0].kind == "@" else rows
    return Change(tuple(_marked(kept[:ROWS_MAX])), added, removed, is_cut or len(kept) > ROWS_MAX)


def _marked(rows: Sequence[Row]) -> Iterable[Row]:
    """Each pair of a line that went and one that came in its place, with what differs between the two."""
    at = 0
    while at < len(rows):
        gone = _run_of(rows, at, "-")
        came = _run_of(rows, at + len(gone), "+")
        if not gone or not came:
            yield from gone or came or (rows[at],)
            at += len(gone) or len(came) or 1
            continue
        pairs = [_differing(old.text, new.text) for old, new in zip(gone, came, strict=False)]
        for half, side in ((gone, 0), (came, 1)):
            for number, row in enumerate(half):
                marks = pairs[number][side] if number < len(pairs) else ()
                yield msgspec.structs.replace(row, marks=marks) if marks else row
        at += len(gone) + len(came)


def _run_of(rows: Sequence[Row], start: int, kind: str) -> Sequence[Row]:
    end = start
    while end < len(rows) and rows[end].kind == kind:
        end += 1
    return rows[start:end]


def _differing(old: str, new: str) -> tuple[Marks, Marks]:
    """Where two lines differ, word by word; nowhere, if they have little in common."""
    if old == new or max(len(old), len(new)) > WORDS_CHARACTERS_MAX:
        return (), ()
    mine, yours = _WORDS.findall(old), _WORDS.findall(new)
    matcher = difflib.SequenceMatcher(None, mine, yours, autojunk=False)
    if matcher.ratio() < ALIKE_MIN:
        return (), ()
    blocks = [block for block in matcher.get_opcodes() if block[0] != "equal"]
    return _spans(mine, [(i1, i2) for _, i1, i2, _, _ in blocks]), _spans(yours, [(j1, j2) for *_, j1, j2 in blocks])


def _spans(words: Sequence[str], blocks: Sequence[tuple[int, int]]) -> Marks:
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word))
    return tuple((starts[first], starts[last]) for first, last in blocks if first < last)
