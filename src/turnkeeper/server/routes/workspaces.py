"""Opening, looking at and leaving workspaces, and their event streams."""

from starlette.types import Receive, Scope, Send

from turnkeeper.engine.room import Room
from turnkeeper.protocol.clients import client_name
from turnkeeper.protocol.ids import Position, SessionId
from turnkeeper.protocol.problems import BadRequest, Problem
from turnkeeper.protocol.wire_clients import Clients, name_views
from turnkeeper.protocol.wire_own import Snapshot
from turnkeeper.protocol.wire_reading import body_client_id
from turnkeeper.protocol.wire_sessions import CurrentSession
from turnkeeper.protocol.wire_workspaces import Workspace, WorkspaceCreation
from turnkeeper.server.chorus import chorus_of
from turnkeeper.server.routing import Route
from turnkeeper.server.sse import HEADERS, EventStream, snapshot_of
from turnkeeper.server.telling import Detail
from turnkeeper.server.visit import EMPTY, Reply, Visit, json


class PathMissing(BadRequest):
    """path is required"""


class TooManyStreams(Problem):
    """too many event streams are open on this server"""

    status = 503


async def index(visit: Visit) -> Reply:
    return json([described(visit, room) for room in visit.reception.rooms()])


async def create(visit: Visit) -> Reply:
    said = await visit.read(WorkspaceCreation)
    if not said.path:
        raise PathMissing
    client = body_client_id(said.client_id)
    room = await visit.reception.enter(said, client)
    who = client_name(client, said.client_name, said.client_kind) if said.client_name else visit.who(client)
    room.introduce(who)
    # A client that gives its name speaks for its own runs. Of those that give none, the first one speaks, as ever.
    if said.yolo and (visit.author or room.asked is said):
        await room.workspace.set_skip(True, by=await visit.signed(room))
    return json(described(visit, room))


async def show(visit: Visit) -> Reply:
    return json(described(visit, await visit.room()))


async def leave(visit: Visit) -> Reply:
    await visit.reception.release(visit.params["id"], visit.query_client())
    return EMPTY


async def current_session(visit: Visit) -> Reply:
    client = visit.query_client()
    said = await visit.read(CurrentSession)
    visit.reception.select(visit.params["id"], client, SessionId(said.session_id))
    return EMPTY


async def events(visit: Visit) -> Reply:
    """Subscribe before attaching, attach before answering: whoever reads the headers misses nothing from then on."""
    client = visit.query_client()
    detail = Detail.DETAIL if visit.query("detail") in ("delta", "deltas", "detail") else Detail.WHOLE
    room = await visit.room()
    server = visit.reception.limits
    if visit.reception.streams >= server.streams_max:
        raise TooManyStreams
    if visit.scope["method"] == "HEAD":
        return Reply(headers=HEADERS)
    stream = EventStream(
        room,
        chorus_of(room.workspace, detail),
        after=_position(visit),
        heartbeat_seconds=server.heartbeat_seconds,
        send_seconds=server.send_seconds,
        admitted=visit.still_admits,
    )

    async def attached(scope: Scope, receive: Receive, send: Send) -> None:
        with visit.reception.attached(room, client):
            room.introduce(visit.who(client))
            await stream(scope, receive, send)

    return Reply(app=attached)


def _position(visit: Visit) -> Position | None:
    text = visit.header(b"last-event-id") or visit.query("after")
    if text is None or text == "":
        return None
    if not text.isdigit() or len(text) > 18:
        raise BadRequest("after must be a position: a whole number that an event's id gave")
    return Position(int(text))


async def snapshot(visit: Visit) -> Reply:
    room = await visit.room()
    return json(snapshot_of(room, await room.workspace.means.store.snapshot()))


async def clients(visit: Visit) -> Reply:
    room = await visit.room()
    return json(Clients(room.here, name_views((await room.workspace.means.store.snapshot()).names)))


def described(visit: Visit, room: Room) -> Workspace:
    """The workspace as its first creator asked for it; secrets only for the owner's own eyes."""
    asked = room.asked
    return Workspace(
        id=room.workspace.means.id,
        path=asked.path,
        yolo=asked.yolo,
        debug=asked.debug,
        data_dir=str(room.workspace.means.data_dir),
        version=visit.reception.build.version,
        config=room.desk.config(masked=not visit.is_owner),
        env=asked.env if visit.is_owner else (),
        channels=asked.channels,
    )


ROUTES = (
    Route("GET", "/v1/workspaces", index, "The open workspaces.", gives=list[Workspace]),
    Route(
        "POST",
        "/v1/workspaces",
        create,
        "Open a directory as a workspace, or join it where it is open.",
        body=WorkspaceCreation,
        gives=Workspace,
        refuses=(409, 503),
    ),
    Route("GET", "/v1/workspaces/{id}", show, "One workspace.", gives=Workspace),
    Route("DELETE", "/v1/workspaces/{id}", leave, "Let go of a workspace.", query_required=("client_id",)),
    Route(
        "POST",
        "/v1/workspaces/{id}/current-session",
        current_session,
        "Say which session this client looks at.",
        body=CurrentSession,
        query_required=("client_id",),
        refuses=(409,),
    ),
    Route(
        "GET",
        "/v1/workspaces/{id}/events",
        events,
        "Everything that happens in the workspace, as server-sent events.",
        query=("after", "detail"),
        query_required=("client_id",),
        refuses=(503,),
        streams=True,
    ),
    Route(
        "GET",
        "/v1/workspaces/{id}/snapshot",
        snapshot,
        "Sessions, runs, queues and requests as of one position.",
        gives=Snapshot,
        own=True,
    ),
    Route(
        "GET",
        "/v1/workspaces/{id}/clients",
        clients,
        "Who is attached, and what those are called who did something here.",
        gives=Clients,
        own=True,
    ),
)
