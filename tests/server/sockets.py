"""A server on real sockets, in this process; and a client that says exactly the bytes it is told to say."""

import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import msgspec
from anyio.abc import ByteStream

from turnkeeper.models.scripted import Turn
from turnkeeper.protocol.hosts import Host
from turnkeeper.server.bounds import Bounds
from turnkeeper.server.listen import bind
from turnkeeper.server.serving import Encryption, serve
from turnkeeper.testing.front import Front, front

WAIT_SECONDS = 10.0
LOCAL = {"host": "api.crush.localhost"}


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes
    ended: bool = True
    """Whether a chunked body had its terminating chunk."""

    def json(self) -> Any:
        return msgspec.json.decode(self.body)


@dataclass
class Line:
    """One connection."""

    stream: ByteStream
    _rest: bytes = field(default=b"", repr=False)

    async def say(self, data: bytes) -> None:
        with anyio.fail_after(WAIT_SECONDS):
            await self.stream.send(data)

    async def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        await self.say(request(method, path, body, headers))
        return await self.answer()

    async def answer(self) -> Answer:
        """The next answer, whole."""
        answer = await self.head()
        if answer.headers.get("transfer-encoding") == "chunked":
            body, ended = await self._chunks()
            return replace(answer, body=body, ended=ended)
        length = int(answer.headers.get("content-length", "0"))
        while len(self._rest) < length:
            self._rest += await self._receive()
        body, self._rest = self._rest[:length], self._rest[length:]
        return replace(answer, body=body)

    async def head(self) -> Answer:
        """The next answer's head; what follows is its body."""
        while b"\r\n\r\n" not in self._rest:
            self._rest += await self._receive()
        head, _, self._rest = self._rest.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        pairs = (line.partition(":")[::2] for line in lines)
        return Answer(int(first.split()[1]), {key.lower(): value.strip() for key, value in pairs}, b"")

    async def head_or_end(self) -> bytes:
        """The first line of an answer; nothing when the connection was closed instead."""
        try:
            while b"\r\n" not in self._rest:
                self._rest += await self._receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            pass
        return self._rest.partition(b"\r\n")[0]

    async def _chunks(self) -> tuple[bytes, bool]:
        body = b""
        while (chunk := await self.chunk()) is not None:
            if not chunk:
                return body, True
            body += chunk
        return body, False

    async def chunk(self) -> bytes | None:
        """The next chunk of a chunked body: empty at its proper end, None when the connection was cut."""
        try:
            while b"\r\n" not in self._rest:
                self._rest += await self._receive()
            size, _, self._rest = self._rest.partition(b"\r\n")
            length = int(size, 16)
            while len(self._rest) < length + 2:
                self._rest += await self._receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return None
        chunk, self._rest = self._rest[:length], self._rest[length + 2 :]
        return chunk

    async def until(self, text: bytes) -> bytes:
        """Everything of a chunked body up to the chunk in which `text` is whole."""
        heard = b""
        while text not in heard:
            chunk = await self.chunk()
            assert chunk, heard
            heard += chunk
        return heard

    async def closed(self) -> bytes:
        """What is still said until the other side closes."""
        said, self._rest = self._rest, b""
        try:
            while True:
                said += await self._receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return said

    async def _receive(self) -> bytes:
        with anyio.fail_after(WAIT_SECONDS):
            return await self.stream.receive()


def request(method: str, path: str, body: Any = None, headers: Mapping[str, str] = LOCAL) -> bytes:
    content = body if isinstance(body, bytes) else b"" if body is None else msgspec.json.encode(body)
    said = {"content-length": str(len(content)), **LOCAL}
    said.update({name.replace("_", "-"): value for name, value in headers.items()})
    lines = "".join(f"{name}: {value}\r\n" for name, value in said.items())
    return f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode("latin-1") + content


@dataclass
class Server:
    """A server that listens on a unix socket and on a TCP port of this computer."""

    house: Front
    path: Path
    port: int
    stopped: anyio.Event = field(default_factory=anyio.Event)

    @asynccontextmanager
    async def unix(self) -> AsyncGenerator[Line]:
        async with await anyio.connect_unix(self.path) as stream:
            yield Line(stream)

    @asynccontextmanager
    async def tcp(self) -> AsyncGenerator[Line]:
        async with await anyio.connect_tcp("127.0.0.1", self.port) as stream:
            yield Line(stream)

    @asynccontextmanager
    async def tls(self, context: ssl.SSLContext) -> AsyncGenerator[Line]:
        async with await anyio.connect_tcp(
            "127.0.0.1", self.port, ssl_context=context, tls_hostname="localhost", tls_standard_compatible=False
        ) as stream:
            yield Line(stream)

    def stop(self) -> None:
        self.house.reception.leaving.set()


@asynccontextmanager
async def server(
    *turns: Turn, bounds: Bounds | None = None, encryption: Encryption | None = None, **more: Any
) -> AsyncGenerator[Server]:
    """Serves for as long as the block lasts, or until it is stopped."""
    with TemporaryDirectory() as directory:
        path = Path(directory, "door.sock")
        sockets = [bind(Host("unix", str(path))), bind(Host("tcp", "127.0.0.1:0"))]
        port = sockets[1].getsockname()[1]
        async with front(*turns, **more) as house, anyio.create_task_group() as tasks:
            running = Server(house, path, port)
            served = partial(
                serve, house.door, sockets, house.reception, bounds=bounds or Bounds(), encryption=encryption
            )

            async def run(*, task_status: anyio.abc.TaskStatus[None]) -> None:
                await served(task_status=task_status)
                running.stopped.set()

            await tasks.start(run)
            try:
                yield running
            finally:
                running.stop()
                with anyio.move_on_after(WAIT_SECONDS, shield=True):
                    await running.stopped.wait()
                tasks.cancel_scope.cancel()
