"""Say and Note: a run writes history while it is active; facts of nobody's run are written whoever is active."""

import pytest

from tests.core.scene import HERE, IDLE, A, B, after, said, submit, submit_foldable
from turnkeeper.core.commands import Cancel, Finish, Fold, Note, Recover, Say
from turnkeeper.core.session import decide, evolve
from turnkeeper.protocol.events import (
    Fact,
    MessageSaid,
    PartSaid,
    SessionRenamed,
    TodosSet,
    UsageCounted,
)
from turnkeeper.protocol.ids import MessageId, RunId
from turnkeeper.protocol.messages import Message, Role, Text
from turnkeeper.protocol.runs import Outcome, Usage


def answer(run_id: RunId | None = A, role: Role = Role.ASSISTANT) -> MessageSaid:
    return MessageSaid(Message(MessageId("answer"), HERE, role, (Text("hello"),), run_id=run_id))


FACTS: tuple[Fact, ...] = (
    answer(),
    PartSaid(MessageId("answer"), 0, Text("hello, world")),
    UsageCounted(Usage(output_tokens=2), run_id=A),
    TodosSet(()),
)


def test_what_the_active_run_says_is_written_as_it_said_it() -> None:
    assert decide(after(submit(A)), Say(A, FACTS)) == list(FACTS)


def test_a_run_that_is_being_stopped_may_still_say_how_far_it_came() -> None:
    assert decide(after(submit(A), Cancel()), Say(A, FACTS)) == list(FACTS)


def test_a_run_that_has_ended_says_nothing_more() -> None:
    finished = after(submit(A), Finish(A, Outcome.COMPLETED))
    overtaken = after(submit(A), submit(B), Finish(A, Outcome.CANCELLED))
    interrupted = after(submit(A), Recover())
    for session in (finished, overtaken, interrupted):
        assert decide(session, Say(A, FACTS)) == []


def test_a_run_that_waits_or_never_was_says_nothing() -> None:
    assert decide(after(submit(B), submit(A)), Say(A, FACTS)) == []
    assert decide(IDLE, Say(A, FACTS)) == []


def test_a_prompt_that_was_folded_says_nothing_of_its_own() -> None:
    assert decide(after(submit(B), submit_foldable(A), Fold(B)), Say(A, FACTS)) == []


def test_what_is_noted_is_written_whether_anybody_is_active_or_not() -> None:
    renamed = SessionRenamed("Colours", by_person=True)
    typed = answer(run_id=None, role=Role.USER)
    for session in (
        IDLE,
        after(submit(A)),
        after(submit(A), Cancel()),
        after(submit(A), submit(B), Recover(hold=True)),
    ):
        assert decide(session, Note((renamed, typed))) == [renamed, typed]


@pytest.mark.parametrize("fact", [*FACTS, SessionRenamed("Colours")])
def test_what_is_said_or_noted_changes_nothing_about_the_line(fact: Fact) -> None:
    session = after(submit(A), submit(B))
    assert evolve(session, fact) == session


@pytest.mark.parametrize("role", [Role.ASSISTANT, Role.TOOL])
def test_a_log_in_which_another_than_the_active_run_speaks_is_not_believed(role: Role) -> None:
    for session in (IDLE, after(submit(B), submit(A)), after(submit(A), Finish(A, Outcome.COMPLETED))):
        with pytest.raises(AssertionError, match="only the active run speaks"):
            evolve(session, answer(role=role))


def test_a_person_may_be_heard_at_any_time() -> None:
    assert evolve(IDLE, said(submit(A))) == IDLE
