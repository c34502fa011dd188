"""A terminal at a server of its own process, with real tools, a real shell and real files under it."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.client.scene import QUICK_FEED
from tests.e2e.process import Home, server
from tests.tui.scene import At, until
from turnkeeper.client.client import Client
from turnkeeper.models.scripted import Turn
from turnkeeper.protocol.hosts import Host
from turnkeeper.tui.app import Terminal
from turnkeeper.tui.live import Live

NOTHING: Mapping[str, str] = {}


@dataclass
class AtHome(At):
    """`project` is where the tools work."""

    project: Path

    async def say(self, text: str) -> None:
        """Send a prompt, and wait until all that came of it is over."""
        await self.type(text)
        await self.press("enter")
        await self.until(lambda: self.app.main is not None and self.app.main.session_id)
        assert self.app.main is not None
        session_id = self.app.main.session_id
        await self.until(lambda: any(run.session_id == session_id for run in self.live.view.runs.values()))
        await self.until(lambda: self.live.view.active(session_id) is None)


@asynccontextmanager
async def at_home(
    *turns: Turn, size: tuple[int, int] = (120, 40), files: Mapping[str, str] = NOTHING
) -> AsyncGenerator[AtHome]:
    """`files` stand in the project before anybody opens it."""
    with TemporaryDirectory(prefix="tk-") as folder:
        home = Home(Path(folder), turns)
        for name, text in files.items():
            path = home.project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        async with server(home) as running, Client(f"unix://{running.socket}") as other:
            workspace = await other.open(home.project, env=home.prepare())

            @asynccontextmanager
            async def connect() -> AsyncGenerator[Live]:
                async with Client(Host("unix", str(running.socket))) as client:
                    opened = await client.open(home.project, env=home.prepare())
                    await opened.permissions.set_skip(skip=True)
                    yield Live(client, opened, limits=QUICK_FEED)

            app = Terminal(connect, env={**home.prepare(), "LANG": "C.UTF-8"})
            async with app.run_test(size=size, notifications=True) as pilot:
                await until(pilot, lambda: app.is_ready)
                yield AtHome(app, pilot, None, workspace, home.project)  # type: ignore[arg-type] - a process, not ours
