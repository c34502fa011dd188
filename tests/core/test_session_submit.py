"""Submit: what becomes of a prompt, whoever else is there, and however often it is sent."""

import pytest

from tests.core.scene import (
    ANA,
    BEN,
    ELSEWHERE,
    HERE,
    IDLE,
    A,
    B,
    C,
    accepted,
    after,
    cancelled,
    completed,
    starts,
    submit,
    submit_foldable,
)
from turnkeeper.core.commands import Cancel, Close, Edit, Finish, Submit
from turnkeeper.core.session import Session, decide
from turnkeeper.protocol.events import MessageSaid, RunAccepted, RunStarted
from turnkeeper.protocol.ids import MessageId, RunId
from turnkeeper.protocol.messages import STOPPED, Binary, Message, Role, Text
from turnkeeper.protocol.problems import QueueFull, RunIdConflict, SessionBusy, WorkspaceClosing
from turnkeeper.protocol.runs import QUEUE_MAX, Attachment, Outcome, Prompt, Run, RunOptions, RunState


def known(session_id: object = HERE, digest: str = "do a", state: RunState = RunState.ENDED) -> Run:
    """What memory has of run A."""
    assert session_id in (HERE, ELSEWHERE)
    return Run(A, HERE if session_id == HERE else ELSEWHERE, state, digest=digest)


def test_a_prompt_told_to_an_idle_session_is_accepted_and_started_in_one_decision() -> None:
    assert decide(IDLE, submit(A)) == [accepted(submit(A)), *starts(submit(A))]


def test_a_prompt_told_to_an_idle_session_is_its_active_run() -> None:
    assert after(submit(A)) == Session(HERE, active=accepted(submit(A)))


def test_a_prompt_told_to_a_busy_session_is_accepted_and_waits() -> None:
    assert decide(after(submit(A)), submit(B)) == [accepted(submit(B))]
    assert after(submit(A), submit(B)) == Session(HERE, active=accepted(submit(A)), queue=(accepted(submit(B)),))


def test_a_prompt_told_to_a_stopping_session_is_accepted_and_comes_after_the_cancel() -> None:
    stopping = after(submit(A), Cancel())
    assert decide(stopping, submit(B)) == [accepted(submit(B))]
    assert decide(after(submit(A), Cancel(), submit(B)), Finish(A, Outcome.CANCELLED)) == [
        *cancelled(A),
        *starts(submit(B)),
    ]


def test_a_prompt_without_a_run_id_of_its_own_starts_like_any_other_when_nobody_is_active() -> None:
    told = submit_foldable(A)
    assert decide(IDLE, told) == [accepted(told), *starts(told)]


def test_prompts_of_many_clients_at_once_start_one_run_and_wait_in_the_order_they_came() -> None:
    many = [submit(RunId(f"r{number}")) for number in range(8)]
    session = after(*many)
    assert session.active == accepted(many[0])
    assert session.queue == tuple(accepted(told) for told in many[1:])


def test_everything_a_submit_says_is_kept_on_the_accepted_run() -> None:
    told = Submit(
        A,
        Prompt("look", (Attachment("/tmp/x.png", "x.png", "image/png", b"png"),)),
        digest="d",
        minted=True,
        foldable=True,
        options=RunOptions(large_model="house/large", steps_max=3),
        by=BEN,
        user_message_id=MessageId("m"),
        at=5_000,
        parent=B,
    )
    kept = RunAccepted(
        A,
        Prompt("look", (Attachment("/tmp/x.png", "x.png", "image/png", b"png"),)),
        digest="d",
        minted=True,
        foldable=True,
        options=RunOptions(large_model="house/large", steps_max=3),
        by=BEN,
        user_message_id=MessageId("m"),
        at=5_000,
        parent=B,
    )
    parts = (Text("look"), Binary("/tmp/x.png", "image/png", b"png"), STOPPED)
    message = Message(MessageId("m"), HERE, Role.USER, parts, created_at=5, updated_at=5, run_id=A, author=BEN)
    assert decide(IDLE, told) == [kept, RunStarted(A), MessageSaid(message)]


def test_a_prompt_of_attachments_alone_says_no_empty_text_and_falls_back_to_the_file_name() -> None:
    told = Submit(A, Prompt("", (Attachment("", "notes.txt", "text/plain", b"hello"),)), user_message_id=MessageId("m"))
    message = Message(MessageId("m"), HERE, Role.USER, (Binary("notes.txt", "text/plain", b"hello"), STOPPED), run_id=A)
    assert decide(IDLE, told)[-1] == MessageSaid(message)


def test_the_same_prompt_under_the_id_of_the_active_run_changes_nothing() -> None:
    assert decide(after(submit(A)), submit(A)) == []


def test_the_same_prompt_under_the_id_of_a_stopping_run_changes_nothing() -> None:
    assert decide(after(submit(A), Cancel()), submit(A)) == []


def test_the_same_prompt_under_the_id_of_a_waiting_run_changes_nothing() -> None:
    assert decide(after(submit(A), submit(B)), submit(B)) == []


def test_the_same_prompt_under_the_id_of_a_run_that_ended_does_not_run_again() -> None:
    told = submit(A)
    again = Submit(told.run_id, told.prompt, digest=told.digest, known=known())
    assert decide(after(submit(A), Finish(A, Outcome.COMPLETED)), again) == []


def test_a_retry_from_another_client_is_still_the_same_prompt() -> None:
    told = Submit(A, Prompt("do a"), digest="do a", by=BEN, at=9)
    assert decide(after(submit(A)), told) == []


def test_a_prompt_edited_while_it_waits_is_still_known_by_what_was_first_submitted() -> None:
    waiting = after(submit(A), submit(B), Edit(B, Prompt("something else"), by=ANA))
    assert decide(waiting, submit(B)) == []


@pytest.mark.parametrize("session", [after(submit(A)), after(submit(C), submit(A)), after(submit(A), Cancel())])
def test_another_prompt_under_the_id_of_a_live_run_is_refused(session: Session) -> None:
    with pytest.raises(RunIdConflict) as refusal:
        decide(session, submit(A, "something else"))
    assert refusal.value.run_id == A


def test_another_prompt_under_the_id_of_a_run_that_ended_is_refused() -> None:
    told = Submit(A, Prompt("something else"), digest="something else", known=known())
    with pytest.raises(RunIdConflict):
        decide(IDLE, told)


def test_a_run_id_that_belongs_to_another_session_is_refused_here_even_with_the_same_prompt() -> None:
    with pytest.raises(RunIdConflict):
        decide(IDLE, Submit(A, Prompt("do a"), digest="do a", known=known(ELSEWHERE, state=RunState.ACTIVE)))


def test_a_refused_prompt_leaves_the_session_as_it_was() -> None:
    session = after(submit(A), submit(B))
    with pytest.raises(RunIdConflict):
        decide(session, submit(B, "something else"))
    assert session == after(submit(A), submit(B))


def test_a_prompt_that_asked_for_an_idle_session_is_refused_by_a_busy_one() -> None:
    for busy in (after(submit(A)), after(submit(A), Cancel())):
        with pytest.raises(SessionBusy):
            decide(busy, submit(B, only_if_idle=True))


def test_a_prompt_that_asked_for_an_idle_session_starts_in_one() -> None:
    told = submit(B, only_if_idle=True)
    assert decide(after(submit(A), Finish(A, Outcome.FAILED)), told) == [accepted(told), *starts(told)]


def test_a_session_keeps_a_bounded_number_of_prompts_waiting() -> None:
    waiting = [submit(RunId(f"r{number}")) for number in range(QUEUE_MAX + 1)]
    full = after(*waiting)
    assert len(full.queue) == QUEUE_MAX == 100
    with pytest.raises(QueueFull) as refusal:
        decide(full, submit(A))
    assert refusal.value.queue_max == QUEUE_MAX


def test_a_full_session_still_knows_the_prompts_it_has() -> None:
    waiting = [submit(RunId(f"r{number}")) for number in range(QUEUE_MAX + 1)]
    assert decide(after(*waiting), waiting[-1]) == []


def test_a_full_session_takes_another_prompt_as_soon_as_one_has_ended() -> None:
    waiting = [submit(RunId(f"r{number}")) for number in range(QUEUE_MAX + 1)]
    assert decide(after(*waiting, Finish(RunId("r0"), Outcome.COMPLETED)), submit(A)) == [accepted(submit(A))]


def test_a_closing_session_accepts_nothing() -> None:
    for closing in (after(Close()), after(submit(B), Close()), after(submit(B), Close(), Finish(B, Outcome.CANCELLED))):
        with pytest.raises(WorkspaceClosing):
            decide(closing, submit(A))


def test_a_closing_session_still_gives_the_receipt_of_a_prompt_it_has() -> None:
    assert decide(after(submit(A), submit(B), Close()), submit(B)) == []


def test_the_run_that_ended_and_the_one_that_follows_are_told_apart() -> None:
    follow_up = after(submit(A), submit(B))
    assert decide(follow_up, Finish(A, Outcome.COMPLETED)) == [completed(A), *starts(submit(B))]
    assert decide(after(submit(A), submit(B), Finish(A, Outcome.COMPLETED)), Finish(B, Outcome.COMPLETED)) == [
        completed(B)
    ]
