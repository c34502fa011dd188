"""Ratios measured in one run: two things in turns, so that whatever else the machine is doing slows both."""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

ROUNDS = 7


@dataclass(frozen=True)
class Measured:
    """One ratio and its bound, which is the most it may be, or the least."""

    what: str
    ratio: float
    bound: float
    at_least: bool = False

    @property
    def is_kept(self) -> bool:
        return self.ratio >= self.bound if self.at_least else self.ratio <= self.bound

    def __str__(self) -> str:
        sign = "≥" if self.at_least else "≤"
        return f"{'ok  ' if self.is_kept else 'BAD '} {self.ratio:6.2f}  ({sign} {self.bound})  {self.what}"


def report(measured: Sequence[Measured]) -> int:
    """Prints the table; the exit code says whether every bound is kept."""
    for one in measured:
        print(one)
    return 0 if all(one.is_kept for one in measured) else 1


async def in_turns(ours: Callable[[int], Awaitable[float]], theirs: Callable[[int], Awaitable[float]]) -> float:
    """Our time over theirs: the median of the rounds, after one to warm up."""
    await ours(-1)
    await theirs(-1)
    return median([await ours(number) / await theirs(number) for number in range(ROUNDS)])


async def timed(work: Callable[[], Awaitable[Any]]) -> float:
    begin = time.perf_counter()
    await work()
    return time.perf_counter() - begin
