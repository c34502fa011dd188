"""What a run asks of a person, and what it is told."""

from enum import StrEnum
from typing import Any

import msgspec

from turnkeeper.protocol.ids import RequestId, RunId, SessionId, ToolCallId


class Permission(msgspec.Struct, frozen=True, tag="permission", tag_field="kind", omit_defaults=True):
    """May this exact call be made? It is bound to what it shows by `digest`."""

    id: RequestId
    session_id: SessionId
    run_id: RunId
    tool_call_id: ToolCallId
    tool_name: str
    action: str
    description: str = ""
    path: str = ""
    subject: str = ""
    """What rules match: the command line, the path, or the URL."""
    digest: str = ""
    params: Any = None
    """The tool's parameters as the wire shows them: an object, null, or for MCP tools a JSON string."""
    expires_at: int = 0
    rules: tuple[str, ...] = ()
    """What is allowed from now on by who allows it for longer; nothing, where it can be allowed this once only."""
    edits: tuple[str, ...] = ()
    """What is allowed by who allows every edit of the workspace's files; nothing, where the call is no such edit."""
    unattended: bool = False
    """It was decided without asking anybody, and is here for the audit."""


class QuestionType(StrEnum):
    YES_NO = "yes_no"
    SINGLE_CHOICE = "single_choice"
    MULTI_CHOICE = "multi_choice"
    FREE_TEXT = "free_text"


class Choice(msgspec.Struct, frozen=True, omit_defaults=True):
    id: str
    label: str
    description: str = ""


class Question(msgspec.Struct, frozen=True, omit_defaults=True):
    id: str
    type: QuestionType
    question: str
    label: str = ""
    description: str = ""
    choices: tuple[Choice, ...] = ()


class Questions(msgspec.Struct, frozen=True, tag="questions", tag_field="kind", omit_defaults=True):
    """One to five questions asked together and answered together."""

    id: RequestId
    session_id: SessionId
    run_id: RunId
    tool_call_id: ToolCallId
    questions: tuple[Question, ...]
    confirm_title: str = ""
    confirm_description: str = ""
    expires_at: int = 0


Request = Permission | Questions


class Verdict(StrEnum):
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class Decision(msgspec.Struct, frozen=True, tag="decision", tag_field="kind", omit_defaults=True):
    """A person's answer to a permission request."""

    allowed: bool
    scope: str = "once"
    """How far it reaches: `once`, `session`, `workspace` or `always`; or `edits`: every edit here, in this session."""
    reason: str = ""


class QuestionResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answer to one question. `request_id` is the question's own id: so the wire spells it."""

    request_id: str
    selected_ids: tuple[str, ...] = ()
    fill_in_text: str = ""
    yes: bool | None = None
    notes: dict[str, str] = {}


class Answers(msgspec.Struct, frozen=True, tag="answers", tag_field="kind", omit_defaults=True):
    """A person's answer to a batch of questions; without responses, a refusal to answer."""

    responses: tuple[QuestionResponse, ...] = ()
    cancelled: bool = False


Answer = Decision | Answers


def decided(answer: Answer | None) -> str:
    """An answer in one word; none at all is a withdrawal."""
    match answer:
        case Decision(allowed=True):
            return "allowed"
        case Decision():
            return "denied"
        case Answers(cancelled=True):
            return "declined"
        case Answers():
            return "answered"
        case None:
            return "withdrawn"


class Rule(msgspec.Struct, frozen=True, omit_defaults=True):
    """Which calls a verdict is about. Patterns are globs; an empty one matches everything."""

    verdict: Verdict
    tool: str = ""
    action: str = ""
    subject: str = ""
    """A path glob or a command pattern, as the tool's subject is."""


class Grant(msgspec.Struct, frozen=True, omit_defaults=True):
    """An allowance that was given once and holds until revoked."""

    id: str
    rule: Rule
    scope: str
    session_id: SessionId = SessionId("")
    granted_at: int = 0
    by: str = ""
