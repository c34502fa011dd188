"""How runs end, and what happens to the line then: finish, recover, hold and release, close."""

import pytest

from tests.core.scene import (
    ANA,
    HERE,
    IDLE,
    A,
    B,
    C,
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
from turnkeeper.core.commands import Ask, Cancel, ClearQueue, Close, Finish, Fold, Recover, Release, Submit
from turnkeeper.core.session import STOPPED_BY_SERVER, Session, decide, evolve, replay
from turnkeeper.protocol.events import (
    Event,
    Gate,
    GateMoved,
    RunComplete,
    RunStarted,
    RunStopping,
)
from turnkeeper.protocol.ids import MessageId
from turnkeeper.protocol.runs import Cause, Failure, Outcome, Prompt, Usage

HELD = (submit(A), submit(B), submit(C), Recover(hold=True))


def interrupted() -> RunComplete:
    return RunComplete(A, Outcome.INTERRUPTED, failure=STOPPED_BY_SERVER)


@pytest.mark.parametrize("outcome", [Outcome.COMPLETED, Outcome.FAILED, Outcome.CANCELLED])
def test_whatever_the_outcome_the_next_in_line_starts_when_the_active_run_ends(outcome: Outcome) -> None:
    session = after(submit(A), submit(B), submit(C))
    assert decide(session, Finish(A, outcome)) == [RunComplete(A, outcome), *starts(submit(B))]


@pytest.mark.parametrize("outcome", [Outcome.COMPLETED, Outcome.FAILED, Outcome.CANCELLED])
def test_a_run_that_was_stopped_makes_way_for_what_came_after_the_cancel(outcome: Outcome) -> None:
    session = after(submit(A), Cancel(), submit(B))
    assert decide(session, Finish(A, outcome)) == [RunComplete(A, outcome), *starts(submit(B))]


def test_the_ending_carries_what_the_run_came_to() -> None:
    failure = Failure(Cause.PROVIDER, "The provider is overloaded.", retryable=True)
    told = Finish(A, Outcome.FAILED, MessageId("m"), "so far", failure, Usage(input_tokens=3, cost=0.1), steps=2)
    assert decide(after(submit(A)), told) == [
        RunComplete(A, Outcome.FAILED, MessageId("m"), "so far", failure, Usage(input_tokens=3, cost=0.1), 2)
    ]


def test_an_ending_tells_whether_the_server_named_the_run_because_its_client_did_not() -> None:
    unnamed, follower = Submit(A, Prompt("do a"), minted=True), Submit(B, Prompt("do b"), minted=True)
    session = after(unnamed, follower)
    assert decide(session, Finish(A, Outcome.COMPLETED))[0] == RunComplete(A, Outcome.COMPLETED, minted=True)
    assert decide(session, Recover())[0] == RunComplete(A, Outcome.INTERRUPTED, failure=STOPPED_BY_SERVER, minted=True)
    waiting = RunComplete(B, Outcome.CANCELLED, minted=True)
    assert decide(session, Cancel(B)) == decide(session, ClearQueue()) == [waiting]


def test_a_run_ends_once_however_often_it_finishes() -> None:
    for session in (after(submit(A), Finish(A, Outcome.COMPLETED)), after(submit(A), submit(B), Recover())):
        assert decide(session, Finish(A, Outcome.COMPLETED)) == []


def test_only_the_active_run_can_finish() -> None:
    assert decide(IDLE, Finish(A, Outcome.COMPLETED)) == []
    assert decide(after(submit(A), submit(B)), Finish(B, Outcome.COMPLETED)) == []
    assert decide(after(submit(A), submit(B), Cancel(A)), Finish(B, Outcome.COMPLETED)) == []


def test_the_ending_of_a_run_comes_before_the_start_of_the_next_and_waits_for_nobody() -> None:
    first, second, _ = decide(after(submit(A), submit(B)), Finish(A, Outcome.COMPLETED))
    assert (first, second) == (completed(A), RunStarted(B))


def test_what_a_run_was_still_asking_is_withdrawn_before_it_ends() -> None:
    assert decide(after(submit(A), Ask(permission())), Finish(A, Outcome.FAILED)) == [
        withdrawn(permission("p"), "the run has ended"),
        RunComplete(A, Outcome.FAILED),
    ]


def test_recovery_ends_what_was_active_as_interrupted_and_goes_on_with_the_line() -> None:
    assert decide(after(submit(A), submit(B)), Recover()) == [interrupted(), *starts(submit(B))]


def test_recovery_tells_whoever_submitted_that_the_server_stopped_and_that_trying_again_may_help() -> None:
    assert STOPPED_BY_SERVER.cause is Cause.SERVER
    assert STOPPED_BY_SERVER.retryable
    assert decide(after(submit(A)), Recover()) == [interrupted()]


def test_recovery_ends_a_run_that_was_being_stopped_the_same_way() -> None:
    assert decide(after(submit(A), Cancel(), submit(B)), Recover()) == [interrupted(), *starts(submit(B))]


def test_recovery_of_an_idle_session_decides_nothing() -> None:
    assert decide(IDLE, Recover()) == []
    assert decide(IDLE, Recover(hold=True)) == []


def test_recovery_withdraws_what_the_interrupted_run_was_asking() -> None:
    assert decide(after(submit(A), Ask(permission())), Recover()) == [
        withdrawn(permission("p"), "the server stopped"),
        interrupted(),
    ]


def test_recovery_can_hold_the_line_until_somebody_is_there() -> None:
    assert decide(after(submit(A), submit(B)), Recover(hold=True)) == [interrupted(), GateMoved(Gate.HELD)]
    assert after(*HELD) == Session(HERE, queue=(accepted(submit(B)), accepted(submit(C))), gate=Gate.HELD)


def test_recovery_holds_nothing_when_nobody_waits() -> None:
    assert decide(after(submit(A)), Recover(hold=True)) == [interrupted()]


def test_recovering_a_held_line_again_keeps_it_held() -> None:
    assert decide(after(*HELD), Recover(hold=True)) == []


def test_recovering_a_held_line_without_holding_lets_it_go_on() -> None:
    assert decide(after(*HELD), Recover()) == [GateMoved(Gate.OPEN), *starts(submit(B))]


def test_recovery_reopens_a_session_that_was_closed_with_its_line_kept() -> None:
    closed = (submit(A), submit(B), Close(), Finish(A, Outcome.CANCELLED))
    assert decide(after(*closed), Recover()) == [GateMoved(Gate.OPEN), *starts(submit(B))]
    assert decide(after(*closed), Recover(hold=True)) == [GateMoved(Gate.HELD)]
    assert decide(after(submit(A), Close(), Finish(A, Outcome.CANCELLED)), Recover(hold=True)) == [GateMoved(Gate.OPEN)]


def test_a_held_line_goes_on_when_it_is_released() -> None:
    assert decide(after(*HELD), Release()) == [GateMoved(Gate.OPEN), *starts(submit(B))]


def test_only_a_held_line_can_be_released() -> None:
    for session in (IDLE, after(submit(A), submit(B)), after(submit(A), submit(B), Close())):
        assert decide(session, Release()) == []


def test_a_prompt_submitted_into_a_held_session_releases_the_line_and_takes_its_place_at_the_end() -> None:
    told = submit(S)
    assert decide(after(*HELD), told) == [accepted(told), GateMoved(Gate.OPEN), *starts(submit(B))]
    assert [run.run_id for run in after(*HELD, told).queue] == [C, S]


def test_a_prompt_submitted_into_a_held_session_that_was_emptied_starts() -> None:
    told = submit(S)
    assert decide(after(*HELD, Cancel()), told) == [accepted(told), GateMoved(Gate.OPEN), *starts(told)]


def test_a_prompt_that_is_known_does_not_release_a_held_line() -> None:
    assert decide(after(*HELD), submit(B)) == []


def test_nothing_folds_or_finishes_in_a_held_session() -> None:
    held = after(submit(A), submit_foldable(B), Recover(hold=True))
    assert decide(held, Fold(A)) == []
    assert decide(held, Finish(A, Outcome.COMPLETED)) == []


def test_closing_stops_the_active_run_and_keeps_the_line_for_the_next_opening() -> None:
    session = after(submit(A), submit(B))
    assert decide(session, Close(by=ANA)) == [GateMoved(Gate.CLOSING), RunStopping(A, ANA)]
    assert decide(after(submit(A), submit(B), Close()), Finish(A, Outcome.CANCELLED)) == cancelled(A)
    assert after(submit(A), submit(B), Close(), Finish(A, Outcome.CANCELLED)) == Session(
        HERE, queue=(accepted(submit(B)),), gate=Gate.CLOSING
    )


def test_closing_can_cancel_the_line_as_well() -> None:
    assert decide(after(submit(A), submit(B), submit(C)), Close(keep_queue=False)) == [
        GateMoved(Gate.CLOSING),
        *cancelled(B, C),
        RunStopping(A),
    ]


def test_closing_withdraws_what_the_active_run_was_asking() -> None:
    assert decide(after(submit(A), Ask(permission())), Close()) == [
        GateMoved(Gate.CLOSING),
        withdrawn(permission("p"), "the run was cancelled"),
        RunStopping(A),
    ]


def test_closing_an_idle_session_only_shuts_its_gate() -> None:
    assert decide(IDLE, Close()) == [GateMoved(Gate.CLOSING)]


def test_closing_twice_decides_nothing_but_may_still_cancel_the_line() -> None:
    closing = after(submit(A), submit(B), Close())
    assert decide(closing, Close()) == []
    assert decide(closing, Close(keep_queue=False)) == cancelled(B)


def test_closing_a_held_session_keeps_its_line() -> None:
    assert decide(after(*HELD), Close()) == [GateMoved(Gate.CLOSING)]


def test_a_summary_ends_like_any_run_and_the_line_goes_on() -> None:
    assert decide(after(submit(A), summarise(), submit(B)), Finish(A, Outcome.COMPLETED)) == [
        completed(A),
        RunStarted(S),
    ]
    session = after(submit(A), summarise(), submit(B), Finish(A, Outcome.COMPLETED))
    assert decide(session, Finish(S, Outcome.FAILED)) == [RunComplete(S, Outcome.FAILED), *starts(submit(B))]


@pytest.mark.parametrize("held", [False, True])
def test_a_session_replayed_from_its_log_is_the_session_that_wrote_it(held: bool) -> None:
    session, log = IDLE, list[Event]()
    for command in (
        submit(A),
        submit_foldable(B),
        Fold(A),
        submit(C),
        Ask(permission()),
        Recover(hold=held),
        submit(S),
    ):
        events = decide(session, command)
        log += events
        for event in events:
            session = evolve(session, event)
    assert replay(HERE, log) == session
    assert session != IDLE


def test_a_log_with_an_impossible_ending_is_not_believed() -> None:
    for session in (IDLE, after(submit(A), Finish(A, Outcome.COMPLETED)), after(submit(A), submit(B), Cancel())):
        with pytest.raises(AssertionError, match="ends once"):
            evolve(session, RunComplete(B, Outcome.COMPLETED))
    with pytest.raises(AssertionError, match="never outlives its run"):
        evolve(after(submit(A), Ask(permission())), RunComplete(A, Outcome.COMPLETED))


def test_a_log_with_an_impossible_start_is_not_believed() -> None:
    with pytest.raises(AssertionError, match="one run at a time"):
        evolve(after(submit(A), submit(B)), RunStarted(B))
    with pytest.raises(AssertionError, match="behind a closed gate"):
        evolve(after(*HELD), RunStarted(B))
    with pytest.raises(AssertionError, match="first come, first served"):
        evolve(evolve(after(*HELD), GateMoved(Gate.OPEN)), RunStarted(C))
    with pytest.raises(AssertionError, match="first come, first served"):
        evolve(IDLE, RunStarted(A))


def test_a_log_in_which_a_run_is_accepted_twice_or_too_late_is_not_believed() -> None:
    for session in (after(submit(A)), after(submit(B), submit(A))):
        with pytest.raises(AssertionError, match="accepted once"):
            evolve(session, accepted(submit(A)))
    with pytest.raises(AssertionError, match="closing session"):
        evolve(after(Close()), accepted(submit(A)))
