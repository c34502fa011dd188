"""Fold: between two steps, what may join the active run joins it, and stays part of the conversation."""

import pytest
from msgspec.structs import replace

from tests.core.scene import (
    HERE,
    IDLE,
    A,
    B,
    C,
    D,
    S,
    accepted,
    after,
    completed,
    joins,
    starts,
    submit,
    submit_foldable,
    summarise,
)
from turnkeeper.core.commands import Cancel, Edit, Finish, Fold, Steer
from turnkeeper.core.session import Session, decide, evolve
from turnkeeper.protocol.events import RunFolded
from turnkeeper.protocol.problems import TermsDiffer
from turnkeeper.protocol.runs import Outcome, Prompt, RunOptions


def test_a_foldable_prompt_joins_the_active_run_and_is_said_in_the_same_decision() -> None:
    assert decide(after(submit(A), submit_foldable(B)), Fold(A)) == joins(submit_foldable(B), into=A)


def test_every_foldable_prompt_joins_in_the_order_they_came() -> None:
    session = after(submit(A), submit_foldable(B), submit_foldable(C))
    assert decide(session, Fold(A)) == [*joins(submit_foldable(B), into=A), *joins(submit_foldable(C), into=A)]


def test_prompts_with_a_run_id_of_their_own_stay_in_line_in_their_order() -> None:
    session = after(submit(A), submit(B), submit_foldable(C), submit(D), Fold(A))
    assert session == Session(HERE, active=accepted(submit(A)), queue=(accepted(submit(B)), accepted(submit(D))))


def test_a_folded_prompt_has_ended_and_never_starts() -> None:
    session = after(submit(A), submit_foldable(B), Fold(A))
    assert decide(session, Finish(A, Outcome.COMPLETED)) == [completed(A)]
    assert decide(session, Finish(B, Outcome.COMPLETED)) == []


def test_a_prompt_is_folded_once() -> None:
    assert decide(after(submit(A), submit_foldable(B), Fold(A)), Fold(A)) == []


def test_a_foldable_prompt_that_meets_no_further_step_becomes_a_run_when_its_turn_comes() -> None:
    session = after(submit(A), submit_foldable(B))
    assert decide(session, Finish(A, Outcome.COMPLETED)) == [completed(A), *starts(submit_foldable(B))]


def test_what_is_folded_is_the_prompt_as_it_was_last_edited() -> None:
    session = after(submit(A), submit_foldable(B), Edit(B, Prompt("better")))
    assert decide(session, Fold(A)) == joins(submit_foldable(B, "better"), into=A)


def test_nothing_joins_a_run_that_is_being_stopped() -> None:
    assert decide(after(submit(A), Cancel(), submit_foldable(B)), Fold(A)) == []


def test_nothing_joins_a_run_that_is_not_active() -> None:
    waiting = after(submit(A), submit(B), submit_foldable(C))
    assert decide(waiting, Fold(B)) == []
    assert decide(waiting, Fold(D)) == []
    assert decide(IDLE, Fold(A)) == []


def test_a_run_that_has_ended_takes_nobody_in_although_its_successor_would() -> None:
    session = after(submit(A), submit(B), submit_foldable(C), Finish(A, Outcome.FAILED))
    assert decide(session, Fold(A)) == []
    assert decide(session, Fold(B)) == joins(submit_foldable(C), into=B)


@pytest.mark.parametrize(
    "asked",
    [
        RunOptions(deny=("bash",)),
        RunOptions(allow=("bash(git push)",)),
        RunOptions(yolo=True),
        RunOptions(large_model="somebody/else"),
        RunOptions(cost_max=0.5),
        RunOptions(interactive=False, steps_max=1),
    ],
    ids=["a rule", "an allowance", "no questions", "a model", "a price", "a limit where nobody answers"],
)
def test_a_prompt_that_asked_for_terms_of_its_own_joins_only_a_run_that_has_them(asked: RunOptions) -> None:
    its_own = replace(submit_foldable(B), options=asked)
    assert decide(after(submit(A), its_own), Fold(A)) == []
    assert decide(after(replace(submit(A), options=asked), its_own), Fold(A)) == joins(its_own, into=A)


def test_who_steers_a_prompt_into_a_run_without_its_terms_is_told_that_it_waits() -> None:
    session = after(submit(A), replace(submit(B), options=RunOptions(deny=("bash",))))
    with pytest.raises(TermsDiffer):
        decide(session, Steer(B, True))
    assert decide(session, Steer(B, False)) == []


def test_a_prompt_that_asked_for_nothing_of_its_own_joins_whatever_the_run_was_told() -> None:
    told = replace(submit(A), options=RunOptions(interactive=False, allow=("bash(ls)",)))
    assert decide(after(told, submit_foldable(B)), Fold(A)) == joins(submit_foldable(B), into=A)


def test_a_summary_takes_nobody_in() -> None:
    session = after(summarise(), submit_foldable(A))
    assert decide(session, Fold(S)) == []
    assert decide(session, Finish(S, Outcome.COMPLETED)) == [completed(S), *starts(submit_foldable(A))]


def test_a_summary_joins_nobody_even_when_it_is_steered_to() -> None:
    session = after(submit(A), summarise(), Steer(S))
    assert decide(session, Fold(A)) == []
    assert decide(session, Finish(A, Outcome.COMPLETED)) == [completed(A), *starts(summarise())]


def test_a_log_that_folds_what_cannot_be_folded_is_not_believed() -> None:
    with pytest.raises(AssertionError, match="joins a run that goes on"):
        evolve(after(submit(A), submit_foldable(B), Cancel(B)), RunFolded(B, into=C))
    with pytest.raises(AssertionError, match="joins a run that goes on"):
        evolve(after(submit(A), Cancel(), submit_foldable(B)), RunFolded(B, into=A))
    with pytest.raises(AssertionError, match="only a waiting prompt"):
        evolve(after(submit(A)), RunFolded(B, into=A))
    with pytest.raises(AssertionError, match="a summary stands on its own"):
        evolve(after(submit(A), summarise()), RunFolded(S, into=A))
