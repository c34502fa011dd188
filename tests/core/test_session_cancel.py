"""Cancel, of a session or of one run: it reaches what was accepted before it, and nothing that comes after."""

import pytest

from tests.core.scene import (
    ANA,
    HERE,
    IDLE,
    A,
    B,
    C,
    D,
    S,
    accepted,
    after,
    cancelled,
    completed,
    permission,
    starts,
    submit,
    submit_foldable,
    summarise,
    withdrawn,
)
from turnkeeper.core.commands import Ask, Cancel, ClearQueue, Finish, Recover
from turnkeeper.core.session import Session, decide, evolve
from turnkeeper.protocol.events import Gate, RunStopping
from turnkeeper.protocol.runs import Outcome


def test_a_cancel_of_an_idle_session_does_nothing_and_is_not_remembered() -> None:
    assert decide(IDLE, Cancel()) == []
    assert decide(after(Cancel()), submit(A)) == decide(IDLE, submit(A))
    assert decide(after(Cancel(), submit(A)), Finish(A, Outcome.COMPLETED)) == [completed(A)]


def test_a_cancel_stops_the_active_run_and_names_who_asked() -> None:
    assert decide(after(submit(A)), Cancel(by=ANA)) == [RunStopping(A, ANA)]


def test_a_run_that_is_stopping_stays_active_until_it_has_finished() -> None:
    assert after(submit(A), Cancel()) == Session(HERE, active=accepted(submit(A)), stopping=True)
    assert after(submit(A), Cancel(), Finish(A, Outcome.CANCELLED)) == IDLE


def test_a_cancel_ends_everybody_waiting_and_stops_the_active_run() -> None:
    session = after(submit(A), submit(B), submit_foldable(C))
    assert decide(session, Cancel()) == [*cancelled(B, C), RunStopping(A)]


def test_two_prompts_accepted_before_a_cancel_both_end_cancelled() -> None:
    told = (submit(A), submit(B), Cancel(), Finish(A, Outcome.CANCELLED))
    assert decide(after(*told[:2]), told[2]) == [*cancelled(B), RunStopping(A)]
    assert decide(after(*told[:3]), told[3]) == cancelled(A)
    assert after(*told) == IDLE


def test_a_prompt_submitted_after_a_cancel_survives_it() -> None:
    session = after(submit(A), submit(B), Cancel(), submit(C))
    assert session.queue == (accepted(submit(C)),)
    assert decide(session, Finish(A, Outcome.CANCELLED)) == [*cancelled(A), *starts(submit(C))]
    assert not after(submit(A), Cancel(), submit(C), Finish(A, Outcome.CANCELLED)).stopping


def test_a_cancel_right_after_the_acceptance_is_not_lost() -> None:
    assert after(submit(A), Cancel()).stopping


def test_a_second_cancel_of_a_stopping_run_decides_nothing() -> None:
    assert decide(after(submit(A), Cancel()), Cancel()) == []
    assert decide(after(submit(A), Cancel()), Cancel(A)) == []


def test_a_second_cancel_reaches_what_was_accepted_after_the_first() -> None:
    assert decide(after(submit(A), Cancel(), submit(B), submit(C)), Cancel()) == cancelled(B, C)


def test_a_cancel_is_over_when_the_run_it_stopped_has_ended() -> None:
    session = after(submit(A), Cancel(), submit(B), Finish(A, Outcome.CANCELLED))
    assert session == Session(HERE, active=accepted(submit(B)))
    assert decide(session, Finish(B, Outcome.COMPLETED)) == [completed(B)]


def test_a_cancel_withdraws_what_the_run_was_asking() -> None:
    session = after(submit(A), Ask(permission("p")), Ask(permission("q")))
    assert decide(session, Cancel()) == [
        withdrawn(permission("p"), "the run was cancelled"),
        withdrawn(permission("q"), "the run was cancelled"),
        RunStopping(A),
    ]


def test_a_cancel_of_one_waiting_run_leaves_the_others_alone() -> None:
    session = after(submit(A), submit(B), submit(C))
    assert decide(session, Cancel(B)) == cancelled(B)
    assert after(submit(A), submit(B), submit(C), Cancel(B)) == after(submit(A), submit(C))


def test_a_cancel_of_the_active_run_alone_lets_the_line_move_on() -> None:
    session = after(submit(A), submit(B))
    assert decide(session, Cancel(A, by=ANA)) == [RunStopping(A, ANA)]
    assert decide(after(submit(A), submit(B), Cancel(A)), Finish(A, Outcome.CANCELLED)) == [
        *cancelled(A),
        *starts(submit(B)),
    ]


def test_a_cancel_of_one_waiting_run_reaches_it_while_another_is_stopping() -> None:
    assert decide(after(submit(A), Cancel(), submit(B), submit(C)), Cancel(C)) == cancelled(C)


def test_a_cancel_of_a_run_that_has_ended_or_never_was_decides_nothing() -> None:
    session = after(submit(A), submit(B), Finish(A, Outcome.COMPLETED))
    assert decide(session, Cancel(A)) == []
    assert decide(session, Cancel(D)) == []
    assert decide(IDLE, Cancel(A)) == []


def test_a_cancel_of_one_waiting_run_withdraws_nothing_the_active_one_asks() -> None:
    assert decide(after(submit(A), submit(B), Ask(permission())), Cancel(B)) == cancelled(B)


def test_clearing_the_queue_ends_everybody_waiting_and_leaves_the_active_run_alone() -> None:
    session = after(submit(A), submit(B), submit_foldable(C))
    assert decide(session, ClearQueue()) == cancelled(B, C)
    assert after(submit(A), submit(B), submit_foldable(C), ClearQueue()) == after(submit(A))


def test_clearing_the_queue_behind_a_stopping_run_leaves_it_stopping() -> None:
    assert decide(after(submit(A), Cancel(), submit(B)), ClearQueue()) == cancelled(B)


def test_clearing_an_empty_queue_decides_nothing() -> None:
    assert decide(IDLE, ClearQueue()) == []
    assert decide(after(submit(A)), ClearQueue()) == []


def test_a_cancel_empties_a_held_line_and_leaves_it_held() -> None:
    held = after(submit(A), submit(B), Recover(hold=True))
    assert decide(held, Cancel()) == cancelled(B)
    assert after(submit(A), submit(B), Recover(hold=True), Cancel()) == Session(HERE, gate=Gate.HELD)


def test_a_summary_is_cancelled_like_any_run_and_never_strands_the_queue() -> None:
    session = after(summarise(), submit(A))
    assert decide(session, Cancel(S)) == [RunStopping(S)]
    assert decide(after(summarise(), submit(A), Cancel(S)), Finish(S, Outcome.CANCELLED)) == [
        *cancelled(S),
        *starts(submit(A)),
    ]


def test_a_log_in_which_a_run_is_stopped_twice_is_not_believed() -> None:
    for session in (IDLE, after(submit(A), Cancel()), after(submit(B))):
        with pytest.raises(AssertionError, match="stopped once"):
            evolve(session, RunStopping(A))
