"""Servers in processes of their own, and connections that cost a measurement as little as possible.

with ours(home) as server, bare(home) as other:
    with Connection(server.socket) as connection:
        status, body = connection.ask("GET", "/v1/health")
"""

import json
import os
import selectors
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import msgspec
import psutil

from turnkeeper.models.scripted import Say, Script, turn

START_SECONDS_MAX = 30.0
WAIT_SECONDS_MAX = 20.0
LOOK_SECONDS = 0.001
ROOT = Path(__file__).resolve().parent.parent
EVENT = b"data: "
MIB = 1024 * 1024


@dataclass(frozen=True)
class Server:
    socket: Path
    process: psutil.Popen
    ready_seconds: float

    @property
    def resident_mib(self) -> float:
        return self.process.memory_info().rss / MIB

    @property
    def processor_seconds(self) -> float:
        times = self.process.cpu_times()
        return times.user + times.system


class Connection:
    """One request after the other, over one socket."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(WAIT_SECONDS_MAX)
        self._socket.connect(str(path))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def ask(self, method: str, target: str, body: Any = None) -> tuple[int, bytes]:
        content = body if isinstance(body, bytes) else b"" if body is None else msgspec.json.encode(body)
        self._socket.sendall(request(method, target, content))
        head, rest = self._head()
        size = body_bytes(head)
        while len(rest) < size:
            rest += self._socket.recv(65536)
        return int(head[9:12]), rest

    def listen(self, target: str) -> socket.socket:
        """An event stream, from after its head."""
        self._socket.sendall(request("GET", target))
        head, _ = self._head()
        assert head.startswith(b"HTTP/1.1 200"), head
        self._socket.setblocking(False)
        return self._socket

    def _head(self) -> tuple[bytes, bytes]:
        said = b""
        while b"\r\n\r\n" not in said:
            said += self._socket.recv(65536)
        head, _, rest = said.partition(b"\r\n\r\n")
        return head, rest


def request(method: str, target: str, body: bytes = b"") -> bytes:
    return f"{method} {target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def body_bytes(head: bytes) -> int:
    return int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])


def hear(streams: Sequence[socket.socket], events: int) -> bytes:
    """Read until every stream has brought so many events; returns the last, as it came in the last stream."""
    said = b""
    with selectors.DefaultSelector() as ready:
        left: dict[socket.socket, tuple[int, bytes]] = {}
        for stream in streams:
            ready.register(stream, selectors.EVENT_READ)
            left[stream] = (events, b"")
        while left:
            heard = ready.select(WAIT_SECONDS_MAX)
            assert heard, "the streams have fallen silent"
            for key, _ in heard:
                stream = key.fileobj
                assert isinstance(stream, socket.socket)
                missing, rest = left[stream]
                said = rest + stream.recv(262_144)
                missing -= said.count(EVENT)
                assert missing >= 0, "more was told than happened"
                # A word that was cut in two is counted with its second half.
                left[stream] = (missing, said[1 - len(EVENT) :])
                if missing == 0:
                    del left[stream]
                    ready.unregister(stream)
    return said[said.rindex(EVENT) :].removesuffix(b"\r\n")


@contextmanager
def ours(home: Path, name: str = "ours") -> Generator[Server]:
    """The server as people start it, with a voice that says one word."""
    folders = {f"XDG_{kind.upper()}_HOME": str(home / kind) for kind in ("config", "data", "cache", "state")}
    script, config = home / "script.json", home / "config" / "crush" / "crush.json"
    script.write_bytes(msgspec.json.encode(Script((turn(Say("ok")),), again=True)))
    config.parent.mkdir(parents=True, exist_ok=True)
    chosen = {slot: {"provider": "mine", "model": "scripted"} for slot in ("large", "small")}
    provider = {"type": "scripted", "base_url": str(script)}
    config.write_text(json.dumps({"providers": {"mine": provider}, "models": chosen}))
    path = home / f"{name}.sock"
    with _server(path, home, folders, "turnkeeper", "server", "--host", f"unix://{path}") as server:
        yield server


@contextmanager
def bare(home: Path, *, database: str = "", name: str = "bare") -> Generator[Server]:
    """The least there could be instead; with a name for its database, it can write rows."""
    path = home / f"{name}.sock"
    with _server(path, ROOT, {}, "benchmarks._bare", str(path), str(home / database) if database else "") as server:
        yield server


@contextmanager
def _server(path: Path, cwd: Path, env: dict[str, str], *command: str) -> Generator[Server]:
    env = {"PATH": os.environ["PATH"], "HOME": str(path.parent), "XDG_RUNTIME_DIR": str(path.parent), **env}
    begin = time.perf_counter()
    process = psutil.Popen([sys.executable, "-m", *command], cwd=cwd, env=env, stderr=subprocess.DEVNULL)
    try:
        while not is_ready(path):
            assert time.perf_counter() - begin < START_SECONDS_MAX, f"{command[0]} does not start"
            time.sleep(LOOK_SECONDS)
        yield Server(path, process, time.perf_counter() - begin)
    finally:
        process.kill()
        process.wait()


def is_ready(path: Path) -> bool:
    try:
        with Connection(path) as connection:
            return connection.ask("GET", "/v1/health")[0] == 200
    except OSError:
        return False
