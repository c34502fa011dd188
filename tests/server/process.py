"""A server in a process of its own, with a home of its own, and what the system says of it."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import msgspec
import psutil

from tests.server.sockets import Answer, Line

STOP_SECONDS = 20
LISTENS = re.compile(r"listens on unix://(\S+) and tcp://127\.0\.0\.1:(\d+)")


@dataclass
class Process:
    running: subprocess.Popen[str]
    home: Path
    path: Path
    port: int

    @property
    def log(self) -> str:
        return (self.home / "server.log").read_text("utf-8", "replace")

    def unix(self) -> "_Connecting":
        return _Connecting(lambda: anyio.connect_unix(self.path))

    def tcp(self) -> "_Connecting":
        return _Connecting(lambda: anyio.connect_tcp("127.0.0.1", self.port))

    async def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        async with self.unix() as line:
            return await line.ask(method, path, body, **headers)

    async def workspace(self, name: str, client: str, **more: Any) -> str:
        """The path of a workspace that the client opened, in a directory of this name."""
        folder = self.home / name
        folder.mkdir(exist_ok=True)
        answer = await self.ask("POST", "/v1/workspaces", {"path": str(folder), "client_id": client, **more})
        assert answer.status == 200, answer
        return f"/v1/workspaces/{answer.json()['id']}"

    def memory_bytes(self) -> int:
        return psutil.Process(self.running.pid).memory_info().rss

    def peak_bytes(self) -> int:
        """The most memory it ever had."""
        status = Path(f"/proc/{self.running.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024

    def files_open(self) -> int:
        return psutil.Process(self.running.pid).num_fds()

    def stop(self) -> None:
        self.running.send_signal(signal.SIGTERM)


@dataclass
class _Connecting:
    connect: Any
    _stream: Any = None

    async def __aenter__(self) -> Line:
        self._stream = await self.connect()
        return Line(self._stream)

    async def __aexit__(self, *_: object) -> None:
        await self._stream.aclose()


@contextmanager
def process(*flags: str, env: Mapping[str, str] | None = None, config: Any = None) -> Generator[Process]:
    """Runs until the block ends, and leaves with 0 then."""
    with TemporaryDirectory(prefix="tk-") as folder:
        home = Path(folder)
        (home / "config" / "crush").mkdir(parents=True)
        if config is not None:
            (home / "config" / "crush" / "crush.json").write_bytes(msgspec.json.encode(config))
        places = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CONFIG", "DATA", "CACHE")}
        bare = {name: os.environ[name] for name in ("PATH", "LANG", "VIRTUAL_ENV") if name in os.environ}
        program = [sys.executable, "-m", "turnkeeper", "server", "--log-file", str(home / "server.log")]
        hosts = ["--host", f"unix://{home / 'door.sock'}", "--host", "tcp://127.0.0.1:0"]
        running = subprocess.Popen(
            [*program, *hosts, *flags],
            env={**bare, "HOME": str(home), "XDG_RUNTIME_DIR": str(home), **places, **(env or {})},
            cwd=home,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            assert running.stderr is not None
            said = running.stderr.readline()
            found = LISTENS.search(said)
            assert found, said + running.stderr.read()
            yield Process(running, home, Path(found[1]), int(found[2]))
            if running.poll() is None:
                running.send_signal(signal.SIGTERM)
            assert running.wait(STOP_SECONDS) == 0
        finally:
            if running.poll() is None:
                running.kill()
            running.communicate()
