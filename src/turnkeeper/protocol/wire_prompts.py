"""Prompts and shell commands as clients submit them."""

import msgspec

from turnkeeper.protocol.runs import Attachment, Prompt, RunOptions
from turnkeeper.protocol.wire_reading import decode


class WireAttachment(msgspec.Struct, frozen=True):
    """A file sent along. `content` is standard base64."""

    content: bytes = b""
    file_path: str = ""
    file_name: str = ""
    mime_type: str = ""


class AgentMessage(msgspec.Struct, frozen=True, omit_defaults=True):
    """A prompt. What follows `attachments` is ours: a client of the original's leaves it out.

    `foldable` None means: as the original decides it, by whether the client named the run.
    """

    session_id: str = msgspec.field(default_factory=str)
    run_id: str = ""
    prompt: str = msgspec.field(default_factory=str)
    attachments: tuple[WireAttachment, ...] = ()
    options: RunOptions | None = None
    foldable: bool | None = None


def agent_message(body: bytes) -> AgentMessage:
    return decode(body, AgentMessage)


def prompt_from_wire(message: AgentMessage) -> Prompt:
    return Prompt(
        message.prompt,
        tuple(Attachment(a.file_path, a.file_name, a.mime_type, a.content) for a in message.attachments),
    )


def attachments_to_wire(attachments: tuple[Attachment, ...]) -> tuple[WireAttachment, ...]:
    return tuple(WireAttachment(a.content, a.file_path, a.file_name, a.mime_type) for a in attachments)


class ShellCommandRequest(msgspec.Struct, frozen=True):
    """A command a person runs beside the conversation. The session is the path's, whatever the body says."""

    session_id: str = ""
    command: str = ""
    term_width: int = 0


class ShellCommandResponse(msgspec.Struct, frozen=True):
    output: str = ""
    exit_code: int = 0
