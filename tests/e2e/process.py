"""A server as people start it: a process of its own, with a home and a socket of its own.

    async with server(home, turns) as process:
        answer = await ask(process.socket, "GET", "/v1/health")

`home` outlives the process, so that another can be started on what it left behind.
"""

import json
import os
import signal
import sys
import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import msgspec
from anyio.abc import Process

from tests.server.plain import Answer, ask
from turnkeeper.models.scripted import Script, Turn

START_SECONDS = 30.0
STOP_SECONDS = 20.0


@dataclass
class Home:
    """Where a person works: a home directory, a project, and a script for the model."""

    root: Path
    turns: tuple[Turn, ...] = ()
    env: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def socket(self) -> Path:
        return self.root / "run" / "tk.sock"

    def prepare(self) -> dict[str, str]:
        """The files a server finds, and the environment it is started in."""
        script = self.root / "script.json"
        script.write_bytes(msgspec.json.encode(Script(self.turns)))
        config = {
            "providers": {"scripted": {"type": "scripted", "base_url": str(script)}},
            "models": {slot: {"provider": "scripted", "model": "scripted"} for slot in ("large", "small")},
        }
        folder = self.root / "config" / "crush"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "crush.json").write_text(json.dumps(config))
        self.project.mkdir(exist_ok=True)
        folders = {f"XDG_{name.upper()}_HOME": str(self.root / name) for name in ("config", "data", "cache", "state")}
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        return kept | folders | {"HOME": str(self.root), "XDG_RUNTIME_DIR": str(self.root / "run")} | self.env


@dataclass
class Running:
    home: Home
    process: Process
    socket: Path
    said: bytes = b""

    async def ask(self, method: str, target: str, body: Any = None) -> Answer:
        return await ask(self.socket, method, target, body)

    async def enter(self, client: str = "") -> tuple[str, str]:
        """A client that has opened the project: its id, and the path of the workspace."""
        client = client or str(uuid.uuid4())
        body = {"path": str(self.home.project), "client_id": client, "yolo": True}
        answer = await self.ask("POST", "/v1/workspaces", body)
        assert answer.status == 200, answer.body
        return client, f"/v1/workspaces/{answer.json()['id']}"

    async def session(self, here: str) -> str:
        return (await self.ask("POST", f"{here}/sessions", {"title": "named"})).json()["id"]

    async def prompt(self, here: str, session: str, run_id: str, text: str = "go") -> int:
        body = {"session_id": session, "run_id": run_id, "prompt": text}
        return (await self.ask("POST", f"{here}/agent", body)).status

    async def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        return await self.left()

    async def left(self) -> int:
        """The exit code, once the process has gone."""
        with anyio.fail_after(STOP_SECONDS):
            return await self.process.wait()


@asynccontextmanager
async def server(home: Home, *hosts: str, anywhere: bool = False) -> AsyncGenerator[Running]:
    """A server that answers; what is left of it at the end is killed. `anywhere` is where it likes to listen itself."""
    asked = [] if anywhere else [part for host in hosts or (f"unix://{home.socket}",) for part in ("--host", host)]
    socket = home.socket.with_name(f"turnkeeper-{os.getuid()}.sock") if anywhere else home.socket
    command = [sys.executable, "-m", "turnkeeper", "server", *asked]
    process = await anyio.open_process(command, env=home.prepare(), cwd=home.root, stdin=None)
    running = Running(home, process, socket)
    try:
        assert process.stderr is not None
        with anyio.fail_after(START_SECONDS):
            while b"\n" not in running.said:
                running.said += await process.stderr.receive()
        yield running
    finally:
        with anyio.CancelScope(shield=True):
            if process.returncode is None:
                process.kill()
            await process.aclose()


async def refused(home: Home, *hosts: str) -> tuple[int, str]:
    """The exit code and the words of a server that does not start."""
    asked = [part for host in hosts for part in ("--host", host)]
    with anyio.fail_after(START_SECONDS):
        done = await anyio.run_process(
            [sys.executable, "-m", "turnkeeper", "server", *asked], env=home.prepare(), cwd=home.root, check=False
        )
    return done.returncode, done.stderr.decode()
