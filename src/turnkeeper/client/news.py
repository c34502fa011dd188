"""What is heard of a run, piece by piece. It stands apart, so that a printer is there before anything is heard."""

from typing import TYPE_CHECKING

import msgspec

from turnkeeper.protocol.messages import Message, ToolCall, ToolResult
from turnkeeper.protocol.runs import RunState

if TYPE_CHECKING:
    from turnkeeper.protocol.wire_own import RunView


class Began(msgspec.Struct, frozen=True):
    """The model begins a message."""

    message: Message


class More(msgspec.Struct, frozen=True):
    """Text that follows what was heard of this message before."""

    message_id: str
    text: str


class Again(msgspec.Struct, frozen=True):
    """What was heard of this message is void, and it begins anew."""

    message_id: str


class Called(msgspec.Struct, frozen=True):
    """The model uses a tool: what it said before in this message was not the answer yet."""

    message_id: str
    call: ToolCall


class Used(msgspec.Struct, frozen=True):
    """A tool has been used."""

    result: ToolResult


class Moved(msgspec.Struct, frozen=True):
    """The run started, or is stopping."""

    state: RunState


class Ended(msgspec.Struct, frozen=True):
    """The ending; where a server of the original told it, with as much as that knows."""

    run: "RunView"


News = Began | More | Again | Called | Used | Moved | Ended
