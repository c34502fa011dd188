"""Serving, and a stop that leaves nothing half said.

stop accepting -> end every stream with its terminating chunk -> interrupt what runs, keep what waits -> leave
"""

import contextlib
import signal
import socket
import ssl
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
import uvicorn
from anyio.abc import TaskStatus
from starlette.types import ASGIApp

from turnkeeper.engine.reception import Reception
from turnkeeper.protocol.problems import Problem
from turnkeeper.server.bounds import Bounds
from turnkeeper.server.listen import file_of, remove
from turnkeeper.server.protocol import bounded

TICK_SECONDS = 1.0
"""How often an idle server wakes, to know the date."""


class CertificateUnusable(Problem):
    """The certificate cannot be used."""

    status = 400


@dataclass(frozen=True, slots=True)
class Encryption:
    """What TCP sockets are encrypted with; with `client_ca`, clients have to show a certificate that it signed."""

    certificate: Path
    key: Path
    client_ca: Path | None = None

    def context(self) -> ssl.SSLContext:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        try:
            context.load_cert_chain(self.certificate, self.key)
            if self.client_ca is not None:
                context.load_verify_locations(self.client_ca)
                context.verify_mode = ssl.CERT_REQUIRED
        except OSError as error:  # which an error of OpenSSL is, too
            raise CertificateUnusable(f"cannot use the certificate {self.certificate}: {error}") from error
        return context


class _Server(uvicorn.Server):
    """uvicorn, without its hands on the signals, which are ours; and asleep until there is something to do."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = anyio.Event()
        self._leaving = anyio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    def leave(self) -> None:
        self.should_exit = True
        self._leaving.set()

    def stop_accepting(self) -> None:
        for listening in getattr(self, "servers", ()):
            listening.close()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    async def main_loop(self) -> None:
        while not await self.on_tick(0):
            with anyio.move_on_after(TICK_SECONDS):
                await self._leaving.wait()


async def serve(
    app: ASGIApp,
    sockets: Sequence[socket.socket],
    reception: Reception,
    *,
    bounds: Bounds = Bounds(),  # noqa: B008 - frozen
    encryption: Encryption | None = None,
    task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
) -> None:
    """Serve until a signal, or until the reception decides to leave; everything is closed when this returns.

    Started as a task (`await tasks.start(serve, …)`), it says when the first request will be answered.
    """
    unix = [sock for sock in sockets if sock.family == socket.AF_UNIX]
    others = [sock for sock in sockets if sock.family != socket.AF_UNIX]
    files = [file_of(sock) for sock in unix]
    parts = [(_Server(configured(app, bounds, None)), unix), (_Server(configured(app, bounds, encryption)), others)]
    servers = [server for server, group in parts if group]
    try:
        async with anyio.create_task_group() as tasks:

            async def wait_for_signal() -> None:
                with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
                    async for _ in signals:
                        if reception.leaving.is_set():
                            for server in servers:
                                server.force_exit = True
                        reception.leaving.set()

            async def wait_for_leaving() -> None:
                await reception.leaving.wait()
                for server in servers:
                    server.stop_accepting()
                # From here on a new server may listen in the same place, so the files go now and not at the end.
                remove(files)
                await reception.close()
                for server in servers:
                    server.leave()

            tasks.start_soon(wait_for_signal)
            tasks.start_soon(wait_for_leaving)
            async with anyio.create_task_group() as serving:
                for server, group in parts:
                    if group:
                        serving.start_soon(partial(server.serve, sockets=group))
                for server in servers:
                    await server.ready.wait()
                task_status.started()
            tasks.cancel_scope.cancel()
    finally:
        # Also when the task was cancelled, which closes no socket by itself.
        for listening in sockets:
            listening.close()
        remove(files)


def configured(app: ASGIApp, bounds: Bounds, encryption: Encryption | None) -> uvicorn.Config:
    def encrypt(_: uvicorn.Config, __: Callable[[], ssl.SSLContext]) -> ssl.SSLContext:
        assert encryption is not None
        return encryption.context()

    return uvicorn.Config(
        app,
        http=bounded(bounds),
        loop="none",
        lifespan="off",
        ws="none",
        log_config=None,
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=round(bounds.keep_alive_seconds),
        timeout_graceful_shutdown=round(bounds.stop_seconds),
        ssl_context_factory=encrypt if encryption else None,
    )
