"""A client of a real server on a real socket: a scripted model behind it, everything between is the real thing."""

import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio

from turnkeeper.client.client import Client
from turnkeeper.client.events import FeedLimits, Heard, Told
from turnkeeper.client.workspace import WorkspaceClient
from turnkeeper.models.scripted import Turn
from turnkeeper.protocol.hosts import Host
from turnkeeper.protocol.wire_stream import Envelope
from turnkeeper.server.listen import bind
from turnkeeper.server.serving import serve
from turnkeeper.testing.front import Front, front

WAIT_SECONDS = 10.0
QUICK_FEED = FeedLimits(first_pause_seconds=0.01, pause_seconds_max=0.05, steady_seconds=0.0)


@dataclass
class Served:
    front: Front
    host: Host

    @asynccontextmanager
    async def workspace(self, path: str = "/front", **more: Any) -> AsyncGenerator[WorkspaceClient]:
        async with Client(self.host, **more) as client:
            yield await client.open(path)


@asynccontextmanager
async def served(*turns: Turn, host: Host | None = None, **more: Any) -> AsyncGenerator[Served]:
    """The server, until the block ends. It stops as it does on a signal."""
    with TemporaryDirectory(prefix="tk-") as folder:
        host = host or Host("unix", str(Path(folder) / f"{uuid.uuid4().hex[:8]}.sock"))
        sockets = [bind(host)]
        if not host.is_unix:
            host = Host("tcp", f"127.0.0.1:{sockets[0].getsockname()[1]}")
        async with front(*turns, **more) as house, anyio.create_task_group() as tasks:
            await tasks.start(serve, house.door, sockets, house.reception)
            yield Served(house, host)
            house.reception.leaving.set()


async def told(heard: AsyncGenerator[Heard], kind: str, **wanted: Any) -> Envelope:
    """The next event of a kind whose payload has these values."""
    with anyio.fail_after(WAIT_SECONDS):
        async for one in heard:
            if isinstance(one, Told) and one.envelope.kind == kind:
                payload = one.envelope.payload
                if all(getattr(payload, name) == value for name, value in wanted.items()):
                    return one.envelope
    raise AssertionError(f"the feed ended before {kind}")
