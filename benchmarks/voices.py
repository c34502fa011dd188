"""What the loop costs around a voice that costs nothing; exit 1 when a bound is broken.

    a run of one word     from POST to its run_complete on the event stream, beside a bare HTTP round trip: one server
                          in a process of its own, on a unix socket, with its database on disk
    10,000 deltas         said without a pause, through the engine, to one watcher who hears deltas
    50 sessions at once   each 200 words, one every 5 ms, beside the second that the words take by themselves

The times are of the clock; what else the machine does is in them, so each is measured several times and the best round
counts. The processor's time is that of the whole process, all threads.
"""

import json
import os
import sys
import tempfile
import time
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from functools import partial
from pathlib import Path
from statistics import median

import anyio
import msgspec
from anyio.abc import TaskStatus

from turnkeeper.client.client import Client
from turnkeeper.client.events import Told
from turnkeeper.engine.feed import follow
from turnkeeper.models.model import Question
from turnkeeper.models.scripted import Say, Script, ScriptedModel, Turn, turn
from turnkeeper.protocol.events import RunComplete
from turnkeeper.store.sqlite import open_store
from turnkeeper.testing.scene import Stage, scene

RUN_MS_MAX = 15.0
DELTAS_PER_SECOND_MIN = 60_000
IDEAL_MAX = 1.1

ROUNDS = 5
SHORT_ROUNDS = 15
"""Of what takes a tenth of a second: somewhere among them the machine has a moment for us."""
RUNS = 40
"""Of one word, in each round."""
DELTAS = 10_000
SESSIONS, WORDS, WORD_SECONDS = 50, 200, 0.005
START_SECONDS = 30.0
HEARD_SECONDS_MAX = 60.0


@asynccontextmanager
async def server(home: Path, *turns: Turn) -> AsyncGenerator[Client]:
    """A server as people start it, whose model begins its script anew when it is at its end."""
    folders = {f"XDG_{name.upper()}_HOME": str(home / name) for name in ("config", "data", "cache", "state")}
    script, config, socket = home / "script.json", home / "config" / "crush" / "crush.json", home / "s.sock"
    script.write_bytes(msgspec.json.encode(Script(turns, again=True)))
    config.parent.mkdir(parents=True)
    chosen = {slot: {"provider": "mine", "model": "scripted"} for slot in ("large", "small")}
    config.write_text(
        json.dumps({"providers": {"mine": {"type": "scripted", "base_url": str(script)}}, "models": chosen})
    )
    command = [sys.executable, "-m", "turnkeeper", "server", "--host", f"unix://{socket}"]
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_RUNTIME_DIR": str(home), **folders}
    async with await anyio.open_process(command, env=env, cwd=home, stdin=None) as process:
        try:
            assert process.stderr is not None
            with anyio.fail_after(START_SECONDS):
                await process.stderr.receive()
            async with Client(f"unix://{socket}") as client:
                yield client
        finally:
            process.terminate()


async def one_word(home: Path) -> tuple[float, float]:
    """Milliseconds from POST to run_complete, and of a bare round trip; the best round's medians."""
    project = home / "project"
    project.mkdir()
    async with server(home, turn(Say("ok"))) as client:
        workspace = await client.open(project, env={})
        async with workspace.follow() as heard:
            await anext(heard)
            rounds: list[tuple[float, float]] = []
            for _ in range(ROUNDS + 1):
                session = await workspace.sessions.create("Named")
                runs: list[float] = []
                bare: list[float] = []
                for _ in range(RUNS):
                    begin = time.perf_counter()
                    await client.health()
                    bare.append(time.perf_counter() - begin)
                    begin = time.perf_counter()
                    run_id = await workspace.runs.submit(session.id, "say it", run_id=str(uuid.uuid4()))
                    async for told in heard:
                        if isinstance(told, Told) and is_ending_of(told, run_id):
                            break
                    runs.append(time.perf_counter() - begin)
                rounds.append((median(runs) * 1000, median(bare) * 1000))
    return min(rounds[1:])


def is_ending_of(told: Told, run_id: str) -> bool:
    return told.envelope.kind == "run_complete" and getattr(told.envelope.payload, "run_id", "") == run_id


@asynccontextmanager
async def stage(folder: Path, *turns: Turn) -> AsyncGenerator[Stage]:
    """The engine in this process, on a database on disk."""
    async with (
        open_store(folder / uuid.uuid4().hex) as store,
        scene(large=ScriptedModel(turns, again=True), store=store) as one,
    ):
        yield one


async def deltas(folder: Path) -> tuple[float, float]:
    """Deltas a second from the first to the ending, as a watcher hears them, and the processors they kept busy."""
    rounds: list[tuple[float, float]] = []
    async with stage(folder, turn(Say("word " * DELTAS, characters=5))) as here:
        for _ in range(SHORT_ROUNDS + 1):
            session = await here.session("Named")
            async with watched(here, DELTAS * 5, endings=1) as heard:
                begin, worked = time.perf_counter(), time.process_time()
                await here.submit("go", session)
                await heard.everything.wait()
                seconds, busy = time.perf_counter() - begin, time.process_time() - worked
            rounds.append((DELTAS / seconds, busy / seconds))
    return max(rounds[1:])


async def many_at_once(folder: Path) -> tuple[float, float]:
    """How long all of them took beside the words alone, and the processors they kept busy; the best round."""
    rounds: list[tuple[float, float]] = []
    script = turn(Say("word " * WORDS, characters=5, every_seconds=WORD_SECONDS))
    async with stage(folder, script) as here:
        for _ in range(ROUNDS):
            alone = await heard_alone(script)
            sessions = [await here.session("Named") for _ in range(SESSIONS)]
            async with watched(here, SESSIONS * WORDS * 5, endings=SESSIONS) as heard:
                begin, worked = time.perf_counter(), time.process_time()
                async with anyio.create_task_group() as clients:
                    for session in sessions:
                        clients.start_soon(here.submit, "go", session)
                await heard.everything.wait()
                seconds, busy = time.perf_counter() - begin, time.process_time() - worked
            rounds.append((seconds / alone, busy / seconds))
    return min(rounds)


async def heard_alone(script: Turn) -> float:
    """Seconds in which as many models say the same to nobody: a second, and what else the machine does."""

    async def hear() -> None:
        async for _ in ScriptedModel([script]).stream(Question((), ())):
            pass

    begin = time.perf_counter()
    async with anyio.create_task_group() as models:
        for _ in range(SESSIONS):
            models.start_soon(hear)
    return max(time.perf_counter() - begin, WORDS * WORD_SECONDS)


class Watcher:
    """Owns what one watcher has heard; `everything` is rung when that is all there is."""

    def __init__(self, characters: int, endings: int) -> None:
        self.everything = anyio.Event()
        self._characters = characters
        self._endings = endings

    async def listen(self, here: Stage, *, task_status: TaskStatus[None]) -> None:
        async with aclosing(follow(here.workspace)) as feed:
            task_status.started()
            async for entries, deltas, _ in feed:
                self._characters -= sum(len(delta.text) for delta in deltas)
                self._endings -= sum(isinstance(entry.event, RunComplete) for entry in entries)
                if self._characters == self._endings == 0:
                    self.everything.set()


@asynccontextmanager
async def watched(here: Stage, characters: int, endings: int) -> AsyncGenerator[Watcher]:
    heard = Watcher(characters, endings)
    with anyio.fail_after(HEARD_SECONDS_MAX):
        async with anyio.create_task_group() as tasks:
            await tasks.start(partial(heard.listen, here))
            yield heard
            tasks.cancel_scope.cancel()


async def measure() -> bool:
    kept: list[bool] = []

    def report(what: str, value: float, bound: float, *, at_least: bool = False) -> None:
        kept.append(value >= bound if at_least else value <= bound)
        sign = "≥" if at_least else "≤"
        print(f"{'ok  ' if kept[-1] else 'BAD '} {value:9.2f}  ({sign} {bound:g})  {what}", flush=True)

    with tempfile.TemporaryDirectory(prefix="tk-") as temporary:
        folder = Path(temporary)
        run, bare = await one_word(folder)
        report(f"ms for a run of one word, POST to run_complete; a bare round trip: {bare:.2f} ms", run, RUN_MS_MAX)
        rate, busy = await deltas(folder)
        report(
            f"deltas a second to one watcher, with {busy:.0%} of a processor",
            rate,
            DELTAS_PER_SECOND_MIN,
            at_least=True,
        )
        beside, busy = await many_at_once(folder)
        report(f"times the ideal for 50 sessions at once, with {busy:.0%} of a processor", beside, IDEAL_MAX)
    return all(kept)


if __name__ == "__main__":
    sys.exit(0 if anyio.run(measure, backend_options={"use_uvloop": True}) else 1)
