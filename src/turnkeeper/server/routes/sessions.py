"""Conversations: listing, naming, forgetting them, and what was said in them."""

import msgspec

from turnkeeper.engine import conversations
from turnkeeper.engine.room import Room
from turnkeeper.protocol.ids import SessionId
from turnkeeper.protocol.problems import SessionNotFound
from turnkeeper.protocol.sessions import SessionInfo
from turnkeeper.protocol.wire_messages import WireMessage, exact, merged
from turnkeeper.protocol.wire_sessions import (
    HistoryFile,
    Session,
    SessionChange,
    SessionCreation,
    history_file,
    session_to_wire,
    todos_from_wire,
)
from turnkeeper.server.routing import Route
from turnkeeper.server.visit import EMPTY, Reply, Visit, json


def shown(visit: Visit, room: Room, info: SessionInfo) -> Session:
    return session_to_wire(
        info,
        is_busy=room.workspace.is_busy(info.id),
        attached_clients=visit.reception.attached_clients(room, info.id),
    )


async def index(visit: Visit) -> Reply:
    room = await visit.room()
    return json([shown(visit, room, info) for info in await room.workspace.means.store.sessions()])


async def create(visit: Visit) -> Reply:
    said = await visit.read(SessionCreation)
    room = await visit.room()
    return json(shown(visit, room, await conversations.begin(room.workspace, said.title)))


async def found(room: Room, session_id: SessionId) -> SessionInfo:
    info = await room.workspace.means.store.session(session_id)
    if info is None:
        raise SessionNotFound(session_id)
    return info


async def show(visit: Visit) -> Reply:
    room = await visit.room()
    return json(shown(visit, room, await found(room, visit.session_id)))


async def change(visit: Visit) -> Reply:
    """Only what was sent is changed; the original's clients send only some of what its server writes."""
    said = await visit.read(SessionChange)
    room = await visit.room()
    info = await found(room, SessionId(said.id) if said.id else visit.session_id)
    title = None if said.title is msgspec.UNSET else said.title
    todos = None if said.todos is msgspec.UNSET else todos_from_wire(said.todos)
    return json(shown(visit, room, await conversations.change(room.workspace, info, title=title, todos=todos)))


async def delete(visit: Visit) -> Reply:
    room = await visit.room()
    await conversations.forget(room.workspace, await found(room, visit.session_id))
    await room.desk.end_jobs(visit.session_id)
    return EMPTY


async def history(visit: Visit) -> Reply:
    room = await visit.room()
    files = await room.workspace.means.store.files(visit.session_id)
    return json([history_file(file) for file in sorted(files, key=lambda file: (file.version, file.created_at))])


async def messages(visit: Visit) -> Reply:
    room = await visit.room()
    said = await conversations.messages(room.workspace, visit.session_id)
    fine = visit.query("detail") is not None
    return json([exact(message) if fine else merged(message) for message in said])


async def user_messages(visit: Visit) -> Reply:
    room = await visit.room()
    session_id = SessionId(visit.params["sid"]) if "sid" in visit.params else None
    said = await room.workspace.means.store.user_messages(session_id)
    return json([merged(message) for message in said])


_SESSIONS = "/v1/workspaces/{id}/sessions"
_ONE = "/v1/workspaces/{id}/sessions/{sid}"
ROUTES = (
    Route("GET", _SESSIONS, index, "Top-level sessions, most recently changed first.", gives=list[Session]),
    Route("POST", _SESSIONS, create, "Begin a session.", body=SessionCreation, gives=Session),
    Route("GET", _ONE, show, "One session.", gives=Session),
    Route("PUT", _ONE, change, "Change what is sent of a session.", body=SessionChange, gives=Session),
    Route("DELETE", _ONE, delete, "Stop and forget a session, its children too."),
    Route("GET", f"{_ONE}/history", history, "The versions of files changed in it.", gives=list[HistoryFile]),
    Route("GET", f"{_ONE}/messages", messages, "What was said.", gives=list[WireMessage], query=("detail",)),
    Route("GET", f"{_ONE}/messages/user", user_messages, "What people said.", gives=list[WireMessage]),
    Route(
        "GET",
        "/v1/workspaces/{id}/messages/user",
        user_messages,
        "What people said, in all sessions.",
        gives=list[WireMessage],
    ),
)
