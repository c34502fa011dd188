"""A server: sockets bound, the reception staffed, and everything closed again when it leaves."""

import logging
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
from msgspec.structs import replace

from turnkeeper import __version__
from turnkeeper.core.claims import Policy
from turnkeeper.engine.reception import Build, Limits, Reception
from turnkeeper.house.late import LateBuilder
from turnkeeper.house.logs import log_to
from turnkeeper.protocol.hosts import Host, parse_host
from turnkeeper.protocol.problems import Problem
from turnkeeper.server.app import Door
from turnkeeper.server.bounds import Bounds, connections_for, raise_file_limit
from turnkeeper.server.guard import LOCAL_HOSTS, Guard
from turnkeeper.server.listen import bind, bound
from turnkeeper.server.routes import all_routes
from turnkeeper.server.serving import Encryption, serve
from turnkeeper.server.tokens import TokenFile, open_token, renew
from turnkeeper.settings import dirs
from turnkeeper.settings.build import build_id
from turnkeeper.settings.load import load
from turnkeeper.settings.settings import Settings

log = logging.getLogger(__name__)


class NotSafe(Problem):
    """Refusing to listen where others can connect without a token."""

    status = 400


def build() -> Build:
    system = f"{platform.system().lower()}/{platform.machine()}"
    return Build(version=__version__, build_id=build_id(), platform=system)


@dataclass(frozen=True, slots=True)
class Access:
    """Who may come in where others than this user can connect."""

    token: TokenFile | None = None
    encryption: Encryption | None = None
    names: frozenset[str] = frozenset()
    """By which clients may call this server, beside its addresses and this computer's own name."""
    origins: frozenset[str] = frozenset()
    """Whose pages may speak to it."""

    def check(self, hosts: Sequence[Host]) -> None:
        """Raises `NotSafe` rather than listen where anybody could come in."""
        knows_clients = self.token is not None or (
            self.encryption is not None and self.encryption.client_ca is not None
        )
        if not knows_clients and not all(host.is_local for host in hosts):
            raise NotSafe(
                "refusing to listen where others can connect without a token; "
                "pass --token-file, or --tls-client-ca with a certificate, or use 127.0.0.1"
            )
        if self.encryption is not None:
            self.encryption.context()

    def guard(self, hosts: Sequence[Host]) -> Guard:
        called = {host.name.lower() for host in hosts if host.scheme == "tcp"}
        here = {platform.node().lower()} if not all(host.is_local for host in hosts) else set[str]()
        return Guard(
            token=self.token or "",
            hosts=LOCAL_HOSTS | called | here | {name.lower() for name in self.names},
            origins=self.origins,
        )


async def run_server(
    hosts: Sequence[Host],
    *,
    access: Access = Access(),
    log_file: Path,
    debug: bool = False,
    announce: bool = True,
) -> None:
    """Serve on these hosts until a signal comes or nobody is left."""
    access.check(hosts)
    files = raise_file_limit()
    settings = load(Path.cwd(), env=os.environ).settings
    debug = debug or settings.config.options.debug
    log_to(log_file, replace(settings.log, level="debug") if debug else settings.log)
    sockets = [bind(host) for host in hosts]
    hosts = [bound(host, sock) for host, sock in zip(hosts, sockets, strict=True)]
    bounds = Bounds(connections_max=connections_for(files), stop_seconds=settings.server.shutdown_seconds)
    builder = LateBuilder(address=str(hosts[0]), log_file=log_file)
    async with anyio.create_task_group() as tasks:
        reception = Reception(tasks, builder, build=build(), limits=limits(settings))
        tasks.start_soon(reception.watch)
        door = Door(reception, all_routes(), access.guard(hosts), body_bytes_max=settings.server.body_bytes_max)
        async with anyio.create_task_group() as serving:
            await serving.start(partial(serve, door, sockets, reception, bounds=bounds, encryption=access.encryption))
            tasks.start_soon(builder.prepare, reception.staying)
            if announce:
                listening = " and ".join(map(str, hosts))
                print(f"Turnkeeper {__version__} listens on {listening}", file=sys.stderr, flush=True)  # noqa: T201
            log.info("server started", extra={"hosts": [str(host) for host in hosts], "pid": os.getpid()})
        tasks.cancel_scope.cancel()
    log.info("server stopped")


def limits(settings: Settings) -> Limits:
    server = settings.server
    return Limits(
        heartbeat_seconds=server.heartbeat_seconds,
        send_seconds=server.send_seconds,
        streams_max=server.clients_max,
        linger_seconds=_seconds("TURNKEEPER_SERVER_IDLE_TIMEOUT", server.idle_seconds),
        policy=Policy(
            create_grace_seconds=server.create_grace_seconds,
            detach_grace_seconds=_seconds("TURNKEEPER_SERVER_DETACH_GRACE", server.detach_grace_seconds),
            runs_keep_open=settings.runs.detached_runs,
        ),
    )


def _seconds(variable: str, default: float) -> float:
    """Whole seconds from the environment; anything else is as if nothing was said."""
    text = os.environ.get(variable, "")
    return float(text) if text.isdigit() else default


def default_host(env: Mapping[str, str]) -> str:
    return dirs.default_host(env)


def default_log_file(env: Mapping[str, str], host: Host) -> Path:
    """Where the server at a host writes."""
    return dirs.server_dir(env, str(host)) / "server.log"


__all__ = [
    "Access",
    "Encryption",
    "default_host",
    "default_log_file",
    "open_token",
    "parse_host",
    "renew",
    "run_server",
]
