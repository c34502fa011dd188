"""When garbage is looked for: while nobody waits for the screen."""

import gc
import weakref
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from textual.app import ComposeResult
from textual.widgets import Input

from turnkeeper.tui.host import Host
from turnkeeper.tui.tidying import (
    DUE_ROUNDS,
    NEVER_ROUNDS,
    OVERDUE_ROUNDS,
    QUIET_SECONDS,
    ROUNDS_BEFORE_OLDER,
    YOUNG_OBJECTS_MAX,
    Tidying,
    is_time,
)


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    """Whatever a test does to the collector is undone."""
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


@dataclass
class Clock:
    at: float = 0.0

    def __call__(self) -> float:
        return self.at


class Ring:
    """Garbage that only a look through everything finds."""

    def __init__(self) -> None:
        self.me = self


def test_all_of_it_is_looked_through_when_enough_was_made_and_nobody_types() -> None:
    assert is_time(rounds=DUE_ROUNDS, quiet_seconds=QUIET_SECONDS)
    assert not is_time(rounds=DUE_ROUNDS, quiet_seconds=QUIET_SECONDS / 2)
    assert not is_time(rounds=DUE_ROUNDS - 1, quiet_seconds=3600)


def test_memory_does_not_wait_for_ever_for_somebody_who_never_stops_typing() -> None:
    assert is_time(rounds=OVERDUE_ROUNDS, quiet_seconds=0)


def test_what_was_made_is_let_go_once_it_is_quiet() -> None:
    clock, gone = Clock(), list[str]()
    tidying = Tidying(now=clock)
    gc.collect()
    tidying.begin()
    ring = Ring()
    gc.collect(1)  # it is old now
    weakref.finalize(ring, gone.append, "ring")
    del ring
    while gc.get_count()[2] < DUE_ROUNDS:
        gc.collect(1)
    tidying.touched()
    tidying.look()
    assert gone == []
    clock.at += QUIET_SECONDS
    tidying.look()
    assert gone == ["ring"]
    tidying.end()


async def test_the_application_looks_while_it_is_open_and_leaves_the_collector_as_it_was() -> None:
    class Small(Host):
        def compose(self) -> ComposeResult:
            yield Input()

    before = gc.get_threshold()
    app, clock = Small(env={}), Clock()
    app.tidying = Tidying(now=clock)
    async with app.run_test() as pilot:
        await pilot.pause()
        assert gc.get_threshold() == (YOUNG_OBJECTS_MAX, ROUNDS_BEFORE_OLDER, NEVER_ROUNDS)
        clock.at += 60
        assert app.tidying.quiet_seconds == 60
        await pilot.press("x")
        assert app.tidying.quiet_seconds == 0
    assert gc.get_threshold() == before
