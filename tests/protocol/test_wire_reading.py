"""Request bodies: read as the original reads them, and refused in words that name the field."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnkeeper.protocol import wire_events, wire_prompts, wire_requests, wire_sessions, wire_workspaces
from turnkeeper.protocol.config import Config
from turnkeeper.protocol.ids import ClientId
from turnkeeper.protocol.problems import BadRequest
from turnkeeper.protocol.sessions import TodoStatus
from turnkeeper.protocol.wire_messages import WireMessage, message_from_wire
from turnkeeper.protocol.wire_prompts import AgentMessage
from turnkeeper.protocol.wire_reading import (
    DEPTH_MAX,
    body_client_id,
    decode,
    fit,
    query_client_id,
    read,
    uuid_problem,
)
from turnkeeper.protocol.wire_requests import SkipPermissions
from turnkeeper.protocol.wire_sessions import SessionCreation
from turnkeeper.protocol.wire_workspaces import AgentInit, ConfigSet

ID = "0b7a3c1e-7d4a-4c1c-9a51-0c1d1f0d9e11"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda held: st.lists(held, max_size=4) | st.dictionaries(st.text(max_size=8), held, max_size=4),
    max_leaves=10,
)
BODIES: list[type[Any]] = [
    wire_prompts.AgentMessage,
    wire_prompts.ShellCommandRequest,
    wire_requests.GrantRequest,
    wire_requests.QuestionAnswer,
    wire_sessions.SessionChange,
    wire_sessions.File,
    wire_workspaces.WorkspaceCreation,
    wire_workspaces.Workspace,
    wire_workspaces.ConfigModel,
    wire_events.AgentEvent,
    WireMessage,
    Config,
]


def refusal(body: bytes, kind: type[Any] = AgentMessage) -> str:
    with pytest.raises(BadRequest) as caught:
        decode(body, kind)
    return caught.value.message


def test_only_the_first_json_value_of_a_body_counts() -> None:
    assert decode(b' \n{"skip":true} {"skip":false} and more', SkipPermissions) == SkipPermissions(skip=True)


def test_keys_nobody_knows_are_skipped() -> None:
    assert decode(b'{"skip":true,"why":{"not":[1]}}', SkipPermissions) == SkipPermissions(skip=True)


@pytest.mark.parametrize("key", ["title", "Title", "TITLE"])
def test_a_key_matches_whatever_its_case(key: str) -> None:
    assert decode(json.dumps({key: "x"}).encode(), SessionCreation) == SessionCreation("x")


def test_of_a_key_that_comes_twice_the_last_wins() -> None:
    assert decode(b'{"title":"a","title":"b"}', SessionCreation) == SessionCreation("b")
    assert decode(b'{"title":"a","Title":"b","title":"c"}', SessionCreation) == SessionCreation("c")
    assert decode(b'{"Title":"a","title":"b","Title":"c"}', SessionCreation) == SessionCreation("c")


def test_null_says_nothing() -> None:
    assert decode(b'{"title":null}', SessionCreation) == SessionCreation()
    assert decode(b'{"title":"a","Title":null}', SessionCreation) == SessionCreation("a")
    assert decode(b"null", SessionCreation) == SessionCreation()
    assert decode(b'{"attachments":[null]}', AgentMessage).attachments == (wire_prompts.WireAttachment(),)


def test_an_empty_body_is_refused_where_one_is_needed() -> None:
    assert refusal(b"").startswith("failed to decode request")
    assert refusal(b" \r\n\t").startswith("failed to decode request")


def test_an_empty_body_says_nothing_where_none_is_needed() -> None:
    assert decode(b"", AgentInit, required=False) == AgentInit(interactive=False)


@pytest.mark.parametrize(
    "body",
    [b"{", b'{"prompt":', b"nonsense", b"{'prompt':1}", b'{"prompt":"a\nb"}', b"\xef\xbb\xbf{}", b"NaN", b"[Infinity]"],
)
def test_what_is_not_json_is_refused(body: bytes) -> None:
    assert refusal(body) == "failed to decode request: the body is not JSON"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('{"prompt":4}', "prompt must be a string, not an integer"),
        ('{"Prompt":[]}', "prompt must be a string, not an array"),
        ('{"attachments":{}}', "attachments must be an array, not an object"),
        ('{"attachments":[4]}', "attachments[0] must be an object, not an integer"),
        ('{"attachments":[{"content":4}]}', "attachments[0].content must be base64 text, not an integer"),
        ('{"attachments":[{},{"content":"aGVsbG8"}]}', "attachments[1].content is not standard base64"),
        ('{"attachments":[{"content":"aGV_bG8="}]}', "attachments[0].content is not standard base64"),
        ('{"options":{"steps_max":"a"}}', "options.steps_max must be an integer, not a string"),
        ('{"foldable":1}', "foldable must be true or false, not an integer"),
        ("[]", "the body must be an object, not an array"),
        ('"text"', "the body must be an object, not a string"),
    ],
)
def test_a_wrong_type_is_refused_with_the_field_and_what_was_expected(body: str, message: str) -> None:
    assert refusal(body.encode()) == f"failed to decode request: {message}"


def test_a_refusal_never_shows_the_value_that_was_sent() -> None:
    assert "hunter2" not in refusal(b'{"attachments":"hunter2"}')
    assert "hunter2" not in refusal(b'{"attachments":[{"content":"hunter2"}]}')


def test_a_word_that_is_not_among_those_allowed_is_refused_without_being_shown() -> None:
    with pytest.raises(BadRequest) as caught:
        fit(["hunter2"], list[TodoStatus])
    assert caught.value.message == "failed to decode request: [0] is not one of the values it may have"


def test_an_integer_with_a_fraction_or_an_exponent_is_no_integer() -> None:
    assert "must be an integer" in refusal(b'{"scope":1.0,"key":"k"}', ConfigSet)
    assert "must be an integer" in refusal(b'{"scope":1e2,"key":"k"}', ConfigSet)


def test_an_integer_that_has_no_64_bits_is_refused_where_an_integer_is_meant() -> None:
    assert "must be an integer" in refusal(b'{"scope":9223372036854775808}', ConfigSet)
    assert decode(b'{"scope":-9223372036854775808}', ConfigSet).scope == -(2**63)


def test_numbers_no_computer_can_hold_are_refused() -> None:
    assert refusal(b'{"value":1e999}', ConfigSet) == "failed to decode request: the body is not JSON"
    assert refusal(b'{"value":' + b"9" * 5000 + b"}", ConfigSet) == "failed to decode request: the body is not JSON"


def test_a_body_nested_out_of_all_proportion_is_refused() -> None:
    just = b"[" * (DEPTH_MAX - 1) + b"]" * (DEPTH_MAX - 1)
    assert decode(b'{"value":%b}' % just, ConfigSet).value is not None
    assert "nested" in refusal(b'{"value":[%b]}' % just, ConfigSet)
    assert refusal(b"[" * 1_000_000).startswith("failed to decode request")


def test_half_characters_and_broken_utf_8_become_replacement_characters() -> None:
    assert decode(rb'{"title":"a\ud800b"}', SessionCreation).title == "a\ufffdb"
    assert decode(rb'{"title":"\ud83d\ude00"}', SessionCreation).title == "😀"
    assert decode(b'{"title":"a\xffb"}', SessionCreation).title == "a\ufffdb"


def test_base64_may_be_broken_into_lines() -> None:
    assert decode(rb'{"attachments":[{"content":"aGVs\r\nbG8="}]}', AgentMessage).attachments[0].content == b"hello"


@pytest.mark.parametrize("kind", BODIES)
@given(body=st.binary(max_size=64) | JSON.map(lambda value: json.dumps(value).encode()))
def test_no_body_does_worse_than_being_refused(kind: type[Any], body: bytes) -> None:
    held_to_refusals(body, kind)


@pytest.mark.parametrize("kind", BODIES)
@given(data=st.data())
def test_no_value_in_a_known_field_does_worse_than_being_refused(kind: type[Any], data: st.DataObject) -> None:
    names = [field.encode_name for field in msgspec.structs.fields(kind)]
    value = data.draw(st.dictionaries(st.sampled_from(names), JSON | st.just([{"type": "text", "data": 4}])))
    held_to_refusals(json.dumps(value).encode(), kind)


def held_to_refusals(body: bytes, kind: type[Any]) -> None:
    try:
        read_value = decode(body, kind)
        if isinstance(read_value, WireMessage):
            message_from_wire(read_value)
        refused = ""
    except BadRequest as error:
        read_value, refused = None, error.message
    assert isinstance(read_value, kind) != refused.startswith("failed to decode request")


def test_an_answer_that_cannot_be_read_is_not_called_a_request() -> None:
    with pytest.raises(BadRequest, match="failed to decode answer"):
        read(b"nonsense", SessionCreation)
    with pytest.raises(BadRequest, match="failed to decode answer: title must be a string"):
        fit({"title": 4}, SessionCreation, what="answer")


@pytest.mark.parametrize(
    "spelling", [ID, ID.upper(), f"urn:uuid:{ID}", f"URN:UUID:{ID}", f"{{{ID}}}", ID.replace("-", "")]
)
def test_every_spelling_of_a_uuid_is_accepted_and_kept_as_it_came(spelling: str) -> None:
    assert body_client_id(spelling) == ClientId(spelling)
    assert query_client_id(spelling) == ClientId(spelling)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x", "invalid UUID length: 1"),
        ("é" * 16, "invalid UUID format"),
        (ID[:-1] + "g", "invalid UUID format"),
        (ID.replace("-", "_"), "invalid UUID format"),
        (f"({ID})", "invalid UUID format"),
        (f"abc:uuid:{ID}", 'invalid urn prefix: "abc:uuid:"'),
        (ID + "\n", "invalid UUID length: 37"),
    ],
)
def test_what_is_no_uuid_is_refused_with_the_reason(text: str, problem: str) -> None:
    assert uuid_problem(text) == problem
    with pytest.raises(BadRequest) as caught:
        body_client_id(text)
    assert caught.value.message == f"invalid client_id: {problem}"
    with pytest.raises(BadRequest) as caught:
        query_client_id(text)
    assert caught.value.message == "client_id is not a valid UUID"


def test_a_client_id_that_is_missing_is_refused_in_the_words_of_its_place() -> None:
    with pytest.raises(BadRequest, match=r"^invalid client_id$"):
        body_client_id("")
    for missing in ("", None):
        with pytest.raises(BadRequest, match=r"^client_id is required$"):
            query_client_id(missing)
