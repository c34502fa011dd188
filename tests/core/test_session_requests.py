"""Requests: asked once by a run that goes on, settled once by whoever is first, and gone with their run."""

import pytest

from tests.core.scene import (
    ANA,
    BEN,
    HERE,
    IDLE,
    A,
    B,
    Session,
    accepted,
    after,
    answered,
    cancelled,
    permission,
    questions,
    starts,
    submit,
    withdrawn,
)
from turnkeeper.core.commands import Answer, Ask, Cancel, Close, Decided, Finish, Recover, Withdraw
from turnkeeper.core.session import decide, evolve
from turnkeeper.protocol.events import RequestAnswered, RequestAsked, RequestWithdrawn, RunStopping
from turnkeeper.protocol.ids import RequestId
from turnkeeper.protocol.requests import Answers, Decision, QuestionResponse
from turnkeeper.protocol.runs import Outcome

P, Q = RequestId("p"), RequestId("q")
YES, NO = Decision(allowed=True), Decision(allowed=False)
BLUE = Answers((QuestionResponse("colour", fill_in_text="blue"),))
ASKING = (submit(A), Ask(permission()), Ask(questions()))


def test_a_request_is_part_of_the_session_from_the_moment_it_is_asked() -> None:
    assert decide(after(submit(A)), Ask(permission())) == [RequestAsked(permission())]
    assert after(submit(A), Ask(permission())) == Session(HERE, active=accepted(submit(A)), requests=(permission(),))


def test_the_first_of_two_answers_decides_and_the_second_decides_nothing() -> None:
    asking = after(submit(A), Ask(permission()))
    assert decide(asking, Answer(P, YES, by=ANA)) == [answered(permission(), YES, ANA)]
    assert decide(after(submit(A), Ask(permission()), Answer(P, YES, by=ANA)), Answer(P, NO, by=BEN)) == []


def test_what_a_rule_has_decided_is_asked_and_answered_at_once_and_waits_for_nobody() -> None:
    unattended = RequestAnswered(P, NO, ANA, permission().tool_call_id, unattended=True)
    assert decide(after(submit(A)), Decided(permission(), NO, by=ANA)) == [RequestAsked(permission()), unattended]
    assert after(submit(A), Decided(permission(), NO)) == after(submit(A))


def test_a_rule_decides_nothing_for_a_run_that_is_stopping_or_has_ended() -> None:
    for late in (after(submit(A), Cancel()), after(submit(A), Finish(A, Outcome.COMPLETED)), IDLE):
        assert decide(late, Decided(permission(), YES)) == []


def test_a_question_is_answered_by_answers_and_a_permission_by_a_decision() -> None:
    assert decide(after(*ASKING), Answer(Q, BLUE, by=BEN)) == [answered(questions(), BLUE, BEN)]
    assert decide(after(*ASKING), Answer(Q, YES)) == []
    assert decide(after(*ASKING), Answer(P, BLUE)) == []


def test_a_refusal_to_answer_settles_a_question() -> None:
    assert decide(after(*ASKING), Answer(Q, Answers(cancelled=True))) == [
        answered(questions(), Answers(cancelled=True))
    ]


def test_requests_wait_side_by_side_and_an_answer_settles_only_its_own() -> None:
    assert after(*ASKING, Answer(P, YES)) == Session(HERE, active=accepted(submit(A)), requests=(questions(),))
    assert after(*ASKING, Answer(Q, BLUE)) == Session(HERE, active=accepted(submit(A)), requests=(permission(),))


def test_an_answer_to_what_nobody_asked_decides_nothing() -> None:
    assert decide(IDLE, Answer(P, YES)) == []
    assert decide(after(submit(A), Ask(questions())), Answer(P, YES)) == []


def test_a_request_can_be_withdrawn_once() -> None:
    assert decide(after(*ASKING), Withdraw(P, "it took too long")) == [withdrawn(permission(), "it took too long")]
    assert decide(after(*ASKING, Withdraw(P)), Withdraw(P)) == []
    assert decide(after(*ASKING, Answer(P, YES)), Withdraw(P)) == []


def test_an_answer_that_comes_after_the_withdrawal_decides_nothing() -> None:
    assert decide(after(*ASKING, Withdraw(P)), Answer(P, YES)) == []


def test_the_same_request_asked_again_decides_nothing_while_it_is_pending() -> None:
    assert decide(after(*ASKING), Ask(permission())) == []


def test_only_the_active_run_can_ask() -> None:
    assert decide(IDLE, Ask(permission())) == []
    assert decide(after(submit(B), submit(A)), Ask(permission())) == []
    assert decide(after(submit(A), Finish(A, Outcome.COMPLETED)), Ask(permission())) == []


def test_a_run_that_is_being_stopped_asks_nothing_more() -> None:
    assert decide(after(submit(A), Cancel()), Ask(permission())) == []
    assert decide(after(submit(A), Close()), Ask(permission())) == []


@pytest.mark.parametrize("stop", [Cancel(), Cancel(A), Close()])
def test_a_cancel_withdraws_every_request_for_everybody(stop: Cancel | Close) -> None:
    assert decide(after(*ASKING), stop)[-3:] == [
        withdrawn(permission(), "the run was cancelled"),
        withdrawn(questions(), "the run was cancelled"),
        RunStopping(A),
    ]
    assert after(*ASKING, stop).requests == ()


def test_an_answer_that_comes_after_the_cancel_decides_nothing() -> None:
    assert decide(after(*ASKING, Cancel()), Answer(P, YES)) == []


def test_the_end_of_a_run_withdraws_its_requests_before_the_next_run_starts() -> None:
    assert decide(after(*ASKING, submit(B)), Finish(A, Outcome.CANCELLED)) == [
        withdrawn(permission(), "the run has ended"),
        withdrawn(questions(), "the run has ended"),
        *cancelled(A),
        *starts(submit(B)),
    ]


def test_a_recovery_withdraws_what_the_crash_left_pending() -> None:
    assert decide(after(*ASKING), Recover())[:2] == [
        withdrawn(permission(), "the server stopped"),
        withdrawn(questions(), "the server stopped"),
    ]
    assert after(*ASKING, Recover()) == IDLE


def test_a_log_in_which_a_request_is_settled_twice_or_asked_by_nobody_is_not_believed() -> None:
    answered = after(submit(A), Ask(permission()), Answer(P, YES))
    for event in (RequestAnswered(P, NO), RequestWithdrawn(P)):
        with pytest.raises(AssertionError, match="settled once"):
            evolve(answered, event)
    with pytest.raises(AssertionError, match="asked once"):
        evolve(after(*ASKING), RequestAsked(permission()))
    for session in (IDLE, after(submit(B)), after(submit(A), Cancel())):
        with pytest.raises(AssertionError, match="goes on asks"):
            evolve(session, RequestAsked(permission()))
