"""A client that knows bytes and little else: it shows what came over the socket as it came.

async with served(turn(Say("hello"))) as door:
    answer = await ask(door.socket, "GET", "/v1/health")
    async with watch(door.socket, "/v1/…/events?client_id=…") as stream:
        chunk = await stream.chunk()
"""

import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import msgspec
from anyio.abc import SocketStream

from turnkeeper.models.scripted import Turn
from turnkeeper.protocol.hosts import Host
from turnkeeper.server.bounds import Bounds
from turnkeeper.server.listen import bind
from turnkeeper.server.serving import serve
from turnkeeper.testing.bridge import Heard, parsed
from turnkeeper.testing.front import Front, front

WAIT_SECONDS = 10.0
HOST = "api.crush.localhost"


@dataclass(frozen=True)
class Answer:
    line: str
    headers: dict[str, str]
    body: bytes

    @property
    def status(self) -> int:
        return int(self.line.split(" ")[1])

    def json(self) -> Any:
        return msgspec.json.decode(self.body)


@dataclass
class Connection:
    """One connection, and what was read ahead of it."""

    stream: SocketStream
    rest: bytes = b""

    async def line(self) -> bytes:
        with anyio.fail_after(WAIT_SECONDS):
            while b"\r\n" not in self.rest:
                self.rest += await self.stream.receive()
        line, _, self.rest = self.rest.partition(b"\r\n")
        return line

    async def exactly(self, size: int) -> bytes:
        with anyio.fail_after(WAIT_SECONDS):
            while len(self.rest) < size:
                self.rest += await self.stream.receive()
        taken, self.rest = self.rest[:size], self.rest[size:]
        return taken

    async def head(self) -> tuple[str, dict[str, str]]:
        line = (await self.line()).decode()
        headers: dict[str, str] = {}
        while said := (await self.line()).decode("latin-1"):
            name, _, value = said.partition(": ")
            headers[name.lower()] = value
        return line, headers

    async def chunk(self) -> bytes:
        """The next chunk of a chunked body; the terminating one is empty."""
        taken = await self.exactly(int(await self.line(), 16))
        assert await self.exactly(2) == b"\r\n"
        return taken

    async def answer(self, *, has_body: bool = True) -> Answer:
        line, headers = await self.head()
        if not has_body:
            return Answer(line, headers, b"")
        if headers.get("transfer-encoding") == "chunked":
            parts = [part async for part in self.chunks()]
            return Answer(line, headers, b"".join(parts))
        return Answer(line, headers, await self.exactly(int(headers["content-length"])))

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        while part := await self.chunk():
            yield part


@dataclass
class Watching(Connection):
    """An event stream as bytes and as events."""

    line_: str = ""
    headers: dict[str, str] = field(default_factory=dict[str, str])
    seen: list[Heard] = field(default_factory=list[Heard])
    raw: bytes = b""
    _ready: list[tuple[Heard, bytes]] = field(default_factory=list[tuple[Heard, bytes]])
    _block: bytes = b""

    async def event(self) -> tuple[Heard, bytes]:
        """The next event, and the bytes it came as; raises `EndOfStream` after the terminating chunk."""
        while not self._ready:
            said = await self.chunk()
            if not said:
                raise anyio.EndOfStream
            self.raw += said
            *blocks, self._block = (self._block + said).split(b"\n\n")
            self._ready += [(heard, block + b"\n\n") for block in blocks if (heard := parsed(block))]
        self.seen.append(self._ready[0][0])
        return self._ready.pop(0)

    async def next(self, kind: str, **wanted: Any) -> Any:
        """The payload of the next event of this kind with these values."""
        while True:
            heard, _ = await self.event()
            if heard.kind == kind and all(heard.payload.get(key) == value for key, value in wanted.items()):
                return heard.payload

    async def until_end(self) -> list[Heard]:
        heard: list[Heard] = []
        while True:
            try:
                heard.append((await self.event())[0])
            except anyio.EndOfStream:
                return heard


async def connect(socket: Path) -> SocketStream:
    with anyio.fail_after(WAIT_SECONDS):
        return await anyio.connect_unix(socket)


def request(method: str, target: str, body: Any = None, *headers: str) -> bytes:
    """A request as the original's client writes it."""
    content = body if isinstance(body, bytes) else b"" if body is None else msgspec.json.encode(body)
    said = [f"{method} {target} HTTP/1.1", f"Host: {HOST}", "User-Agent: Go-http-client/1.1", *headers]
    if body is not None or method in ("POST", "PUT", "PATCH"):
        said.append(f"Content-Length: {len(content)}")
    if body is not None and not any(header.startswith("Content-Type") for header in headers):
        said.append("Content-Type: application/json")
    return "\r\n".join([*said, "", ""]).encode() + content


async def ask(socket: Path, method: str, target: str, body: Any = None, *headers: str) -> Answer:
    async with await connect(socket) as stream:
        await stream.send(request(method, target, body, *headers))
        return await Connection(stream).answer(has_body=method != "HEAD")


@asynccontextmanager
async def watch(socket: Path, target: str, *headers: str) -> AsyncGenerator[Watching]:
    """An event stream; leaving the block hangs up."""
    async with await connect(socket) as stream:
        asked = ("Accept: text/event-stream", "Cache-Control: no-cache", "Connection: keep-alive", *headers)
        await stream.send(request("GET", target, None, *asked))
        watching = Watching(stream)
        watching.line_, watching.headers = await watching.head()
        yield watching


@dataclass
class Served:
    """A whole server in this process, on a real socket."""

    house: Front
    socket: Path
    left: anyio.Event
    port: int = 0
    """On this computer, if it listens there rather than on the socket."""

    async def post(self, target: str, body: Any = None) -> Answer:
        return await ask(self.socket, "POST", target, body)

    async def get(self, target: str) -> Answer:
        return await ask(self.socket, "GET", target)


@asynccontextmanager
async def served(*turns: Turn, tcp: bool = False, bounds: Bounds | None = None, **more: Any) -> AsyncGenerator[Served]:
    with tempfile.TemporaryDirectory(prefix="tk-") as folder:
        socket = Path(folder) / "s.sock"
        async with front(*turns, **more) as house, anyio.create_task_group() as tasks:
            left = anyio.Event()
            listening = bind(Host("tcp", "127.0.0.1:0") if tcp else Host("unix", str(socket)))

            async def serving() -> None:
                await serve(house.door, [listening], house.reception, bounds=bounds or Bounds())
                left.set()

            port = listening.getsockname()[1] if tcp else 0
            tasks.start_soon(serving)
            try:
                yield Served(house, socket, left, port)
            finally:
                house.reception.leaving.set()
