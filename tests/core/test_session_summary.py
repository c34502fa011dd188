"""A summary is a run among the others: cancellable, in line, never part of another, saying nothing of a person's."""

import pytest

from tests.core.scene import (
    HERE,
    IDLE,
    A,
    B,
    S,
    accepted,
    after,
    cancelled,
    completed,
    starts,
    submit,
    summarise,
)
from turnkeeper.core.commands import Cancel, Close, Finish, Recover
from turnkeeper.core.session import Session, decide
from turnkeeper.protocol.events import Gate, GateMoved, RunStarted, RunStopping
from turnkeeper.protocol.problems import SessionBusy
from turnkeeper.protocol.runs import Outcome


def test_a_summary_of_an_idle_session_starts_and_says_nothing_in_a_persons_name() -> None:
    assert decide(IDLE, summarise(only_if_idle=True)) == [accepted(summarise()), RunStarted(S)]


def test_a_summary_that_asked_for_an_idle_session_is_refused_by_a_busy_one() -> None:
    for busy in (after(submit(A)), after(submit(A), Cancel()), after(summarise(A))):
        with pytest.raises(SessionBusy):
            decide(busy, summarise(only_if_idle=True))


def test_a_summary_asked_for_again_under_its_id_changes_nothing_even_when_it_wanted_to_be_alone() -> None:
    assert decide(after(summarise(only_if_idle=True)), summarise(only_if_idle=True)) == []


def test_a_summary_that_may_wait_takes_its_place_in_line() -> None:
    assert decide(after(submit(A), submit(B)), summarise()) == [accepted(summarise())]


def test_a_prompt_submitted_during_a_summary_waits_and_runs_when_it_ends_however_it_ends() -> None:
    session = after(summarise(), submit(A))
    assert session == Session(HERE, active=accepted(summarise()), queue=(accepted(submit(A)),))
    for outcome in (Outcome.COMPLETED, Outcome.FAILED, Outcome.CANCELLED):
        assert decide(session, Finish(S, outcome))[1:] == starts(submit(A))


def test_a_cancel_stops_a_summary_and_what_waits_behind_it() -> None:
    assert decide(after(summarise(), submit(A)), Cancel()) == [*cancelled(A), RunStopping(S)]


def test_a_waiting_summary_can_be_removed() -> None:
    assert decide(after(submit(A), summarise()), Cancel(S)) == cancelled(S)


def test_a_summary_that_a_crash_interrupted_ends_and_strands_nobody() -> None:
    assert decide(after(summarise(), submit(A)), Recover())[1:] == starts(submit(A))


def test_a_summary_told_to_a_held_session_goes_behind_the_line_it_releases() -> None:
    held = after(submit(A), submit(B), Recover(hold=True))
    assert decide(held, summarise(only_if_idle=True)) == [
        accepted(summarise()),
        GateMoved(Gate.OPEN),
        *starts(submit(B)),
    ]


def test_a_summary_kept_by_a_closing_session_runs_after_the_next_opening() -> None:
    closed = after(submit(A), summarise(), Close(), Finish(A, Outcome.CANCELLED))
    assert decide(closed, Recover()) == [GateMoved(Gate.OPEN), RunStarted(S)]


def test_a_summary_between_two_prompts_keeps_their_order() -> None:
    session = after(submit(A), summarise(), submit(B), Finish(A, Outcome.COMPLETED))
    assert decide(session, Finish(S, Outcome.COMPLETED)) == [completed(S), *starts(submit(B))]
