"""A server of the original, as far as a client can tell: its routes and no others, its JSON, its streams without ids.

What it does not know is answered as the original's router answers it. Whatever a test needs to go wrong goes wrong on
purpose: streams that end or are cut, a workspace that is gone, a server that refuses, closes or never answers.
"""

import json
import re
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio.abc import SocketAttribute, SocketStream

Reply = tuple[int, Any]
EMPTY: Reply = (200, None)
NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 19\r\n\r\n404 page not found\n"
PRICES = ("cost_per_1m_in", "cost_per_1m_out", "cost_per_1m_in_cached", "cost_per_1m_out_cached")
MODEL: dict[str, Any] = dict.fromkeys(PRICES, 0) | {
    "id": "m",
    "name": "M",
    "context_window": 8000,
    "default_max_tokens": 100,
    "can_reason": False,
    "supports_attachments": False,
}
CONFIG: dict[str, Any] = {
    "models": {"large": {"model": "m", "provider": "p"}},
    "providers": {"p": {"id": "p", "name": "P", "models": [MODEL]}},
    "options": {"tui": {}},
}


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    query: str
    body: Any


Answers = Callable[["Original", dict[str, Any]], Awaitable[None]]


@dataclass
class Original:
    """Owns what the server knows. `asked` is every request so far; `answer` is how prompts are answered."""

    version: dict[str, str] = field(
        default_factory=lambda: {"version": "v0.60.0", "build_id": "b", "go_version": "go1"}
    )
    control: int = 409
    """How it answers `shutdown_if_idle`; 400 is a server too old to know the word."""
    create: list[int] = field(default_factory=list[int])
    """Statuses with which the next creations are refused, one after another."""
    opening: anyio.Event | None = None
    """Until it is set, no creation is answered."""
    prompt: int = 202
    retires: bool = True
    sent: dict[str, Reply] = field(default_factory=dict[str, Reply])
    """Answers that stand in the place of the usual ones, by `METHOD path` without the workspace."""
    answer: Answers | None = None
    asked: list[Asked] = field(default_factory=list[Asked])
    workspaces: dict[str, str] = field(default_factory=dict[str, str])
    sessions: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    messages: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])
    busy: set[str] = field(default_factory=set[str])
    granted: dict[str, str] = field(default_factory=dict[str, str])
    settled: anyio.Event = field(default_factory=anyio.Event)
    is_ready: bool = False
    followers: dict[str, set[SocketStream]] = field(default_factory=dict[str, set[SocketStream]])
    changed: anyio.Event = field(default_factory=anyio.Event)
    left: anyio.Event = field(default_factory=anyio.Event)

    def calls(self, pattern: str) -> list[Asked]:
        return [one for one in self.asked if re.fullmatch(pattern, f"{one.method} {one.path}")]

    async def until(self, true: Callable[[], bool]) -> None:
        """Wait for something that follows from a request or from a stream."""
        with anyio.fail_after(10):
            while not true():
                await self.changed.wait()

    def note(self) -> None:
        self.changed.set()
        self.changed = anyio.Event()

    async def tell(self, kind: str, payload: Any, event: str = "updated") -> None:
        """To every stream: one line, no id, no heartbeat."""
        data = json.dumps({"type": kind, "payload": {"type": event, "payload": payload}})
        await self.write(f"data: {data}\n\n".encode())

    async def write(self, said: bytes) -> None:
        for follower in [one for some in self.followers.values() for one in some]:
            await follower.send(b"%x\r\n%s\r\n" % (len(said), said))

    async def end_streams(self, *, properly: bool = True) -> None:
        """As a workspace that is torn down ends them; or cut in the middle, as a killed server does."""
        for follower in [one for some in self.followers.values() for one in some]:
            if properly:
                await follower.send(b"0\r\n\r\n")
            await follower.aclose()
        self.followers.clear()

    async def say(self, session_id: str, text: str, *, finished: bool = False, id: str = "a1") -> None:
        """The assistant's message as it stands: always the whole of it, and no run is named."""
        parts: list[Any] = [{"type": "text", "data": {"text": text}}] if text else []
        if finished:
            parts.append({"type": "finish", "data": {"reason": "end_turn", "time": 1}})
        said = message(session_id, id, "assistant", parts)
        known = self.messages.get(session_id, [])
        self.messages[session_id] = [one for one in known if one["id"] != id] + [said]
        await self.tell("message", said)

    async def finish(self, session_id: str, run_id: str, text: str = "", **more: Any) -> None:
        self.busy.discard(session_id)
        named = {"run_id": run_id} if run_id else {}
        await self.tell("run_complete", {"session_id": session_id, "message_id": "a1", "text": text} | named | more)

    async def ask_permission(self, session_id: str, params: Any, tool: str = "bash") -> str:
        """Ask, and wait as long as it takes; how it was answered."""
        request = {"id": "p1", "session_id": session_id, "tool_call_id": "c1", "tool_name": tool}
        request |= {"description": "run it", "action": "execute", "params": params, "path": "/p"}
        await self.tell("permission_request", request, "created")
        await self.until(lambda: "p1" in self.granted)
        return self.granted["p1"]


def message(session_id: str, id: str, role: str, parts: list[Any]) -> dict[str, Any]:
    who = {"model": "m", "provider": "p"} if role == "assistant" else {"model": "", "provider": ""}
    return {"parts": parts, "id": id, "role": role, "session_id": session_id, **who, "created_at": 1, "updated_at": 1}


async def plainly(server: Original, prompt: dict[str, Any]) -> None:
    """The usual answer: words as they come, the whole message each time, then the ending."""
    session = prompt["session_id"]
    for text in ("The", "The answer", "The answer."):
        await server.say(session, text)
    await server.say(session, "The answer.", finished=True)
    await server.finish(session, prompt.get("run_id", ""), "The answer.")


@asynccontextmanager
async def original(path: str = "", **how: Any) -> AsyncGenerator[tuple[str, Original]]:
    """The server and its address, until the block ends: on a unix socket at `path`, or on loopback."""
    server = Original(**how)
    made = await (anyio.create_unix_listener(path) if path else anyio.create_tcp_listener(local_host="127.0.0.1"))
    host = f"unix://{path}" if path else f"tcp://127.0.0.1:{made.extra(SocketAttribute.local_port)}"
    async with anyio.create_task_group() as tasks:

        async def handle(stream: SocketStream) -> None:
            async with stream:
                try:
                    await connection(server, stream, tasks.start_soon)
                except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                    pass

        async def listen() -> None:
            try:
                await made.serve(handle)
            except* anyio.ClosedResourceError:
                pass  # that is how it ends

        async def leave() -> None:
            await server.left.wait()
            await made.aclose()
            if path:
                await anyio.Path(path).unlink(missing_ok=True)

        tasks.start_soon(listen)
        tasks.start_soon(leave)
        yield host, server
        await made.aclose()
        tasks.cancel_scope.cancel()


async def connection(server: Original, stream: SocketStream, start: Callable[..., Any]) -> None:
    """Requests one after another, until one of them is for the stream."""
    read = b""
    while True:
        while b"\r\n\r\n" not in read:
            read += await stream.receive()
        head, _, read = read.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = int(headers.get("content-length", 0))
        while len(read) < length:
            read += await stream.receive()
        body, read = read[:length], read[length:]
        method, target, _ = first.split(" ")
        path, _, query = target.partition("?")
        asked = Asked(method, path, query, json.loads(body) if body else None)
        server.asked.append(asked)
        server.note()
        found = re.fullmatch(r"/v1/workspaces/([^/]+)/events", path)
        if found and found[1] in server.workspaces:
            await follow(server, stream, found[1])
            return
        await stream.send(response(await replied(server, asked, start)))
        server.note()


async def follow(server: Original, stream: SocketStream, workspace: str) -> None:
    server.followers.setdefault(workspace, set()).add(stream)
    head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\nTransfer-Encoding: chunked"
    await stream.send(head.encode() + b"\r\n\r\n")
    server.note()
    try:
        await stream.receive()
    finally:
        server.followers.get(workspace, set()).discard(stream)


def response(reply: Reply | bytes) -> bytes:
    if isinstance(reply, bytes):
        return reply
    status, value = reply
    body = b"" if value is None else value if isinstance(value, bytes) else json.dumps(value).encode() + b"\n"
    kind = "Content-Type: application/json\r\n" if body else ""
    return f"HTTP/1.1 {status} X\r\n{kind}Content-Length: {len(body)}\r\n\r\n".encode() + body


async def replied(server: Original, asked: Asked, start: Callable[..., Any]) -> Reply | bytes:
    match asked.method, asked.path.split("/")[2:]:
        case "GET", ["health"]:
            return EMPTY
        case "GET", ["version"]:
            return 200, server.version
        case "POST", ["control"]:
            return control(server, asked.body["command"])
        case "GET", ["workspaces"]:
            return 200, [{"id": id, "path": path, "config": CONFIG} for id, path in server.workspaces.items()]
        case "POST", ["workspaces"]:
            if server.opening:
                await server.opening.wait()
            return created(server, asked.body)
        case "DELETE", ["clients", _]:
            return EMPTY if server.retires else NOT_FOUND
        case "DELETE", ["workspaces", id]:
            server.workspaces.pop(id, None)
            return EMPTY
        case _, ["workspaces", id, *rest] if id in server.workspaces:
            place = "/".join(rest)
            if (sent := server.sent.get(f"{asked.method} {place}".strip())) is not None:
                return sent
            return within(server, id, place, asked, start)
        case _, ["workspaces", *_]:
            return 404, {"message": "workspace not found"}
        case _:
            return NOT_FOUND


def control(server: Original, command: str) -> Reply:
    status = server.control if command == "shutdown_if_idle" else 200
    if status == 200:
        server.left.set()
    return status, None if status == 200 else {"message": "refused"}


def created(server: Original, said: dict[str, Any]) -> Reply:
    if server.create:
        status = server.create.pop(0)
        return status, {"message": "server is shutting down" if status == 503 else "no"}
    id = next((id for id, path in server.workspaces.items() if path == said["path"]), str(uuid.uuid4()))
    server.workspaces[id] = said["path"]
    data_dir = f"{said['path']}/.crush"
    return 200, {"id": id, "path": said["path"], "data_dir": data_dir, "version": "v0.60.0", "config": CONFIG}


def within(server: Original, id: str, place: str, asked: Asked, start: Callable[..., Any]) -> Reply | bytes:
    body: dict[str, Any] = asked.body or {}
    match asked.method, place.split("/"):
        case "GET", [""]:
            return 200, {"id": id, "path": server.workspaces[id], "config": CONFIG}
        case "POST", ["current-session"]:
            return EMPTY if server.followers.get(id) else (409, {"message": "client not attached"})
        case "GET", ["config"]:
            return 200, CONFIG
        case "GET", ["agent"]:
            return 200, {"is_busy": False, "is_ready": server.is_ready, "model": MODEL, "model_cfg": {}}
        case "POST", ["agent", "init"]:
            server.is_ready = True
            return EMPTY
        case "POST", ["agent", "update"]:
            return EMPTY
        case "POST", ["agent"]:
            return submitted(server, body, start)
        case "GET", ["agent", "sessions", session]:
            return 200, row(session) | {"is_busy": session in server.busy}
        case "POST", ["agent", "sessions", session, "cancel"]:
            start(server.finish, session, "r")
            return EMPTY
        case "POST", ["permissions", "grant"]:
            return granted(server, body)
        case _, ["sessions", *rest]:
            return conversations(server, asked.method, rest, body)
        case _:
            return NOT_FOUND


def conversations(server: Original, method: str, rest: list[str], body: dict[str, Any]) -> Reply | bytes:
    match method, rest:
        case "GET", []:
            return 200, list(server.sessions.values())
        case "POST", []:
            session = str(uuid.uuid4())
            server.sessions[session], server.messages[session] = row(session) | {"title": body["title"]}, []
            return 200, server.sessions[session]
        case "DELETE", [session] if session in server.sessions:
            del server.sessions[session]
            return EMPTY
        case "GET", [session] if session in server.sessions:
            return 200, server.sessions[session]
        case "GET", [session, "messages"]:
            return 200, server.messages.get(session, [])
        case _:
            return NOT_FOUND


def submitted(server: Original, body: dict[str, Any], start: Callable[..., Any]) -> Reply:
    """As the original decodes it: a key that it does not know is passed over."""
    if not server.is_ready:
        return 500, {"message": "agent coordinator not initialized"}
    if server.prompt not in (200, 202):
        return server.prompt, server.sent.get("prompt", (0, None))[1]
    server.busy.add(body["session_id"])
    start(server.answer or plainly, server, body)
    return server.prompt, None


def granted(server: Original, body: dict[str, Any]) -> Reply:
    """Params must be there, and text is refused, though it is what was sent."""
    permission = body["permission"]
    if "params" not in permission or isinstance(permission["params"], str):
        return 400, {"message": "failed to decode request"}
    first = permission["id"] not in server.granted
    server.granted.setdefault(permission["id"], body["action"])
    server.note()
    return 200, {"resolved": first}


def row(session: str) -> dict[str, Any]:
    counts = dict.fromkeys(("message_count", "prompt_tokens", "completion_tokens", "cost", "attached_clients"), 0)
    texts = {"parent_session_id": "", "title": "", "summary_message_id": ""}
    return {"id": session, **texts, **counts, "created_at": 1, "updated_at": 1, "is_busy": False}
