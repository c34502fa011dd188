"""Language servers, MCP servers and skills: as the original answers where none is configured."""

from turnkeeper.protocol.config import Scope
from turnkeeper.protocol.problems import BadRequest, NotFound, Problem
from turnkeeper.protocol.wire_servers import (
    AuthUrl,
    Diagnostics,
    FileOpened,
    LSPClientInfo,
    MCPClientInfo,
    MCPName,
    MCPPrompt,
    MCPPromptRequest,
    PendingAuth,
    PromptText,
    ReadSkill,
    ResourceContents,
    ResourceRequest,
    SkillInfo,
    SkillRequest,
)
from turnkeeper.server.routes.config import changed
from turnkeeper.server.routing import Route
from turnkeeper.server.visit import EMPTY, Reply, Visit, json


class LanguageServerNotFound(NotFound):
    """LSP client not found"""


class NotConfigured(NotFound):
    """not found in configuration"""


class SkillNotFound(NotConfigured):
    """skill not found"""


class DockerMissing(Problem):
    """docker mcp is not available"""

    status = 503


async def nothing_listed(visit: Visit) -> Reply:
    await visit.room()
    return json([])


async def nothing_mapped(visit: Visit) -> Reply:
    await visit.room()
    return json({})


async def states(_: Visit) -> Reply:
    return json({})


async def nothing_done(visit: Visit) -> Reply:
    await visit.room()
    return EMPTY


async def diagnostics(visit: Visit) -> Reply:
    await visit.room()
    raise LanguageServerNotFound


async def opened(visit: Visit) -> Reply:
    await visit.read(FileOpened)
    return await nothing_done(visit)


async def read_skill(visit: Visit) -> Reply:
    said = await visit.read(SkillRequest)
    await visit.room()
    raise SkillNotFound(f"skill not found: {said.skill_id}")


async def refreshed_tools(visit: Visit) -> Reply:
    await visit.read(MCPName)
    return await nothing_done(visit)


async def refreshed(visit: Visit) -> Reply:
    await visit.read(MCPName)
    return EMPTY


async def resource(visit: Visit) -> Reply:
    said = await visit.read(ResourceRequest)
    await visit.room()
    raise NotConfigured(f"mcp '{said.name}' not found in configuration")


async def prompt(visit: Visit) -> Reply:
    said = await visit.read(MCPPromptRequest)
    await visit.room()
    raise NotConfigured(f"mcp '{said.client_id}' not found in configuration")


async def authenticate(visit: Visit) -> Reply:
    said = await visit.read(MCPName)
    await visit.room()
    raise NotConfigured(f"mcp '{said.name}' not found in configuration")


async def docker_on(visit: Visit) -> Reply:
    await visit.room()
    raise DockerMissing


async def docker_off(visit: Visit) -> Reply:
    """Forgetting a server that was never there succeeds, and is told, as every change of the configuration is."""
    room = await visit.room()
    return await changed(room, room.desk.remove_field(Scope.GLOBAL, "mcp.docker"))


async def auth_url(visit: Visit) -> Reply:
    if not visit.query("name"):
        raise BadRequest("name is required")
    return json(AuthUrl())


_LSPS = "/v1/workspaces/{id}/lsps"
_SKILLS = "/v1/workspaces/{id}/skills"
_MCP = "/v1/workspaces/{id}/mcp"
ROUTES = (
    Route("GET", _LSPS, nothing_mapped, "Language servers.", gives=dict[str, LSPClientInfo]),
    Route("GET", f"{_LSPS}/{{lsp}}/diagnostics", diagnostics, "What one of them found.", gives=Diagnostics),
    Route("POST", f"{_LSPS}/start", opened, "Start those that a file needs.", body=FileOpened),
    Route("POST", f"{_LSPS}/stop", nothing_done, "Stop them."),
    Route("GET", _SKILLS, nothing_listed, "The skills there are.", gives=list[SkillInfo]),
    Route("POST", f"{_SKILLS}/read", read_skill, "Read one.", body=SkillRequest, gives=ReadSkill),
    Route("POST", f"{_MCP}/refresh-tools", refreshed_tools, "Ask an MCP server for its tools.", body=MCPName),
    Route(
        "POST",
        f"{_MCP}/read-resource",
        resource,
        "Read a resource.",
        body=ResourceRequest,
        gives=list[ResourceContents],
    ),
    Route("GET", f"{_MCP}/prompts", nothing_listed, "Prompts of MCP servers.", gives=list[MCPPrompt]),
    Route("POST", f"{_MCP}/get-prompt", prompt, "One of them, filled in.", body=MCPPromptRequest, gives=PromptText),
    Route("GET", f"{_MCP}/states", states, "MCP servers.", gives=dict[str, MCPClientInfo]),
    Route("GET", f"{_MCP}/pending-auth", nothing_listed, "Sign-ins that wait.", gives=list[PendingAuth]),
    Route("GET", f"{_MCP}/auth-url", auth_url, "Where to sign in.", gives=AuthUrl, query_required=("name",)),
    Route("POST", f"{_MCP}/auth", authenticate, "Sign in.", body=MCPName, gives=dict[str, str]),
    Route("POST", f"{_MCP}/refresh-prompts", refreshed, "Ask an MCP server for its prompts.", body=MCPName),
    Route("POST", f"{_MCP}/refresh-resources", refreshed, "Ask an MCP server for its resources.", body=MCPName),
    Route("POST", f"{_MCP}/docker/enable", docker_on, "Use the MCP servers that docker offers."),
    Route("POST", f"{_MCP}/docker/disable", docker_off, "Stop using them."),
)
