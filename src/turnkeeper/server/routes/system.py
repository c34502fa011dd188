"""The server itself: is it well, which is it, may it go."""

import sys

from turnkeeper.protocol.ids import ClientId
from turnkeeper.protocol.problems import BadRequest, Conflict
from turnkeeper.protocol.wire_reading import body_client_id
from turnkeeper.protocol.wire_workspaces import Control, VersionInfo
from turnkeeper.server.routing import Route
from turnkeeper.server.visit import EMPTY, Reply, Visit, json


class ServerNotIdle(Conflict):
    """server is hosting live workspaces"""


async def health(_: Visit) -> Reply:
    return EMPTY


async def version(visit: Visit) -> Reply:
    build = visit.reception.build
    python = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return json(VersionInfo(build.version, build.commit, build.build_id, python, build.platform))


async def config(_: Visit) -> Reply:
    """The original answers an empty object here, and its clients read it so."""
    return json({})


async def control(visit: Visit) -> Reply:
    said = await visit.read(Control)
    if said.command not in ("shutdown", "shutdown_if_idle"):
        raise BadRequest("unknown command")
    if not visit.reception.shut_down_if_idle():
        raise ServerNotIdle
    return EMPTY


async def retire(visit: Visit) -> Reply:
    await visit.reception.retire(ClientId(body_client_id(visit.params["client_id"])))
    return EMPTY


ROUTES = (
    Route("GET", "/v1/health", health, "Answer, if the server is well."),
    Route("GET", "/v1/version", version, "Which server this is.", gives=VersionInfo),
    Route("GET", "/v1/config", config, "Always an empty object.", gives=dict[str, str]),
    Route("POST", "/v1/control", control, "Ask the server to go, if nobody needs it.", body=Control, refuses=(409,)),
    Route("DELETE", "/v1/clients/{client_id}", retire, "Let go of everything this client holds, for good."),
)
