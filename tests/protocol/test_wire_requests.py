"""Permissions and questions on the wire, asked and answered."""

import json
from typing import Any

import pytest

from turnkeeper.protocol.ids import RequestId, RunId, SessionId, ToolCallId
from turnkeeper.protocol.problems import BadRequest
from turnkeeper.protocol.requests import (
    Answers,
    Choice,
    Decision,
    Permission,
    Question,
    QuestionResponse,
    Questions,
    QuestionType,
)
from turnkeeper.protocol.wire import encode
from turnkeeper.protocol.wire_params import SHAPES, Params, shaped
from turnkeeper.protocol.wire_reading import decode, read
from turnkeeper.protocol.wire_requests import (
    PermissionNotification,
    PermissionRequest,
    QuestionAnswer,
    QuestionNotification,
    QuestionRequest,
    Resolved,
    SkipPermissions,
    answers,
    answers_to_wire,
    decision,
    grant_request,
    grant_to_wire,
    permission_from_wire,
    permission_to_wire,
    questions_from_wire,
    questions_to_wire,
)

SHOWN: dict[str, dict[str, Any]] = {
    "bash": {
        "description": "d",
        "command": "ls",
        "working_dir": "/p",
        "run_in_background": True,
        "auto_background_after": 60,
    },
    "download": {"url": "u", "file_path": "/f", "timeout": 5},
    "edit": {"file_path": "/f", "old_content": "a", "new_content": "b"},
    "write": {"file_path": "/f", "old_content": "a", "new_content": "b"},
    "multiedit": {"file_path": "/f", "old_content": "a", "new_content": "b"},
    "fetch": {"url": "u", "format": "text", "timeout": 5},
    "agentic_fetch": {"url": "u", "prompt": "p"},
    "view": {"file_path": "/f", "offset": 1, "limit": 2},
    "ls": {"path": "/p", "ignore": ["a"], "depth": 3},
}


def asked(tool_name: str = "bash", params: Any = None) -> Permission:
    return Permission(
        id=RequestId("P"),
        session_id=SessionId("S"),
        run_id=RunId("r"),
        tool_call_id=ToolCallId("T"),
        tool_name=tool_name,
        action="execute",
        description="d",
        path="/p",
        subject="ls",
        digest="abc",
        params=params,
        expires_at=7,
    )


def test_a_permission_request_has_the_originals_eight_keys_always() -> None:
    assert encode(permission_to_wire(asked())) == (
        b'{"id":"P","session_id":"S","tool_call_id":"T","tool_name":"bash","description":"d","action":"execute",'
        b'"params":null,"path":"/p"}'
    )
    assert set(json.loads(encode(PermissionRequest()))) == {
        "id",
        "session_id",
        "tool_call_id",
        "tool_name",
        "description",
        "action",
        "params",
        "path",
    }


def test_our_own_clients_are_told_the_run_the_subject_and_the_end_of_waiting() -> None:
    ours = json.loads(encode(permission_to_wire(asked(), exact=True)))
    assert ours == json.loads(encode(permission_to_wire(asked()))) | {
        "run_id": "r",
        "subject": "ls",
        "digest": "abc",
        "expires_at": 7,
    }


@pytest.mark.parametrize("tool", SHOWN)
def test_the_params_of_every_tool_with_a_dialog_keep_their_shape_both_ways(tool: str) -> None:
    line = encode(permission_to_wire(asked(tool, SHOWN[tool])))
    assert json.loads(line)["params"] == SHOWN[tool]
    back = permission_from_wire(read(line, PermissionRequest))
    typed = shaped(back.tool_name, back.params)
    assert isinstance(typed, SHAPES[tool])
    assert json.loads(encode(typed)) == SHOWN[tool]


EMPTY: list[tuple[type[Params], dict[str, Any]]] = [
    (
        SHAPES["bash"],
        {"description": "", "command": "", "working_dir": "", "run_in_background": False, "auto_background_after": 0},
    ),
    (SHAPES["download"], {"url": "", "file_path": ""}),
    (SHAPES["edit"], {"file_path": ""}),
    (SHAPES["fetch"], {"url": "", "format": ""}),
    (SHAPES["agentic_fetch"], {"prompt": ""}),
    (SHAPES["view"], {"file_path": "", "offset": 0, "limit": 0}),
    (SHAPES["ls"], {"path": "", "ignore": None, "depth": 0}),
]


@pytest.mark.parametrize(("shape", "keys"), EMPTY, ids=lambda value: getattr(value, "__name__", ""))
def test_params_write_what_is_always_there_and_leave_out_what_is_empty(
    shape: type[Params], keys: dict[str, Any]
) -> None:
    assert json.loads(encode(shape())) == keys


def test_that_a_command_is_to_outlive_its_workspace_is_shown_where_it_is_so() -> None:
    assert json.loads(encode(shaped("bash", {**SHOWN["bash"], "detach": True}))) == {**SHOWN["bash"], "detach": True}


def test_params_that_fit_no_dialog_are_shown_as_null_rather_than_half() -> None:
    assert permission_to_wire(asked("bash", {"command": 4})).params is None
    assert permission_to_wire(asked("bash", "ls")).params is None


def test_params_of_a_known_tool_are_completed_and_rid_of_what_is_not_theirs() -> None:
    shown = json.loads(encode(permission_to_wire(asked("bash", {"command": "ls", "secret": 1}))))["params"]
    assert shown == {
        "description": "",
        "command": "ls",
        "working_dir": "",
        "run_in_background": False,
        "auto_background_after": 0,
    }


@pytest.mark.parametrize("params", ['{"a":1}', {"mcp_name": "x"}, None])
def test_params_of_other_tools_go_as_they_are(params: Any) -> None:
    assert permission_to_wire(asked("mcp_srv_do", params)).params == params


def test_a_permission_comes_back_from_the_wire_among_ourselves() -> None:
    permission = asked("mcp_srv_do", '{"a":1}')
    assert (
        permission_from_wire(read(encode(permission_to_wire(permission, exact=True)), PermissionRequest)) == permission
    )


def granting(**permission: Any) -> bytes:
    return json.dumps({"permission": permission, "action": "allow"}).encode()


def test_the_originals_answer_is_understood() -> None:
    body = (
        b'{"permission":{"id":"P","session_id":"S","tool_call_id":"T","tool_name":"bash","description":"d",'
        b'"action":"execute","params":{"description":"","command":"ls","working_dir":"/p","run_in_background":false,'
        b'"auto_background_after":0},"path":"/p"},"action":"allow"}'
    )
    grant = grant_request(body)
    assert (grant.permission.id, grant.permission.tool_call_id) == ("P", "T")
    assert decision(grant) == Decision(allowed=True)
    assert encode(Resolved(resolved=True)) == b'{"resolved":true}'


def test_an_answer_whose_permission_has_no_params_key_is_refused() -> None:
    with pytest.raises(BadRequest, match=r"failed to decode request: permission\.params is missing"):
        grant_request(granting(id="P", tool_name="bash"))


@pytest.mark.parametrize("params", [None, '{"raw":1}', {"any": "thing"}])
def test_params_of_an_mcp_tool_may_be_null_text_or_an_object(params: Any) -> None:
    assert grant_request(granting(id="P", tool_name="mcp_srv_do", params=params)).permission.params == params


@pytest.mark.parametrize(
    ("tool", "params"), [("bash", {"command": 4}), ("bash", [1]), ("mcp_srv_do", 4), ("view", {"offset": "x"})]
)
def test_params_no_tool_is_asked_with_are_refused(tool: str, params: Any) -> None:
    with pytest.raises(BadRequest, match=r"failed to decode request: permission\.params"):
        grant_request(granting(id="P", tool_name=tool, params=params))


def test_a_null_permission_is_no_permission_and_does_no_harm() -> None:
    assert grant_request(b'{"permission":null,"action":"deny"}').permission.id == ""


def test_our_answer_sends_null_params_because_the_original_refuses_the_text_it_sent() -> None:
    sent = grant_to_wire(asked("mcp_srv_do", '{"a":1}'), Decision(allowed=True, scope="session"))
    body = encode(sent)
    assert json.loads(body)["permission"] == {
        "id": "P",
        "session_id": "S",
        "tool_call_id": "T",
        "tool_name": "mcp_srv_do",
        "description": "d",
        "action": "execute",
        "params": None,
        "path": "/p",
        "digest": "abc",
    }
    assert json.loads(body)["action"] == "allow_session"
    assert grant_request(body) == sent


@pytest.mark.parametrize(
    ("body", "decided"),
    [
        ({"action": "allow"}, Decision(allowed=True)),
        ({"action": "allow_session"}, Decision(allowed=True, scope="session")),
        ({"action": "deny", "reason": "no"}, Decision(allowed=False, reason="no")),
        ({"action": "allow", "scope": "always"}, Decision(allowed=True, scope="always")),
    ],
)
def test_every_action_is_a_decision(body: dict[str, str], decided: Decision) -> None:
    assert decision(grant_request(json.dumps(body).encode())) == decided


@pytest.mark.parametrize(
    "decided",
    [
        Decision(allowed=True),
        Decision(allowed=True, scope="session"),
        Decision(allowed=True, scope="always", reason="mine"),
        Decision(allowed=False, reason="no"),
    ],
)
def test_a_decision_survives_its_way_to_our_own_server(decided: Decision) -> None:
    assert decision(grant_request(encode(grant_to_wire(asked(), decided)))) == decided


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"action":"maybe"}', "invalid permission action"),
        (b"{}", "invalid permission action"),
        (b'{"action":"allow","scope":"forever"}', "invalid permission scope"),
    ],
)
def test_an_action_or_a_scope_nobody_knows_is_refused(body: bytes, message: str) -> None:
    with pytest.raises(BadRequest) as caught:
        decision(grant_request(body))
    assert caught.value.message == message


def test_a_notification_always_says_both_granted_and_denied() -> None:
    assert encode(PermissionNotification("T")) == b'{"tool_call_id":"T","granted":false,"denied":false}'


def test_skipping_is_asked_and_told_with_one_key() -> None:
    assert decode(b'{"skip":true}', SkipPermissions) == SkipPermissions(skip=True)
    assert encode(SkipPermissions()) == b'{"skip":false}'


BATCH = Questions(
    id=RequestId("B"),
    session_id=SessionId("S"),
    run_id=RunId("r"),
    tool_call_id=ToolCallId("T"),
    questions=(
        Question("Q1", QuestionType.YES_NO, "Sure?"),
        Question("Q2", QuestionType.SINGLE_CHOICE, "Which?", "L", "D", (Choice("a", "A"), Choice("b", "B", "bee"))),
    ),
    confirm_title="Ready to go?",
    expires_at=9,
)


def test_questions_have_exactly_the_originals_bytes() -> None:
    assert encode(questions_to_wire(BATCH)) == (
        b'{"id":"B","session_id":"S","tool_call_id":"T","questions":['
        b'{"id":"Q1","type":"yes_no","question":"Sure?"},'
        b'{"id":"Q2","type":"single_choice","label":"L","question":"Which?","description":"D",'
        b'"choices":[{"id":"a","label":"A"},{"id":"b","label":"B","description":"bee"}]}],'
        b'"confirm_title":"Ready to go?"}'
    )


def test_questions_come_back_from_the_wire_among_ourselves() -> None:
    assert questions_from_wire(read(encode(questions_to_wire(BATCH, exact=True)), QuestionRequest)) == BATCH


def test_a_question_of_a_type_nobody_knows_can_be_answered_in_words() -> None:
    wire = read(b'{"id":"B","questions":[{"id":"Q","type":"dance","question":"?"}]}', QuestionRequest)
    assert questions_from_wire(wire).questions == (Question("Q", QuestionType.FREE_TEXT, "?"),)


def test_the_originals_answers_are_read_by_request_id_and_leave_the_batch_empty() -> None:
    body = (
        b'{"batch_request_id":"","responses":[{"request_id":"Q1","yes":true},'
        b'{"request_id":"Q2","selected_ids":["a"],"notes":{"a":"because"}},{"request_id":"Q3","fill_in_text":"hi"}]}'
    )
    answer = decode(body, QuestionAnswer)
    assert answer.batch_request_id == ""
    assert answers(answer) == Answers(
        (
            QuestionResponse("Q1", yes=True),
            QuestionResponse("Q2", ("a",), notes={"a": "because"}),
            QuestionResponse("Q3", fill_in_text="hi"),
        )
    )
    assert encode(answers_to_wire(RequestId(""), answers(answer))) == body


def test_a_no_is_told_from_no_answer() -> None:
    said = Answers((QuestionResponse("Q1", yes=False), QuestionResponse("Q2")))
    assert encode(answers_to_wire(RequestId("B"), said)) == (
        b'{"batch_request_id":"B","responses":[{"request_id":"Q1","yes":false},{"request_id":"Q2"}]}'
    )


def test_a_batch_that_is_over_is_told_by_its_id() -> None:
    assert encode(QuestionNotification("B")) == b'{"batch_id":"B"}'
