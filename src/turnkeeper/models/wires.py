"""The two HTTP clients all voices share: one for the world, one for this computer.

Whoever opens them closes them: `async with open_wires() as wires`. The world's obeys the environment's proxies; this
computer's does not, since no proxy can reach a server on our own loopback.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

import anyio.to_thread
import httpx2
import msgspec

from turnkeeper.models.cassette import RECORD_VARIABLE, REPLAY_VARIABLE, Player, Recorder, Unplayable

CONNECTIONS_MAX = 100
CONNECTIONS_KEPT_MAX = 20
KEPT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Wires:
    remote: httpx2.AsyncClient
    local: httpx2.AsyncClient

    def to(self, url: str) -> httpx2.AsyncClient:
        return self.local if is_loopback(url) else self.remote


@asynccontextmanager
async def open_wires(environment: Mapping[str, str] | None = None) -> AsyncGenerator[Wires, None]:
    """Both clients, until the block ends. The certificates are read in a thread; it takes a while.

    Where the environment names a cassette, what is said goes through it, and through no proxy.
    """
    limits = httpx2.Limits(
        max_connections=CONNECTIONS_MAX,
        max_keepalive_connections=CONNECTIONS_KEPT_MAX,
        keepalive_expiry=KEPT_SECONDS,
    )
    tape = await anyio.to_thread.run_sync(cassette, environment or {}, limits)
    remote = await anyio.to_thread.run_sync(lambda: httpx2.AsyncClient(limits=limits, transport=tape))
    local = await anyio.to_thread.run_sync(lambda: httpx2.AsyncClient(limits=limits, transport=tape, trust_env=False))
    async with remote, local:
        yield Wires(remote, local)


def cassette(environment: Mapping[str, str], limits: httpx2.Limits) -> httpx2.AsyncBaseTransport | None:
    replay, record = environment.get(REPLAY_VARIABLE), environment.get(RECORD_VARIABLE)
    path = Path(replay or record or "")
    try:
        if replay:
            return Player(path, exactly=False)
        return Recorder(path, httpx2.AsyncHTTPTransport(limits=limits)) if record else None
    except (OSError, msgspec.MsgspecError) as error:
        return Unplayable(path, error)


def is_loopback(url: str) -> bool:
    """Whether a URL points to this computer and nowhere else."""
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
