"""A prompt as a message of the conversation."""

from turnkeeper.protocol import events as e
from turnkeeper.protocol.ids import SessionId
from turnkeeper.protocol.messages import STOPPED, Binary, Message, Part, Role, Text
from turnkeeper.protocol.runs import Prompt


def user_message(session_id: SessionId, run: e.RunAccepted) -> Message:
    """What a person said, as the conversation keeps it."""
    said: tuple[Part, ...] = (Text(run.prompt.text),) if run.prompt.text else ()
    return Message(
        id=run.user_message_id,
        session_id=session_id,
        role=Role.USER,
        parts=(*said, *attached(run.prompt), STOPPED),
        created_at=run.at // 1000,
        updated_at=run.at // 1000,
        run_id=run.run_id,
        author=run.by,
    )


def attached(prompt: Prompt) -> tuple[Part, ...]:
    return tuple(Binary(a.file_path or a.file_name, a.mime_type, a.content) for a in prompt.attachments)
