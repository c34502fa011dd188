"""Exhaustive exploration: with a few prompts, there is no order of commands in which a promise is broken."""

from collections.abc import Callable

import pytest

from tests.simulation import duties
from tests.simulation.exploration import PROMPTS, Lost, explore
from turnkeeper.core import commands as told
from turnkeeper.core.session import Session, decide
from turnkeeper.protocol.events import Event, MessageSaid, RequestWithdrawn, RunComplete, RunStarted
from turnkeeper.protocol.runs import Outcome


def test_three_prompts_keep_every_promise_in_every_order_of_all_commands() -> None:
    explored = explore(PROMPTS[:3])
    assert explored.complete
    assert explored.depth >= 9
    assert explored.sessions > 2_000, "so few sessions are not all there can be"


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_four_prompts_keep_every_promise_in_every_order_of_all_commands() -> None:
    explored = explore(PROMPTS)
    assert explored.complete
    assert explored.depth >= 12
    assert explored.sessions > 30_000, "so few sessions are not all there can be"


def test_an_exploration_that_is_stopped_early_says_so() -> None:
    explored = explore(PROMPTS[:2], depth_max=1)
    # Nothing yet, one of the two prompts, or closed; no other first command leads anywhere.
    assert (explored.sessions, explored.depth, explored.complete) == (4, 1, False)


def lets_nobody_follow(session: Session, command: told.Command) -> list[Event]:
    events = decide(session, command)
    if isinstance(command, told.Finish):
        return [event for event in events if not isinstance(event, RunStarted | MessageSaid)]
    return events


def forgets_to_withdraw(session: Session, command: told.Command) -> list[Event]:
    return [event for event in decide(session, command) if not isinstance(event, RequestWithdrawn)]


def cancels_who_comes_later(session: Session, command: told.Command) -> list[Event]:
    events = decide(session, command)
    if isinstance(command, told.Submit) and session.stopping and events:
        return [*events, RunComplete(command.run_id, Outcome.CANCELLED)]
    return events


def does_nothing(session: Session, command: told.Command) -> list[Event]:
    return [] if isinstance(command, told.Fold) else decide(session, command)


@pytest.mark.parametrize(
    ("broken", "promise", "commands"),
    [
        (lets_nobody_follow, "nobody waits in an idle session", 3),
        (forgets_to_withdraw, "a request never outlives its run|a run that is stopped asks nothing|goes on asks", 3),
        (cancels_who_comes_later, "nobody ends cancelled whom nobody cancelled", 3),
        (does_nothing, "everybody who may join at a step joins", 3),
    ],
)
def test_a_broken_machine_is_found_by_a_shortest_way(
    monkeypatch: pytest.MonkeyPatch,
    broken: Callable[[Session, told.Command], list[Event]],
    promise: str,
    commands: int,
) -> None:
    monkeypatch.setattr(duties, "decide", broken)
    with pytest.raises(Lost, match=promise) as lost:
        explore(PROMPTS[:2])
    assert str(lost.value).count("\n") == commands
