"""Where two texts differ, line by line, in bounded time: the same for what tools tell and for what faces draw.

Lines that stand once in both texts are the landmarks; between two of them the same is done again. What is left without
any is compared closely where it is small, and taken for replaced where it is not. Nothing here grows with the number
of lines that are alike, which in a file of a thousand brackets is all of them.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

CLOSE_AREA_MAX = 40 * 40
CLOSE_AREAS_MAX = 64
"""How large a stretch is compared closely, and how many of that size in one comparison."""

Block = tuple[int, int, int, int]
"""`old[i1:i2]` became `new[j1:j2]`."""


def changed(old: Sequence[str], new: Sequence[str]) -> list[Block]:
    """What differs, in order; between two blocks everything is alike."""
    found: list[Block] = []
    waiting: list[Block] = [(0, len(old), 0, len(new))]
    room = CLOSE_AREA_MAX * CLOSE_AREAS_MAX
    while waiting:
        block = trimmed(old, new, waiting.pop())
        i1, i2, j1, j2 = block
        area = (i2 - i1) * (j2 - j1)
        if area and (marks := landmarks(old, new, block)):
            waiting.extend(reversed(list(between(marks, block))))
        elif area and area <= min(CLOSE_AREA_MAX, room):
            room -= area
            found += closely(old, new, block)
        elif i1 < i2 or j1 < j2:
            found.append(block)
    return joined(found)


def trimmed(old: Sequence[str], new: Sequence[str], block: Block) -> Block:
    """Without what is alike at both ends."""
    i1, i2, j1, j2 = block
    while i1 < i2 and j1 < j2 and old[i1] == new[j1]:
        i1, j1 = i1 + 1, j1 + 1
    while i1 < i2 and j1 < j2 and old[i2 - 1] == new[j2 - 1]:
        i2, j2 = i2 - 1, j2 - 1
    return i1, i2, j1, j2


def landmarks(old: Sequence[str], new: Sequence[str], block: Block) -> list[tuple[int, int]]:
    """Lines that stand once in both, as many of them as keep their order."""
    i1, i2, j1, j2 = block
    here, there = Counter(old[i1:i2]), Counter(new[j1:j2])
    places = {line: at for at, line in enumerate(new[j1:j2], start=j1) if there[line] == 1}
    pairs = [(at, places[old[at]]) for at in range(i1, i2) if here[old[at]] == 1 and old[at] in places]
    return in_order(pairs)


def in_order(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest run of pairs, ordered by the first, whose second ones rise as well."""
    ends: list[int] = []
    tops: list[int] = []
    before: list[int] = []
    for at, (_, place) in enumerate(pairs):
        pile = bisect_left(ends, place)
        before.append(tops[pile - 1] if pile else -1)
        if pile == len(ends):
            ends.append(place)
            tops.append(at)
        else:
            ends[pile], tops[pile] = place, at
    run: list[tuple[int, int]] = []
    at = tops[-1] if tops else -1
    while at >= 0:
        run.append(pairs[at])
        at = before[at]
    return run[::-1]


def between(marks: Sequence[tuple[int, int]], block: Block) -> Iterator[Block]:
    i1, i2, j1, j2 = block
    for i, j in marks:
        yield i1, i, j1, j
        i1, j1 = i + 1, j + 1
    yield i1, i2, j1, j2


def closely(old: Sequence[str], new: Sequence[str], block: Block) -> Iterator[Block]:
    i1, i2, j1, j2 = block
    matcher = SequenceMatcher(None, old[i1:i2], new[j1:j2], autojunk=False)
    for tag, a1, a2, b1, b2 in matcher.get_opcodes():
        if tag != "equal":
            yield i1 + a1, i1 + a2, j1 + b1, j1 + b2


def joined(blocks: Sequence[Block]) -> list[Block]:
    """Neighbours with nothing between them are one."""
    result: list[Block] = []
    for i1, i2, j1, j2 in blocks:
        if result and result[-1][1] == i1 and result[-1][3] == j1:
            result[-1] = (result[-1][0], i2, result[-1][2], j2)
        else:
            result.append((i1, i2, j1, j2))
    return result
