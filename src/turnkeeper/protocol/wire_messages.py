"""Messages on the wire: `{"parts":[{"type":…,"data":…}],…}`, written in two ways and read in one.

- `exact` is for our own clients: the parts one by one, as they are kept, with the run and the author beside them.
- `merged` is for the original's clients: all text in one text part and all thinking in one reasoning part, each where
  the first of its kind stood, because they know no more than one of each.

What only a provider may see again (`provider_data`, `provider_executed`) is never written. A part of a kind we do not
know is read as an empty text, so that the parts after it keep their places and nothing valid beside it is lost.

Times are Unix seconds. The structs are written straight from `Message`: of the ways measured it is the fastest.
"""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from turnkeeper.protocol.ids import ClientId, MessageId, RunId, SessionId, ToolCallId
from turnkeeper.protocol.messages import (
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
from turnkeeper.protocol.wire_reading import fit


class TextData(msgspec.Struct, frozen=True):
    text: str = ""


class ReasoningData(msgspec.Struct, frozen=True, omit_defaults=True):
    thinking: str = msgspec.field(default_factory=str)
    signature: str = msgspec.field(default_factory=str)
    started_at: int = 0
    finished_at: int = 0


class ToolCallData(msgspec.Struct, frozen=True, omit_defaults=True):
    id: str = msgspec.field(default_factory=str)
    name: str = msgspec.field(default_factory=str)
    input: str = msgspec.field(default_factory=str)
    type: str = ""
    """Never written; the original's clients may send it."""
    finished: bool = False


class ToolResultData(msgspec.Struct, frozen=True, omit_defaults=True):
    tool_call_id: str = msgspec.field(default_factory=str)
    name: str = msgspec.field(default_factory=str)
    content: str = msgspec.field(default_factory=str)
    data: str = ""
    mime_type: str = ""
    metadata: str = msgspec.field(default_factory=str)
    is_error: bool = msgspec.field(default_factory=bool)


class FinishData(msgspec.Struct, frozen=True, omit_defaults=True):
    reason: str = msgspec.field(default_factory=str)
    time: int = msgspec.field(default_factory=int)
    message: str = ""
    details: str = ""


class ImageUrlData(msgspec.Struct, frozen=True, omit_defaults=True):
    url: str = msgspec.field(default_factory=str)
    detail: str = ""


class BinaryData(msgspec.Struct, frozen=True):
    """The one object with the original's own capitals."""

    path: str = msgspec.field(name="Path", default="")
    mime_type: str = msgspec.field(name="MIMEType", default="")
    data: bytes = msgspec.field(name="Data", default=b"")


class ShellCommandData(msgspec.Struct, frozen=True):
    command: str = ""
    output: str = ""
    exit_code: int = 0


Data = (
    TextData | ReasoningData | ToolCallData | ToolResultData | FinishData | ImageUrlData | BinaryData | ShellCommandData
)


class WirePart(msgspec.Struct, frozen=True):
    """A part in its envelope. Written, `data` is a `Data`; read, it is whatever object came."""

    type: str = ""
    data: Any = None


class WireMessage(msgspec.Struct, frozen=True, omit_defaults=True):
    parts: tuple[WirePart, ...] = msgspec.field(default_factory=lambda: tuple[WirePart, ...]())
    id: str = msgspec.field(default_factory=str)
    role: str = msgspec.field(default_factory=str)
    session_id: str = msgspec.field(default_factory=str)
    model: str = msgspec.field(default_factory=str)
    provider: str = msgspec.field(default_factory=str)
    created_at: int = msgspec.field(default_factory=int)
    updated_at: int = msgspec.field(default_factory=int)
    is_summary_message: bool = False
    run_id: str = ""
    author: str = ""


NO_WIRE_MESSAGE = WireMessage()
"""What stands where the wire wants a message and there is none: never null, never without `parts`."""


def exact(message: Message) -> WireMessage:
    """The message as it is kept, part for part, with its run and its author."""
    return WireMessage(
        tuple([part_to_wire(part) for part in message.parts]),
        message.id,
        message.role.value,
        message.session_id,
        message.model,
        message.provider,
        message.created_at,
        message.updated_at,
        message.is_summary,
        message.run_id or "",
        message.author,
    )


def merged(message: Message) -> WireMessage:
    """The message as the original's clients know messages: at most one text and one reasoning part, no other keys."""
    return WireMessage(
        tuple([part_to_wire(part) for part in merged_parts(message.parts)]),
        message.id,
        message.role.value,
        message.session_id,
        message.model,
        message.provider,
        message.created_at,
        message.updated_at,
        message.is_summary,
    )


def merged_parts(parts: Iterable[Part]) -> list[Part]:
    """All text in one part and all thinking in one part, each where the first of its kind stood."""
    places: dict[type[Part], int] = {}
    kept: list[Part] = []
    texts: list[str] = []
    thoughts: list[Reasoning] = []
    for part in parts:
        match part:
            case Text(text):
                texts.append(text)
            case Reasoning():
                thoughts.append(part)
            case _:
                kept.append(part)
                continue
        if type(part) not in places:
            places[type(part)] = len(kept)
            kept.append(part)
    if len(texts) > 1:
        kept[places[Text]] = Text("".join(texts))
    if len(thoughts) > 1:
        kept[places[Reasoning]] = _one_thought(thoughts)
    return kept


def _one_thought(thoughts: list[Reasoning]) -> Reasoning:
    """It began when the first did, and is over once all of them are. The last signature is the one that continues."""
    return Reasoning(
        "".join(thought.thinking for thought in thoughts),
        next((thought.signature for thought in reversed(thoughts) if thought.signature), ""),
        next((thought.started_at for thought in thoughts if thought.started_at), 0),
        thoughts[-1].finished_at,
    )


def part_to_wire(part: Part) -> WirePart:
    match part:
        case Text(text):
            return WirePart("text", TextData(text))
        case Reasoning():
            data = ReasoningData(part.thinking, part.signature, part.started_at, part.finished_at)
            return WirePart("reasoning", data)
        case ToolCall():
            return WirePart("tool_call", ToolCallData(part.id, part.name, part.input, "", part.finished))
        case ToolResult():
            data = ToolResultData(
                part.tool_call_id, part.name, part.content, part.data, part.mime_type, part.metadata, part.is_error
            )
            return WirePart("tool_result", data)
        case Finish():
            return WirePart("finish", FinishData(part.reason.value, part.time, part.message, part.details))
        case ImageUrl(url, detail):
            return WirePart("image_url", ImageUrlData(url, detail))
        case Binary(path, mime_type, data):
            return WirePart("binary", BinaryData(path, mime_type, data))
        case ShellCommand(command, output, exit_code):
            return WirePart("shell_command", ShellCommandData(command, output, exit_code))


def message_from_wire(wire: WireMessage) -> Message:
    """The message a server sent. A role or a reason we do not know is read as the plainest one we do."""
    return Message(
        id=MessageId(wire.id),
        session_id=SessionId(wire.session_id),
        role=Role(wire.role) if wire.role in _ROLES else Role.ASSISTANT,
        parts=tuple(part_from_wire(part) for part in wire.parts),
        model=wire.model,
        provider=wire.provider,
        created_at=wire.created_at,
        updated_at=wire.updated_at,
        is_summary=wire.is_summary_message,
        run_id=RunId(wire.run_id) if wire.run_id else None,
        author=ClientId(wire.author),
    )


def part_from_wire(part: WirePart) -> Part:
    reader = _READERS.get(part.type)
    if reader is None:
        return Text("")
    return reader(msgspec.to_builtins(part.data) if isinstance(part.data, msgspec.Struct) else part.data)


def _text(data: Any) -> Part:
    return Text(fit(data, TextData).text)


def _reasoning(data: Any) -> Part:
    read = fit(data, ReasoningData)
    return Reasoning(read.thinking, read.signature, read.started_at, read.finished_at)


def _tool_call(data: Any) -> Part:
    read = fit(data, ToolCallData)
    return ToolCall(ToolCallId(read.id), read.name, read.input, read.finished)


def _tool_result(data: Any) -> Part:
    read = fit(data, ToolResultData)
    return ToolResult(
        ToolCallId(read.tool_call_id), read.name, read.content, read.data, read.mime_type, read.metadata, read.is_error
    )


def _finish(data: Any) -> Part:
    read = fit(data, FinishData)
    reason = FinishReason(read.reason) if read.reason in _REASONS else FinishReason.UNKNOWN
    return Finish(reason, read.time, read.message, read.details)


def _image_url(data: Any) -> Part:
    read = fit(data, ImageUrlData)
    return ImageUrl(read.url, read.detail)


def _binary(data: Any) -> Part:
    read = fit(data, BinaryData)
    return Binary(read.path, read.mime_type, read.data)


def _shell_command(data: Any) -> Part:
    read = fit(data, ShellCommandData)
    return ShellCommand(read.command, read.output, read.exit_code)


_ROLES = frozenset(Role)
_REASONS = frozenset(FinishReason)
_READERS: dict[str, Callable[[Any], Part]] = {
    "text": _text,
    "reasoning": _reasoning,
    "tool_call": _tool_call,
    "tool_result": _tool_result,
    "finish": _finish,
    "image_url": _image_url,
    "binary": _binary,
    "shell_command": _shell_command,
}
