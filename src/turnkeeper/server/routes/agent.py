"""The agent of a workspace: is it there, is it busy, what does it speak with; and shell commands a person types."""

from functools import partial

from turnkeeper.engine import conversations
from turnkeeper.engine.shelling import run_shell, stop_shell
from turnkeeper.protocol.config import SelectedModel
from turnkeeper.protocol.problems import BadRequest
from turnkeeper.protocol.wire_prompts import ShellCommandRequest, ShellCommandResponse
from turnkeeper.protocol.wire_sessions import Session, agent_session_to_wire
from turnkeeper.protocol.wire_workspaces import AgentInfo, AgentInit
from turnkeeper.server.routing import Route
from turnkeeper.server.visit import EMPTY, Reply, Visit, json


async def info(visit: Visit) -> Reply:
    room = await visit.room()
    if not room.desk.has_agent:
        return json(AgentInfo())
    model, selected = room.desk.large_model()
    return json(AgentInfo(room.workspace.is_busy(), True, model, selected))


async def init(visit: Visit) -> Reply:
    """Says whether somebody is there to be asked. It builds nothing and disturbs nothing: what runs goes on.

    Who is not there to be asked speaks for itself: while others are in the workspace, they can be asked.
    """
    length = visit.header(b"content-length") or "0"
    # The original reads the body only when its length is known.
    said = await visit.read(AgentInit) if length.isdigit() and int(length) > 0 else AgentInit()
    room = await visit.room()
    room.interactive = said.interactive or len(room.held.by_client) > 1
    return EMPTY


async def update(visit: Visit) -> Reply:
    """Models and tools are looked up anew at every step, so there is nothing left to do."""
    await visit.room()
    return EMPTY


async def session(visit: Visit) -> Reply:
    room = await visit.room()
    found = await conversations.found(room.workspace, visit.session_id)
    return json(agent_session_to_wire(found, is_busy=room.workspace.is_busy(found.id)))


async def shell(visit: Visit) -> Reply:
    """Ends with the request, or when somebody stops it: a client that leaves takes its command along."""
    said = await visit.read(ShellCommandRequest)
    if not said.command.strip():
        raise BadRequest("command is empty")
    room = await visit.room()
    by = await visit.signed(room)
    output, exit_code = await visit.while_connected(
        partial(run_shell, room.workspace, visit.session_id, said.command, run=room.desk.shell, by=by)
    )
    return json(ShellCommandResponse(output, exit_code))


async def stop(visit: Visit) -> Reply:
    room = await visit.room()
    stop_shell(room.workspace, visit.session_id, visit.params["line_id"])
    return EMPTY


async def small_model(visit: Visit) -> Reply:
    room = await visit.room()
    return json(room.desk.default_small_model(visit.query("provider_id") or ""))


_AGENT = "/v1/workspaces/{id}/agent"
ROUTES = (
    Route("GET", _AGENT, info, "Whether the agent is there and busy, and its model.", gives=AgentInfo),
    Route(
        "POST",
        f"{_AGENT}/init",
        init,
        "Say whether somebody is there to be asked.",
        body=AgentInit,
        body_required=False,
    ),
    Route("POST", f"{_AGENT}/update", update, "Nothing: every step looks up its models and tools anew."),
    Route(
        "GET",
        f"{_AGENT}/sessions/{{sid}}",
        session,
        "Whether the agent works in a session.",
        gives=Session,
        refuses=(404,),
    ),
    Route(
        "POST",
        f"{_AGENT}/sessions/{{sid}}/shell",
        shell,
        "Run a command for a person.",
        body=ShellCommandRequest,
        gives=ShellCommandResponse,
    ),
    Route(
        "POST",
        f"{_AGENT}/sessions/{{sid}}/shell/{{line_id}}/cancel",
        stop,
        "Stop such a command, whoever runs it.",
        refuses=(404,),
        own=True,
    ),
    Route(
        "GET",
        f"{_AGENT}/default-small-model",
        small_model,
        "The small model that goes with a provider.",
        gives=SelectedModel,
        query=("provider_id",),
    ),
)
