"""This user's own server: found, or started; asked to leave where it is of another build and nobody needs it.

    answers? ── yes ──> same build? ── yes ──> use it
       │no                   └─ no ──> idle? ── no ──> use it all the same
       │                                └ yes ─> it leaves
       └──> under one lock: answers by now? use it. Else start one, and wait until it answers.

The server is a process of its own, in a session of its own: it outlives whoever started it. Any number of clients may
begin at once; the lock lets one of them start a server, and the others find it. What a server that does not come up
says is told to whoever waits for it.
"""

import contextlib
import fcntl
import os
import socket
import struct
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import msgspec

from turnkeeper import __version__
from turnkeeper.client.asking import Garbled, value
from turnkeeper.client.http import Http, NotAServer, ServerLost, ServerUnreachable
from turnkeeper.protocol.hosts import Host, parse_host
from turnkeeper.protocol.problems import BadRequest, Problem
from turnkeeper.protocol.wire import encode
from turnkeeper.protocol.wire_workspaces import Control, VersionInfo, Workspace
from turnkeeper.settings.build import build_id
from turnkeeper.settings.dirs import default_host, server_dir

READY_SECONDS = 10.0
LEAVE_SECONDS = 2.0
PROBE_SECONDS = 2.0
POLL_SECONDS = 0.02
LOCK_POLL_SECONDS = 0.05
SAID_BYTES_MAX = 4096


class ServerNotStarted(Problem):
    """The server did not start."""

    status = 503


class ServerMisconfigured(BadRequest):
    """The server cannot use its settings."""


USAGE_CODE = 2
"""With which a server leaves that was started wrongly, or cannot use its settings."""


class LocalServer(msgspec.Struct, frozen=True):
    """The server behind one unix socket; `folder` holds its lock and what it prints."""

    host: Host
    folder: Path
    is_default: bool
    ready_seconds: float = READY_SECONDS
    env: Mapping[str, str] | None = None
    """What a server is started with, where that is not our own environment."""

    def __repr__(self) -> str:
        return f"LocalServer({self.host})"

    @property
    def log_file(self) -> Path:
        return self.folder / "server.log"

    async def ensure(self) -> None:
        """Returns when a server answers that may be used."""
        if await self._is_usable():
            return
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        async with self._starting():
            if not await self._answers():
                await self._start()

    async def version(self) -> VersionInfo | None:
        """Which server answers; None if none does."""
        try:
            async with self.http() as http:
                return value(await http.ask("GET", "/v1/version", seconds=PROBE_SECONDS), VersionInfo)
        except (ServerUnreachable, ServerLost, NotAServer, Garbled):
            return None

    def pid(self) -> int | None:
        """The process that listens, as the system tells it."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.settimeout(PROBE_SECONDS)
            try:
                probe.connect(self.host.address)
                if sys.platform == "darwin":
                    local_peer_pid = 0x002
                    return int(struct.unpack("i", probe.getsockopt(0, local_peer_pid, 4))[0])
                return int(struct.unpack("3i", probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0])
            except OSError:
                return None

    async def _is_usable(self) -> bool:
        known = await self.version()
        if known is None:
            return False
        if (known.version, known.build_id) == (__version__, build_id()):
            return True
        return not await self._leaves()

    async def _leaves(self) -> bool:
        """Ask a server of another build to go. Whether it does: one that is needed stays, and is used as it is."""
        try:
            async with self.http() as http:
                if not await agrees_to_leave(http):
                    return False
        except (ServerUnreachable, ServerLost):
            # It went away as it was asked; that is agreement enough.
            pass
        deadline = time.monotonic() + LEAVE_SECONDS
        while await self._answers() and time.monotonic() < deadline:  # noqa: ASYNC110 - another process tells no event
            await anyio.sleep(POLL_SECONDS)
        return True

    async def _answers(self) -> bool:
        try:
            async with self.http() as http:
                return (await http.ask("GET", "/v1/health", seconds=PROBE_SECONDS)).status // 100 == 2
        except (ServerUnreachable, ServerLost, NotAServer):
            return False

    @asynccontextmanager
    async def _starting(self) -> AsyncGenerator[None]:
        """Alone among all clients, until the block ends. The file is never removed: others may wait on it."""
        lock = os.open(self.folder / "start.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            deadline = time.monotonic() + 2 * self.ready_seconds
            while not _locked(lock):
                if time.monotonic() > deadline:
                    raise ServerNotStarted("another client has been starting the server, and it does not come up")
                await anyio.sleep(LOCK_POLL_SECONDS)
            yield
        finally:
            os.close(lock)

    async def _start(self) -> None:
        server = self._spawn()
        deadline = time.monotonic() + self.ready_seconds
        while not await self._answers():
            if server.poll() is not None:
                if await self._answers():
                    return
                why = f"the server did not start: {self._said() or f'exit code {server.returncode}'}"
                raise ServerMisconfigured(why) if server.returncode == USAGE_CODE else ServerNotStarted(why)
            if time.monotonic() > deadline:
                raise ServerNotStarted(
                    f"the server did not answer within {self.ready_seconds:g} s; see {self.log_file}"
                )
            await anyio.sleep(POLL_SECONDS)
        # It is nobody's child from here on: it is reaped by the system, and Python is not to warn about it.
        server.returncode = 0

    def _spawn(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-P", "-m", "turnkeeper", "server"]
        if not self.is_default:
            command += ["--host", str(self.host)]
        said = os.open(self.folder / "stderr.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
                env=self.env,
                cwd=self.folder,
            )
        finally:
            os.close(said)

    def _said(self) -> str:
        """The last thing it printed before it gave up."""
        with contextlib.suppress(OSError):
            printed = (self.folder / "stderr.log").read_bytes()[-SAID_BYTES_MAX:].decode("utf-8", "replace")
            lines = printed.strip().splitlines()
            return lines[-1].removeprefix("turnkeeper: ") if lines else ""
        return ""

    @asynccontextmanager
    async def http(self) -> AsyncGenerator[Http]:
        http = Http(self.host)
        try:
            yield http
        finally:
            await http.aclose()


def local_server(host: str, *, env: Mapping[str, str]) -> LocalServer | None:
    """The server behind a unix socket, this user's own if none is named; None for one that is elsewhere."""
    usual = default_host(env)
    parsed = parse_host(host or usual)
    if not parsed.is_unix:
        return None
    return LocalServer(parsed, server_dir(env, str(parsed)), str(parsed) == usual, _ready_seconds(env), env)


async def agrees_to_leave(http: Http) -> bool:
    """Whether a server goes now. One too old to know the polite word is asked plainly, if nobody has it open."""
    answer = await http.ask("POST", "/v1/control", encode(Control("shutdown_if_idle")))
    if answer.status != 400:
        return answer.status == 200
    listed = await http.ask("GET", "/v1/workspaces")
    if listed.status != 200 or value(listed, list[Workspace]):
        return False
    return (await http.ask("POST", "/v1/control", encode(Control("shutdown")))).status == 200


def _locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _ready_seconds(env: Mapping[str, str]) -> float:
    text = env.get("TURNKEEPER_SERVER_READY_SECONDS", "")
    try:
        return float(text) if float(text or 0) > 0 else READY_SECONDS
    except ValueError:
        return READY_SECONDS
