"""The ledger is a judge; here it is shown what it must not let pass."""

from collections.abc import Sequence

import pytest

from tests.core.scene import (
    HERE,
    A,
    B,
    C,
    S,
    accepted,
    cancelled,
    completed,
    joins,
    permission,
    questions,
    starts,
    submit,
    submit_foldable,
    summarise,
    withdrawn,
)
from tests.simulation.duties import written
from tests.simulation.ledger import Broken, Ledger
from turnkeeper.core.commands import Cancel, ClearQueue, Close, Command, Note
from turnkeeper.protocol.events import (
    Event,
    Gate,
    GateMoved,
    MessageSaid,
    PromptSteered,
    QueueReordered,
    RequestAnswered,
    RequestAsked,
    RunFolded,
    RunStarted,
    RunStopping,
)
from turnkeeper.protocol.ids import MessageId
from turnkeeper.protocol.messages import Message, Role
from turnkeeper.protocol.requests import Answers, Decision

RUNNING = (accepted(submit(A)), *starts(submit(A)))
WAITING = (*RUNNING, accepted(submit(B)), accepted(submit(C)))
FOLDING = (*RUNNING, accepted(submit_foldable(B)))
SUMMARISING = (accepted(summarise()), *starts(summarise()), accepted(submit_foldable(B)))
ASKING = (*RUNNING, RequestAsked(permission()))
ANSWER = MessageSaid(Message(MessageId("answer"), HERE, Role.ASSISTANT, run_id=A))


def read(*events: Event) -> Ledger:
    return written(Ledger(), Note(()), events)


@pytest.mark.parametrize(
    ("promise", "events"),
    [
        ("a run is accepted once", (*RUNNING, accepted(submit(A)))),
        ("a closing session accepts nothing", (GateMoved(Gate.CLOSING), accepted(submit(A)))),
        ("one run at a time", (*WAITING, *starts(submit(B)))),
        ("first come, first served", (*WAITING, completed(A), *starts(submit(C)))),
        ("nothing starts behind a gate", (*WAITING, GateMoved(Gate.HELD), completed(A), *starts(submit(B)))),
        ("nobody waits in an idle session", (*WAITING, completed(A))),
        ("heard at once", (accepted(submit(A)), RunStarted(A))),
        ("heard at once", (accepted(submit(A)), RunStarted(A), *starts(submit(B))[1:])),
        ("a prompt is said once", (*RUNNING, *starts(submit(A))[1:])),
        ("a run ends once", (*RUNNING, completed(A), completed(A))),
        ("a run ends after it was accepted", (*RUNNING, completed(A), completed(B))),
        ("only a cancel ends who waits", (*WAITING, completed(B))),
        ("nobody ends cancelled whom nobody cancelled", (*RUNNING, *cancelled(A))),
        ("nobody is stopped whom nobody asked", (*RUNNING, RunStopping(A))),
        ("never outlives its run", (*ASKING, completed(A))),
        ("only the active run speaks", (*RUNNING, completed(A), ANSWER)),
        ("was allowed to, and is no summary", (*WAITING, *joins(submit(B), into=A))),
        ("a summary takes nobody in", (*SUMMARISING, *joins(submit_foldable(B), into=S))),
        ("joins a run that goes on", (*FOLDING, *joins(submit_foldable(B), into=C))),
        ("who joins was waiting", (*FOLDING, *joins(submit_foldable(B), into=A), RunFolded(B, into=A))),
        ("a new order keeps everybody", (*WAITING, QueueReordered((B,)))),
        ("only who waits can be changed", (*WAITING, PromptSteered(A, foldable=True))),
        ("a request is asked once", (*ASKING, withdrawn(permission()), RequestAsked(permission()))),
        ("only a run that goes on asks", (*WAITING, RequestAsked(permission(run_id=B)))),
        ("settled once", (*ASKING, withdrawn(permission()), withdrawn(permission()))),
        ("an answer fits what was asked", (*ASKING, RequestAnswered(permission().id, Answers()))),
        (
            "an answer fits what was asked",
            (*RUNNING, RequestAsked(questions()), RequestAnswered(questions().id, Decision(allowed=True))),
        ),
        ("a gate moves to another place", (GateMoved(Gate.OPEN),)),
    ],
)
def test_a_log_that_breaks_a_promise_is_noticed(promise: str, events: Sequence[Event]) -> None:
    with pytest.raises(Broken, match=promise):
        read(*events)


@pytest.mark.parametrize(
    ("command", "reached"),
    [
        (Cancel(), {A, B, C}),
        (Cancel(B), {B}),
        (Cancel(S), set[str]()),
        (ClearQueue(), {B, C}),
        (Close(), {A}),
        (Close(keep_queue=False), {A, B, C}),
        (Note(()), set[str]()),
    ],
)
def test_a_command_may_end_those_it_was_about_and_who_were_there(command: Command, reached: set[str]) -> None:
    assert read(*WAITING).because(command).doomed == reached


def test_a_log_that_keeps_every_promise_is_read_to_its_end() -> None:
    ledger = read(*FOLDING, *joins(submit_foldable(B), into=A), ANSWER, completed(A))
    assert (ledger.accepted, ledger.alive, list(ledger.endings)) == ({A, B}, (), [B, A])
