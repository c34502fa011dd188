"""Which of many names a few typed letters mean: ranked, pure, and quick enough to be asked at every key.

A name that is exactly what was typed comes first, then one that begins with it, then a path in which a segment does,
then whatever has the letters in their order. Within a rank the letters that lie closer together win, then the shorter
name. Upper and lower case are the same letter.
"""

import heapq
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

SHOWN_MAX = 50
QUERY_CHARS_MAX = 200


class Rank(IntEnum):
    EXACT = 0
    PREFIX = 1
    SEGMENT = 2
    FUZZY = 3


@dataclass(frozen=True, slots=True)
class Match:
    """A name that fits, and which of its letters were typed."""

    text: str
    rank: Rank
    spread: int
    """How much lies between the first and the last letter that was typed."""
    at: tuple[int, ...]

    @property
    def order(self) -> tuple[int, int, int, str]:
        return (self.rank, self.spread, len(self.text), self.text)


def ranked(query: str, names: Iterable[str], *, most: int = SHOWN_MAX) -> list[Match]:
    """The best that fit, best first. An empty query fits everything, in the order given."""
    query = query[:QUERY_CHARS_MAX]
    if not query:
        return [Match(name, Rank.FUZZY, 0, ()) for _, name in zip(range(most), names, strict=False)]
    return heapq.nsmallest(
        most, filter(None, (match(query, name) for name in fitting(query, names))), lambda m: m.order
    )


def fitting(query: str, names: Iterable[str]) -> Sequence[str]:
    """Those that have the letters in their order: what a longer query can only choose from."""
    letters = re.compile("[^\n]*?".join(re.escape(letter) for letter in lowered(query)))
    return [name for name in names if letters.search(lowered(name))]


def match(query: str, name: str) -> Match | None:
    wanted, low = lowered(query), lowered(name)
    base = low.rstrip("/").rfind("/") + 1
    if wanted in (low[base:].rstrip("/"), low):
        return _run(name, Rank.EXACT, low.rfind(wanted), len(wanted))
    if low.startswith(wanted, base):
        return _run(name, Rank.PREFIX, base, len(wanted))
    if low.startswith(wanted):
        return _run(name, Rank.PREFIX, 0, len(wanted))
    if (begins := low.rfind("/" + wanted)) >= 0:
        return _run(name, Rank.SEGMENT, begins + 1, len(wanted))
    at = _tightest(wanted, low)
    return Match(name, Rank.FUZZY, at[-1] - at[0] + 1 - len(at), at) if at else None


def lowered(text: str) -> str:
    """In lower case, each letter where it was: a letter that becomes two stays as it is."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(one if len(one.lower()) > 1 else one.lower() for one in text)


def _run(name: str, rank: Rank, begins: int, length: int) -> Match:
    return Match(name, rank, 0, tuple(range(begins, begins + length)))


def _tightest(wanted: str, low: str) -> tuple[int, ...]:
    """Where the letters lie, as late as they can and then as close to the first as they can; empty if they do not."""
    begins = len(low)
    for letter in reversed(wanted):
        begins = low.rfind(letter, 0, begins)
        if begins < 0:
            return ()
    at: list[int] = []
    for letter in wanted:
        begins = low.find(letter, begins)
        at.append(begins)
        begins += 1
    return tuple(at)
