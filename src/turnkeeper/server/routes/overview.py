"""What gives an overview: searches, accounts, copies of conversations, background commands, and what is waited for."""

import re

from turnkeeper.engine import copying, finding, waiting
from turnkeeper.engine.conversations import found
from turnkeeper.engine.statistics import statistics
from turnkeeper.protocol.ids import MessageId
from turnkeeper.protocol.problems import BadRequest, Problem
from turnkeeper.protocol.sessions import Effect
from turnkeeper.protocol.wire_changes import JobRow
from turnkeeper.protocol.wire_overview import (
    BackupRequest,
    DatabaseReport,
    FileNames,
    ForkRequest,
    Imported,
    ImportRequest,
    JobOutput,
    ProjectNotes,
    ProviderState,
    SearchHit,
    Statistics,
    Why,
)
from turnkeeper.protocol.wire_sessions import Session
from turnkeeper.server.routes.sessions import shown
from turnkeeper.server.routing import Route
from turnkeeper.server.visit import Reply, Visit, json

HITS_DEFAULT = 20
OFFSET_MINUTES_MAX = 14 * 60
POSITION_MAX = 2**53


async def search(visit: Visit) -> Reply:
    room = await visit.room()
    limit = visit.number("limit", default=HITS_DEFAULT, most=finding.HITS_MAX)
    return json(await finding.search(room.workspace, visit.query("q") or "", limit=int(limit)))


async def fork(visit: Visit) -> Reply:
    said = await visit.read(ForkRequest, required=False)
    room = await visit.room()
    upto = MessageId(said.message_id) if said.message_id else None
    return json(shown(visit, room, await copying.fork(room.workspace, visit.session_id, upto=upto, title=said.title)))


async def bring_in(visit: Visit) -> Reply:
    """One conversation after the other, each whole or not at all; one that cannot be read keeps no other back."""
    said = await visit.read(ImportRequest, required=False)
    room = await visit.room()
    path, ids = await room.desk.crush_sessions(said.path)
    new: list[str] = []
    here: list[str] = []
    failed: dict[str, str] = {}
    for session_id in ids:
        try:
            transcript = await room.desk.crush_session(path, session_id)
            (new if await copying.adopt(room.workspace, transcript) else here).append(session_id)
        except Problem as problem:
            failed[session_id] = problem.message
    return json(Imported(path, tuple(new), tuple(here), failed))


async def stats(visit: Visit) -> Reply:
    """Since a moment in Unix milliseconds; `offset` is how many minutes the asker's clock is ahead of Greenwich's."""
    room = await visit.room()
    since = int(visit.number("since", default=0, most=POSITION_MAX))
    said = visit.query("offset") or "0"
    offset = int(said) if re.fullmatch(r"-?\d{1,4}", said) else OFFSET_MINUTES_MAX + 1
    if abs(offset) > OFFSET_MINUTES_MAX:
        raise BadRequest(f"offset must be a number of minutes between -{OFFSET_MINUTES_MAX} and {OFFSET_MINUTES_MAX}")
    store = room.workspace.means.store
    messages = sum(info.message_count for info in await store.sessions())
    accounts = await store.accounts(since=since)
    return json(statistics(accounts, since=since, offset_minutes=offset, messages=messages))


async def why(visit: Visit) -> Reply:
    return json(await waiting.why((await visit.room()).workspace, visit.session_id))


async def effects(visit: Visit) -> Reply:
    workspace = (await visit.room()).workspace
    info = await found(workspace, visit.session_id)
    return json(await workspace.means.store.effects(info.id))


async def check(visit: Visit) -> Reply:
    return json(DatabaseReport(wrong=tuple(await (await visit.room()).desk.check_database())))


async def back_up(visit: Visit) -> Reply:
    said = await visit.read(BackupRequest, required=False)
    return json(DatabaseReport(path=await (await visit.room()).desk.back_up_database(said.path)))


async def compact(visit: Visit) -> Reply:
    return json(DatabaseReport(pages=await (await visit.room()).desk.compact_database()))


async def file_names(visit: Visit) -> Reply:
    return json(await (await visit.room()).desk.file_names())


async def project(visit: Visit) -> Reply:
    return json(await (await visit.room()).desk.project())


async def providers(visit: Visit) -> Reply:
    return json(list((await visit.room()).desk.provider_states()))


async def jobs(visit: Visit) -> Reply:
    return json(list((await visit.room()).desk.jobs(None)))


async def job_output(visit: Visit) -> Reply:
    room = await visit.room()
    after = visit.number("after", default=-1, most=POSITION_MAX) if visit.query("after") is not None else -1
    return json(await room.desk.job_output(visit.session_id, visit.params["job_id"], after=int(after)))


_ROOM = "/v1/workspaces/{id}"
_DATABASE = "/v1/workspaces/{id}/database"
_ONE = "/v1/workspaces/{id}/sessions/{sid}"
ROUTES = (
    Route(
        "GET",
        f"{_ROOM}/search",
        search,
        "Where it was said, in all sessions.",
        gives=list[SearchHit],
        query=("limit",),
        query_required=("q",),
        own=True,
    ),
    Route(
        "GET",
        f"{_ROOM}/stats",
        stats,
        "What was used and what it cost.",
        gives=Statistics,
        query=("since", "offset"),
        own=True,
    ),
    Route(
        "POST",
        f"{_ROOM}/import/crush",
        bring_in,
        "Take the original's conversations in.",
        body=ImportRequest,
        body_required=False,
        gives=Imported,
        refuses=(404,),
        own=True,
    ),
    Route(
        "GET",
        f"{_ROOM}/providers/state",
        providers,
        "Who can be asked, and who cannot.",
        gives=list[ProviderState],
        own=True,
    ),
    Route("GET", f"{_ROOM}/files", file_names, "Files that a person may want to name.", gives=FileNames, own=True),
    Route("GET", f"{_ROOM}/project", project, "What models are told of it.", gives=ProjectNotes, own=True),
    Route("POST", f"{_DATABASE}/check", check, "Whether the database is whole.", gives=DatabaseReport, own=True),
    Route(
        "POST",
        f"{_DATABASE}/backup",
        back_up,
        "Copy the database while it is in use.",
        body=BackupRequest,
        body_required=False,
        gives=DatabaseReport,
        refuses=(409, 503),
        own=True,
    ),
    Route("POST", f"{_DATABASE}/compact", compact, "Give empty pages back.", gives=DatabaseReport, own=True),
    Route("GET", f"{_ROOM}/jobs", jobs, "All commands in the background.", gives=list[JobRow], own=True),
    Route(
        "POST",
        f"{_ONE}/fork",
        fork,
        "Begin a session with the same past.",
        body=ForkRequest,
        body_required=False,
        gives=Session,
        own=True,
    ),
    Route("GET", f"{_ONE}/effects", effects, "How far each tool call got.", gives=list[Effect], own=True),
    Route("GET", f"{_ONE}/why", why, "What it waits for, and since when.", gives=Why, own=True),
    Route(
        "GET",
        f"{_ONE}/jobs/{{job_id}}/output",
        job_output,
        "What a command in the background said.",
        gives=JobOutput,
        query=("after",),
        own=True,
    ),
)
