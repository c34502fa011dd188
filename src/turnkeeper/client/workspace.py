"""A workspace as a client sees it: everything the server can be asked about it, by what it is about.

workspace.sessions     begun, renamed, forgotten;   workspace.messages   what was said in them
workspace.runs         submitted, waited for, stopped; the line that waits
workspace.permissions  requests answered, grants, the audit;   workspace.questions
workspace.files        what sessions saw and changed, undone and done again;   workspace.jobs
workspace.config       settings, providers, keys
workspace.overview     searches, accounts, copies; why a session is busy
workspace.agent        is it there, is it busy;   workspace.lsps, workspace.mcp, workspace.skills
workspace.follow()     everything that happens from now on
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager

from turnkeeper.client.asking import checked, query, value
from turnkeeper.client.config import Configuration
from turnkeeper.client.events import Feed, FeedLimits, Heard
from turnkeeper.client.extras import LanguageServers, McpServers, Skills
from turnkeeper.client.files import Files, Jobs
from turnkeeper.client.overview import Overview
from turnkeeper.client.place import Place, Revive
from turnkeeper.client.requests import Permissions, Questions
from turnkeeper.client.runs import Agent, Runs
from turnkeeper.client.sessions import Messages, Sessions
from turnkeeper.protocol.problems import ClientNotAttached
from turnkeeper.protocol.wire_clients import Clients
from turnkeeper.protocol.wire_own import Snapshot
from turnkeeper.protocol.wire_sessions import CurrentSession
from turnkeeper.protocol.wire_workspaces import VersionInfo, Workspace


class WorkspaceClient:
    """Owns which session this client looks at; the rest is the server's."""

    def __init__(self, place: Place, *, revive: Revive) -> None:
        self.place = place
        self.sessions = Sessions(place)
        self.messages = Messages(place)
        self.runs = Runs(place)
        self.agent = Agent(place)
        self.permissions = Permissions(place)
        self.questions = Questions(place)
        self.files = Files(place)
        self.jobs = Jobs(place)
        self.config = Configuration(place)
        self.overview = Overview(place)
        self.lsps = LanguageServers(place)
        self.mcp = McpServers(place)
        self.skills = Skills(place)
        self.selected = ""
        self._revive = revive

    @property
    def id(self) -> str:
        """The id under which it is open at the moment."""
        return self.place.opened.id

    @property
    def opened(self) -> Workspace:
        """How it was when it was opened, or last described."""
        return self.place.opened

    async def describe(self) -> Workspace:
        """The workspace as it is now, its configuration included."""
        self.place.opened = await self.place.get("", Workspace)
        return self.place.opened

    async def is_original(self) -> bool:
        """Whether the server is one of the original's, which knows only the original's routes."""
        answer = await self.place.http.ask("GET", "/v1/version")
        return value(checked(answer), VersionInfo).go_version.startswith("go")

    async def snapshot(self) -> Snapshot:
        """Sessions, runs, queues and requests as of one position: what a view begins with."""
        return await self.place.get("/snapshot", Snapshot)

    async def clients(self) -> Clients:
        """Who is attached now, and what those are called who did something here."""
        return await self.place.get("/clients", Clients)

    async def select(self, session_id: str) -> None:
        """Tell who else is here which session this client looks at; empty for none.

        A server takes it only from a client that follows the workspace. From one that does not yet it is kept, and
        told as soon as it does.
        """
        self.selected = session_id
        try:
            await self._tell_selected()
        except ClientNotAttached:
            return

    async def reopen(self) -> Workspace:
        """Open the directory again after it was lost, on a server that may have to be started first."""
        await self._revive()
        return await self.place.reopen()

    async def leave(self) -> None:
        """Let go of this workspace. What runs in it goes on."""
        await self.place.ask("DELETE", query(client_id=self.place.client_id))

    @asynccontextmanager
    async def follow(
        self, *, after: int | None = None, detail: bool = True, limits: FeedLimits | None = None
    ) -> AsyncGenerator[AsyncGenerator[Heard]]:
        """Everything that happens, from now on or from a position (a snapshot's, say); it goes on until the block ends.

        When the block is entered the feed is connected, or has failed to once and goes on trying; its first word says
        which. With `detail` our own servers tell finished parts and fragments; without, and on servers of the original,
        every changed message is told whole.
        """
        feed = Feed(self.place, revive=self._revive, reselect=self._reselect, after=after, detail=detail, limits=limits)
        async with aclosing(feed.heard()) as heard:
            first = await anext(heard)

            async def from_the_first() -> AsyncGenerator[Heard]:
                yield first
                async for one in heard:
                    yield one

            async with aclosing(from_the_first()) as all_of_it:
                yield all_of_it

    async def _reselect(self) -> None:
        if self.selected:
            await self._tell_selected()

    async def _tell_selected(self) -> None:
        said = CurrentSession(self.selected)
        await self.place.post("/current-session" + query(client_id=self.place.client_id), said, repeatable=True)
