"""Sessions and files on the wire, in every spelling they come in."""

import json

import msgspec
import pytest
from msgspec import UNSET

from turnkeeper.protocol.ids import MessageId, RunId, SessionId
from turnkeeper.protocol.sessions import FileVersion, SessionInfo, Todo, TodoStatus
from turnkeeper.protocol.wire import encode
from turnkeeper.protocol.wire_reading import decode, read
from turnkeeper.protocol.wire_sessions import (
    CurrentSession,
    File,
    FileReading,
    Session,
    SessionChange,
    SessionCreation,
    WireTodo,
    agent_session_to_wire,
    file_from_wire,
    file_to_wire,
    history_file,
    session_as_change,
    session_from_wire,
    session_to_wire,
)

INFO = SessionInfo(
    id=SessionId("S"),
    title="T",
    parent_id=SessionId("P"),
    message_count=3,
    prompt_tokens=10,
    completion_tokens=20,
    estimated_usage=True,
    summary_message_id=MessageId("m9"),
    cost=0.5,
    todos=(Todo("write", TodoStatus.IN_PROGRESS, "writing"),),
    titled_by_person=True,
    created_at=1767225600,
    updated_at=1767225601,
)
FILE = FileVersion("f", SessionId("S"), "/p/a.go", "x", 2, 1767225600, 1767225601)


def test_an_empty_session_has_exactly_the_originals_bytes() -> None:
    assert encode(session_to_wire(SessionInfo(SessionId("S"), "T"))) == (
        b'{"id":"S","parent_session_id":"","title":"T","message_count":0,"prompt_tokens":0,"completion_tokens":0,'
        b'"summary_message_id":"","cost":0,"created_at":0,"updated_at":0,"is_busy":false,"attached_clients":0}'
    )


def test_a_session_shows_its_row_its_todos_and_who_looks_at_it() -> None:
    assert json.loads(encode(session_to_wire(INFO, is_busy=True, attached_clients=2))) == {
        "id": "S",
        "parent_session_id": "P",
        "title": "T",
        "message_count": 3,
        "prompt_tokens": 10,
        "completion_tokens": 20,
        "summary_message_id": "m9",
        "cost": 0.5,
        "todos": [{"content": "write", "status": "in_progress", "active_form": "writing"}],
        "created_at": 1767225600,
        "updated_at": 1767225601,
        "is_busy": True,
        "attached_clients": 2,
    }


def test_on_the_stream_a_session_is_never_busy_and_nobody_looks_at_it() -> None:
    wire = session_to_wire(INFO)
    assert (wire.is_busy, wire.attached_clients) == (False, 0)


def test_whether_usage_was_estimated_and_who_titled_it_stay_at_home() -> None:
    line = encode(session_to_wire(INFO))
    assert b"estimated" not in line
    assert b"titled" not in line


def test_a_session_comes_back_from_the_wire_but_for_what_stayed_at_home() -> None:
    back = session_from_wire(read(encode(session_to_wire(INFO)), Session))
    assert back == SessionInfo(
        id=INFO.id,
        title=INFO.title,
        parent_id=INFO.parent_id,
        message_count=3,
        prompt_tokens=10,
        completion_tokens=20,
        summary_message_id=INFO.summary_message_id,
        cost=0.5,
        todos=INFO.todos,
        created_at=INFO.created_at,
        updated_at=INFO.updated_at,
    )


def test_a_todo_with_a_status_nobody_knows_still_waits() -> None:
    wire = read(b'{"id":"S","todos":[{"content":"x","status":"dreaming","active_form":""}]}', Session)
    assert session_from_wire(wire).todos == (Todo("x", TodoStatus.PENDING),)


def test_the_agents_view_of_a_session_is_its_id_its_title_and_whether_it_works() -> None:
    shown = json.loads(encode(agent_session_to_wire(INFO, is_busy=True)))
    assert {key: value for key, value in shown.items() if value} == {"id": "S", "title": "T", "is_busy": True}
    assert set(shown) == set(json.loads(encode(session_to_wire(SessionInfo(SessionId(""))))))


@pytest.mark.parametrize("body", [b'{"title":"New"}', b'{"Title":"New"}', encode(session_to_wire(INFO, is_busy=True))])
def test_of_a_new_session_only_the_title_is_read(body: bytes) -> None:
    assert decode(body, SessionCreation).title in ("New", "T")


def test_a_change_in_the_wires_spelling_is_read() -> None:
    body = b'{"id":"S","title":"T","prompt_tokens":1,"completion_tokens":2,"summary_message_id":"m","cost":3}'
    assert decode(body, SessionChange) == SessionChange("S", "T", 1, 2, "m", 3)


def test_a_change_in_the_originals_own_spelling_is_read() -> None:
    body = b'{"ID":"S","Title":"T","PromptTokens":1,"CompletionTokens":2,"SummaryMessageID":"m","Cost":3,"Todos":[]}'
    assert decode(body, SessionChange) == SessionChange("S", "T", 1, 2, "m", 3, ())


def test_what_a_change_does_not_say_is_not_set_to_zero() -> None:
    change = decode(b'{"id":"S","title":"renamed"}', SessionChange)
    assert change.said == {"title"}
    assert change.prompt_tokens is UNSET
    assert change.todos is UNSET


def test_a_change_that_says_zero_is_told_from_one_that_says_nothing() -> None:
    change = decode(b'{"id":"S","prompt_tokens":0,"todos":[],"cost":null}', SessionChange)
    assert change.said == {"prompt_tokens", "todos"}
    assert (change.prompt_tokens, change.todos) == (0, ())


def test_a_change_is_sent_in_both_spellings_so_that_no_server_zeroes_what_it_misses() -> None:
    sent = session_as_change(INFO)
    assert (sent["prompt_tokens"], sent["PromptTokens"]) == (10, 10)
    assert (sent["completion_tokens"], sent["CompletionTokens"]) == (20, 20)
    assert (sent["summary_message_id"], sent["SummaryMessageID"]) == ("m9", "m9")
    change = decode(encode(sent), SessionChange)
    todos = (WireTodo("write", "in_progress", "writing"),)
    assert change == SessionChange("S", "T", 10, 20, "m9", 0.5, todos)


def test_on_the_stream_a_file_has_the_wires_spelling() -> None:
    assert encode(file_to_wire(FILE)) == (
        b'{"id":"f","session_id":"S","path":"/p/a.go","content":"x","version":2,'
        b'"created_at":1767225600,"updated_at":1767225601}'
    )


def test_in_an_answer_a_file_has_the_originals_capitals_and_the_wires_spelling_too() -> None:
    assert json.loads(encode([history_file(FILE)])) == [
        {
            "ID": "f",
            "SessionID": "S",
            "Path": "/p/a.go",
            "Content": "x",
            "Version": 2,
            "CreatedAt": 1767225600,
            "UpdatedAt": 1767225601,
            "id": "f",
            "session_id": "S",
            "path": "/p/a.go",
            "content": "x",
            "version": 2,
            "created_at": 1767225600,
            "updated_at": 1767225601,
        }
    ]


@pytest.mark.parametrize(
    "body",
    [
        b'[{"ID":"f","SessionID":"S","Path":"/p/a.go","Content":"x","Version":2,"CreatedAt":1767225600,"UpdatedAt":1767225601}]',
        encode([file_to_wire(FILE)]),
        encode([history_file(FILE)]),
    ],
    ids=["original", "stream", "ours"],
)
def test_a_file_is_read_from_every_spelling_without_loss(body: bytes) -> None:
    assert [file_from_wire(wire) for wire in read(body, list[File])] == [FILE]


def test_that_there_was_no_file_and_whose_run_it_was_survive_among_ourselves() -> None:
    gone = FileVersion("f", SessionId("S"), "/p", "", 0, run_id=RunId("r"), absent=True)
    assert file_from_wire(read(encode(file_to_wire(gone)), File)) == gone
    assert file_from_wire(read(encode(history_file(gone)), File)) == gone


def test_what_was_read_and_what_is_looked_at_are_read() -> None:
    assert decode(b'{"session_id":"S","path":"/p"}', FileReading) == FileReading("S", "/p")
    assert decode(b'{"session_id":""}', CurrentSession) == CurrentSession("")


def test_who_has_never_heard_of_being_busy_reads_our_sessions_and_we_read_those_that_do_not_say_it() -> None:
    class Older(msgspec.Struct):
        id: str
        title: str

    told = encode(session_to_wire(INFO, is_busy=True, attached_clients=1))
    assert msgspec.json.decode(told, type=Older) == Older(INFO.id, INFO.title)
    known = read(b'{"id": "s", "title": "t", "what_comes_later": {}}', Session)
    assert (known.id, known.title, known.is_busy) == ("s", "t", False)
