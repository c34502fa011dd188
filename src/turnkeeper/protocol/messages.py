"""A conversation's entries, and the pieces they are made of.

These are the words we keep. The wire's own spelling of them (`{"type": …, "data": …}`) is in `wire_messages.py`; it
copies times as they are here: Unix seconds.
"""

from enum import StrEnum

import msgspec

from turnkeeper.protocol.ids import NO_CLIENT, ClientId, MessageId, RunId, SessionId, ToolCallId


class Role(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


class FinishReason(StrEnum):
    """Why a message ended. `canceled` has one l on the wire; a run's `cancelled` has two."""

    END_TURN = "end_turn"
    MAX_TOKENS = "max_tokens"
    TOOL_USE = "tool_use"
    CANCELED = "canceled"
    ERROR = "error"
    CONTENT_FILTER = "content_filter"
    UNKNOWN = "unknown"
    STOP = "stop"


class Text(msgspec.Struct, frozen=True, tag="text", tag_field="kind"):
    text: str


class Reasoning(msgspec.Struct, frozen=True, tag="reasoning", tag_field="kind", omit_defaults=True):
    """Thinking, with what its provider needs to see again to continue it."""

    thinking: str
    signature: str = ""
    started_at: int = 0
    finished_at: int = 0
    provider_data: str = ""
    """The provider's own continuation data (JSON text); never on the wire, always replayed to that provider."""


class ToolCall(msgspec.Struct, frozen=True, tag="tool_call", tag_field="kind", omit_defaults=True):
    id: ToolCallId
    name: str
    input: str = ""
    finished: bool = False
    provider_executed: bool = False
    provider_data: str = ""


class ToolResult(msgspec.Struct, frozen=True, tag="tool_result", tag_field="kind", omit_defaults=True):
    tool_call_id: ToolCallId
    name: str
    content: str
    data: str = ""
    """Media as canonical base64 text."""
    mime_type: str = ""
    metadata: str = ""
    is_error: bool = False


class Finish(msgspec.Struct, frozen=True, tag="finish", tag_field="kind", omit_defaults=True):
    reason: FinishReason
    time: int = 0
    message: str = ""
    details: str = ""


class ImageUrl(msgspec.Struct, frozen=True, tag="image_url", tag_field="kind", omit_defaults=True):
    url: str
    detail: str = ""


class Binary(msgspec.Struct, frozen=True, tag="binary", tag_field="kind"):
    path: str
    mime_type: str
    data: bytes


class ShellCommand(msgspec.Struct, frozen=True, tag="shell_command", tag_field="kind"):
    command: str
    output: str
    exit_code: int


Part = Text | Reasoning | ToolCall | ToolResult | Finish | ImageUrl | Binary | ShellCommand

STOPPED = Finish(FinishReason.STOP)
"""What every message that is not an assistant's ends with."""


class Message(msgspec.Struct, frozen=True, omit_defaults=True):
    """One entry of a conversation. Its place is its position in the log, never its clock."""

    id: MessageId
    session_id: SessionId
    role: Role
    parts: tuple[Part, ...] = ()
    model: str = ""
    provider: str = ""
    created_at: int = 0
    updated_at: int = 0
    is_summary: bool = False
    run_id: RunId | None = None
    author: ClientId = NO_CLIENT

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def finish(self) -> Finish | None:
        return next((part for part in reversed(self.parts) if isinstance(part, Finish)), None)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    @property
    def tool_results(self) -> tuple[ToolResult, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolResult))


class PartKind(StrEnum):
    """The parts that can be watched while they are written."""

    TEXT = "text"
    REASONING = "reasoning"
    INPUT = "input"
    OUTPUT = "output"
    """A running tool's live output; it belongs to the call at `index` and is never kept."""


class Delta(msgspec.Struct, frozen=True):
    """A fragment of a part still being written: what comes at `offset` (in characters) of part `index`.

    It may be lost on the way to a watcher, and is never needed: the finished part follows.
    """

    session_id: SessionId
    message_id: MessageId
    index: int
    part: PartKind
    offset: int
    text: str
