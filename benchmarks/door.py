"""What the door costs beside the least that could be done on the same HTTP server; exit 1 when a bound is broken.

    a prompt       from POST to 202, on disk, beside a POST that commits one row; and how the slowest of 50 clients at
                   once fare beside the middle ones
    500 watchers   how much they are told in a second, beside one buffer of the same bytes pushed to as many
    standing by    how long until the first answer and how much memory an idle server holds, beside Python alone and
                   beside the bare application

Both servers are processes of their own on unix sockets and are measured in turns. The machine does other things, too,
so of each the best round counts.
"""

import asyncio
import itertools
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from threading import Thread
from typing import Any

import msgspec
import psutil

from benchmarks._servers import MIB, Connection, Server, bare, body_bytes, hear, ours, request

ACCEPT_MAX = 3.0
SLOWEST_MAX = 10.0
FAN_OUT_MIN = 0.6
READY_SECONDS_MAX = 0.5
RESIDENT_MIB_MAX = 70.0

ROUNDS = 5
PROMPTS = 100
"""Of one client, in each round."""
CLIENTS, PROMPTS_EACH = 50, 20
WATCHERS, EVENTS = 500, 100
SETTLE_SECONDS = 3.0
"""After which a server has loaded what it loads behind its open door."""
TEXT = "Please look at the failing test in tests/engine and tell me why it fails; then mend it. " * 4


@dataclass
class Workspace:
    """An open one, over one connection."""

    http: Connection
    path: str

    def post(self, rest: str, body: Any) -> bytes:
        status, said = self.http.ask("POST", f"{self.path}{rest}", body)
        assert status in (200, 202), said
        return said

    def session(self) -> str:
        return msgspec.json.decode(self.post("/sessions", {"title": "named"}))["id"]

    def prompt(self, session: str) -> float:
        """Seconds until the 202; the run is over when this returns."""
        run = str(uuid.uuid4())
        body = msgspec.json.encode({"session_id": session, "run_id": run, "prompt": TEXT})
        begin = time.perf_counter()
        self.post("/agent", body)
        spent = time.perf_counter() - begin
        self.http.ask("GET", f"{self.path}/runs/{run}/wait?timeout=30")
        return spent


def opened(server: Server, project: Path) -> Workspace:
    http = Connection(server.socket)
    body = {"path": str(project), "client_id": str(uuid.uuid4())}
    status, said = http.ask("POST", "/v1/workspaces", body)
    assert status == 200, said
    return Workspace(http, f"/v1/workspaces/{msgspec.json.decode(said)['id']}")


def row(http: Connection) -> float:
    body = msgspec.json.encode({"session_id": "x" * 36, "run_id": "y" * 36, "prompt": TEXT})
    begin = time.perf_counter()
    assert http.ask("POST", "/row", body)[0] == 202
    return time.perf_counter() - begin


def accepting(server: Server, other: Server, project: Path) -> float:
    """The median 202 beside the median row."""
    workspace, http = opened(server, project), Connection(other.socket)
    session = workspace.session()
    rounds: list[tuple[float, float]] = []
    for _ in range(ROUNDS + 1):
        pairs = [(workspace.prompt(session), row(http)) for _ in range(PROMPTS)]
        rounds.append((median(ours for ours, _ in pairs), median(theirs for _, theirs in pairs)))
    mine, theirs = least(rounds[1:])
    print(f"     202 after {mine * 1000:.2f} ms, a row after {theirs * 1000:.2f} ms")
    return mine / theirs


async def crowded(server: Server, project: Path) -> float:
    """The 99th of a hundred beside the median, with 50 clients prompting in sessions of their own."""
    sessions = [(workspace := opened(server, project)).session() for _ in range(CLIENTS)]
    path = workspace.path

    async def one(session: str) -> list[float]:
        reader, writer = await asyncio.open_unix_connection(server.socket)

        async def ask(method: str, target: str, body: bytes = b"") -> None:
            writer.write(request(method, target, body))
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(body_bytes(head))

        spent: list[float] = []
        for _ in range(PROMPTS_EACH):
            run = str(uuid.uuid4())
            body = msgspec.json.encode({"session_id": session, "run_id": run, "prompt": TEXT})
            begin = time.perf_counter()
            await ask("POST", f"{path}/agent", body)
            spent.append(time.perf_counter() - begin)
            await ask("GET", f"{path}/runs/{run}/wait?timeout=30")
        writer.close()
        return spent

    rounds: list[tuple[float, float]] = []
    for _ in range(ROUNDS + 1):
        spent = [seconds for some in await asyncio.gather(*map(one, sessions)) for seconds in some]
        rounds.append((quantiles(spent, n=100)[98], median(spent)))
    slowest, middle = min(rounds[1:])
    print(f"     with {CLIENTS} clients: half after {middle * 1000:.1f} ms, 99 of 100 after {slowest * 1000:.1f} ms")
    return slowest / middle


def fanning_out(server: Server, other: Server, project: Path) -> float:
    """Deliveries in a second beside the bare ones; what is told has the bytes of what is pushed."""
    workspace, http = opened(server, project), Connection(other.socket)
    session = workspace.session()
    client = str(uuid.uuid4())

    names = itertools.count(1000)

    def rename() -> None:
        body = {"id": session, "title": f"name {next(names)}"}
        assert workspace.http.ask("PUT", f"{workspace.path}/sessions/{session}", body)[0] == 200

    def told() -> None:
        for _ in range(EVENTS):
            rename()

    mine = [Connection(server.socket).listen(f"{workspace.path}/events?client_id={client}") for _ in range(WATCHERS)]
    theirs = [Connection(other.socket).listen("/events") for _ in range(WATCHERS)]
    rename()
    buffer = hear(mine, 1)

    def pushed() -> None:
        http.ask("POST", f"/push?n={EVENTS}", buffer)

    rounds = [(per_second(mine, told), per_second(theirs, pushed)) for _ in range(ROUNDS + 1)]
    most_told, most_pushed = (max(one[side] for one in rounds[1:]) for side in (0, 1))
    print(f"     {WATCHERS} watchers: told {most_told:,.0f} events a second, pushed {most_pushed:,.0f}")
    return most_told / most_pushed


def per_second(streams: Sequence[socket.socket], publish: Callable[[], None]) -> float:
    begin = time.perf_counter()
    publisher = Thread(target=publish)
    publisher.start()
    hear(streams, EVENTS)
    spent = time.perf_counter() - begin
    publisher.join()
    return len(streams) * EVENTS / spent


def standing_by(home: Path) -> tuple[float, float]:
    """Seconds until the first answer, and mebibytes once all is loaded; the best of the rounds."""
    rows: dict[str, tuple[float, float]] = {}
    rounds = range(ROUNDS)
    rows["Python alone"] = least([python_alone() for _ in rounds])
    rows["a bare application"] = least([standing(bare(home, name=f"b{number}")) for number in rounds])
    rows["our server"] = least([standing(ours(home, name=f"o{number}")) for number in rounds])
    for name, (seconds, mib) in rows.items():
        print(f"     {name:20} ready after {seconds:.3f} s, {mib:5.1f} MiB resident")
    return rows["our server"]


def standing(starting: AbstractContextManager[Server]) -> tuple[float, float]:
    with starting as server:
        time.sleep(SETTLE_SECONDS)
        return server.ready_seconds, server.resident_mib


def python_alone() -> tuple[float, float]:
    """An interpreter that says that it is there."""
    begin = time.perf_counter()
    program = "import sys; print(flush=True); sys.stdin.read()"
    with psutil.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as python:
        python.stdout.readline()
        return time.perf_counter() - begin, python.memory_info().rss / MIB


def least(rounds: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return min(seconds for seconds, _ in rounds), min(mib for _, mib in rounds)


def measure() -> bool:
    kept: list[bool] = []

    def report(what: str, value: float, bound: float, *, at_least: bool = False) -> None:
        kept.append(value >= bound if at_least else value <= bound)
        sign = "≥" if at_least else "≤"
        print(f"{'ok  ' if kept[-1] else 'BAD '} {value:6.2f}  ({sign} {bound})  {what}", flush=True)

    with tempfile.TemporaryDirectory(prefix="tk-") as temporary:
        home = Path(temporary)
        project = home / "project"
        project.mkdir()
        with ours(home) as server, bare(home, database="bare.db") as other:
            report("time to a 202 beside a POST that commits one row", accepting(server, other, project), ACCEPT_MAX)
            slowest = asyncio.run(crowded(server, project))
            report(f"slowest of 100 beside the median, {CLIENTS} clients at once", slowest, SLOWEST_MAX)
            ratio = fanning_out(server, other, project)
            report(f"told to {WATCHERS} watchers beside a buffer pushed", ratio, FAN_OUT_MIN, at_least=True)
        seconds, mib = standing_by(home)
        report("seconds until the first answer", seconds, READY_SECONDS_MAX)
        report("mebibytes of an idle server", mib, RESIDENT_MIB_MAX)
    return all(kept)


if __name__ == "__main__":
    sys.exit(0 if measure() else 1)
