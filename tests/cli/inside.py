"""The command line in this process, at a real server on a real socket, with a scripted model behind it."""

import contextlib
import io
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio.to_thread
import msgspec

from tests.client.scene import Served, served
from turnkeeper.cli.frame import start
from turnkeeper.client.workspace import WorkspaceClient
from turnkeeper.models.scripted import Turn


@dataclass(frozen=True)
class Done:
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        return msgspec.json.decode(self.out)


@dataclass
class Inside:
    """`workspace` is another client's, which prepares and looks."""

    server: Served
    workspace: WorkspaceClient
    cwd: str

    async def tk(self, *arguments: str) -> Done:
        """One command, run as its own process would run it, in the workspace's directory."""
        return await anyio.to_thread.run_sync(command, (*arguments, "--host", str(self.server.host), "--cwd", self.cwd))

    async def tk_on_a_screen(self, *arguments: str) -> Done:
        """The same where somebody looks at what it prints."""
        given = (*arguments, "--host", str(self.server.host), "--cwd", self.cwd)
        return await anyio.to_thread.run_sync(command, given, Watched)


class Watched(io.StringIO):
    def isatty(self) -> bool:
        return True


def command(arguments: tuple[str, ...], kind: type[io.StringIO] = io.StringIO) -> Done:
    out, err = kind(), kind()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = start(arguments)
    return Done(code, out.getvalue(), err.getvalue())


@asynccontextmanager
async def inside(*turns: Turn, cwd: object = "/", **more: Any) -> AsyncGenerator[Inside]:
    async with served(*turns, **more) as server, server.workspace(str(cwd)) as workspace:
        yield Inside(server, workspace, str(cwd))


async def said(at: Inside, title: str, prompt: str) -> str:
    """A session in which one prompt was answered."""
    session = await at.workspace.sessions.create(title)
    run_id = await at.workspace.runs.submit(session.id, prompt)
    await at.workspace.runs.wait(run_id)
    return session.id
