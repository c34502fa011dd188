"""What the engine costs around the store, as ratios measured in one run; exit 1 when a bound is broken.

A prompt that is accepted passes an inbox, a decision, a commit and a bell before its client is told; beside it stands a
loop that commits the same rows in groups to the same kind of file. A streamed answer is measured against a shorter one,
and a workspace full of conversations against an empty one.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from queue import SimpleQueue
from statistics import median
from threading import Thread

from benchmarks._ratios import Measured, in_turns, report, timed
from benchmarks.store import bare_messages, fill
from turnkeeper.engine import conversations, submitting
from turnkeeper.models.scripted import Hold, turn
from turnkeeper.models.scripted import Say as Answer
from turnkeeper.protocol.events import RunAccepted, SessionCreated
from turnkeeper.protocol.ids import RunId, SessionId
from turnkeeper.protocol.runs import Outcome, Prompt
from turnkeeper.store import record
from turnkeeper.store.database import connect
from turnkeeper.store.migrate import make_ready
from turnkeeper.store.record import Said
from turnkeeper.store.rows import encode
from turnkeeper.store.sqlite import open_store
from turnkeeper.testing.scene import Stage, scene

SESSIONS = 20
PROMPTS = 20
"""To each session in each round: they wait in its line until the clock has stopped."""
TEXT = "Please look at the failing test in tests/engine and tell me why it fails; then mend it. " * 4


Asked = tuple[SessionId, Said, asyncio.Future[None]]


class Bare:
    """A thread that commits in groups what an acceptance writes, to tables and indexes like ours."""

    def __init__(self, path: Path, sessions: Sequence[SessionId]) -> None:
        make_ready(path)
        self._path = path
        self._sessions = sessions
        self._asked: SimpleQueue[Asked | None] = SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._thread = Thread(target=self._run)
        self._thread.start()

    async def accept(self, session: SessionId, run_id: str) -> None:
        done: asyncio.Future[None] = self._loop.create_future()
        event = RunAccepted(RunId(run_id), Prompt(TEXT), digest="0" * 64)
        self._asked.put((session, Said(event, encode(event)), done))
        await done

    def close(self) -> None:
        self._asked.put(None)
        self._thread.join()

    def _run(self) -> None:
        db = connect(self._path)
        db.execute("PRAGMA synchronous = FULL")
        begin = SessionCreated()
        for session in self._sessions:
            record.append(db, session, [Said(begin, encode(begin))], after=None, at=1)
        while (first := self._asked.get()) is not None:
            group = [first]
            while not self._asked.empty() and (more := self._asked.get()) is not None:
                group.append(more)
            db.execute("BEGIN IMMEDIATE")
            for session, said, _ in group:
                record.append(db, session, [said], after=None, at=1)
            db.execute("COMMIT")
            self._loop.call_soon_threadsafe(answer, [done for _, _, done in group])
        db.close()


def answer(asked: Sequence[asyncio.Future[None]]) -> None:
    for done in asked:
        done.set_result(None)


async def busy_session(stage: Stage) -> SessionId:
    """One whose run goes on, so that whatever is accepted waits."""
    session = await stage.session()
    await stage.submit("first", session)
    return session


async def submit_all(stage: Stage, session: SessionId) -> None:
    for _ in range(PROMPTS):
        await stage.submit(TEXT, session, foldable=False)


async def accepts(directory: Path, count: int) -> float:
    """The rate at which prompts to so many sessions at once are accepted, beside the bare loop's (1 is as fast)."""
    async with (
        open_store(directory / "data") as store,
        scene(*[turn(Hold("here"))] * count, store=store) as stage,
    ):
        sessions = [await busy_session(stage) for _ in range(count)]
        bare = Bare(directory / "bare.db", sessions)

        async def ours(_: int) -> float:
            async def work() -> None:
                await asyncio.gather(*(submit_all(stage, session) for session in sessions))

            spent = await timed(work)
            for session in sessions:
                await submitting.clear(stage.workspace, session)
            return spent

        async def theirs(number: int) -> float:
            async def one(session: SessionId) -> None:
                for prompt in range(PROMPTS):
                    await bare.accept(session, f"{session}-{number}-{prompt}")

            async def work() -> None:
                await asyncio.gather(*(one(session) for session in sessions))

            return await timed(work)

        try:
            return 1 / await in_turns(ours, theirs)
        finally:
            bare.close()


async def streamed(directory: Path, deltas: int) -> tuple[float, int]:
    """Processor time and bytes on disk of one answer that comes in so many pieces."""
    async with (
        open_store(directory) as store,
        scene(turn(Answer("word " * deltas, characters=5)), store=store) as stage,
    ):
        begin = time.process_time()
        run = await stage.run("tell me everything")
        spent = time.process_time() - begin
        assert run.outcome is Outcome.COMPLETED
        assert len(run.text) == 5 * deltas
    return spent, (directory / "turnkeeper.db").stat().st_size


async def streaming(directory: Path) -> tuple[float, float]:
    """Work and bytes of 100,000 deltas to one message beside 10,000."""
    await streamed(directory / "warm", 1000)
    few = [await streamed(directory / f"few-{number}", 10_000) for number in range(3)]
    much, large = await streamed(directory / "many", 100_000)
    return much / median(seconds for seconds, _ in few), large / few[0][1]


async def first_request(directory: Path) -> float:
    """From the closed file to the answer of the first request: the list of the conversations, or one of them."""

    async def work() -> None:
        async with open_store(directory) as store, scene(store=store) as stage:
            for info in (await stage.store.sessions())[:1]:
                await conversations.messages(stage.workspace, info.id)

    return await timed(work)


async def opening(directory: Path) -> float:
    """Time to the first answer from 1,000 sessions with 100,000 messages, beside an empty one's and the bare read."""
    await fill(directory / "full")

    async def ours(_: int) -> float:
        return await first_request(directory / "full")

    async def theirs(_: int) -> float:
        async def read() -> None:
            await asyncio.to_thread(bare_messages, directory / "full" / "turnkeeper.db")

        return await first_request(directory / "empty") + await timed(read)

    return await in_turns(ours, theirs)


async def measure() -> Sequence[Measured]:
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        for name in ("concurrent", "single", "streaming", "opening"):
            (root / name).mkdir()
        many, one = await accepts(root / "concurrent", SESSIONS), await accepts(root / "single", 1)
        seconds, size = await streaming(root / "streaming")
        return (
            Measured("prompts accepted from 20 sessions beside a bare group-commit loop", many, 0.5, at_least=True),
            Measured("one prompt accepted beside a bare commit of its rows", 1 / one, 2.0),
            Measured("work of an answer in 100,000 deltas beside 10,000", seconds, 12.0),
            Measured("bytes of an answer in 100,000 deltas beside 10,000", size, 12.0),
            Measured(
                "first answer of a full workspace beside an empty one's and the read",
                await opening(root / "opening"),
                1.5,
            ),
        )


if __name__ == "__main__":
    sys.exit(report(asyncio.run(measure())))
