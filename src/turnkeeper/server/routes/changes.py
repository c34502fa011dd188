"""What a session did to files, taken back and done again; and the commands it left running."""

from turnkeeper.engine import conversations, restoring
from turnkeeper.engine.restoring import Back
from turnkeeper.protocol.ids import RunId
from turnkeeper.protocol.wire_changes import ChangeView, JobRow, RestoredView, UndoRequest
from turnkeeper.server.routing import Route
from turnkeeper.server.visit import Reply, Visit, json


async def changes(visit: Visit) -> Reply:
    room = await visit.room()
    known = await restoring.changes(room.workspace, visit.session_id)
    return json([ChangeView(change.path, change.before, change.after) for change in known])


async def undo(visit: Visit) -> Reply:
    said = await visit.read(UndoRequest, required=False)
    room = await visit.room()
    await conversations.found(room.workspace, visit.session_id)
    back = Back(RunId(said.run_id) if said.run_id else None, said.version, said.over)
    restored = await restoring.take_back(room.workspace, visit.session_id, back, path=said.path or None)
    return json([RestoredView(one.path, one.problem) for one in restored])


async def redo(visit: Visit) -> Reply:
    said = await visit.read(UndoRequest, required=False)
    room = await visit.room()
    await conversations.found(room.workspace, visit.session_id)
    restored = await restoring.do_again(room.workspace, visit.session_id, path=said.path or None)
    return json([RestoredView(one.path, one.problem) for one in restored])


async def jobs(visit: Visit) -> Reply:
    return json(list((await visit.room()).desk.jobs(visit.session_id)))


async def kill_job(visit: Visit) -> Reply:
    room = await visit.room()
    return json(await room.desk.kill_job(visit.session_id, visit.params["job_id"]))


_ONE = "/v1/workspaces/{id}/sessions/{sid}"
ROUTES = (
    Route("GET", f"{_ONE}/changes", changes, "Files that are not as it found them.", gives=list[ChangeView], own=True),
    Route(
        "POST",
        f"{_ONE}/undo",
        undo,
        "Take changes back.",
        body=UndoRequest,
        body_required=False,
        gives=list[RestoredView],
        own=True,
    ),
    Route(
        "POST",
        f"{_ONE}/redo",
        redo,
        "Do them again.",
        body=UndoRequest,
        body_required=False,
        gives=list[RestoredView],
        own=True,
    ),
    Route("GET", f"{_ONE}/jobs", jobs, "Its commands in the background.", gives=list[JobRow], own=True),
    Route("POST", f"{_ONE}/jobs/{{job_id}}/kill", kill_job, "Stop one of them.", gives=JobRow, own=True),
)
