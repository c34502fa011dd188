"""Dialogs as people meet them: a terminal with a clock of its own, and bob, who is attached to the same server."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from textual.screen import Screen

from tests.client.scene import served
from tests.tui.scene import At, another
from turnkeeper.models.scripted import Turn
from turnkeeper.protocol.wire_requests import PermissionRequest
from turnkeeper.testing.scene import PlainTool
from turnkeeper.tools.tool import Asking, Call, Hands
from turnkeeper.tui.dialogs.dialog import Dialog

BEGIN = 1_700_000_000.0


@dataclass
class Clock:
    """A clock that goes on when it is told to."""

    at: float = BEGIN

    def __call__(self) -> float:
        return self.at


@dataclass
class Table(At):
    """A terminal, and the clock it reads; `workspace` is bob's."""

    clock: Clock

    async def open(self, dialog: Dialog) -> list[Any]:
        """Show a dialog; what it leaves behind when it closes is put into the list."""
        left: list[Any] = []
        await self.app.push_screen(dialog, left.append)
        await self.pilot.pause()
        return left

    async def blank(self) -> None:
        """Put an empty screen under what comes, so that how a dialog looks is about the dialog alone."""
        await self.app.push_screen(Screen[None]())

    async def calm(self) -> None:
        """Nobody has pressed a key for a while."""
        self.clock.at += 1

    async def prompt(self, text: str, *, run_id: str = "r1", title: str = "Fix the bug") -> str:
        """A session of bob's, with his prompt at work in it."""
        session = await self.workspace.sessions.create(title)
        await self.workspace.runs.submit(session.id, text, run_id=run_id)
        return session.id

    async def asked(self, count: int = 1) -> list[PermissionRequest]:
        """The permissions that wait, once there are so many."""
        await self.until(lambda: len(self.live.view.permissions) >= count)
        return list(self.live.view.permissions.values())

    @property
    def is_closed(self) -> bool:
        return not isinstance(self.app.screen, Dialog)


@asynccontextmanager
async def table(*turns: Turn, size: tuple[int, int] = (120, 40), **more: Any) -> AsyncGenerator[Table]:
    clock = Clock()
    async with (
        served(*turns, **more) as server,
        server.workspace(name="bob@desk") as bob,
        another(server, bob, size=size, now=clock) as at,
    ):
        yield Table(at.app, at.pilot, at.server, at.workspace, clock)


def editor(acts: list[str]) -> PlainTool:
    """It shows the change it wants to make, and notes the files it was allowed to change."""

    async def act(call: Call, hands: Hands) -> str:
        path = str(call.input["file_path"])
        await hands.permit(Asking("edit", "write", f"change {path}", path, path, dict(call.input)))
        acts.append(path)
        return "changed"

    return PlainTool("edit", act)


BEFORE = """def greet(name):
    print("Hello " + name)
    return None


def leave():
    pass
"""
AFTER = """def greet(name: str) -> None:
    print(f"Hello, {name}!")


def leave() -> None:
    print("Goodbye")
"""
EDIT = {"file_path": "/front/src/greeting.py", "old_content": BEFORE, "new_content": AFTER}
