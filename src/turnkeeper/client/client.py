"""A client of a server: who it is, what it has open there, and its goodbye.

    async with Client.connect() as client:            # this user's own server, started if there is none
        workspace = await client.open(".")

    async with Client("tcp://127.0.0.1:4096", token="…") as client:

Leaving the block says goodbye to the server, which lets go of what this client had open. Runs go on without it.
"""

import importlib
import os
import platform
import uuid
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import anyio

from turnkeeper import __version__
from turnkeeper.client.asking import Unsupported, checked, segment, value
from turnkeeper.client.http import Http, ServerLost, ServerUnreachable
from turnkeeper.client.place import Place, Revive
from turnkeeper.protocol.clients import ClientKind, client_name
from turnkeeper.protocol.hosts import Host, parse_host
from turnkeeper.protocol.ids import ClientId
from turnkeeper.protocol.problems import Problem, ServerClosing
from turnkeeper.protocol.wire import encode
from turnkeeper.protocol.wire_workspaces import Control, VersionInfo, Workspace

if TYPE_CHECKING:
    from turnkeeper.client.workspace import WorkspaceClient

OPEN_SECONDS = 60.0
"""A workspace that is opened for the first time is recovered first."""
OPEN_ATTEMPTS_MAX = 3
GOODBYE_SECONDS = 5.0


def own_name() -> str:
    """Who works at which computer, as far as the system says."""
    user = os.environ.get("USER") or os.environ.get("LOGNAME") or os.environ.get("USERNAME") or ""
    return f"{user}@{platform.node()}" if user else platform.node()


class Client:
    """Owns an id, under which the server knows this program, and the connections to that server."""

    def __init__(
        self,
        host: str | Host,
        *,
        token: str = "",
        client_id: str = "",
        name: str | None = None,
        kind: ClientKind = ClientKind.SCRIPT,
        revive: Revive | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """`name` is what others who share a workspace see; `user@computer` unless another is given, or an empty one."""
        self.host = parse_host(host) if isinstance(host, str) else host
        who = client_name(ClientId(client_id or str(uuid.uuid4())), own_name() if name is None else name, kind)
        self.id = who.client_id
        self.name = who.name
        headers = {"X-Client-Id": self.id, "X-Client-Kind": who.kind}
        headers |= {"X-Client-Name": quote(who.name, safe="@ ")} if who.name else {}
        headers |= {"Authorization": f"Bearer {token}"} if token else {}
        self.http = Http(self.host, headers=headers)
        self._revive = revive
        self._env = os.environ if env is None else env
        self._opened: list[WorkspaceClient] = []
        self._may_hold = False
        """Whether the server may hold something for us; it may also when its answer was lost."""
        self._is_retired = False

    @classmethod
    @asynccontextmanager
    async def connect(
        cls,
        host: str = "",
        *,
        token: str = "",
        start: bool = True,
        name: str | None = None,
        kind: ClientKind = ClientKind.SCRIPT,
        env: Mapping[str, str] | None = None,
    ) -> AsyncGenerator["Client"]:
        """A client of the server at `host`; without one, of this user's own server, which is started if need be.

        `env` says who the user is, where that is not whoever runs this program.
        """
        from turnkeeper.client.local import local_server

        local = local_server(host, env=os.environ if env is None else env)
        if start and local is not None:
            await local.ensure()
        revive = local.ensure if start and local is not None else None
        where = host or str(local.host if local else "")
        async with cls(where, token=token, name=name, kind=kind, revive=revive, env=env) as client:
            yield client

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(self, *_: object) -> None:
        with anyio.CancelScope(shield=True), anyio.move_on_after(GOODBYE_SECONDS):
            await self.retire()
        with anyio.CancelScope(shield=True), anyio.move_on_after(1):
            await self.http.aclose()

    # The server

    async def health(self) -> None:
        """Returns if the server is well, raises if it is not."""
        checked(await self.http.ask("GET", "/v1/health"), *range(201, 300))

    async def version(self) -> VersionInfo:
        return value(checked(await self.http.ask("GET", "/v1/version")), VersionInfo)

    async def control(self, command: str) -> None:
        """`shutdown_if_idle` asks the server to go; it refuses while anybody has a workspace open."""
        checked(await self.http.ask("POST", "/v1/control", encode(Control(command)), repeatable=True))

    async def workspaces(self) -> list[Workspace]:
        """The workspaces that are open at the server."""
        return value(checked(await self.http.ask("GET", "/v1/workspaces")), list[Workspace])

    async def describe(self) -> dict[str, Any]:
        """The OpenAPI document of the server."""
        return value(checked(await self.http.ask("GET", "/v1/openapi.json")), dict[str, Any])

    async def revive(self) -> None:
        """See to it that a server answers. Raises if it does not, and none can be started from here."""
        if self._revive is not None:
            await self._revive()
        else:
            await self.health()

    # Workspaces

    async def open(
        self,
        path: str | Path = ".",
        *,
        yolo: bool = False,
        debug: bool = False,
        data_dir: str = "",
        env: Mapping[str, str] | None = None,
        channels: Sequence[str] = (),
        meanwhile: Callable[[], object] | None = None,
    ) -> "WorkspaceClient":
        """Open a directory as a workspace, or join it where it is open. Its environment is the first opener's.

        `meanwhile` is done while the server opens it, as is getting ready for what can be asked of a workspace.
        """
        asked = Workspace(
            path=os.path.abspath(path),  # noqa: ASYNC240, PTH100 - it asks no disk; links are the server's to resolve
            yolo=yolo,
            debug=debug,
            data_dir=data_dir,
            version=__version__,
            client_id=self.id,
            env=tuple(f"{name}={said}" for name, said in (self._env if env is None else env).items()),
            channels=tuple(channels),
        )

        async def open_again() -> Workspace:
            return await self._open(asked)

        def get_ready() -> None:
            importlib.import_module("turnkeeper.client.workspace")
            if meanwhile is not None:
                meanwhile()

        place = Place(self.http, self.id, await self._open(asked, get_ready), open_again)
        from turnkeeper.client.workspace import WorkspaceClient

        workspace = WorkspaceClient(place, revive=self.revive)
        self._opened.append(workspace)
        return workspace

    async def _open(self, asked: Workspace, meanwhile: Callable[[], object] | None = None) -> Workspace:
        """A server that is about to leave is waited for, and its successor asked."""
        self._may_hold = True
        body = encode(asked)
        for attempt in range(1, OPEN_ATTEMPTS_MAX + 1):
            try:
                answer = await self.http.ask(
                    "POST", "/v1/workspaces", body, seconds=OPEN_SECONDS, repeatable=True, meanwhile=meanwhile
                )
                return value(checked(answer), Workspace)
            except (ServerClosing, ServerUnreachable, ServerLost) as problem:
                if self._revive is None or attempt == OPEN_ATTEMPTS_MAX:
                    raise
                if not isinstance(problem, ServerClosing):
                    await self.http.aclose()
                await self._revive()
        raise AssertionError

    async def retire(self) -> None:
        """Say goodbye for good. A server that is gone needs none; one of the original may know only a plainer word."""
        if self._is_retired:
            return
        self._is_retired = True
        if not self._may_hold:
            return
        try:
            checked(await self.http.ask("DELETE", f"/v1/clients/{segment(self.id)}"))
        except Unsupported:
            for workspace in self._opened:
                await workspace.leave()
        except Problem:
            return
