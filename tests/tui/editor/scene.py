"""The editor alone in an application, before a real server: what it sends is collected."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from textual._xterm_parser import XTermParser
from textual.app import ComposeResult
from textual.events import Key
from textual.pilot import Pilot
from textual.widgets import Static

from tests.client.scene import QUICK_FEED, Served, served
from tests.tui.scene import screen_text, until
from turnkeeper.client.client import Client
from turnkeeper.client.workspace import WorkspaceClient
from turnkeeper.models.scripted import Turn
from turnkeeper.tui.editor.area import Area
from turnkeeper.tui.editor.chips import Chips
from turnkeeper.tui.editor.completing import Completing
from turnkeeper.tui.editor.composer import Composer
from turnkeeper.tui.editor.popup import Popup
from turnkeeper.tui.host import Host
from turnkeeper.tui.live import Live
from turnkeeper.tui.themes import DARK, LIGHT

TERMINAL = {"LANG": "C.UTF-8", "TERM": "xterm-256color"}


class Desk(Host):
    """A transcript's worth of nothing, and the editor below it."""

    ENABLE_COMMAND_PALETTE = False
    CSS = "Screen { background: $background; color: $foreground; } #above { height: 1fr; }"

    def __init__(self, live: Live, *, theme: str = DARK.name, suspends: bool = False, **more: Any) -> None:
        super().__init__(**more)
        self.live = live
        self.live.on_problem = self.problem
        self.told: list[Any] = []
        self.said: list[str] = []
        for one in (DARK, LIGHT):
            self.register_theme(one)
        self.theme = theme
        self._suspends = suspends

    def compose(self) -> ComposeResult:
        yield Static("", id="above")
        yield Composer(self.live)

    def on_mount(self) -> None:
        self.query_one(Composer).focus()

    def say(self, text: str, *, title: str = "", severity: str = "information", about: str = "") -> None:
        self.said.append(text)
        super().say(text, title=title, severity=severity)

    def suspend(self) -> Any:
        """What a terminal does, where the test is one that can be lent."""
        return nullcontext() if self._suspends else super().suspend()

    def on_composer_sent(self, event: Composer.Sent) -> None:
        self.told.append(event)

    def on_composer_shell(self, event: Composer.Shell) -> None:
        self.told.append(event)

    def on_composer_wanted(self, event: Composer.Wanted) -> None:
        self.told.append(event)

    def on_composer_cancel(self, event: Composer.Cancel) -> None:
        self.told.append(event)


@dataclass
class At:
    app: Desk
    pilot: Pilot[Any]
    server: Served
    workspace: WorkspaceClient
    """Another client's, which prepares and looks."""
    asked: list[str] = field(default_factory=list[str])

    @property
    def composer(self) -> Composer:
        return self.app.query_one(Composer)

    @property
    def area(self) -> Area:
        return self.app.query_one(Area)

    @property
    def chips(self) -> Chips:
        return self.app.query_one(Chips)

    @property
    def names(self) -> list[str]:
        return [one.file_name for one in self.chips.attachments]

    @property
    def popup(self) -> Popup:
        return self.app.query_one(Popup)

    @property
    def is_offering(self) -> bool:
        return self.app.query_one(Completing).is_open

    @property
    def offers(self) -> list[str]:
        return [offer.name for offer in self.popup.offers]

    @property
    def text(self) -> str:
        """What is written, the cursor as a bar."""
        return f"{self.area.text[: self.area.at]}|{self.area.text[self.area.at :]}"

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def together(self, *keys: str) -> None:
        """All at once, as from a slow line or a paste that is not told as one."""
        for key in keys:
            self.app.post_message(Key(key, key if len(key) == 1 else None))
        await self.pilot.pause()

    async def raw(self, said: str) -> None:
        """What a terminal says of keys, as it says it."""
        for event in XTermParser().feed(said):
            self.app.post_message(event)
        await self.pilot.pause()

    async def type(self, text: str) -> None:
        named = {" ": "space", "\n": "ctrl+j"}
        await self.press(*(named.get(letter, letter) for letter in text))

    async def paste(self, text: str) -> None:
        from textual.events import Paste

        self.area.post_message(Paste(text))
        await self.pilot.pause()

    async def until(self, condition: Callable[[], Any]) -> None:
        await until(self.pilot, condition)

    async def shows(self, *texts: str) -> None:
        await self.until(lambda: all(text in self.screen() for text in texts))

    def screen(self) -> str:
        return screen_text(self.app)

    async def told(self) -> Any:
        """The one thing the editor has said since it was last asked."""
        await self.until(lambda: self.app.told)
        (one,) = self.app.told
        self.app.told.clear()
        return one


@asynccontextmanager
async def editor(
    *turns: Turn,
    cwd: str | Path = "/front",
    size: tuple[int, int] = (80, 24),
    env: Mapping[str, str] | None = None,
    state_dir: Path | None = None,
    server: Served | None = None,
    **more: Any,
) -> AsyncGenerator[At]:
    """An editor at a server, until the block ends; at one that is there already, if it is given."""
    if server is None:
        async with served(*turns) as server, _at(server, str(cwd), size, env, state_dir, more) as at:
            yield at
    else:
        async with _at(server, str(cwd), size, env, state_dir, more) as at:
            yield at


@asynccontextmanager
async def _at(
    server: Served,
    cwd: str,
    size: tuple[int, int],
    env: Mapping[str, str] | None,
    state_dir: Path | None,
    more: Mapping[str, Any],
) -> AsyncGenerator[At]:
    async with server.workspace(cwd) as workspace, Client(server.host) as client, anyio.create_task_group() as tasks:
        live = Live(client, await client.open(cwd), limits=QUICK_FEED)
        tasks.start_soon(live.follow)
        await live.begun()
        app = Desk(live, env={**TERMINAL, **(env or {})}, state_dir=state_dir, **more)
        async with app.run_test(size=size, notifications=True) as pilot:
            await pilot.pause()
            yield At(app, pilot, server, workspace)
        tasks.cancel_scope.cancel()
