"""Prompts and their runs: submitting, watching, stopping, and the line that waits."""

import anyio

from turnkeeper.engine import configuring, submitting
from turnkeeper.engine.submitting import Submission
from turnkeeper.protocol.ids import RunId, SessionId
from turnkeeper.protocol.problems import AgentMissing, BadRequest, PromptEmpty, SessionMissing
from turnkeeper.protocol.runs import Outcome, Run, RunOptions, RunState
from turnkeeper.protocol.wire_changes import QueueMove
from turnkeeper.protocol.wire_own import CancelReceipt, Queue, QueueEdit, RunView, queue_to_wire, run_to_wire
from turnkeeper.protocol.wire_prompts import AgentMessage, prompt_from_wire
from turnkeeper.server.routing import Route
from turnkeeper.server.visit import EMPTY, Reply, Visit, json

WAIT_SECONDS_DEFAULT = 60.0
WAIT_SECONDS_MAX = 3600.0
SUMMARY_SECONDS_MAX = 3600.0


async def submit(visit: Visit) -> Reply:
    """202 once it is on disk; the model is never waited for, and the connection owns nothing."""
    said = await visit.read(AgentMessage)
    room = await visit.room()
    await configuring.refreshed(room.workspace, room.desk)
    if not room.desk.has_agent:
        raise AgentMissing
    prompt = prompt_from_wire(said)
    if prompt.is_empty:
        raise PromptEmpty
    if not said.session_id:
        raise SessionMissing
    options = said.options or RunOptions(interactive=room.interactive)
    run_id = await submitting.submit(
        room.workspace,
        Submission(
            session_id=SessionId(said.session_id),
            prompt=prompt,
            run_id=RunId(said.run_id) if said.run_id else None,
            options=options,
            foldable=said.foldable,
            by=await visit.signed(room),
        ),
    )
    return Reply(202, headers=((b"turnkeeper-run-id", run_id.encode("latin-1", "replace")),))


async def cancel(visit: Visit) -> Reply:
    """Always 200 for a known workspace; our own clients ask for a receipt and get it when all has stopped."""
    room = await visit.room()
    stopped = await submitting.cancel(room.workspace, visit.session_id, by=await visit.signed(room))
    return json(receipt(stopped)) if visit.query("receipt") is not None else EMPTY


def receipt(stopped: list[Run]) -> CancelReceipt:
    never_ran = [run.id for run in stopped if run.started_at == 0]
    return CancelReceipt(tuple(never_ran), tuple(run.id for run in stopped if run.started_at != 0))


async def queued(visit: Visit) -> Reply:
    waiting, _ = await submitting.line((await visit.room()).workspace, visit.session_id)
    return json(len(waiting))


async def listed(visit: Visit) -> Reply:
    waiting, _ = await submitting.line((await visit.room()).workspace, visit.session_id)
    return json([run.prompt.text for run in waiting] or None)


async def clear(visit: Visit) -> Reply:
    room = await visit.room()
    await submitting.clear(room.workspace, visit.session_id, by=await visit.signed(room))
    return EMPTY


async def summarize(visit: Visit) -> Reply:
    """Answers when the summary is done. It goes on if the client does not wait."""
    room = await visit.room()
    if not room.desk.has_agent:
        raise AgentMissing
    run_id = await submitting.summarise(room.workspace, visit.session_id, by=await visit.signed(room))
    with anyio.fail_after(SUMMARY_SECONDS_MAX):
        run = await room.workspace.ended(run_id)
    if run.outcome is Outcome.FAILED:
        raise SummaryFailed(run.failure.message if run.failure else "")
    return EMPTY


class SummaryFailed(BadRequest):
    """The summary failed."""

    status = 500


async def run(visit: Visit) -> Reply:
    return json(run_to_wire(await submitting.find((await visit.room()).workspace, visit.run_id)))


async def runs(visit: Visit) -> Reply:
    room = await visit.room()
    session = visit.query("session_id")
    known = await room.workspace.means.store.runs(SessionId(session) if session else None)
    return json([run_to_wire(one) for one in known])


async def wait(visit: Visit) -> Reply:
    """The run when it has ended, or as it stands when the time is up."""
    seconds = visit.number("timeout", default=WAIT_SECONDS_DEFAULT, most=WAIT_SECONDS_MAX)
    room = await visit.room()
    known = await submitting.find(room.workspace, visit.run_id)
    if known.state is not RunState.ENDED:
        with anyio.move_on_after(seconds):
            known = await room.workspace.ended(visit.run_id)
            return json(run_to_wire(known))
        known = await submitting.find(room.workspace, visit.run_id)
    return json(run_to_wire(known))


async def cancel_run(visit: Visit) -> Reply:
    room = await visit.room()
    return json(run_to_wire(await submitting.cancel_run(room.workspace, visit.run_id, by=await visit.signed(room))))


async def queue(visit: Visit) -> Reply:
    waiting, held = await submitting.line((await visit.room()).workspace, visit.session_id)
    return json(queue_to_wire(waiting, held=held))


async def release(visit: Visit) -> Reply:
    await submitting.release((await visit.room()).workspace, visit.session_id)
    return EMPTY


async def edit(visit: Visit) -> Reply:
    said = await visit.read(QueueEdit)
    room = await visit.room()
    if said.prompt is None and said.foldable is None:
        raise BadRequest("say what to change: prompt, or foldable")
    if said.prompt is not None:
        await submitting.edit(room.workspace, visit.run_id, said.prompt, by=await visit.signed(room))
    if said.foldable is not None:
        await submitting.steer(room.workspace, visit.run_id, foldable=said.foldable, by=await visit.signed(room))
    return json(run_to_wire(await submitting.find(room.workspace, visit.run_id)))


async def move(visit: Visit) -> Reply:
    said = await visit.read(QueueMove)
    room = await visit.room()
    await submitting.move(room.workspace, visit.run_id, said.index, by=await visit.signed(room))
    known = await submitting.find(room.workspace, visit.run_id)
    waiting, held = await submitting.line(room.workspace, known.session_id)
    return json(queue_to_wire(waiting, held=held))


_AGENT = "/v1/workspaces/{id}/agent"
_SESSION = "/v1/workspaces/{id}/agent/sessions/{sid}"
_RUNS = "/v1/workspaces/{id}/runs"
ROUTES = (
    Route("POST", _AGENT, submit, "Submit a prompt.", body=AgentMessage, status=202, refuses=(404, 409, 429, 503)),
    Route(
        "POST",
        f"{_SESSION}/cancel",
        cancel,
        "Stop the session and empty its line; with `receipt`, say what was stopped, once it has stopped.",
        gives=CancelReceipt,
        gives_if_asked=True,
        query=("receipt",),
    ),
    Route("GET", f"{_SESSION}/prompts/queued", queued, "How many prompts wait.", gives=int),
    Route("GET", f"{_SESSION}/prompts/list", listed, "What waits, or null.", gives=list[str] | None),
    Route("POST", f"{_SESSION}/prompts/clear", clear, "Cancel what waits."),
    Route("POST", f"{_SESSION}/summarize", summarize, "Summarise the conversation.", refuses=(404, 409, 503)),
    Route(
        "GET",
        f"{_SESSION}/queue",
        queue,
        "What waits, with ids and authors, and whether the line waits for a person.",
        gives=Queue,
        own=True,
    ),
    Route("POST", f"{_SESSION}/queue/release", release, "Let a held line go on.", refuses=(404,), own=True),
    Route("GET", _RUNS, runs, "Runs, newest first.", gives=list[RunView], query=("session_id",), own=True),
    Route("GET", f"{_RUNS}/{{run_id}}", run, "One run.", gives=RunView, own=True),
    Route(
        "PATCH",
        f"{_RUNS}/{{run_id}}",
        edit,
        "Change a waiting prompt: its text, or whether it may join the run that goes on at its next step.",
        body=QueueEdit,
        gives=RunView,
        refuses=(409,),
        own=True,
    ),
    Route(
        "GET",
        f"{_RUNS}/{{run_id}}/wait",
        wait,
        "One run, when it has ended; or as it stands when the time is up.",
        gives=RunView,
        query=("timeout",),
        own=True,
    ),
    Route(
        "POST",
        f"{_RUNS}/{{run_id}}/cancel",
        cancel_run,
        "Stop one run. One that waits is taken out of the line, which moves on.",
        gives=RunView,
        own=True,
    ),
    Route(
        "POST",
        f"{_RUNS}/{{run_id}}/move",
        move,
        "Move a waiting prompt to another place in its line.",
        body=QueueMove,
        gives=Queue,
        refuses=(409,),
        own=True,
    ),
)
