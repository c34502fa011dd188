"""Listening: sockets that are ours alone, and a stop that leaves nothing half said.

    stop accepting -> end every stream with its terminating chunk -> interrupt what runs, keep what waits -> leave

A socket file that a dead server left is removed; one that answers, or that cannot be asked, never is.
"""

import contextlib
import os
import signal
import socket
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
import uvicorn
from starlette.types import ASGIApp

from turnkeeper.engine.reception import Reception
from turnkeeper.protocol.problems import Problem
from turnkeeper.server.protocol import DoorProtocol

PROBE_SECONDS = 0.2
KEEP_ALIVE_SECONDS = 120
"""Longer than clients keep an idle connection (90 s), so that none is closed under a request."""
CONNECTIONS_MAX = 4096
BACKLOG_CONNECTIONS = 512
STOP_SECONDS = 5
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class BadHost(Problem):
    """The host is not one this server can listen on."""

    status = 400


class AddressInUse(Problem):
    """Another server listens there."""

    status = 409


@dataclass(frozen=True, slots=True)
class Host:
    """`unix:///path` or `tcp://host:port`."""

    scheme: str
    address: str

    def __str__(self) -> str:
        return f"{self.scheme}://{self.address}"

    @property
    def name(self) -> str:
        return self.address.rpartition(":")[0].strip("[]")

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    @property
    def is_local(self) -> bool:
        """Whether only this computer can reach it."""
        return self.scheme == "unix" or self.name in LOOPBACK


def parse_host(text: str) -> Host:
    scheme, found, address = text.partition("://")
    if not found or not address:
        raise BadHost(f"invalid host format: {text}")
    if scheme == "unix":
        return Host(scheme, address)
    if scheme != "tcp":
        raise BadHost(f"cannot listen on {scheme}://; use unix:///path or tcp://host:port")
    address = address.partition("/")[0]
    name, _, port = address.rpartition(":")
    if not name or not port.isdigit() or int(port) > 65535:
        raise BadHost(f"{text} needs a host and a port: tcp://127.0.0.1:4096")
    return Host(scheme, address)


def bind(host: Host) -> socket.socket:
    """A listening socket; raises `AddressInUse` when somebody else has it."""
    return _bind_unix(Path(host.address)) if host.scheme == "unix" else _bind_tcp(host)


def _bind_unix(path: Path) -> socket.socket:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if path.exists() and is_stale(path):
        path.unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # The file is ours alone from its first moment, not from a chmod later.
    umask = os.umask(0o177)
    try:
        listening.bind(str(path))
    except OSError as error:
        listening.close()
        raise AddressInUse(f"cannot listen on {path}: {error.strerror or error}") from error
    finally:
        os.umask(umask)
    listening.listen(BACKLOG_CONNECTIONS)
    return listening


def is_stale(path: Path) -> bool:
    """Whether nobody listens behind a socket file. One that does not answer in time may be alive."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(PROBE_SECONDS)
        try:
            probe.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return True
        except OSError:
            return False
    return False


def _bind_tcp(host: Host) -> socket.socket:
    family = socket.AF_INET6 if ":" in host.name else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host.name, host.port))
    except OSError as error:
        listening.close()
        raise AddressInUse(f"cannot listen on {host}: {error.strerror or error}") from error
    listening.listen(BACKLOG_CONNECTIONS)
    return listening


class _Server(uvicorn.Server):
    """uvicorn, without its hands on the signals: those are ours."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


async def serve(app: ASGIApp, sockets: Sequence[socket.socket], reception: Reception) -> None:
    """Serve until a signal, or until the reception decides to leave; everything is closed when this returns."""
    config = uvicorn.Config(
        app,
        http=DoorProtocol,
        loop="none",
        lifespan="off",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=STOP_SECONDS,
        limit_concurrency=CONNECTIONS_MAX,
    )
    server = _Server(config)
    files = [file_of(sock) for sock in sockets if sock.family == socket.AF_UNIX]
    async with anyio.create_task_group() as tasks:

        async def wait_for_signal() -> None:
            with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
                async for _ in signals:
                    if reception.leaving.is_set():
                        server.force_exit = True
                    reception.leaving.set()

        async def wait_for_leaving() -> None:
            await reception.leaving.wait()
            for listening in getattr(server, "servers", ()):
                listening.close()
            # From here on a new server may listen in the same place, so the files go now and not at the end.
            remove(files)
            await reception.close()
            server.should_exit = True

        tasks.start_soon(wait_for_signal)
        tasks.start_soon(wait_for_leaving)
        await server.serve(sockets=list(sockets))
        tasks.cancel_scope.cancel()
    remove(files)


def file_of(sock: socket.socket) -> tuple[Path, int]:
    """The file of a socket, and its number on the disk: another server's under the same name has another."""
    path = Path(sock.getsockname())
    return path, path.stat().st_ino


def remove(files: Sequence[tuple[Path, int]]) -> None:
    """Remove the socket files that are still ours."""
    for path, number in files:
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_ino == number:
                path.unlink()
