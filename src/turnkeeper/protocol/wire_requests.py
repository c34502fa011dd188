"""Permissions and questions on the wire, and what clients answer to them.

A permission's `params` are an object of the tool's own shape, null, or for MCP tools a JSON string. The original's
clients show nothing for an object of another shape, so what is shown to them always fits.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from turnkeeper.protocol.ids import ClientId, RequestId, RunId, SessionId, ToolCallId
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
from turnkeeper.protocol.wire_params import shaped
from turnkeeper.protocol.wire_reading import decode


class PermissionRequest(msgspec.Struct, frozen=True, omit_defaults=True):
    """The original's eight keys are always there; what follows them is ours and only for our clients."""

    id: str = msgspec.field(default_factory=str)
    session_id: str = msgspec.field(default_factory=str)
    tool_call_id: str = msgspec.field(default_factory=str)
    tool_name: str = msgspec.field(default_factory=str)
    description: str = msgspec.field(default_factory=str)
    action: str = msgspec.field(default_factory=str)
    params: Any = msgspec.field(default_factory=lambda: None)
    path: str = msgspec.field(default_factory=str)
    run_id: str = ""
    subject: str = ""
    digest: str = ""
    expires_at: int = 0
    rules: tuple[str, ...] = ()
    edits: tuple[str, ...] = ()


def permission_to_wire(permission: Permission, *, exact: bool = False) -> PermissionRequest:
    wire = PermissionRequest(
        permission.id,
        permission.session_id,
        permission.tool_call_id,
        permission.tool_name,
        permission.description,
        permission.action,
        shaped(permission.tool_name, permission.params),
        permission.path,
    )
    if not exact:
        return wire
    return msgspec.structs.replace(
        wire,
        params=permission.params,
        run_id=permission.run_id,
        subject=permission.subject,
        digest=permission.digest,
        expires_at=permission.expires_at,
        rules=permission.rules,
        edits=permission.edits,
    )


def permission_from_wire(wire: PermissionRequest) -> Permission:
    return Permission(
        id=RequestId(wire.id),
        session_id=SessionId(wire.session_id),
        run_id=RunId(wire.run_id),
        tool_call_id=ToolCallId(wire.tool_call_id),
        tool_name=wire.tool_name,
        action=wire.action,
        description=wire.description,
        path=wire.path,
        subject=wire.subject,
        digest=wire.digest,
        params=wire.params,
        expires_at=wire.expires_at,
        rules=wire.rules,
        edits=wire.edits,
    )


class PermissionNotification(msgspec.Struct, frozen=True):
    """First asked (both false), later granted or denied."""

    tool_call_id: str = ""
    granted: bool = False
    denied: bool = False


class EchoedPermission(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The request a client answers, sent back to us. `params` must be there, and may be null."""

    id: str = msgspec.field(default_factory=str)
    session_id: str = msgspec.field(default_factory=str)
    tool_call_id: str = msgspec.field(default_factory=str)
    tool_name: str = msgspec.field(default_factory=str)
    description: str = msgspec.field(default_factory=str)
    action: str = msgspec.field(default_factory=str)
    params: Any
    path: str = msgspec.field(default_factory=str)
    digest: str = ""
    """Ours: what the client was shown. An answer about another call than the one that waits decides nothing."""


class GrantRequest(msgspec.Struct, frozen=True):
    """A person's answer. `scope` and `reason` are ours; a client of the original's says it all by `action`."""

    permission: EchoedPermission = msgspec.field(default_factory=lambda: EchoedPermission(params=None))
    action: str = ""
    scope: str = ""
    reason: str = ""


class Resolved(msgspec.Struct, frozen=True, omit_defaults=True):
    """Whether it was this answer that settled it. Ours: if not, who had, and how."""

    resolved: bool = msgspec.field(default_factory=bool)
    by: str = ""
    decision: str = ""


def grant_request(body: bytes) -> GrantRequest:
    """The answer in `body`. Its params are of the shape the tool has, or text as an MCP tool's are, or null."""
    grant = decode(body, GrantRequest)
    name, params = grant.permission.tool_name, grant.permission.params
    if not isinstance(params, dict | str | None):
        raise BadRequest("failed to decode request: permission.params must be an object, a string or null")
    if isinstance(params, dict) and shaped(name, params) is None:
        raise BadRequest(f"failed to decode request: permission.params is not what the tool {name} is asked with")
    return grant


def grant_to_wire(permission: Permission, decision: Decision) -> GrantRequest:
    """An answer to send. Params travel as null: the original refuses the text it sent itself, and needs none of it."""
    wire = permission_to_wire(permission)
    echoed = EchoedPermission(
        id=wire.id,
        session_id=wire.session_id,
        tool_call_id=wire.tool_call_id,
        tool_name=wire.tool_name,
        description=wire.description,
        action=wire.action,
        params=None,
        path=wire.path,
        digest=permission.digest,
    )
    lasting = decision.allowed and decision.scope != "once"
    action = "allow_session" if lasting else "allow" if decision.allowed else "deny"
    return GrantRequest(echoed, action, decision.scope, decision.reason)


def decision(grant: GrantRequest) -> Decision:
    """What was decided. Checked after the workspace is known to exist, as in the original."""
    match grant.action:
        case "allow":
            scope = grant.scope or "once"
        case "allow_session":
            scope = grant.scope or "session"
        case "deny":
            return Decision(allowed=False, reason=grant.reason)
        case _:
            raise BadRequest("invalid permission action")
    if scope not in _SCOPES:
        raise BadRequest("invalid permission scope")
    return Decision(allowed=True, scope=scope, reason=grant.reason)


_SCOPES = frozenset(("once", "session", "edits", "workspace", "always"))


class Unasked(msgspec.Struct, frozen=True):
    """A client whose runs ask nobody, in one session or in all. Without a name: clients that give none."""

    client_id: str = ""
    session_id: str = ""


class SkipPermissions(msgspec.Struct, frozen=True, omit_defaults=True):
    """Ours: said with a session, it is about that alone; told, `by` names everybody it holds for."""

    skip: bool = msgspec.field(default_factory=bool)
    session_id: str = ""
    by: tuple[Unasked, ...] = ()


def unasked_views(unasked: Iterable[tuple[ClientId, SessionId]]) -> tuple[Unasked, ...]:
    return tuple(Unasked(client, session) for client, session in sorted(unasked))


class WireChoice(msgspec.Struct, frozen=True, omit_defaults=True):
    id: str = msgspec.field(default_factory=str)
    label: str = msgspec.field(default_factory=str)
    description: str = ""


class WireQuestion(msgspec.Struct, frozen=True, omit_defaults=True):
    id: str = msgspec.field(default_factory=str)
    type: str = msgspec.field(default_factory=str)
    label: str = ""
    question: str = msgspec.field(default_factory=str)
    description: str = ""
    choices: tuple[WireChoice, ...] = ()


class QuestionRequest(msgspec.Struct, frozen=True, omit_defaults=True):
    """One to five questions. `run_id` and `expires_at` are ours."""

    id: str = msgspec.field(default_factory=str)
    session_id: str = msgspec.field(default_factory=str)
    tool_call_id: str = msgspec.field(default_factory=str)
    questions: tuple[WireQuestion, ...] = msgspec.field(default_factory=lambda: tuple[WireQuestion, ...]())
    confirm_title: str = ""
    confirm_description: str = ""
    run_id: str = ""
    expires_at: int = 0


def questions_to_wire(batch: Questions, *, exact: bool = False) -> QuestionRequest:
    return QuestionRequest(
        id=batch.id,
        session_id=batch.session_id,
        tool_call_id=batch.tool_call_id,
        questions=tuple(
            WireQuestion(q.id, q.type.value, q.label, q.question, q.description, _wire_choices(q.choices))
            for q in batch.questions
        ),
        confirm_title=batch.confirm_title,
        confirm_description=batch.confirm_description,
        run_id=batch.run_id if exact else "",
        expires_at=batch.expires_at if exact else 0,
    )


def _wire_choices(choices: tuple[Choice, ...]) -> tuple[WireChoice, ...]:
    return tuple(WireChoice(choice.id, choice.label, choice.description) for choice in choices)


def questions_from_wire(wire: QuestionRequest) -> Questions:
    """A type we do not know is read as free text, which answers anything."""
    return Questions(
        id=RequestId(wire.id),
        session_id=SessionId(wire.session_id),
        run_id=RunId(wire.run_id),
        tool_call_id=ToolCallId(wire.tool_call_id),
        questions=tuple(
            Question(
                q.id,
                QuestionType(q.type) if q.type in _QUESTION_TYPES else QuestionType.FREE_TEXT,
                q.question,
                q.label,
                q.description,
                tuple(Choice(choice.id, choice.label, choice.description) for choice in q.choices),
            )
            for q in wire.questions
        ),
        confirm_title=wire.confirm_title,
        confirm_description=wire.confirm_description,
        expires_at=wire.expires_at,
    )


_QUESTION_TYPES = frozenset(QuestionType)


class QuestionNotification(msgspec.Struct, frozen=True):
    batch_id: str = ""


class WireResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answer to one question. `request_id` carries the question's id."""

    request_id: str = msgspec.field(default_factory=str)
    selected_ids: tuple[str, ...] = ()
    fill_in_text: str = ""
    yes: bool | None = None
    notes: dict[str, str] = {}


class QuestionAnswer(msgspec.Struct, frozen=True):
    """The original's clients leave `batch_request_id` empty: they answer whatever is pending."""

    batch_request_id: str = ""
    responses: tuple[WireResponse, ...] = ()


def answers(answer: QuestionAnswer) -> Answers:
    return Answers(
        tuple(
            QuestionResponse(said.request_id, said.selected_ids, said.fill_in_text, said.yes, said.notes)
            for said in answer.responses
        )
    )


def answers_to_wire(request_id: RequestId, said: Answers) -> QuestionAnswer:
    return QuestionAnswer(
        request_id,
        tuple(
            WireResponse(one.request_id, one.selected_ids, one.fill_in_text, one.yes, one.notes)
            for one in said.responses
        ),
    )
