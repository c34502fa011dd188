"""HTTP to one server, over a unix socket or TCP: every wait has a limit, and bodies are read as they come.

    free connection or a new one -> send -> head -> body -> free again, or closed where anything went wrong

Written on httptools, which the server speaks too: a command that asks one thing of a warm server is over before a
general HTTP client has been imported. A server that cannot be reached, stops in the middle or speaks something else
becomes one of the problems below; what it answers is not judged here.
"""

import os
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager

import anyio
import httptools
import msgspec
from anyio.abc import ByteStream

from turnkeeper.client.unix import connect_unix
from turnkeeper.protocol.hosts import Host
from turnkeeper.protocol.problems import Problem

CONNECT_SECONDS = 5.0
SEND_SECONDS = 30.0
ASK_SECONDS = 60.0
"""How long a server may be silent before an answer is given up on, unless the caller knows better."""
IDLE_SECONDS_MAX = 60.0
IDLE_SECONDS_ONCE = 2.0
"""A request that must not be sent twice goes over a connection that was in use a moment ago, or over a new one."""
IDLE_CONNECTIONS_MAX = 8
ANSWER_BYTES_MAX = 512 * 1024 * 1024
RECEIVE_BYTES = 256 * 1024
REPEATABLE = frozenset({"GET", "PUT", "DELETE", "PATCH"})


class ServerUnreachable(Problem):
    """No server answers there."""

    status = 503


class ServerLost(Problem):
    """The server went away in the middle of an answer."""

    status = 502


class ServerSilent(ServerLost):
    """The server did not answer in time."""

    status = 504


class NotAServer(Problem):
    """What answers there does not speak HTTP."""

    status = 502


class Answer(msgspec.Struct, frozen=True):
    status: int
    headers: Mapping[str, str]
    body: bytes


class Reading:
    """What has been read of one answer; httptools fills it in."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.has_head = False
        self.is_whole = False
        self.body: list[bytes] = []
        self.parser = httptools.HttpResponseParser(self)

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        self.status = self.parser.get_status_code()
        self.has_head = True

    def on_body(self, body: bytes) -> None:
        self.body.append(body)

    def on_message_complete(self) -> None:
        self.is_whole = True

    @property
    def ends_with_the_connection(self) -> bool:
        return "content-length" not in self.headers and "transfer-encoding" not in self.headers

    def taken(self) -> bytes:
        """What came of the body since it was last asked for."""
        body = b"".join(self.body)
        self.body.clear()
        return body


class Connection:
    """Owns one connection; it carries one exchange at a time."""

    def __init__(self, stream: ByteStream, host: Host) -> None:
        self._stream = stream
        self._host = host
        self.idle_since = 0.0
        self.reading = Reading()

    async def exchange(self, request: bytes, *, seconds: float, meanwhile: Callable[[], object] | None = None) -> None:
        """Send a request and read until the head of its answer is there; `meanwhile` is done as soon as it is sent."""
        self.reading = Reading()
        with anyio.move_on_after(SEND_SECONDS) as sending:
            try:
                await self._stream.send(request)
            except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
                raise ServerLost(f"the server at {self._host} closed the connection") from error
        if sending.cancelled_caught:
            raise ServerSilent(f"the server at {self._host} does not read what it is sent")
        if meanwhile is not None:
            meanwhile()
        while not self.reading.has_head:
            await self.receive(seconds)

    async def receive(self, seconds: float) -> None:
        """Read a little more of the answer."""
        data = b""
        with anyio.move_on_after(seconds) as waiting:
            try:
                data = await self._stream.receive(RECEIVE_BYTES)
            except (OSError, anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
                if not (self.reading.has_head and self.reading.ends_with_the_connection):
                    raise ServerLost(f"the server at {self._host} closed the connection") from error
                self.reading.is_whole = True
                return
        if waiting.cancelled_caught:
            raise ServerSilent(f"the server at {self._host} said nothing for {seconds:g} seconds")
        try:
            self.reading.parser.feed_data(data)
        except httptools.HttpParserUpgrade as error:
            raise NotAServer(f"the server at {self._host} wants to speak something else") from error
        except httptools.HttpParserError as error:
            raise NotAServer(f"what answers at {self._host} does not speak HTTP") from error

    @property
    def is_reusable(self) -> bool:
        reading = self.reading
        return reading.is_whole and not reading.ends_with_the_connection and reading.parser.should_keep_alive()

    async def aclose(self) -> None:
        await anyio.aclose_forcefully(self._stream)


class Http:
    """Owns the connections to one server that are idle. Used as a block, it closes them at its end."""

    def __init__(self, host: Host, *, headers: Mapping[str, str] | None = None) -> None:
        self.host = host
        self._idle: list[Connection] = []
        name = "turnkeeper.localhost" if host.is_unix else host.address
        self._headers = {"Host": name, "Accept": "*/*", **(headers or {})}

    async def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        seconds: float = ASK_SECONDS,
        repeatable: bool | None = None,
        headers: Mapping[str, str] | None = None,
        meanwhile: Callable[[], object] | None = None,
    ) -> Answer:
        """One request and its whole answer. What is `repeatable` is sent again if a kept connection turns out dead.

        `meanwhile` is what the program has to do anyway, and does while the server works at the answer.
        """
        repeatable = method in REPEATABLE if repeatable is None else repeatable
        request = self._request(method, path, body, headers)
        while (kept := await self._kept(IDLE_SECONDS_MAX if repeatable else IDLE_SECONDS_ONCE)) is not None:
            try:
                return await self._answer(kept, request, seconds, meanwhile)
            except ServerSilent:
                raise
            except ServerLost:
                if not repeatable or kept.reading.has_head:
                    raise
        return await self._answer(await self._connect(), request, seconds, meanwhile)

    @asynccontextmanager
    async def stream(
        self, path: str, *, seconds: float = ASK_SECONDS, headers: Mapping[str, str] | None = None
    ) -> AsyncGenerator["Stream"]:
        """An answer whose body is read as it comes; the connection is closed when the block ends."""
        connection = await self._connect()
        try:
            await connection.exchange(self._request("GET", path, None, headers), seconds=seconds)
            yield Stream(connection)
        finally:
            await connection.aclose()

    async def aclose(self) -> None:
        idle, self._idle = self._idle, []
        for connection in idle:
            await connection.aclose()

    async def _answer(
        self, connection: Connection, request: bytes, seconds: float, meanwhile: Callable[[], object] | None
    ) -> Answer:
        try:
            await connection.exchange(request, seconds=seconds, meanwhile=meanwhile)
            async with aclosing(Stream(connection).chunks(seconds=seconds)) as chunks:
                body: list[bytes] = []
                size = 0
                async for chunk in chunks:
                    body.append(chunk)
                    size += len(chunk)
                    if size > ANSWER_BYTES_MAX:
                        raise NotAServer(f"the answer is larger than {ANSWER_BYTES_MAX} bytes")
        except BaseException:
            # A cancelled exchange too leaves a connection on which nobody knows what comes next.
            await connection.aclose()
            raise
        reading = connection.reading
        if connection.is_reusable and len(self._idle) < IDLE_CONNECTIONS_MAX:
            connection.idle_since = time.monotonic()
            self._idle.append(connection)
        else:
            await connection.aclose()
        return Answer(reading.status, reading.headers, b"".join(body))

    async def _kept(self, idle_seconds_max: float) -> Connection | None:
        """The connection used last, if that is not too long ago."""
        if not self._idle:
            return None
        if time.monotonic() - self._idle[-1].idle_since <= idle_seconds_max:
            return self._idle.pop()
        if time.monotonic() - self._idle[-1].idle_since > IDLE_SECONDS_MAX:
            await self.aclose()
        return None

    async def _connect(self) -> Connection:
        with anyio.move_on_after(CONNECT_SECONDS):
            try:
                if self.host.is_unix:
                    return Connection(await connect_unix(self.host.address), self.host)
                return Connection(await anyio.connect_tcp(self.host.name, self.host.port), self.host)
            except OSError as error:
                raise ServerUnreachable(f"no server answers at {self.host}: {reason(error)}") from error
        raise ServerUnreachable(f"no server answers at {self.host} within {CONNECT_SECONDS:g} seconds")

    def _request(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str] | None) -> bytes:
        said = {**self._headers, **(headers or {})}
        if body is not None:
            said["Content-Type"] = "application/json"
        if body is not None or method != "GET":
            said["Content-Length"] = str(len(body or b""))
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in said.items())]
        if any("\r" in line or "\n" in line for line in lines):
            raise ValueError("a line of the request holds a line break")
        return "\r\n".join(lines).encode("latin-1", "replace") + b"\r\n\r\n" + (body or b"")


class Stream(msgspec.Struct, frozen=True):
    """An answer on its way."""

    _connection: Connection

    @property
    def status(self) -> int:
        return self._connection.reading.status

    async def chunks(self, *, seconds: float) -> AsyncGenerator[bytes]:
        """The body as it comes, until its end; `ServerSilent` when nothing came for so long."""
        reading = self._connection.reading
        while True:
            if chunk := reading.taken():
                yield chunk
            if reading.is_whole:
                return
            await self._connection.receive(seconds)

    async def body(self, *, seconds: float = ASK_SECONDS) -> bytes:
        async with aclosing(self.chunks(seconds=seconds)) as chunks:
            return b"".join([chunk async for chunk in chunks])


def reason(error: BaseException) -> str:
    """What the system says, without numbers and paths that were said already."""
    match error.__cause__:
        case BaseExceptionGroup(exceptions=(OSError() as first, *_)) | (OSError() as first):
            # Several addresses were tried; what the first one said stands for all.
            return reason(first)
        case _:
            pass
    if isinstance(error, OSError) and error.errno:
        # A name that is not found has a number of its own, which `strerror` does not know.
        return (os.strerror(error.errno) if error.errno > 0 else str(error.strerror)).lower()
    return (str(error) or type(error).__name__).lower()
