"""A person's message and a tool's result as a model can read them: text, pictures it can see, and limits.

Every piece has its own limit, and whatever is cut or left out says so in its place. Rendering what was rendered
changes nothing.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from turnkeeper.core.excerpt import excerpt
from turnkeeper.protocol.messages import (
    Binary,
    ImageUrl,
    Message,
    Part,
    Role,
    ShellCommand,
    Text,
    ToolCall,
    ToolResult,
)

TEXT_BYTES_MAX = 1_048_576
"""One text of a person or a model."""
ATTACHMENT_BYTES_MAX = 262_144
"""One attached text file."""
SHELL_OUTPUT_BYTES_MAX = 65_536
"""What one shell command of a person printed."""
TOOL_RESULT_BYTES_MAX = 131_072
TOOL_INPUT_BYTES_MAX = 524_288
MEDIA_BYTES_MAX = 3_932_160
"""One picture: as base64 it is then 5 MiB, the smallest limit among the large providers. One picture above it makes
every later request of the conversation fail."""
LABEL_BYTES_MAX = 1_024
"""A path or a shell command where it only names something."""

TEXT_PREFIX = "text/"
INVALID_MEDIA = "[The media of this result cannot be shown: its encoding is damaged.]"
UNSEEN_MEDIA = "[The media of this result cannot be shown: this model reads text only.]"
MOVED_MEDIA = "[The media of this result is attached to the next message.]"
ATTACHED = "<system_info>The person attached the following file.</system_info>"

# CSI sequences, OSC sequences with either terminator, and the two-character escapes.
ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")


class Sight(msgspec.Struct, frozen=True):
    """What the model that is asked can see."""

    images: bool = False
    media_in_tool_results: bool = False


def person_parts(message: Message, sight: Sight) -> Iterator[Part]:
    """Text first (its own, attached files, shell commands), then what is no text."""
    for part in message.parts:
        match part:
            case Text(text=text) if stripped := text.strip():
                yield Text(excerpt(stripped, bytes_max=TEXT_BYTES_MAX).strip())
            case Binary(mime_type=mime) if mime.startswith(TEXT_PREFIX):
                yield attached_file(part)
            case ShellCommand():
                yield shell_command(part)
            case Binary() if unseen := why_unseen(part, sight):
                yield Text(unseen)
            case ImageUrl() if not sight.images:
                yield Text("[A picture is left out here: this model reads text only.]")
            case _:
                pass
    for part in message.parts:
        match part:
            case Binary(mime_type=mime) if not mime.startswith(TEXT_PREFIX) and not why_unseen(part, sight):
                yield part
            case ImageUrl() if sight.images:
                yield part
            case _:
                pass


def attached_file(file: Binary) -> Text:
    path = quoted(excerpt(file.path, bytes_max=LABEL_BYTES_MAX))
    content = excerpt(file.data.decode("utf-8", errors="replace"), bytes_max=ATTACHMENT_BYTES_MAX)
    return Text(f"{ATTACHED}\n<file path='{path}'>\n{content}\n</file>")


def quoted(value: str) -> str:
    return value.replace("&", "&amp;").replace("'", "&apos;").replace("<", "&lt;").replace("\n", " ")


def shell_command(run: ShellCommand) -> Text:
    """As a terminal shows it: `$ command`, the output without its colours, and the exit code."""
    command = excerpt(run.command.strip(), bytes_max=LABEL_BYTES_MAX)
    output = excerpt(ANSI.sub("", run.output).strip(), bytes_max=SHELL_OUTPUT_BYTES_MAX)
    return Text("\n".join(line for line in (f"$ {command}", output, f"Exit code: {run.exit_code}") if line))


def why_unseen(file: Binary, sight: Sight) -> str:
    """Why a file is left out of what the model is sent, or nothing if it is not."""
    name = excerpt(file.path or file.mime_type, bytes_max=LABEL_BYTES_MAX)
    if not sight.images:
        return f"[The file {name} is left out here: this model reads text only.]"
    if len(file.data) > MEDIA_BYTES_MAX:
        return f"[The file {name} is left out here: {len(file.data)} bytes are more than {MEDIA_BYTES_MAX}.]"
    return ""


def tool_call(call: ToolCall) -> ToolCall:
    """Whole, with arguments that are an object: a call that never had them, or garbled ones, has empty ones."""
    given = call.input.strip() if call.finished else ""
    count = len(given.encode("utf-8", errors="replace"))
    if arguments_of(given) is None:
        given = "{}"
    elif count > TOOL_INPUT_BYTES_MAX:
        given = msgspec.json.encode({"left_out": f"{count} bytes of arguments"}).decode()
    return msgspec.structs.replace(call, input=given, finished=True)


def arguments_of(text: str) -> dict[str, Any] | None:
    """The object a call's input is; None if it is none."""
    try:
        return msgspec.json.decode(text.encode("utf-8", errors="replace"), type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        return None


def tool_result(result: ToolResult, sight: Sight) -> tuple[ToolResult, Binary | None]:
    """The result as its provider takes it, and the picture that has to follow in a message of its own."""
    content = excerpt(result.content, bytes_max=TOOL_RESULT_BYTES_MAX)
    plain = msgspec.structs.replace(result, content=content, data="", mime_type="", metadata="")
    if result.is_error or not result.data:
        return plain, None
    data = decoded(result.data)
    if data is None:
        return with_note(plain, INVALID_MEDIA), None
    picture = Binary(path=f"tool-result-{result.tool_call_id}", mime_type=result.mime_type, data=data)
    if not sight.images:
        return with_note(plain, UNSEEN_MEDIA), None
    if unseen := why_unseen(picture, sight):
        return with_note(plain, unseen), None
    if sight.media_in_tool_results:
        return msgspec.structs.replace(plain, data=result.data, mime_type=result.mime_type), None
    return with_note(plain, MOVED_MEDIA), picture


def with_note(result: ToolResult, note: str) -> ToolResult:
    room = TOOL_RESULT_BYTES_MAX - len(note.encode()) - 1
    content = excerpt(result.content, bytes_max=room)
    return msgspec.structs.replace(result, content=f"{content}\n{note}" if content else note)


def decoded(text: str) -> bytes | None:
    """The bytes of canonical base64; None for anything a provider might refuse."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if base64.b64encode(data).decode() == text else None


def is_person(message: Message) -> bool:
    return message.role in (Role.USER, Role.SYSTEM)
