"""What the original's stream tells, kind by kind. Ours is in `wire_details`, reading in `wire_stream`."""

from typing import Literal

import msgspec

from turnkeeper.protocol.ids import SessionId
from turnkeeper.protocol.wire_messages import NO_WIRE_MESSAGE, WireMessage
from turnkeeper.protocol.wire_requests import (
    PermissionNotification,
    PermissionRequest,
    QuestionNotification,
    QuestionRequest,
)
from turnkeeper.protocol.wire_servers import LSPState, MCPState, SkillStanding
from turnkeeper.protocol.wire_sessions import File, Session

CONTEXT_CANCELED = "context canceled"
"""What the original says of a run that was cancelled while it was active."""


class AgentEvent(msgspec.Struct, frozen=True, omit_defaults=True):
    """News of the agent. `message` is always there, and zero: a client of the original's loses the event without it."""

    error: str = ""
    type: str = msgspec.field(default_factory=str)
    message: WireMessage = msgspec.field(default_factory=lambda: NO_WIRE_MESSAGE)
    run_id: str = ""
    session_id: str = ""
    session_title: str = ""
    progress: str = ""
    done: bool = False
    aws_sso_command: str = ""
    aws_sso_url: str = ""
    provider_id: str = ""
    """Ours: whom to sign in to. The original says it on no wire, so that its own clients cannot open the dialog."""


def agent_finished(session_id: SessionId, title: str) -> AgentEvent:
    return AgentEvent(type="agent_finished", session_id=session_id, session_title=title)


def agent_error(session_id: SessionId, error: str, *, run_id: str = "") -> AgentEvent:
    """`run_id` only if the client named the run."""
    return AgentEvent(type="error", error=error, session_id=session_id, run_id=run_id)


def re_authenticate(session_id: str = "", provider_id: str = "") -> AgentEvent:
    return AgentEvent(type="re_authenticate", session_id=session_id, provider_id=provider_id)


def aws_sso_auth(command: str, url: str = "") -> AgentEvent:
    return AgentEvent(type="aws_sso_auth", aws_sso_command=command, aws_sso_url=url)


def aws_sso_auth_result(error: str = "") -> AgentEvent:
    return AgentEvent(type="aws_sso_auth_result", error=error)


class RunComplete(msgspec.Struct, frozen=True, omit_defaults=True):
    session_id: str = msgspec.field(default_factory=str)
    run_id: str = ""
    message_id: str = msgspec.field(default_factory=str)
    text: str = ""
    error: str = ""
    cancelled: bool = False


_MCP_EVENT_TYPES = frozenset(("state_changed", "tools_list_changed", "prompts_list_changed", "resources_list_changed"))


class MCPEvent(msgspec.Struct, frozen=True, omit_defaults=True):
    error: str = ""
    type: str = msgspec.field(default_factory=str)
    name: str = msgspec.field(default_factory=str)
    state: str = msgspec.field(default_factory=lambda: MCPState.DISABLED.value)
    tool_count: int = 0
    prompt_count: int = 0
    resource_count: int = 0


def mcp_event(
    event_type: str,
    name: str,
    state: MCPState,
    *,
    error: str = "",
    tool_count: int = 0,
    prompt_count: int = 0,
    resource_count: int = 0,
) -> MCPEvent | None:
    """None for what the stream has no word for: it is dropped, and never passed off as a change of state."""
    if event_type not in _MCP_EVENT_TYPES:
        return None
    return MCPEvent(error, event_type, name, state.value, tool_count, prompt_count, resource_count)


class LSPEvent(msgspec.Struct, frozen=True, omit_defaults=True):
    error: str = ""
    type: str = msgspec.field(default_factory=str)
    name: str = msgspec.field(default_factory=str)
    state: int = msgspec.field(default_factory=int)
    diagnostic_count: int = 0


def lsp_event(
    event_type: Literal["state_changed", "diagnostics_changed"],
    name: str,
    state: LSPState,
    *,
    error: str = "",
    diagnostic_count: int = 0,
) -> LSPEvent:
    return LSPEvent(error, event_type, name, state.value, diagnostic_count)


class SkillsEvent(msgspec.Struct, frozen=True):
    """No skills at all is null."""

    states: tuple[SkillStanding, ...] | None = None


class ConfigChanged(msgspec.Struct, frozen=True):
    workspace_id: str = ""


class UpdateAvailable(msgspec.Struct, frozen=True):
    current_version: str = ""
    latest_version: str = ""
    is_development: bool = False


Payload = (
    Session
    | WireMessage
    | File
    | PermissionRequest
    | PermissionNotification
    | QuestionRequest
    | QuestionNotification
    | AgentEvent
    | RunComplete
    | MCPEvent
    | LSPEvent
    | SkillsEvent
    | ConfigChanged
    | UpdateAvailable
)

KINDS: dict[str, type[Payload]] = {
    "session": Session,
    "message": WireMessage,
    "file": File,
    "permission_request": PermissionRequest,
    "permission_notification": PermissionNotification,
    "question_batch_request": QuestionRequest,
    "question_batch_notification": QuestionNotification,
    "agent_event": AgentEvent,
    "run_complete": RunComplete,
    "mcp_event": MCPEvent,
    "lsp_event": LSPEvent,
    "skills_event": SkillsEvent,
    "config_changed": ConfigChanged,
    "update_available": UpdateAvailable,
}
