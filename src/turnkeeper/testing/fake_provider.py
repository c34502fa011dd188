"""A provider on a loopback socket: strict about what it is asked, and as ill-behaved as a test wants it to be.

It speaks OpenAI chat, OpenAI Responses, Anthropic messages and Gemini, each at its usual path. It is given answers in
the words of `models/scripted.py`, plays one per question, and refuses every question its original would refuse: what it
found wrong is in `violations`. That a reader has gone is seen as it happens (`Asked.gone`).
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.abc
import msgspec

from turnkeeper.models.scripted import CallTool, Cut, Hold, Say, Stop, Think, Use
from turnkeeper.testing.fake_dialects import DIALECTS, Dialect

KEY = "sk-fake-0123456789"
HEAD_BYTES_MAX = 64 * 1024


@dataclass(frozen=True, slots=True)
class Refuse:
    """Answer with a status and no stream at all."""

    status: int
    message: str = "the fake says no"
    kind: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class ErrorEvent:
    """Break off in the middle with the dialect's own error event."""

    kind: str = "overloaded_error"
    message: str = "Overloaded"


@dataclass(frozen=True, slots=True)
class Garbage:
    """Send bytes that are no event of any dialect."""

    data: bytes = b"event: message_delta\ndata: {not json\n\n"


@dataclass(frozen=True, slots=True)
class Drip:
    """Send everything behind this in pieces of so many bytes, cutting through lines and characters."""

    size_bytes: int = 1


Step = Say | Think | CallTool | Use | Stop | Hold | Cut | Refuse | ErrorEvent | Garbage | Drip


@dataclass(slots=True)
class Asked:
    """One question as it arrived, and whether its reader has gone before the end."""

    dialect: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    gone: anyio.Event = field(default_factory=anyio.Event)


class FakeProvider:
    """Owns the answers still to be given and the questions that came."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.asked: list[Asked] = []
        self.violations: list[str] = []
        self.catalogue: list[str] = ["fake-model"]
        self._answers: list[Sequence[Step]] = []
        self._reached: dict[str, anyio.Event] = {}
        self._released: dict[str, anyio.Event] = {}

    def base_url(self, dialect: str) -> str:
        """Where this dialect's clients expect to begin."""
        return self.url + DIALECTS[dialect].prefix

    def answer(self, *steps: Step) -> None:
        """What the next question still unanswered will hear."""
        self._answers.append(steps)

    async def reached(self, gate: str) -> None:
        await self._reached.setdefault(gate, anyio.Event()).wait()

    def release(self, gate: str) -> None:
        self._released.setdefault(gate, anyio.Event()).set()

    async def serve(self, stream: anyio.abc.SocketStream) -> None:
        """One connection, one question."""
        async with stream:
            try:
                head, body = await read_request(stream)
                await self._reply(stream, head, body)
            except (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream):
                return

    async def _reply(self, stream: anyio.abc.SocketStream, head: "Head", content: bytes) -> None:
        if head.method == "GET" and head.path.endswith("/models"):
            listed = [{"id": id, "object": "model"} for id in self.catalogue]
            await send_json(stream, 200, {"object": "list", "data": listed})
            return
        dialect = next((one for one in DIALECTS.values() if one.is_at(head.path)), None)
        if dialect is None:
            await send_json(stream, 404, {"error": {"message": f"no such path: {head.path}"}})
            return
        body: dict[str, Any] = msgspec.json.decode(content or b"{}", type=dict[str, Any])
        asked = Asked(dialect.name, head.path, head.headers, body)
        self.asked.append(asked)
        wrong = dialect.wrong(head.path, head.headers, body)
        self.violations += [f"{dialect.name}: {what}" for what in wrong]
        if dialect.key_in(head.headers) != KEY:
            refusal = dialect.refusal(401, "authentication_error", "bad key " + dialect.key_in(head.headers))
            await send_json(stream, 401, refusal)
        elif wrong:
            await send_json(stream, 400, dialect.refusal(400, "invalid_request_error", "; ".join(wrong)))
        else:
            await self._play(stream, dialect, asked)

    async def _play(self, stream: anyio.abc.SocketStream, dialect: Dialect, asked: Asked) -> None:
        steps = self._answers.pop(0) if self._answers else (Refuse(418, "no answer was prepared"),)
        first = steps[0] if steps else None
        if isinstance(first, Refuse):
            body = dialect.refusal(first.status, first.kind, first.message)
            await send_json(stream, first.status, body, first.headers)
            return
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch, stream, asked, tasks.cancel_scope)
            await send_stream_head(stream)
            ended = await self._stream(stream, dialect, steps)
            if ended:
                await stream.send(b"0\r\n\r\n")
            tasks.cancel_scope.cancel()

    async def _watch(self, stream: anyio.abc.SocketStream, asked: Asked, scope: anyio.CancelScope) -> None:
        """A client says nothing more after its question; if the socket ends, it has gone."""
        try:
            while True:
                await stream.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            asked.gone.set()
            scope.cancel()

    async def _stream(self, stream: anyio.abc.SocketStream, dialect: Dialect, steps: Sequence[Step]) -> bool:
        """Play the steps; whether the stream came to its proper end."""
        drip = 0
        events = dialect.begin(steps)
        await send_chunk(stream, events.opening(), drip)
        for step in steps:
            match step:
                case Hold(gate=gate):
                    self._reached.setdefault(gate, anyio.Event()).set()
                    await self._released.setdefault(gate, anyio.Event()).wait()
                case Drip(size_bytes=size):
                    drip = size
                case Garbage(data=data):
                    await send_chunk(stream, data, drip)
                case Cut(quietly=quietly):
                    return quietly
                case ErrorEvent(kind=kind, message=message):
                    await send_chunk(stream, dialect.error_event(kind, message), drip)
                    return True
                case Say() | Think() | CallTool() | Use() | Stop():
                    await send_chunk(stream, events.said(step), drip)
                case Refuse():
                    raise AssertionError("a refusal comes before everything else")
        await send_chunk(stream, events.ending(), drip)
        return True


@asynccontextmanager
async def fake_provider() -> AsyncGenerator[FakeProvider, None]:
    """A fake that listens until the block ends."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
    port = listener.extra(anyio.abc.SocketAttribute.local_port)
    fake = FakeProvider(port)
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, fake.serve)
        try:
            yield fake
        finally:
            tasks.cancel_scope.cancel()


@dataclass(frozen=True, slots=True)
class Head:
    method: str
    path: str
    headers: dict[str, str]


async def read_request(stream: anyio.abc.SocketStream) -> tuple[Head, bytes]:
    received = b""
    while b"\r\n\r\n" not in received and len(received) < HEAD_BYTES_MAX:
        received += await stream.receive()
    top, _, body = received.partition(b"\r\n\r\n")
    first, *lines = top.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ")
    pairs = (line.partition(":") for line in lines)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    while len(body) < int(headers.get("content-length", "0")):
        body += await stream.receive()
    return Head(method, path, headers), body


async def send_json(
    stream: anyio.abc.SocketStream, status: int, body: object, headers: Mapping[str, str] | None = None
) -> None:
    content = msgspec.json.encode(body)
    lines = [
        f"HTTP/1.1 {status} Fake",
        "content-type: application/json",
        f"content-length: {len(content)}",
        "connection: close",
        *(f"{name}: {value}" for name, value in (headers or {}).items()),
    ]
    await stream.send("\r\n".join(lines).encode() + b"\r\n\r\n" + content)


async def send_stream_head(stream: anyio.abc.SocketStream) -> None:
    lines = ("HTTP/1.1 200 Fake", "content-type: text/event-stream", "transfer-encoding: chunked", "connection: close")
    await stream.send("\r\n".join(lines).encode() + b"\r\n\r\n")


async def send_chunk(stream: anyio.abc.SocketStream, data: bytes, drip_bytes: int) -> None:
    size = drip_bytes or len(data) or 1
    for start in range(0, len(data), size):
        piece = data[start : start + size]
        await stream.send(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
