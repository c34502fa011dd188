"""Simulated days, one a seed: run one to read it, a range to try it, or as many as fit into some minutes."""

import argparse
import itertools
import sys
import time
from collections.abc import Iterable, Sequence

from tests.simulation.ledger import Broken
from tests.simulation.world import World


class Unlucky(Exception):
    """A seed broke a promise; the message tells which, and the last lines of its day."""

    def __init__(self, seed: int, trace: Sequence[str], error: Exception) -> None:
        last = "\n".join(f"  {line}" for line in trace[-12:])
        super().__init__(f"seed {seed}: {type(error).__name__}: {error}\n{last}")


def simulate(seed: int) -> World:
    """Live through one day; raises `Unlucky` when a promise is broken."""
    world = World(seed)
    try:
        world.live()
    except (Broken, AssertionError) as error:
        raise Unlucky(seed, world.trace, error) from error
    return world


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="scripts/simulate", description=__doc__)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--seed", type=int, help="one seed, and print its whole day")
    which.add_argument("--seeds", help="a range of seeds, as in 0-999 (the default)", default="0-999")
    which.add_argument("--minutes", type=float, help="as many seeds as fit into this time")
    options = parser.parse_args(arguments)
    try:
        if options.seed is not None:
            sys.stdout.write("\n".join(simulate(options.seed).trace) + "\n")
            return 0
        seeds = range_of(options.seeds) if options.minutes is None else seeds_for(options.minutes)
        count, done, runs = 0, 0, 0
        for seed in seeds:
            world = simulate(seed)
            count, done, runs = count + 1, done + world.done, runs + len(world.acknowledged)
    except Unlucky as unlucky:
        sys.stdout.write(f"{unlucky}\n")
        return 1
    sys.stdout.write(f"{count:,} days, {done:,} commands, {runs:,} prompts acknowledged: every promise kept\n")
    return 0


def range_of(text: str) -> Iterable[int]:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def seeds_for(minutes: float) -> Iterable[int]:
    until = time.monotonic() + minutes * 60
    return itertools.takewhile(lambda _: time.monotonic() < until, itertools.count())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
