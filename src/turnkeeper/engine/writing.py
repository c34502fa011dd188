"""The beginning of an answer: a message that is there before its first word."""

from msgspec.structs import replace

from turnkeeper.engine.draft import Draft
from turnkeeper.engine.running import Running
from turnkeeper.models.model import Model
from turnkeeper.protocol import events as e
from turnkeeper.protocol.messages import Role
from turnkeeper.protocol.problems import SessionNotFound
from turnkeeper.protocol.sessions import SessionInfo


async def session_of(running: Running) -> SessionInfo:
    session = await running.workspace.means.store.session(running.session.id)
    if session is None:
        raise SessionNotFound(running.session.id)
    return session


async def begin_answer(running: Running, model: Model, *, is_summary: bool = False) -> Draft:
    message = running.new_message(Role.ASSISTANT, model=model.info.id, provider=model.info.provider)
    message = replace(message, is_summary=is_summary)
    means = running.workspace.means
    draft = Draft(
        message,
        whisper=lambda delta: means.broker.whisper(means.id, delta),
        now=means.now,
        unsaved_bytes_max=means.knobs.write_behind_bytes,
    )
    # Before it is said, so that a cancel in between finds it and ends it.
    running.write(draft)
    await running.say(e.MessageSaid(message))
    return draft
