"""What the original's stream tells, byte for byte, and how a client reads it."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnkeeper.protocol import events
from turnkeeper.protocol.ids import MessageId, RunId, SessionId
from turnkeeper.protocol.messages import STOPPED, Message, Role, Text
from turnkeeper.protocol.problems import BadRequest
from turnkeeper.protocol.runs import Cause, Failure, Outcome
from turnkeeper.protocol.wire import encode, envelope
from turnkeeper.protocol.wire_details import OWN_KINDS, RunEnded
from turnkeeper.protocol.wire_events import (
    KINDS,
    AgentEvent,
    ConfigChanged,
    RunComplete,
    SkillsEvent,
    UpdateAvailable,
    agent_error,
    agent_finished,
    aws_sso_auth,
    aws_sso_auth_result,
    lsp_event,
    mcp_event,
    re_authenticate,
)
from turnkeeper.protocol.wire_messages import WireMessage, merged, message_from_wire
from turnkeeper.protocol.wire_servers import LSPState, MCPState, SkillStanding, SkillState
from turnkeeper.protocol.wire_stream import Envelope, Unknown, read_envelope
from turnkeeper.protocol.wire_telling import run_complete

S = SessionId("S")
ZERO = (
    b'"message":{"parts":[],"id":"","role":"","session_id":"","model":"","provider":"","created_at":0,"updated_at":0}'
)


def test_that_the_agent_finished_has_exactly_the_originals_bytes() -> None:
    assert envelope("agent_event", "created", agent_finished(S, "My title")) == (
        b'{"type":"agent_event","payload":{"type":"created","payload":{"type":"agent_finished",%b,'
        b'"session_id":"S","session_title":"My title"}}}' % ZERO
    )


def test_an_error_of_the_agent_is_plain_text_and_names_the_run() -> None:
    error = "failed to get session: sql: no rows in result set"
    assert envelope("agent_event", "created", agent_error(S, error, run_id="r-1")) == (
        b'{"type":"agent_event","payload":{"type":"created","payload":{"error":"failed to get session: sql: no rows in'
        b' result set","type":"error",%b,"run_id":"r-1","session_id":"S"}}}' % ZERO
    )


def test_every_event_of_the_agent_carries_a_message_with_parts() -> None:
    for event in (
        AgentEvent(),
        re_authenticate(),
        aws_sso_auth("aws sso login"),
        aws_sso_auth("aws sso login", "https://x"),
        aws_sso_auth_result(),
        aws_sso_auth_result("denied"),
    ):
        assert ZERO in encode(event)


def test_asking_to_sign_in_again_says_nothing_else() -> None:
    assert encode(re_authenticate()) == b'{"type":"re_authenticate",%b}' % ZERO
    assert encode(aws_sso_auth_result("denied")) == b'{"error":"denied","type":"aws_sso_auth_result",%b}' % ZERO


def test_a_completed_run_has_exactly_the_originals_bytes() -> None:
    ending = events.RunComplete(RunId("r-1"), Outcome.COMPLETED, MessageId("m-9"), "Done.")
    assert envelope("run_complete", "updated", run_complete(ending, S)) == (
        b'{"type":"run_complete","payload":{"type":"updated","payload":'
        b'{"session_id":"S","run_id":"r-1","message_id":"m-9","text":"Done."}}}'
    )


def test_a_prompt_cancelled_while_it_waited_has_no_error() -> None:
    ending = events.RunComplete(RunId("R"), Outcome.CANCELLED)
    assert encode(run_complete(ending, S)) == b'{"session_id":"S","run_id":"R","message_id":"","cancelled":true}'


def test_a_run_cancelled_while_it_was_active_says_so_twice() -> None:
    ending = events.RunComplete(RunId("R"), Outcome.CANCELLED, MessageId("m"))
    assert encode(run_complete(ending, S)) == (
        b'{"session_id":"S","run_id":"R","message_id":"m","error":"context canceled","cancelled":true}'
    )


def test_a_failed_run_tells_why_and_not_that_it_was_cancelled() -> None:
    failure = Failure(Cause.PROVIDER, "the model hung up", "secret details")
    ending = events.RunComplete(RunId("R"), Outcome.FAILED, failure=failure)
    assert encode(run_complete(ending, S)) == (
        b'{"session_id":"S","run_id":"R","message_id":"","error":"the model hung up"}'
    )


def test_an_error_and_a_cancel_survive_together() -> None:
    failure = Failure(Cause.USER, "stopped")
    ending = events.RunComplete(RunId("R"), Outcome.CANCELLED, MessageId("m"), failure=failure)
    assert run_complete(ending, S) == RunComplete("S", "R", "m", "", "stopped", cancelled=True)


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.INTERRUPTED])
def test_no_run_that_did_not_complete_looks_as_if_it_had(outcome: Outcome) -> None:
    assert run_complete(events.RunComplete(RunId("R"), outcome), S).error != ""


def test_a_run_its_client_did_not_name_is_told_without_a_name() -> None:
    ending = events.RunComplete(RunId("minted"), Outcome.COMPLETED, MessageId("m"))
    assert encode(run_complete(ending, S, minted=True)) == b'{"session_id":"S","message_id":"m"}'


def test_the_state_of_an_mcp_server_is_one_of_five_words() -> None:
    assert [state.value for state in MCPState] == ["disabled", "starting", "connected", "error", "needs auth"]
    assert encode(mcp_event("state_changed", "srv", MCPState.NEEDS_AUTH)) == (
        b'{"type":"state_changed","name":"srv","state":"needs auth"}'
    )
    assert encode(mcp_event("tools_list_changed", "srv", MCPState.CONNECTED, error="e", tool_count=3)) == (
        b'{"error":"e","type":"tools_list_changed","name":"srv","state":"connected","tool_count":3}'
    )


@pytest.mark.parametrize("event_type", ["channel_message", "unheard_of", ""])
def test_what_mcp_says_and_the_stream_has_no_word_for_is_dropped(event_type: str) -> None:
    assert mcp_event(event_type, "srv", MCPState.CONNECTED) is None


def test_the_state_of_a_language_server_is_a_number() -> None:
    assert [state.value for state in LSPState] == [0, 1, 2, 3, 4, 5]
    assert encode(lsp_event("state_changed", "gopls", LSPState.UNSTARTED)) == (
        b'{"type":"state_changed","name":"gopls","state":0}'
    )
    assert encode(lsp_event("diagnostics_changed", "gopls", LSPState.READY, error="e", diagnostic_count=2)) == (
        b'{"error":"e","type":"diagnostics_changed","name":"gopls","state":2,"diagnostic_count":2}'
    )


def test_skills_are_told_with_a_number_and_the_error_of_the_bad_one() -> None:
    good = SkillStanding("a", "/a/SKILL.md", SkillState.NORMAL)
    bad = SkillStanding("b", "/b/SKILL.md", SkillState.ERROR, "no description")
    assert envelope("skills_event", "updated", SkillsEvent((good, bad))) == (
        b'{"type":"skills_event","payload":{"type":"updated","payload":{"states":['
        b'{"name":"a","path":"/a/SKILL.md","state":0},'
        b'{"name":"b","path":"/b/SKILL.md","state":1,"error":"no description"}]}}}'
    )


def test_no_skills_at_all_are_null() -> None:
    assert encode(SkillsEvent()) == b'{"states":null}'


def test_a_newer_version_is_told_with_both_versions() -> None:
    line = envelope("update_available", "updated", UpdateAvailable("v1", "v2", is_development=True))
    assert line == (
        b'{"type":"update_available","payload":{"type":"updated","payload":'
        b'{"current_version":"v1","latest_version":"v2","is_development":true}}}'
    )
    assert read_envelope(line).payload == UpdateAvailable("v1", "v2", is_development=True)


def test_a_message_is_read_from_the_stream() -> None:
    message = Message(MessageId("m"), S, Role.USER, (Text("hi"), STOPPED))
    read = read_envelope(envelope("message", "created", merged(message)))
    assert isinstance(read.payload, WireMessage)
    assert (read.kind, read.type, message_from_wire(read.payload)) == ("message", "created", message)


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"message","payload":{"type":"created","payload":{"id":"m","parts":null,"created_at":null}}}',
        b'{"payload":{"payload":{"ID":"m"},"type":"created"},"type":"message"}',
        b'{"type":"message","payload":{"type":"created","payload":{"id":"m","new":{"key":1}}},"newer":2}',
    ],
    ids=["nulls", "capitals", "new keys"],
)
def test_a_message_is_read_whatever_the_shape_of_what_it_leaves_out(line: bytes) -> None:
    assert read_envelope(line) == Envelope("message", "created", WireMessage(id="m"))


def test_an_ending_of_the_original_is_read_by_our_clients() -> None:
    line = envelope("run_complete", "updated", RunComplete("S", "R", "", cancelled=True))
    assert read_envelope(line).payload == RunEnded("S", "R", "", cancelled=True)


def test_a_kind_nobody_knows_is_kept_as_it_came() -> None:
    line = b'{"type":"weather","payload":{"type":"updated","payload":{"sun":[1,null]}}}'
    assert read_envelope(line) == Envelope("weather", "updated", Unknown({"sun": [1, None]}))


def test_a_payload_of_null_does_no_harm() -> None:
    for kind in KINDS | OWN_KINDS:
        line = b'{"type":"%b","payload":{"type":"updated","payload":null}}' % kind.encode()
        assert read_envelope(line) == Envelope(kind, "updated", Unknown(None))


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"type":"session"}',
        b'{"type":"session","payload":null}',
        b'{"type":4,"payload":{"type":"updated","payload":{}}}',
        b'{"type":"session","payload":{"type":"updated","payload":{"id":4}}}',
        b'{"type":"message","payload":{"type":"updated","payload":{"parts":4}}}',
        b'{"type":"message","payload":{"type":"updated","payload":{"parts":[',
    ],
)
def test_what_is_no_event_is_refused(line: bytes) -> None:
    with pytest.raises(BadRequest, match="failed to decode event"):
        read_envelope(line)


@pytest.mark.parametrize("kind", KINDS | OWN_KINDS)
def test_an_empty_object_of_every_kind_is_read_and_written_the_same(kind: str) -> None:
    shape = (KINDS | OWN_KINDS)[kind]
    read = read_envelope(envelope(kind, "updated", shape()))
    assert read == Envelope(kind, "updated", shape())


@pytest.mark.parametrize("kind", KINDS)
def test_no_key_of_an_event_is_null_where_the_original_would_fall_over_it(kind: str) -> None:
    nullable = {"params", "states"}
    written: dict[str, Any] = json.loads(encode(KINDS[kind]()))
    assert {key for key, value in written.items() if value is None} <= nullable


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda held: st.lists(held, max_size=3) | st.dictionaries(st.text(max_size=6), held, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(sorted(KINDS | OWN_KINDS)), st.data())
def test_no_event_does_worse_than_being_refused(kind: str, data: st.DataObject) -> None:
    names = [field.encode_name for field in msgspec.structs.fields((KINDS | OWN_KINDS)[kind])]
    payload = data.draw(st.dictionaries(st.sampled_from(names), JSON) | JSON)
    line = json.dumps({"type": kind, "payload": {"type": "updated", "payload": payload}}).encode()
    try:
        outcome = read_envelope(line).kind
    except BadRequest as error:
        outcome = error.message
    assert outcome == kind or outcome.startswith("failed to decode event")


def test_that_the_configuration_changed_is_told_by_workspace() -> None:
    assert encode(ConfigChanged("w")) == b'{"workspace_id":"w"}'
