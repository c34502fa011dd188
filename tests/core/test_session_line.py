"""The line: a waiting prompt may be edited, steered, moved and removed; one that no longer waits may not."""

from collections.abc import Callable

import pytest

from tests.core.scene import (
    ANA,
    BEN,
    HERE,
    IDLE,
    A,
    B,
    C,
    D,
    accepted,
    after,
    cancelled,
    completed,
    joins,
    starts,
    submit,
    submit_foldable,
)
from turnkeeper.core.commands import Cancel, Command, Edit, Finish, Fold, Move, Recover, Steer
from turnkeeper.core.session import Session, decide, evolve
from turnkeeper.protocol.events import Gate, PromptEdited, PromptSteered, QueueReordered
from turnkeeper.protocol.ids import RunId
from turnkeeper.protocol.problems import RunNotQueued
from turnkeeper.protocol.runs import Outcome, Prompt

LINE = (submit(A), submit(B), submit(C), submit(D))
CHANGES: list[Callable[[RunId], Command]] = [
    lambda run_id: Edit(run_id, Prompt("other")),
    lambda run_id: Steer(run_id),
    lambda run_id: Move(run_id, 0),
]


def test_a_waiting_prompt_can_be_edited_and_the_change_names_who_made_it() -> None:
    assert decide(after(*LINE), Edit(B, Prompt("better"), by=BEN)) == [PromptEdited(B, Prompt("better"), BEN)]


def test_an_edited_prompt_keeps_its_place_and_runs_as_it_was_edited() -> None:
    session = after(submit(A), submit(B), submit(C), Edit(B, Prompt("better")))
    assert [run.run_id for run in session.queue] == [B, C]
    assert decide(session, Finish(A, Outcome.COMPLETED))[2:] == starts(submit(B, "better"))[1:]


def test_a_waiting_prompt_can_be_told_to_join_the_active_run() -> None:
    session = after(submit(A), submit(B), submit(C))
    assert decide(session, Steer(C, by=ANA)) == [PromptSteered(C, foldable=True, by=ANA)]
    assert decide(after(submit(A), submit(B), submit(C), Steer(C)), Fold(A)) == joins(submit(C), into=A)


def test_a_waiting_prompt_can_be_told_to_stand_on_its_own_again() -> None:
    session = after(submit(A), submit_foldable(B), Steer(B, foldable=False))
    assert decide(session, Fold(A)) == []
    assert decide(session, Finish(A, Outcome.COMPLETED)) == [completed(A), *starts(submit(B))]


def test_a_prompt_that_stands_as_it_is_told_to_is_not_steered_again() -> None:
    assert decide(after(submit(A), submit_foldable(B)), Steer(B)) == []
    assert decide(after(submit(A), submit(B)), Steer(B, foldable=False)) == []


@pytest.mark.parametrize(
    ("run_id", "index", "order"),
    [
        (D, 0, (D, B, C)),
        (D, 1, (B, D, C)),
        (B, 1, (C, B, D)),
        (B, 2, (C, D, B)),
        (B, 99, (C, D, B)),
        (C, -5, (C, B, D)),
    ],
)
def test_a_waiting_prompt_can_be_moved_anywhere_in_the_line(
    run_id: RunId, index: int, order: tuple[RunId, ...]
) -> None:
    assert decide(after(*LINE), Move(run_id, index, by=BEN)) == [QueueReordered(order, BEN)]
    assert tuple(run.run_id for run in after(*LINE, Move(run_id, index)).queue) == order


def test_a_move_to_where_the_prompt_is_already_decides_nothing() -> None:
    assert decide(after(*LINE), Move(C, 1)) == []
    assert decide(after(*LINE), Move(D, 99)) == []


def test_the_line_goes_on_in_the_order_it_was_given() -> None:
    session = after(*LINE, Move(D, 0))
    assert decide(session, Finish(A, Outcome.COMPLETED)) == [completed(A), *starts(submit(D))]


def test_a_waiting_prompt_can_be_removed_and_has_ended_then() -> None:
    assert decide(after(*LINE), Cancel(C)) == cancelled(C)
    assert after(*LINE, Cancel(C)) == after(submit(A), submit(B), submit(D))


@pytest.mark.parametrize("change", CHANGES)
def test_a_prompt_that_is_active_can_no_longer_be_changed(change: Callable[[RunId], Command]) -> None:
    for session in (after(*LINE), after(submit(A), Cancel())):
        with pytest.raises(RunNotQueued) as refusal:
            decide(session, change(A))
        assert refusal.value.run_id == A


@pytest.mark.parametrize("change", CHANGES)
def test_a_prompt_that_has_ended_or_never_was_cannot_be_changed(change: Callable[[RunId], Command]) -> None:
    removed = after(submit(A), submit(B), Cancel(B))
    folded = after(submit(A), submit_foldable(B), Fold(A))
    finished = after(submit(B), Finish(B, Outcome.COMPLETED))
    for session in (removed, folded, finished, IDLE):
        with pytest.raises(RunNotQueued):
            decide(session, change(B))


def test_a_prompt_that_waits_behind_a_stopping_run_can_be_changed() -> None:
    session = after(submit(A), Cancel(), submit(B), submit(C))
    assert decide(session, Edit(B, Prompt("better"))) == [PromptEdited(B, Prompt("better"))]
    assert decide(session, Move(C, 0)) == [QueueReordered((C, B))]


def test_a_prompt_in_a_held_line_can_be_changed_and_stays_held() -> None:
    held = (submit(A), submit(B), submit(C), Recover(hold=True))
    assert after(*held, Move(C, 0), Edit(B, Prompt("better"))) == Session(
        HERE,
        queue=(accepted(submit(C)), evolve(after(*held), PromptEdited(B, Prompt("better"))).queue[0]),
        gate=Gate.HELD,
    )


def test_a_log_that_loses_somebody_by_reordering_is_not_believed() -> None:
    for order in ((B, C), (B, C, A), (B, C, D, D)):
        with pytest.raises(AssertionError, match="keeps everybody"):
            evolve(after(*LINE), QueueReordered(order))


def test_a_log_that_changes_a_prompt_that_does_not_wait_is_not_believed() -> None:
    with pytest.raises(RunNotQueued):
        evolve(after(submit(A)), PromptEdited(A, Prompt("late")))
    with pytest.raises(RunNotQueued):
        evolve(IDLE, PromptSteered(A, foldable=True))
