"""Sessions as people handle them: begun, renamed, forgotten, read."""

import anyio

from turnkeeper.core import commands as told
from turnkeeper.core.title import NOBODYS_TITLES
from turnkeeper.engine.workspace import Workspace
from turnkeeper.protocol import events as e
from turnkeeper.protocol.ids import SessionId
from turnkeeper.protocol.messages import Message
from turnkeeper.protocol.problems import SessionNotFound
from turnkeeper.protocol.runs import Outcome
from turnkeeper.protocol.sessions import SessionInfo, Todo


async def begin(workspace: Workspace, title: str) -> SessionInfo:
    session_id = SessionId(workspace.means.new_id())
    named = () if title in NOBODYS_TITLES else (e.SessionRenamed(title, by_person=True),)
    await workspace.found(session_id, e.SessionCreated(title, at=workspace.means.now()), *named)
    return await found(workspace, session_id)


async def found(workspace: Workspace, session_id: SessionId) -> SessionInfo:
    info = await workspace.means.store.session(session_id)
    if info is None:
        raise SessionNotFound(session_id)
    return info


async def change(
    workspace: Workspace, info: SessionInfo, *, title: str | None, todos: tuple[Todo, ...] | None
) -> SessionInfo:
    """Change what is given and really differs. Counts and summaries are what they are: nobody sets them."""
    facts: list[e.Fact] = []
    if title is not None and title != info.title:
        facts.append(e.SessionRenamed(title, by_person=True))
    if todos is not None and todos != info.todos:
        facts.append(e.TodosSet(todos))
    if facts:
        await workspace.note(info.id, *facts)
    return await found(workspace, info.id)


async def forget(workspace: Workspace, info: SessionInfo) -> None:
    """Stop what runs in it, then forget it; its children go with it."""
    for child in await workspace.means.store.sessions(parent=info.id):
        await forget(workspace, child)
    await workspace.tell(info.id, told.Close(keep_queue=False))
    standing = await workspace.means.store.standing(info.id)
    if standing and standing.active:
        with anyio.move_on_after(workspace.means.knobs.stop_seconds):
            await workspace.ended(standing.active.id)
        # One that does not let go is ended for it: no run outlives its session without an ending.
        await workspace.tell(info.id, told.Finish(standing.active.id, Outcome.CANCELLED))
    await workspace.note(info.id, e.SessionDeleted())


async def messages(workspace: Workspace, session_id: SessionId) -> list[Message]:
    """The conversation as it is this moment, what is being written included."""
    kept = await workspace.means.store.messages(session_id)
    drafts = workspace.drafts
    return [drafts[message.id].message() if message.id in drafts else message for message in kept]
