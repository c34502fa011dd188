"""Conversations that begin with what was said elsewhere: forks of our own, and transcripts from another store."""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from turnkeeper.engine.conversations import found
from turnkeeper.engine.workspace import Workspace
from turnkeeper.protocol import events as e
from turnkeeper.protocol.ids import MessageId, Position, SessionId
from turnkeeper.protocol.messages import Finish, FinishReason, Message, Role
from turnkeeper.protocol.problems import NotFound, SessionMoved, SessionTaken
from turnkeeper.protocol.runs import Usage
from turnkeeper.protocol.sessions import SessionInfo
from turnkeeper.protocol.transcripts import Transcript


class MessageNotFound(NotFound):
    """There is no such message in this session."""


async def fork(workspace: Workspace, session_id: SessionId, *, upto: MessageId | None, title: str) -> SessionInfo:
    """A new session with the same past, up to and including a message; the two go on without each other.

    What is being written right now is not part of the past yet. Files are as they are: no history of them is copied,
    but what was read counts as read.
    """
    means = workspace.means
    info = await found(workspace, session_id)
    past = _past(await means.store.messages(session_id), upto)
    ids = {message.id: MessageId(means.new_id()) for message in past}
    copy = SessionId(means.new_id())
    name = title or f"{info.title} (fork)"
    whole = upto is None or upto == past[-1].id
    await workspace.found(
        copy,
        e.SessionCreated(name, at=means.now()),
        e.SessionRenamed(name, by_person=True),
        *_said(past, ids, copy),
        *(e.FileSeen(replace(read, session_id=copy)) for read in await means.store.file_reads(session_id)),
        *((e.SummarySet(ids[info.summary_message_id]),) if info.summary_message_id in ids else ()),
        *((e.TodosSet(info.todos),) if info.todos and whole else ()),
        *((_context(info),) if whole else ()),
    )
    return await found(workspace, copy)


def _past(messages: list[Message], upto: MessageId | None) -> list[Message]:
    whole = [message for message in messages if message.role is not Role.ASSISTANT or message.finish]
    if upto is None:
        return whole
    place = next((place for place, message in enumerate(whole) if message.id == upto), None)
    if place is None:
        raise MessageNotFound(f"there is no finished message {upto} in this session")
    return whole[: place + 1]


def _said(messages: Iterable[Message], ids: Mapping[MessageId, MessageId], session_id: SessionId) -> Iterable[e.Fact]:
    for message in messages:
        yield e.MessageSaid(replace(message, id=ids[message.id], session_id=session_id, run_id=None))


def _context(info: SessionInfo) -> e.UsageCounted:
    """How much of the model's window the conversation fills. What it cost, it cost elsewhere."""
    return e.UsageCounted(Usage(), None, info.prompt_tokens, info.completion_tokens)


async def adopt(workspace: Workspace, transcript: Transcript) -> bool:
    """Take a conversation in as it was elsewhere, its ids and its times too; false when its id is known already."""
    info = transcript.info
    facts: list[e.Fact] = [
        e.SessionCreated(info.title, info.parent_id, info.created_at * 1000),
        e.SessionRenamed(info.title, by_person=True),
        *(e.MessageSaid(ended(message)) for message in transcript.messages),
        *map(e.FileSaid, transcript.files),
        *map(e.FileSeen, transcript.reads),
        e.UsageCounted(Usage(cost=info.cost), None, info.prompt_tokens, info.completion_tokens),
    ]
    if info.summary_message_id in {message.id for message in transcript.messages}:
        facts.append(e.SummarySet(info.summary_message_id))
    if info.todos:
        facts.append(e.TodosSet(info.todos))
    at = max(info.updated_at, info.created_at, 1) * 1000
    try:
        await workspace.means.store.append(info.id, facts, after=Position(0), at=at)
    except (SessionMoved, SessionTaken):
        return False
    return True


def ended(message: Message) -> Message:
    """Nobody writes on at what was said elsewhere: an answer that was cut off there has been cut off."""
    if message.role is not Role.ASSISTANT or message.finish:
        return message
    cut = Finish(FinishReason.ERROR, message.updated_at, "Interrupted", "This answer was not finished.")
    return replace(message, parts=(*message.parts, cut))
