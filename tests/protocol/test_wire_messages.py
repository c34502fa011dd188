"""Messages on the wire: the original's bytes, our own detail, and nothing lost on the way back."""

import base64
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnkeeper.protocol.ids import ClientId, MessageId, RunId, SessionId, ToolCallId
from turnkeeper.protocol.messages import (
    STOPPED,
    Binary,
    Finish,
    FinishReason,
    ImageUrl,
    Message,
    Part,
    Reasoning,
    Role,
    ShellCommand,
    Text,
    ToolCall,
    ToolResult,
)
from turnkeeper.protocol.wire import encode
from turnkeeper.protocol.wire_messages import (
    NO_WIRE_MESSAGE,
    WireMessage,
    WirePart,
    exact,
    merged,
    merged_parts,
    message_from_wire,
    part_from_wire,
    part_to_wire,
)
from turnkeeper.protocol.wire_reading import read

S = SessionId("S")
EXAMPLES = {
    '{"parts":[{"type":"text","data":{"text":"hi"}},{"type":"binary","data":{"Path":"/p/a.png","MIMEType":"image/png","Data":"iVBORw0KGgo="}},{"type":"finish","data":{"reason":"stop","time":0}}],"id":"m1","role":"user","session_id":"S","model":"","provider":"","created_at":1767225600,"updated_at":1767225600}': Message(  # noqa: E501
        MessageId("m1"),
        S,
        Role.USER,
        (Text("hi"), Binary("/p/a.png", "image/png", b"\x89PNG\r\n\x1a\n"), STOPPED),
        created_at=1767225600,
        updated_at=1767225600,
    ),
    '{"parts":[{"type":"reasoning","data":{"thinking":"…","signature":"","started_at":1767225601,"finished_at":1767225603}},{"type":"text","data":{"text":"Let me look."}},{"type":"tool_call","data":{"id":"call_1","name":"view","input":"{\\"file_path\\":\\"/p/a.go\\"}","finished":true}},{"type":"finish","data":{"reason":"tool_use","time":1767225604}}],"id":"m2","role":"assistant","session_id":"S","model":"gpt-x","provider":"openai","created_at":1767225600,"updated_at":1767225604}': Message(  # noqa: E501
        MessageId("m2"),
        S,
        Role.ASSISTANT,
        (
            Reasoning("…", "", 1767225601, 1767225603),
            Text("Let me look."),
            ToolCall(ToolCallId("call_1"), "view", '{"file_path":"/p/a.go"}', finished=True),
            Finish(FinishReason.TOOL_USE, 1767225604),
        ),
        "gpt-x",
        "openai",
        1767225600,
        1767225604,
    ),
    '{"parts":[{"type":"tool_result","data":{"tool_call_id":"call_1","name":"view","content":"<file>…","metadata":"{\\"file_path\\":\\"/p/a.go\\",\\"content\\":\\"…\\"}","is_error":false}},{"type":"finish","data":{"reason":"stop","time":0}}],"id":"m3","role":"tool","session_id":"S","model":"","provider":"","created_at":1767225604,"updated_at":1767225604}': Message(  # noqa: E501
        MessageId("m3"),
        S,
        Role.TOOL,
        (
            ToolResult(ToolCallId("call_1"), "view", "<file>…", metadata='{"file_path":"/p/a.go","content":"…"}'),
            STOPPED,
        ),
        created_at=1767225604,
        updated_at=1767225604,
    ),
    '{"parts":[{"type":"shell_command","data":{"command":"ls","output":"a.go\\n","exit_code":0}},{"type":"finish","data":{"reason":"stop","time":0}}],"id":"m4","role":"user","session_id":"S","model":"","provider":"","created_at":1767225610,"updated_at":1767225610}': Message(  # noqa: E501
        MessageId("m4"),
        S,
        Role.USER,
        (ShellCommand("ls", "a.go\n", 0), STOPPED),
        created_at=1767225610,
        updated_at=1767225610,
    ),
}


@pytest.mark.parametrize("line", EXAMPLES, ids=["user", "assistant", "tool", "shell"])
def test_a_message_has_exactly_the_originals_bytes_and_is_read_back_from_them(line: str) -> None:
    message = EXAMPLES[line]
    assert encode(merged(message)).decode() == line
    assert encode(exact(message)).decode() == line
    assert message_from_wire(read(line.encode(), WireMessage)) == message


def said(*parts: Part, **more: Any) -> Message:
    return Message(MessageId("m"), S, Role.ASSISTANT, parts, **more)


def data(part: Part) -> dict[str, Any]:
    return json.loads(encode(part_to_wire(part)))["data"]


def test_parts_are_there_even_when_there_are_none() -> None:
    assert encode(merged(said())).startswith(b'{"parts":[],"id":"m"')


def test_no_message_is_a_zero_message_with_parts_and_never_null() -> None:
    assert encode(NO_WIRE_MESSAGE) == (
        b'{"parts":[],"id":"","role":"","session_id":"","model":"","provider":"","created_at":0,"updated_at":0}'
    )


def test_a_summary_says_so_and_no_other_message_speaks_of_it() -> None:
    assert json.loads(encode(merged(said(is_summary=True))))["is_summary_message"] is True
    assert b"is_summary_message" not in encode(merged(said()))


def test_what_is_empty_is_left_out_and_what_is_always_there_stays() -> None:
    assert data(ToolCall(ToolCallId("c"), "view")) == {"id": "c", "name": "view", "input": ""}
    assert data(ToolResult(ToolCallId("c"), "view", "")) == {
        "tool_call_id": "c",
        "name": "view",
        "content": "",
        "metadata": "",
        "is_error": False,
    }
    assert data(Reasoning("")) == {"thinking": "", "signature": ""}
    assert data(Finish(FinishReason.END_TURN)) == {"reason": "end_turn", "time": 0}
    assert data(ImageUrl("u")) == {"url": "u"}
    assert data(ShellCommand("", "", 0)) == {"command": "", "output": "", "exit_code": 0}


def test_a_tool_result_keeps_everything_it_carries() -> None:
    result = ToolResult(ToolCallId("c"), "view", "text", "aGk=", "image/png", "{}", is_error=True)
    assert data(result) == {
        "tool_call_id": "c",
        "name": "view",
        "content": "text",
        "data": "aGk=",
        "mime_type": "image/png",
        "metadata": "{}",
        "is_error": True,
    }
    assert part_from_wire(read(encode(part_to_wire(result)), WirePart)) == result


def test_only_a_binary_part_has_capitals_and_its_data_is_padded_standard_base64() -> None:
    assert data(Binary("", "", b"\xff\xfe\xfd\xfc")) == {"Path": "", "MIMEType": "", "Data": "//79/A=="}


def test_a_cancelled_message_is_spelled_with_one_l() -> None:
    cancelled = Finish(FinishReason.CANCELED, 5, "User canceled request")
    assert data(cancelled) == {"reason": "canceled", "time": 5, "message": "User canceled request"}


def test_what_only_the_provider_may_see_again_is_not_on_the_wire() -> None:
    secretive = said(
        Reasoning("hm", provider_data="hidden-a"),
        ToolCall(ToolCallId("c"), "view", provider_executed=True, provider_data="hidden-b"),
    )
    line = encode(exact(secretive))
    assert b"hidden" not in line
    assert b"provider_" not in line


def test_to_the_originals_clients_all_text_is_one_part_where_the_first_stood() -> None:
    call = ToolCall(ToolCallId("c"), "view", "{}", finished=True)
    parts = (Reasoning("a", "s1", 1, 2), Text("x"), call, Reasoning("b", "s2", 3, 4), Text("y"), STOPPED)
    assert merged_parts(parts) == [Reasoning("ab", "s2", 1, 4), Text("xy"), call, STOPPED]


def test_merged_thinking_is_not_over_before_the_last_of_it_is() -> None:
    assert merged_parts((Reasoning("a", "s", 1, 2), Reasoning("b", "", 3))) == [Reasoning("ab", "s", 1)]


def test_the_run_and_the_author_are_for_our_own_clients_only() -> None:
    message = said(run_id=RunId("r"), author=ClientId("c"))
    theirs, ours = json.loads(encode(merged(message))), json.loads(encode(exact(message)))
    assert theirs == json.loads(encode(merged(said())))
    assert ours == theirs | {"run_id": "r", "author": "c"}


def test_a_part_of_a_kind_nobody_knows_costs_no_other_part_its_place() -> None:
    line = b'{"parts":[{"type":"hologram","data":{"x":1}},{"type":"text","data":{"text":"hi"}}],"id":"m","role":"user"}'
    assert message_from_wire(read(line, WireMessage)).parts == (Text(""), Text("hi"))


def test_a_role_or_a_reason_nobody_knows_is_read_as_the_plainest() -> None:
    line = b'{"parts":[{"type":"finish","data":{"reason":"bored","time":3}}],"role":"oracle"}'
    message = message_from_wire(read(line, WireMessage))
    assert (message.role, message.parts) == (Role.ASSISTANT, (Finish(FinishReason.UNKNOWN, 3),))


@pytest.mark.parametrize("keys", [("Path", "MIMEType", "Data"), ("path", "mimetype", "data")])
def test_a_binary_part_is_read_whatever_the_case_of_its_keys(keys: tuple[str, str, str]) -> None:
    sent = dict(zip(keys, ("/p", "image/png", "aGk="), strict=True))
    line = json.dumps({"parts": [{"type": "binary", "data": sent}]}).encode()
    assert message_from_wire(read(line, WireMessage)).parts == (Binary("/p", "image/png", b"hi"),)


def test_a_binary_part_without_bytes_may_be_null() -> None:
    line = b'{"parts":[{"type":"binary","data":{"Path":"/p","MIMEType":"","Data":null}}]}'
    assert message_from_wire(read(line, WireMessage)).parts == (Binary("/p", "", b""),)


def test_null_parts_are_no_parts() -> None:
    assert message_from_wire(read(b'{"parts":null,"id":"m"}', WireMessage)).parts == ()


TEXTS = st.text(max_size=12)
TIMES = st.integers(0, 2**40)
PARTS: st.SearchStrategy[Part] = st.one_of(
    st.builds(Text, TEXTS),
    st.builds(Reasoning, TEXTS, TEXTS, TIMES, TIMES, TEXTS),
    st.builds(ToolCall, TEXTS.map(ToolCallId), TEXTS, TEXTS, st.booleans(), st.booleans(), TEXTS),
    st.builds(ToolResult, TEXTS.map(ToolCallId), TEXTS, TEXTS, TEXTS, TEXTS, TEXTS, st.booleans()),
    st.builds(Finish, st.sampled_from(FinishReason), TIMES, TEXTS, TEXTS),
    st.builds(ImageUrl, TEXTS, TEXTS),
    st.builds(Binary, TEXTS, TEXTS, st.binary(max_size=12)),
    st.builds(ShellCommand, TEXTS, TEXTS, st.integers(-1, 255)),
)
MESSAGES = st.builds(
    Message,
    id=TEXTS.map(MessageId),
    session_id=TEXTS.map(SessionId),
    role=st.sampled_from(Role),
    parts=st.lists(PARTS, max_size=6).map(tuple),
    model=TEXTS,
    provider=TEXTS,
    created_at=TIMES,
    updated_at=TIMES,
    is_summary=st.booleans(),
    run_id=st.none() | st.text(min_size=1, max_size=8).map(RunId),
    author=TEXTS.map(ClientId),
)


def without_hidden(part: Part) -> Part:
    match part:
        case Reasoning():
            return msgspec.structs.replace(part, provider_data="")
        case ToolCall():
            return msgspec.structs.replace(part, provider_data="", provider_executed=False)
        case _:
            return part


@given(MESSAGES)
def test_any_message_comes_back_from_the_wire_as_it_went(message: Message) -> None:
    visible = msgspec.structs.replace(message, parts=tuple(without_hidden(part) for part in message.parts))
    assert message_from_wire(read(encode(exact(message)), WireMessage)) == visible
    assert message_from_wire(exact(message)) == visible


@given(MESSAGES)
def test_merging_loses_no_word_and_changes_no_other_part(message: Message) -> None:
    parts = merged_parts(message.parts)
    assert sum(isinstance(part, Text) for part in parts) <= 1
    assert sum(isinstance(part, Reasoning) for part in parts) <= 1
    assert "".join(p.text for p in parts if isinstance(p, Text)) == message.text
    assert [p for p in parts if not isinstance(p, Text | Reasoning)] == [
        p for p in message.parts if not isinstance(p, Text | Reasoning)
    ]
    assert merged_parts(parts) == parts


@given(MESSAGES)
def test_every_integer_of_a_message_is_written_as_an_integer(message: Message) -> None:
    def refuse(digits: str) -> float:
        raise AssertionError(digits)

    written = json.loads(encode(merged(message)), parse_float=refuse)
    assert isinstance(written["created_at"], int)


@given(st.binary(max_size=64))
def test_every_binary_is_standard_base64_with_padding(content: bytes) -> None:
    assert base64.b64decode(data(Binary("", "", content))["Data"], validate=True) == content
