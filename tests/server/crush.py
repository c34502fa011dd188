"""An unmodified client of the original, as far as a server can tell: its calls, in its order, read as it reads.

It writes requests as Go's `net/http` writes them, on connections it keeps; it reads a stream line by line as that
client does; and it refuses whatever that client's decoders would refuse, or would lose without a word.
"""

import uuid
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import msgspec
from anyio.abc import SocketStream

from tests.server.plain import Answer, Connection

Shape = Any
"""A type, a list of one shape, or a mapping of keys to shapes; a key that ends in `?` may be missing."""

TODO = {"content": str, "status": str, "active_form": str}
SESSION = {
    "id": str,
    "parent_session_id": str,
    "title": str,
    "message_count": int,
    "prompt_tokens": int,
    "completion_tokens": int,
    "summary_message_id": str,
    "cost": float,
    "todos?": [TODO],
    "created_at": int,
    "updated_at": int,
    "is_busy": bool,
    "attached_clients": int,
}
PARTS: Mapping[str, Shape] = {
    "text": {"text": str},
    "reasoning": {"thinking": str, "signature": str, "started_at?": int, "finished_at?": int},
    "tool_call": {"id": str, "name": str, "input": str, "type?": str, "finished?": bool},
    "tool_result": {
        "tool_call_id": str,
        "name": str,
        "content": str,
        "data?": str,
        "mime_type?": str,
        "metadata": str,
        "is_error": bool,
    },
    "finish": {"reason": str, "time": int, "message?": str, "details?": str},
    "image_url": {"url": str, "detail?": str},
    "binary": {"Path": str, "MIMEType": str, "Data": str},
    "shell_command": {"command": str, "output": str, "exit_code": int},
}
MESSAGE = {
    "parts": PARTS,
    "id": str,
    "role": str,
    "session_id": str,
    "model": str,
    "provider": str,
    "created_at": int,
    "updated_at": int,
    "is_summary_message?": bool,
}
PERMISSION = {
    "id": str,
    "session_id": str,
    "tool_call_id": str,
    "tool_name": str,
    "description": str,
    "action": str,
    "params": object,
    "path": str,
}
KINDS: Mapping[str, Shape] = {
    "session": SESSION,
    "message": MESSAGE,
    "file": {
        "id": str,
        "session_id": str,
        "path": str,
        "content": str,
        "version": int,
        "created_at": int,
        "updated_at": int,
    },
    "permission_request": PERMISSION,
    "permission_notification": {"tool_call_id": str, "granted": bool, "denied": bool},
    "question_batch_request": object,
    "question_batch_notification": {"batch_id": str},
    "agent_event": {
        "error?": str,
        "type": str,
        "message": MESSAGE,
        "run_id?": str,
        "session_id?": str,
        "session_title?": str,
    },
    "run_complete": {
        "session_id": str,
        "run_id?": str,
        "message_id": str,
        "text?": str,
        "error?": str,
        "cancelled?": bool,
    },
    "config_changed": {"workspace_id": str},
}
MODEL = {
    "id": str,
    "name": str,
    "cost_per_1m_in": float,
    "cost_per_1m_out": float,
    "cost_per_1m_in_cached": float,
    "cost_per_1m_out_cached": float,
    "context_window": int,
    "default_max_tokens": int,
    "can_reason": bool,
    "supports_attachments": bool,
}
AGENT = {"is_busy": bool, "is_ready": bool, "model": MODEL, "model_cfg": {"model": str, "provider": str}}


def misread(value: Any, shape: Shape, place: str = "") -> list[str]:
    """Where a decoder of the original would stumble, or lose something."""
    if shape is object:
        return []
    if shape is PARTS:
        return [found for at, part in enumerate(value) for found in misread_part(part, f"{place}[{at}]")]
    if isinstance(shape, list):
        return [found for at, one in enumerate(value) for found in misread(one, shape[0], f"{place}[{at}]")]
    if isinstance(shape, Mapping):
        return misread_object(value, shape, place)  # pyright: ignore[reportUnknownArgumentType]
    fits = isinstance(value, int | float) if shape is float else type(value) is shape
    return [] if fits else [f"{place} is {value!r}"]


def misread_part(part: Any, place: str) -> list[str]:
    if part["type"] not in PARTS:
        return [f"{place} is an unknown {part['type']}"]
    return misread(part["data"], PARTS[part["type"]], f"{place}.{part['type']}")


def misread_object(value: Any, shape: Mapping[str, Shape], place: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{place} is {value!r}"]
    known = {key.removesuffix("?"): one for key, one in shape.items()}
    missing = [f"{place}.{key} is missing" for key in shape if not key.endswith("?") and key not in value]
    wrong = [
        found
        for key, held in value.items()  # pyright: ignore[reportUnknownVariableType]
        for found in (misread(held, known[key], f"{place}.{key}") if key in known else [f"{place}.{key} is new"])
    ]
    return missing + wrong


@dataclass
class Told:
    kind: str
    type: str
    payload: Any


@dataclass
class Stream:
    """An event stream as that client reads it: line by line, whatever does not begin with `data:` skipped."""

    connection: Connection
    seen: list[Told] = field(default_factory=list[Told])
    problems: list[str] = field(default_factory=list[str])
    _text: bytes = b""

    async def next(self, kind: str, **wanted: Any) -> Any:
        while True:
            told = await self.any()
            if told.kind == kind and all(told.payload.get(key) == value for key, value in wanted.items()):
                return told.payload

    async def any(self) -> Told:
        while True:
            while b"\n" not in self._text:
                said = await self.connection.chunk()
                if not said:
                    raise anyio.EndOfStream
                self._text += said
            line, _, self._text = self._text.partition(b"\n")
            if line.strip().startswith(b"data:"):
                return self._decoded(line.strip().removeprefix(b"data:").strip())

    def _decoded(self, line: bytes) -> Told:
        envelope = msgspec.json.decode(line)
        kind, inner = envelope["type"], envelope["payload"]
        assert set(envelope) == {"type", "payload"}
        assert set(inner) == {"type", "payload"}
        if kind not in KINDS:
            self.problems.append(f"unknown kind {kind}")
        else:
            self.problems += misread(inner["payload"], KINDS[kind], kind)
        self.seen.append(Told(kind, inner["type"], inner["payload"]))
        return self.seen[-1]


@dataclass
class Crush:
    """One process of the original's: its calls go over connections it keeps, one for each that is under way."""

    dial: Callable[[], Any]
    host: str = "api.crush.localhost"
    compresses: bool = False
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    workspace: Any = None
    calls: list[str] = field(default_factory=list[str])
    _idle: list[Connection] = field(default_factory=list[Connection])

    @property
    def here(self) -> str:
        return f"/v1/workspaces/{self.workspace['id']}"

    def request(self, method: str, target: str, body: Any, headers: Mapping[str, str]) -> bytes:
        """As Go writes it: these headers, in this order."""
        content = body if isinstance(body, bytes) else b"" if body is None else msgspec.json.encode(body) + b"\n"
        lines = [f"{method} {target} HTTP/1.1", f"Host: {self.host}", "User-Agent: Go-http-client/1.1"]
        if body is not None or method in ("POST", "PUT"):
            lines.append(f"Content-Length: {len(content)}")
        lines += [f"{key}: {value}" for key, value in sorted(headers.items())]
        if self.compresses:
            lines.append("Accept-Encoding: gzip")
        return "\r\n".join([*lines, "", ""]).encode() + content

    async def call(self, method: str, target: str, body: Any = None, **headers: str) -> Answer:
        self.calls.append(f"{method} {target.replace(self.here, '…') if self.workspace else target}")
        said = {key.replace("_", "-").title(): value for key, value in headers.items()}
        if body is not None:
            said.setdefault("Content-Type", "application/json")
        connection = self._idle.pop() if self._idle else Connection(await self.dial())
        await connection.stream.send(self.request(method, target, body, said))
        answer = await connection.answer()
        assert "content-encoding" not in answer.headers
        self._idle.append(connection)
        return answer

    async def get(self, rest: str) -> Any:
        answer = await self.call("GET", self.here + rest)
        assert answer.status == 200, (rest, answer)
        return answer.json()

    async def post(self, rest: str, body: Any = None, *, status: int = 200) -> Any:
        answer = await self.call("POST", self.here + rest, body)
        assert answer.status == status, (rest, answer)
        return answer.json() if answer.body else None

    async def close(self) -> None:
        for connection in self._idle:
            await connection.stream.aclose()

    # What every command begins and ends with

    async def connect(self, path: str, version: str) -> bool:
        """7.0; whether the server may be kept."""
        if self.host == "api.crush.localhost":
            said = (await self.call("GET", "/v1/version")).json()
            if (said["version"], said["build_id"]) != (version, version):
                asked = await self.call(
                    "POST", "/v1/control", {"command": "shutdown_if_idle"}, content_type="text/plain"
                )
                if asked.status == 200:
                    return False
        assert (await self.call("GET", "/v1/health")).status == 200
        body = {"id": "", "path": path, "version": version, "client_id": self.id, "env": ["HOME=/home/u", "PATH=/bin"]}
        answer = await self.call("POST", "/v1/workspaces", body)
        assert answer.status == 200, answer
        self.workspace = answer.json()
        self.check_workspace()
        return True

    def check_workspace(self) -> None:
        """What the client dereferences without asking."""
        config = self.workspace["config"]
        assert isinstance(config["providers"], dict)
        assert isinstance(config["options"]["tui"], dict)
        assert config["options"]["data_directory"] == self.workspace["data_dir"]
        assert any(not one.get("disable") for one in config["providers"].values())

    @asynccontextmanager
    async def events(self) -> AsyncGenerator[Stream]:
        """The stream; leaving the block aborts the request, as quitting does."""
        target = f"{self.here}/events?client_id={self.id}"
        self.calls.append("GET …/events")
        stream: SocketStream = await self.dial()
        async with stream:
            asked = {"Accept": "text/event-stream", "Cache-Control": "no-cache", "Connection": "keep-alive"}
            await stream.send(self.request("GET", target, None, asked))
            connection = Connection(stream)
            line, headers = await connection.head()
            assert line == "HTTP/1.1 200 OK"
            assert headers["content-type"] == "text/event-stream"
            yield Stream(connection)

    async def retire(self) -> None:
        answer = await self.call("DELETE", f"/v1/clients/{self.id}")
        assert (answer.status, answer.body) == (200, b"")
        await self.close()
