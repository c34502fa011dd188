"""What only our own clients are told: runs, lines, receipts, snapshots, and the fine detail of the stream."""

import json

import msgspec

from turnkeeper.protocol import events
from turnkeeper.protocol.clients import ClientName
from turnkeeper.protocol.events import Event, Gate
from turnkeeper.protocol.ids import ClientId, MessageId, Position, RequestId, RunId, SessionId, ToolCallId
from turnkeeper.protocol.messages import Delta, PartKind, Text
from turnkeeper.protocol.requests import Decision, Permission, Question, Questions, QuestionType
from turnkeeper.protocol.runs import (
    Attachment,
    Cause,
    Failure,
    Outcome,
    Prompt,
    Run,
    RunKind,
    RunOptions,
    RunState,
    Usage,
)
from turnkeeper.protocol.sessions import SessionInfo
from turnkeeper.protocol.wire import encode, envelope
from turnkeeper.protocol.wire_details import OWN_KINDS, MessageDropped, RunEnded, delta_to_wire
from turnkeeper.protocol.wire_own import (
    CancelReceipt,
    FailureView,
    Queue,
    QueueEdit,
    QueueOrder,
    RunView,
    Snapshot,
    queue_to_wire,
    run_to_wire,
    snapshot,
)
from turnkeeper.protocol.wire_reading import decode, read
from turnkeeper.protocol.wire_stream import read_envelope
from turnkeeper.protocol.wire_telling import cancel_receipt, told

S, R, C, M = SessionId("S"), RunId("r"), ClientId("c"), MessageId("m")
PROMPT = Prompt("hi", (Attachment("/p/a", "a", "text/plain", b"hello"),))
ENDED = Run(
    id=R,
    session_id=S,
    state=RunState.ENDED,
    kind=RunKind.SUMMARY,
    minted=True,
    foldable=True,
    digest="private",
    prompt=PROMPT,
    options=RunOptions(steps_max=3),
    by=C,
    user_message_id=MessageId("u"),
    accepted_at=1,
    started_at=2,
    ended_at=3,
    outcome=Outcome.FAILED,
    failure=Failure(Cause.PROVIDER, "hung up", retryable=True),
    message_id=M,
    text="half",
    usage=Usage(input_tokens=5, cost=0.5),
    steps=2,
    folded_into=RunId("other"),
    parent=RunId("p"),
)


def test_a_run_tells_everything_but_the_bytes_it_was_sent() -> None:
    line = encode(run_to_wire(ENDED))
    assert json.loads(line) == {
        "run_id": "r",
        "session_id": "S",
        "state": "ended",
        "kind": "summary",
        "prompt": "hi",
        "attachments": [{"file_path": "/p/a", "file_name": "a", "mime_type": "text/plain", "size_bytes": 5}],
        "options": {"steps_max": 3},
        "minted": True,
        "foldable": True,
        "by": "c",
        "user_message_id": "u",
        "accepted_at": 1,
        "started_at": 2,
        "ended_at": 3,
        "outcome": "failed",
        "failure": {"cause": "provider", "message": "hung up", "retryable": True},
        "message_id": "m",
        "text": "half",
        "usage": {"input_tokens": 5, "cost": 0.5},
        "steps": 2,
        "folded_into": "other",
        "parent": "p",
    }
    assert read(line, RunView) == run_to_wire(ENDED)


def test_a_waiting_run_says_only_what_is_known_of_it() -> None:
    waiting = run_to_wire(Run(R, S, RunState.QUEUED, prompt=Prompt("hi")))
    assert encode(waiting) == b'{"run_id":"r","session_id":"S","state":"queued","kind":"prompt","prompt":"hi"}'
    assert not waiting.has_ended
    assert run_to_wire(ENDED).has_ended


def test_a_line_is_told_in_its_order_and_whether_it_is_held() -> None:
    line = queue_to_wire([Run(RunId("1"), S, RunState.QUEUED), Run(RunId("2"), S, RunState.QUEUED)], held=True)
    assert [run.run_id for run in line.runs] == ["1", "2"]
    assert line.held
    assert read(encode(line), Queue) == line


def test_a_change_of_a_waiting_prompt_leaves_what_it_does_not_say() -> None:
    assert decode(b'{"foldable":false}', QueueEdit) == QueueEdit(prompt=None, foldable=False)
    assert decode(b'{"prompt":""}', QueueEdit) == QueueEdit(prompt="", foldable=None)
    assert decode(b'{"run_ids":["b","a"]}', QueueOrder) == QueueOrder(("b", "a"))


def test_a_receipt_of_a_cancel_tells_what_never_runs_and_what_stops() -> None:
    decided: list[Event] = [
        events.RunComplete(RunId("2"), Outcome.CANCELLED),
        events.RunComplete(RunId("3"), Outcome.CANCELLED),
        events.RunStopping(RunId("1"), C),
        events.RequestWithdrawn(RequestId("q"), "cancelled"),
    ]
    receipt = cancel_receipt(decided)
    assert receipt == CancelReceipt(("2", "3"), ("1",))
    assert encode(receipt) == b'{"cancelled":["2","3"],"stopping":["1"]}'
    assert encode(cancel_receipt([])) == b'{"cancelled":[],"stopping":[]}'


def test_a_snapshot_tells_who_is_busy_what_waits_and_what_is_asked() -> None:
    permission = Permission(RequestId("P"), S, R, ToolCallId("T"), "bash", "execute")
    batch = Questions(RequestId("B"), S, R, ToolCallId("T"), (Question("q", QuestionType.YES_NO, "?"),))
    told_of = snapshot(
        Position(42),
        sessions=[SessionInfo(S, "busy"), SessionInfo(SessionId("I"), "idle")],
        unended=[Run(R, S, RunState.ACTIVE), Run(RunId("w"), SessionId("I"), RunState.QUEUED)],
        requests=[permission, batch],
        held=[SessionId("I")],
    )
    assert [(one.id, one.is_busy) for one in told_of.sessions] == [("S", True), ("I", False)]
    assert [one.run_id for one in told_of.runs] == ["r", "w"]
    assert [one.id for one in told_of.permissions] == ["P"]
    assert [one.id for one in told_of.questions] == ["B"]
    assert (told_of.position, told_of.held) == (42, ("I",))
    assert read(encode(told_of), Snapshot) == told_of


def test_a_fragment_says_where_it_belongs() -> None:
    line = envelope("delta", "updated", delta_to_wire(Delta(S, M, 1, PartKind.TEXT, 12, "more")))
    assert line == (
        b'{"type":"delta","payload":{"type":"updated","payload":'
        b'{"session_id":"S","message_id":"m","index":1,"part":"text","offset":12,"text":"more"}}}'
    )


TOLD: list[tuple[Event, str, str]] = [
    (
        events.RunAccepted(R, PROMPT, "d", minted=True, foldable=True, by=C, user_message_id=M, at=7),
        "run_accepted",
        (
            '{"session_id":"S","run_id":"r","prompt":"hi","attachments":[{"file_path":"/p/a","file_name":"a",'
            '"mime_type":"text/plain","size_bytes":5}],"kind":"prompt","minted":true,"foldable":true,"by":"c",'
            '"user_message_id":"m","at":7}'
        ),
    ),
    (events.RunStarted(R), "run_started", '{"session_id":"S","run_id":"r"}'),
    (events.RunStopping(R, C), "run_stopping", '{"session_id":"S","run_id":"r","by":"c"}'),
    (events.RunFolded(R, RunId("x")), "run_folded", '{"session_id":"S","run_id":"r","into":"x"}'),
    (
        events.RunComplete(R, Outcome.COMPLETED, M, "Done.", usage=Usage(output_tokens=3), steps=1),
        "run_complete",
        (
            '{"session_id":"S","run_id":"r","message_id":"m","text":"Done.","outcome":"completed",'
            '"usage":{"output_tokens":3},"steps":1}'
        ),
    ),
    (
        events.RunComplete(R, Outcome.INTERRUPTED, failure=Failure(Cause.SERVER, "stopped")),
        "run_complete",
        (
            '{"session_id":"S","run_id":"r","message_id":"","error":"stopped","outcome":"interrupted",'
            '"failure":{"cause":"server","message":"stopped"}}'
        ),
    ),
    (
        events.PromptEdited(R, Prompt("new"), C),
        "prompt_changed",
        '{"session_id":"S","run_id":"r","prompt":"new","by":"c"}',
    ),
    (
        events.PromptSteered(R, foldable=False, by=C),
        "prompt_changed",
        '{"session_id":"S","run_id":"r","foldable":false,"by":"c"}',
    ),
    (
        events.QueueReordered((R, RunId("q")), C),
        "queue_reordered",
        '{"session_id":"S","run_ids":["r","q"],"by":"c"}',
    ),
    (events.GateMoved(Gate.HELD), "gate_moved", '{"session_id":"S","gate":"held"}'),
    (
        events.PartSaid(M, 2, Text("whole"), 9),
        "part_said",
        '{"session_id":"S","message_id":"m","index":2,"part":{"type":"text","data":{"text":"whole"}},"at":9}',
    ),
    (events.MessageReset(M), "message_reset", '{"session_id":"S","message_id":"m"}'),
    (
        events.RequestAnswered(RequestId("q"), Decision(allowed=True), C),
        "request_answered",
        '{"session_id":"S","request_id":"q","by":"c","decision":"allowed"}',
    ),
    (
        events.RequestWithdrawn(RequestId("q"), "the run was cancelled"),
        "request_withdrawn",
        '{"session_id":"S","request_id":"q","reason":"the run was cancelled"}',
    ),
    (
        events.RunWaiting(RunId("r"), events.Delay.RETRY, 5.0, "overloaded", "anthropic"),
        "run_waiting",
        '{"session_id":"S","run_id":"r","delay":"retry","seconds":5.0,"message":"overloaded","provider":"anthropic"}',
    ),
    (
        events.ClientNamed(ClientName(C, "alice@laptop", "terminal")),
        "client_named",
        '{"client_id":"c","name":"alice@laptop","kind":"terminal"}',
    ),
    (events.SkipSet(skip=True, by=C, session_id=S), "skip_moved", '{"skip":true,"by":"c","session_id":"S"}'),
    (
        events.RunComplete(R, Outcome.COMPLETED, M, denied=("bash(rm x)",)),
        "run_complete",
        '{"session_id":"S","run_id":"r","message_id":"m","outcome":"completed","denied":["bash(rm x)"]}',
    ),
]


def test_every_turn_of_a_runs_life_has_its_words_and_is_read_back() -> None:
    for event, kind, line in TOLD:
        found = told(event, S)
        assert found is not None
        assert (found[0], encode(found[1]).decode()) == (kind, line)
        read_back = read_envelope(envelope(kind, "updated", found[1]))
        assert encode(read_back.payload).decode() == line
        assert isinstance(read_back.payload, OWN_KINDS[kind])


def test_every_kind_of_ours_is_told_by_some_event_or_whispered() -> None:
    assert {kind for _, kind, _ in TOLD} | {"delta", "presence"} == set(OWN_KINDS)


def test_what_the_original_has_words_for_is_not_said_twice() -> None:
    assert told(events.SessionCreated("T"), S) is None
    assert told(events.MessageDeleted(M), S) is None
    assert told(events.ConfigChanged(), S) is None


def test_a_kind_of_ours_skips_keys_a_later_version_adds() -> None:
    line = b'{"type":"message_reset","payload":{"type":"updated","payload":{"message_id":"m","newer":{"a":1}}}}'
    assert read_envelope(line).payload == MessageDropped(message_id="m")


def test_a_cause_of_a_later_version_costs_nobody_the_ending() -> None:
    line = b'{"type":"run_complete","payload":{"type":"updated","payload":{"run_id":"r","failure":{"cause":"moon"}}}}'
    assert read_envelope(line).payload == RunEnded(run_id="r", failure=FailureView("moon"))


def test_every_object_of_ours_can_be_sent_and_read_while_it_says_nothing() -> None:
    for kind in (RunView, Queue, QueueEdit, QueueOrder, CancelReceipt, Snapshot):
        empty = msgspec.convert({}, kind)
        assert read(encode(empty), kind) == empty
