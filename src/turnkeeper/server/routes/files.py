"""Which files a session has seen, and when. Paths are the workspace's own: a relative one is relative to it."""

from pathlib import Path

from turnkeeper.engine.room import Room
from turnkeeper.protocol.events import FileSeen
from turnkeeper.protocol.ids import SessionId
from turnkeeper.protocol.problems import BadRequest
from turnkeeper.protocol.sessions import FileRead
from turnkeeper.protocol.wire import rfc3339
from turnkeeper.protocol.wire_sessions import FileReading
from turnkeeper.server.routing import Route
from turnkeeper.server.visit import EMPTY, Reply, Visit, json


def absolute(room: Room, path: str) -> str:
    if not path or "\0" in path:
        raise BadRequest("path is missing")
    return str(Path(room.workspace.means.path, path))


async def index(visit: Visit) -> Reply:
    room = await visit.room()
    reads = await room.workspace.means.store.file_reads(visit.session_id)
    return json([read.path for read in sorted(reads, key=lambda read: -read.at)])


async def read(visit: Visit) -> Reply:
    """A session nobody knows is no error, as in the original; there is only nothing to remember it for."""
    said = await visit.read(FileReading)
    room = await visit.room()
    path = absolute(room, said.path)
    session_id = SessionId(said.session_id)
    if await room.workspace.means.store.session(session_id) is None:
        return EMPTY
    seen = FileRead(session_id, path, room.workspace.means.now() // 1000)
    await room.workspace.note(session_id, FileSeen(seen))
    return EMPTY


async def last_read(visit: Visit) -> Reply:
    room = await visit.room()
    path = absolute(room, visit.query("path") or "")
    known = await room.workspace.means.store.file_read(SessionId(visit.query("session_id") or ""), path)
    return json(rfc3339(known.at if known else 0))


ROUTES = (
    Route(
        "GET",
        "/v1/workspaces/{id}/sessions/{sid}/filetracker/files",
        index,
        "Files the session has seen, latest first.",
        gives=list[str],
    ),
    Route(
        "POST",
        "/v1/workspaces/{id}/filetracker/read",
        read,
        "The session has seen this file.",
        body=FileReading,
        refuses=(503,),
    ),
    Route(
        "GET",
        "/v1/workspaces/{id}/filetracker/lastread",
        last_read,
        "When it last saw it.",
        gives=str,
        query=("session_id", "path"),
    ),
)
