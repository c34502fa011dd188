"""A client's side of an ASGI application, in this process: bodies stream as they are sent, and hang-ups are heard.

    async with Bridge(app) as http:
        answer = await http.post("/v1/workspaces", {...})
        async with http.stream("/v1/…/events?client_id=…") as events:
            kind, payload = await events.next("run_complete")

It gives an application what a server gives it and nothing more, and every wait in it has a limit.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

import anyio
import msgspec
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream
from starlette.types import ASGIApp, Message, Scope

WAIT_SECONDS = 10.0


@dataclass
class Answered:
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return msgspec.json.decode(self.body)


@dataclass
class Heard:
    """One event as it came: its position, if it had one, and what it says."""

    id: int | None
    kind: str
    type: str
    payload: Any


@dataclass
class Events:
    """An open event stream."""

    status: int
    headers: dict[str, str]
    _chunks: MemoryObjectReceiveStream[bytes]
    seen: list[Heard] = field(default_factory=list[Heard])
    _rest: bytes = b""
    _ready: list[Heard] = field(default_factory=list[Heard])

    async def raw(self) -> bytes:
        """The next bytes as they were sent, for who reads no events; raises `EndOfStream` at the body's end."""
        with anyio.fail_after(WAIT_SECONDS):
            return await self._chunks.receive()

    async def any(self) -> Heard:
        """The next event; raises `EndOfStream` when the body has ended cleanly."""
        with anyio.fail_after(WAIT_SECONDS):
            while not self._ready:
                self._rest += await self._chunks.receive()
                *blocks, self._rest = self._rest.split(b"\n\n")
                self._ready += [heard for block in blocks if (heard := parsed(block))]
        self.seen.append(self._ready[0])
        return self._ready.pop(0)

    async def next(self, kind: str, type: str = "", **wanted: Any) -> Any:
        """The payload of the next event of this kind whose payload has these values."""
        while True:
            heard = await self.any()
            fits = all(heard.payload.get(key) == value for key, value in wanted.items())
            if heard.kind == kind and (not type or heard.type == type) and fits:
                return heard.payload

    async def until_end(self) -> list[Heard]:
        """Everything until the body ends cleanly."""
        heard: list[Heard] = []
        while True:
            try:
                heard.append(await self.any())
            except anyio.EndOfStream:
                return heard


def parsed(block: bytes) -> Heard | None:
    lines = [line for line in block.split(b"\n") if line]
    data = next((line[6:] for line in lines if line.startswith(b"data: ")), None)
    if data is None:
        return None
    id = next((int(line[4:]) for line in lines if line.startswith(b"id: ")), None)
    said = msgspec.json.decode(data)
    return Heard(
        id,
        said["type"],
        said["payload"]["type"],
        said["payload"]["payload"] if "payload" in said["payload"] else said["payload"],
    )


class Bridge:
    """Speaks to `app` as a client on a unix socket; with `client`, as one on TCP."""

    def __init__(self, app: ASGIApp, *, tcp: bool = False, headers: dict[str, str] | None = None) -> None:
        self._app = app
        self._tcp = tcp
        self._headers = headers or {}
        self._tasks: TaskGroup | None = None

    async def __aenter__(self) -> "Bridge":
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        return self

    async def __aexit__(self, *exc: Any) -> bool | None:
        assert self._tasks is not None
        self._tasks.cancel_scope.cancel()
        return await self._tasks.__aexit__(*exc)

    async def get(self, path: str, **headers: str) -> Answered:
        return await self.ask("GET", path, **headers)

    async def post(self, path: str, body: Any = None, **headers: str) -> Answered:
        return await self.ask("POST", path, body, **headers)

    async def delete(self, path: str) -> Answered:
        return await self.ask("DELETE", path)

    async def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answered:
        content = body if isinstance(body, bytes) else b"" if body is None else msgspec.json.encode(body)
        messages: list[Message] = [{"type": "http.request", "body": content, "more_body": False}]
        never = anyio.Event()

        async def receive() -> Message:
            if messages:
                return messages.pop(0)
            await never.wait()
            return {"type": "http.disconnect"}

        status, answered, body_parts = 0, dict[str, str](), list[bytes]()

        async def send(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                answered.update((k.decode(), v.decode("latin-1")) for k, v in message["headers"])
            else:
                body_parts.append(message.get("body", b""))

        with anyio.fail_after(WAIT_SECONDS):
            await self._app(self._scope(method, path, content, headers), receive, send)
        return Answered(status, answered, b"".join(body_parts))

    @asynccontextmanager
    async def stream(self, path: str, **headers: str) -> AsyncGenerator[Events]:
        """Open an event stream; leaving the block hangs up, and waits until that was noticed."""
        assert self._tasks is not None
        sending, receiving = anyio.create_memory_object_stream[bytes](100_000)
        started, left, over = anyio.Event(), anyio.Event(), anyio.Event()
        events = Events(0, {}, receiving)

        async def receive() -> Message:
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                events.status = message["status"]
                events.headers.update((k.decode(), v.decode("latin-1")) for k, v in message["headers"])
                started.set()
            elif not left.is_set():
                if message.get("body"):
                    # Whoever has hung up meanwhile hears nothing more.
                    with suppress(anyio.BrokenResourceError):
                        await sending.send(message["body"])
                if not message.get("more_body", False):
                    sending.close()

        async def talk() -> None:
            try:
                await self._app(self._scope("GET", path, b"", headers), receive, send)
            finally:
                sending.close()
                over.set()

        self._tasks.start_soon(talk)
        with anyio.fail_after(WAIT_SECONDS):
            await started.wait()
        try:
            yield events
        finally:
            left.set()
            receiving.close()
            with anyio.move_on_after(WAIT_SECONDS, shield=True):
                await over.wait()

    def _scope(self, method: str, path: str, content: bytes, headers: dict[str, str]) -> Scope:
        parts = urlsplit(path)
        said = {"host": "api.crush.localhost", "content-length": str(len(content)), **self._headers, **headers}
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": parts.path,
            "raw_path": quote(parts.path, safe="/%$@:").encode(),
            "query_string": parts.query.encode(),
            "root_path": "",
            "headers": [(key.replace("_", "-").lower().encode(), value.encode()) for key, value in said.items()],
            "server": ("127.0.0.1", 4096) if self._tcp else ("/run/turnkeeper.sock", None),
            "client": ("127.0.0.1", 50000) if self._tcp else None,
            "state": {},
        }
