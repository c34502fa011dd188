"""The terminal as a person has it: the application under a pilot, a real server on a real socket, a scripted model."""

import os
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import anyio
from textual import events
from textual.app import App
from textual.keys import _character_to_key
from textual.pilot import Pilot

from tests.client.scene import QUICK_FEED, Served, served
from turnkeeper.client.client import Client
from turnkeeper.client.workspace import WorkspaceClient
from turnkeeper.models.scripted import Turn
from turnkeeper.tui.app import Terminal
from turnkeeper.tui.live import Live

SNAPSHOTS = Path(__file__).parent / "snapshots"
# Read before the tests take what begins like this out of the environment.
WRITES_SNAPSHOTS = os.environ.get("TURNKEEPER_SNAPSHOTS") == "write"
WAIT_SECONDS = 20.0

T = TypeVar("T")


def presses(*ids: str) -> Callable[[T], T]:
    """Say which keys of the map a test proves; `tests/tui/test_keymap.py` holds that none is left out."""

    def said(test: T) -> T:
        PRESSED.setdefault(getattr(test, "__qualname__", ""), set()).update(ids)
        return test

    return said


PRESSED: dict[str, set[str]] = {}
"""By test the keys it says it proves, of every module that was imported."""


@dataclass
class At:
    """A terminal, and the server it is attached to. `workspace` is another client's, which prepares and looks."""

    app: Terminal
    pilot: Pilot[Any]
    server: Served
    workspace: WorkspaceClient

    @property
    def live(self) -> Live:
        assert self.app.live is not None
        return self.app.live

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def type(self, text: str) -> None:
        """All of it as fast as it can be typed."""
        for char in text:
            name = "enter" if char == "\n" else "space" if char == " " else _character_to_key(char)
            self.app.post_message(events.Key(name, "\r" if char == "\n" else char))
        await self.pilot.pause()

    async def until(self, condition: Callable[[], Any]) -> None:
        """Returns when something holds that others bring about."""
        await until(self.pilot, condition)

    async def shows(self, *texts: str) -> None:
        """Returns when all of it is on the screen."""
        await self.until(lambda: all(text in self.screen_text() for text in texts))

    def screen_text(self) -> str:
        return screen_text(self.app)


async def until(pilot: Pilot[Any], condition: Callable[[], Any]) -> None:
    with anyio.move_on_after(WAIT_SECONDS):
        while not condition():
            await pilot.pause(0.01)
        return
    raise AssertionError("it never came to be; the screen shows:\n" + screen_text(pilot.app))


def screen_text(app: App[Any]) -> str:
    """What is on the screen, as text."""
    width, height = app.size
    # What is drawn is what is tested; there is no public way to it.
    drawn = app.screen._compositor.render_strips()
    return "\n".join(strip.text[:width].rstrip() for strip in drawn[:height])


@asynccontextmanager
async def terminal(
    *turns: Turn, size: tuple[int, int] = (120, 40), session: str = "", cwd: str = "/front", **more: Any
) -> AsyncGenerator[At]:
    """A server and one terminal at it, until the block ends."""
    async with (
        served(*turns, **more) as server,
        server.workspace(cwd) as workspace,
        another(server, workspace, size=size, session=session, cwd=cwd) as at,
    ):
        yield at


@asynccontextmanager
async def another(
    server: Served,
    workspace: WorkspaceClient,
    *,
    size: tuple[int, int] = (120, 40),
    session: str = "",
    cwd: str = "/front",
    **settings: Any,
) -> AsyncGenerator[At]:
    """One more terminal at the same server."""

    @asynccontextmanager
    async def connect() -> AsyncGenerator[Live]:
        async with Client(server.host) as client:
            yield Live(client, await client.open(cwd), limits=QUICK_FEED)

    app = Terminal(connect, session=session, env={"LANG": "C.UTF-8", "TERM": "xterm-256color"}, **settings)
    async with app.run_test(size=size, notifications=True) as pilot:
        at = At(app, pilot, server, workspace)
        await at.until(lambda: app.is_ready)
        yield at


def snapshot(app: App[Any], name: str) -> None:
    """The screen looks as it looked when somebody looked at it: `TURNKEEPER_SNAPSHOTS=write` keeps how it looks now."""
    drawn = normalised(app.export_screenshot(title=name))
    path = SNAPSHOTS / f"{name}.svg"
    if WRITES_SNAPSHOTS:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(drawn, "utf-8")
    kept = path.read_text("utf-8") if path.exists() else ""
    assert drawn == kept, f"{path} shows another screen; look at both, and keep the right one"


def normalised(svg: str) -> str:
    """Without what differs from one drawing to the next: the drawing's own id, and where it fetches its letters."""
    svg = re.sub(r"terminal-[0-9a-f]+-", "terminal-", svg)
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    return re.sub(r"[ \t]+\n", "\n", svg).strip() + "\n"
