"""Language servers, MCP servers and skills on the wire.

The state of a language server is a number, that of an MCP server is text, that of a skill a number again; an error is
always plain text, left out when there is none.
"""

from enum import IntEnum, StrEnum
from typing import Any

import msgspec

from turnkeeper.protocol.wire import NEVER, rfc3339


class LSPState(IntEnum):
    UNSTARTED = 0
    STARTING = 1
    READY = 2
    ERROR = 3
    STOPPED = 4
    DISABLED = 5


class MCPState(StrEnum):
    """Any other word makes the original's clients drop every server's state at once."""

    DISABLED = "disabled"
    STARTING = "starting"
    CONNECTED = "connected"
    ERROR = "error"
    NEEDS_AUTH = "needs auth"


class SkillState(IntEnum):
    NORMAL = 0
    ERROR = 1


class LSPClientInfo(msgspec.Struct, frozen=True, omit_defaults=True):
    error: str = ""
    name: str = msgspec.field(default_factory=str)
    state: int = msgspec.field(default_factory=int)
    diagnostic_count: int = 0
    connected_at: str = msgspec.field(default_factory=lambda: NEVER)


def lsp_client_info(
    name: str, state: LSPState, *, error: str = "", diagnostic_count: int = 0, connected_at: int = 0
) -> LSPClientInfo:
    return LSPClientInfo(error, name, state.value, diagnostic_count, rfc3339(connected_at))


class FileOpened(msgspec.Struct, frozen=True):
    """A file for whose sake language servers may start."""

    path: str = ""


Diagnostics = dict[str, list[dict[str, Any]]]
"""By `file://` URI, exactly as the language server said them."""


class MCPClientInfo(msgspec.Struct, frozen=True, omit_defaults=True):
    error: str = ""
    name: str = msgspec.field(default_factory=str)
    state: str = msgspec.field(default_factory=lambda: MCPState.DISABLED.value)
    tool_count: int = 0
    prompt_count: int = 0
    resource_count: int = 0
    connected_at: str = msgspec.field(default_factory=lambda: NEVER)


def mcp_client_info(
    name: str,
    state: MCPState,
    *,
    error: str = "",
    tool_count: int = 0,
    prompt_count: int = 0,
    resource_count: int = 0,
    connected_at: int = 0,
) -> MCPClientInfo:
    return MCPClientInfo(error, name, state.value, tool_count, prompt_count, resource_count, rfc3339(connected_at))


class MCPName(msgspec.Struct, frozen=True):
    """The MCP server a request is about."""

    name: str = ""


class MCPArgument(msgspec.Struct, frozen=True, omit_defaults=True):
    id: str = msgspec.field(default_factory=str)
    title: str = msgspec.field(default_factory=str)
    description: str = ""
    required: bool = False


class MCPPrompt(msgspec.Struct, frozen=True, omit_defaults=True):
    """A prompt a server offers. `client_id` is the server's name, and `id` is both: `server:prompt`."""

    id: str = msgspec.field(default_factory=str)
    title: str = ""
    description: str = ""
    prompt_id: str = msgspec.field(default_factory=str)
    client_id: str = msgspec.field(default_factory=str)
    arguments: tuple[MCPArgument, ...] = ()


class MCPPromptRequest(msgspec.Struct, frozen=True):
    client_id: str = ""
    """The MCP server's name; not a client of ours."""
    prompt_id: str = ""
    args: dict[str, str] = {}


class PromptText(msgspec.Struct, frozen=True):
    prompt: str = ""


class ResourceRequest(msgspec.Struct, frozen=True):
    name: str = ""
    uri: str = ""


class ResourceContents(msgspec.Struct, frozen=True, omit_defaults=True):
    uri: str = msgspec.field(default_factory=str)
    mime_type: str = ""
    text: str = ""
    blob: bytes = b""


class PendingAuth(msgspec.Struct, frozen=True):
    name: str = ""
    url: str = ""


class AuthUrl(msgspec.Struct, frozen=True, omit_defaults=True):
    auth_url: str = ""


class SkillStanding(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of a skill's file when it was read."""

    name: str = msgspec.field(default_factory=str)
    path: str = msgspec.field(default_factory=str)
    state: int = msgspec.field(default_factory=int)
    error: str = ""


class SkillInfo(msgspec.Struct, frozen=True):
    id: str = ""
    name: str = ""
    description: str = ""
    label: str = ""
    source: str = ""
    user_invocable: bool = False


class SkillRequest(msgspec.Struct, frozen=True):
    skill_id: str = ""


class SkillResult(msgspec.Struct, frozen=True):
    name: str = ""
    description: str = ""
    source: str = ""
    builtin: bool = False


class ReadSkill(msgspec.Struct, frozen=True):
    content: bytes = b""
    result: SkillResult = SkillResult()
