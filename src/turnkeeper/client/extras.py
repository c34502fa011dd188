"""Language servers, MCP servers and skills."""

from collections.abc import Mapping

from turnkeeper.client.asking import segment, value
from turnkeeper.client.place import Place
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

SIGN_IN_SECONDS = 600.0


class LanguageServers:
    def __init__(self, place: Place) -> None:
        self._place = place

    async def list(self) -> dict[str, LSPClientInfo]:
        return await self._place.get("/lsps", dict[str, LSPClientInfo])

    async def diagnostics(self, name: str) -> Diagnostics:
        """What one of them found, by `file://` URI."""
        return await self._place.get(f"/lsps/{segment(name)}/diagnostics", Diagnostics)

    async def start(self, path: str) -> None:
        """Start those that a file needs."""
        await self._place.post("/lsps/start", FileOpened(path), repeatable=True)

    async def stop(self) -> None:
        await self._place.post("/lsps/stop", repeatable=True)


class McpServers:
    def __init__(self, place: Place) -> None:
        self._place = place

    async def states(self) -> dict[str, MCPClientInfo]:
        return await self._place.get("/mcp/states", dict[str, MCPClientInfo])

    async def prompts(self) -> list[MCPPrompt]:
        return await self._place.get("/mcp/prompts", list[MCPPrompt])

    async def prompt(self, server: str, prompt_id: str, arguments: Mapping[str, str]) -> str:
        """One of their prompts, filled in."""
        said = MCPPromptRequest(server, prompt_id, dict(arguments))
        return (await self._place.tell("/mcp/get-prompt", said, PromptText)).prompt

    async def read_resource(self, server: str, uri: str) -> list[ResourceContents]:
        return value(await self._place.post("/mcp/read-resource", ResourceRequest(server, uri)), list[ResourceContents])

    async def refresh(self, server: str, what: str) -> None:
        """Ask a server anew for its `tools`, `prompts` or `resources`."""
        await self._place.post(f"/mcp/refresh-{segment(what)}", MCPName(server), repeatable=True)

    async def pending_sign_ins(self) -> list[PendingAuth]:
        return await self._place.get("/mcp/pending-auth", list[PendingAuth])

    async def sign_in_url(self, server: str) -> str:
        """Where to sign in; empty while nobody has asked to."""
        return (await self._place.get("/mcp/auth-url", AuthUrl, name=server)).auth_url

    async def sign_in(self, server: str) -> None:
        """Begin to sign in; answers when that is over, one way or the other."""
        await self._place.post("/mcp/auth", MCPName(server), seconds=SIGN_IN_SECONDS)

    async def use_docker(self, enabled: bool) -> None:
        """Use the MCP servers that docker offers, or stop using them."""
        await self._place.post(f"/mcp/docker/{'enable' if enabled else 'disable'}", seconds=SIGN_IN_SECONDS)


class Skills:
    def __init__(self, place: Place) -> None:
        self._place = place

    async def list(self) -> list[SkillInfo]:
        return await self._place.get("/skills", list[SkillInfo])

    async def read(self, skill_id: str) -> ReadSkill:
        return await self._place.tell("/skills/read", SkillRequest(skill_id), ReadSkill)
