"""How much the store costs beside the bare minimum, as ratios measured in one run; exit 1 when a bound is broken.

Each thing is measured against something that writes or reads the same rows to the same kind of file with nothing around
it, in turns, so that whatever else the machine is doing slows both.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from queue import SimpleQueue
from statistics import median
from threading import Thread
from typing import Any

from turnkeeper.protocol.events import (
    Event,
    MessageSaid,
    PartSaid,
    RunAccepted,
    RunComplete,
    RunStarted,
    SessionCreated,
)
from turnkeeper.protocol.ids import MessageId, Position, RunId, SessionId
from turnkeeper.protocol.messages import STOPPED, Finish, FinishReason, Message, PartKind, Role, Text
from turnkeeper.protocol.runs import Outcome, Prompt
from turnkeeper.store.database import Database, connect
from turnkeeper.store.rows import encode
from turnkeeper.store.sqlite import SqliteStore, open_store
from turnkeeper.store.store import Piece

ROUNDS = 7
SESSIONS = 20
APPENDS = 40
"""Of each session, in each round."""
TEXT = "Please look at the failing test in tests/engine and tell me why it fails; then mend it. " * 4


def accept(session_id: SessionId, name: str) -> list[Event]:
    """What accepting a prompt writes."""
    run, message = RunId(f"run-{name}-00000000-0000"), MessageId(f"message-{name}-00000000")
    said = Message(message, session_id, Role.USER, (Text(TEXT), STOPPED), run_id=run)
    accepted = RunAccepted(run, Prompt(TEXT), digest="0" * 64, user_message_id=message)
    return [accepted, MessageSaid(said), RunStarted(run)]


def settle(name: str) -> list[Event]:
    """So that the session can accept the next: its run is put out of the way."""
    return [RunComplete(RunId(f"run-{name}-00000000-0000"), Outcome.COMPLETED)]


class Bare:
    """A writer thread with group commit and nothing else: rows of the same number and size."""

    TABLES = "CREATE TABLE IF NOT EXISTS rows{0} (n INTEGER PRIMARY KEY, k TEXT, body BLOB)"
    INSERT = "INSERT INTO rows{0} (k, body) VALUES (?, ?)"

    def __init__(self, path: Path, spread: int = 5) -> None:
        self._path = path
        self._spread = spread
        """Among how many tables: as many as the store's rows of an acceptance go to."""
        self._jobs: SimpleQueue[tuple[Sequence[tuple[str, bytes]], asyncio.Future[None]] | None] = SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._thread = Thread(target=self._run)
        self._thread.start()

    async def append(self, rows: Sequence[tuple[str, bytes]]) -> None:
        done: asyncio.Future[None] = self._loop.create_future()
        self._jobs.put((rows, done))
        await done

    def close(self) -> None:
        self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        db = bare_database(self._path, self._spread)
        going = True
        while going:
            batch: list[tuple[Sequence[tuple[str, bytes]], asyncio.Future[None]]] = []
            while not batch or not self._jobs.empty():
                job = self._jobs.get()
                if job is None:
                    going = False
                    break
                batch.append(job)
            if batch:
                db.execute("BEGIN IMMEDIATE")
                for rows, _ in batch:
                    insert(db, rows, self._spread)
                db.execute("COMMIT")
                self._loop.call_soon_threadsafe(finish, [done for _, done in batch])
        db.close()


def bare_database(path: Path, spread: int) -> Database:
    db = connect(path)
    db.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
    for table in range(spread):
        db.execute(Bare.TABLES.format(table))
    return db


def insert(db: Database, rows: Sequence[tuple[str, bytes]], spread: int) -> None:
    for number, row in enumerate(rows):
        db.execute(Bare.INSERT.format(number % spread), row)


def finish(futures: Sequence[asyncio.Future[None]]) -> None:
    for future in futures:
        future.set_result(None)


def rows_of(events: Sequence[Event], session_id: str) -> list[tuple[str, bytes]]:
    """What those events become: an entry each, a run, a message, two parts, a session, and the bytes of all of them."""
    entries = [(session_id, encode(event)) for event in events]
    views = [(session_id, encode(Prompt(TEXT))), (session_id, b"m" * 120), (session_id, encode(Text(TEXT)))]
    return [*entries, *views, (session_id, encode(STOPPED)), (session_id, b"s" * 60)]


async def timed(work: Callable[[], Awaitable[Any]]) -> float:
    begin = time.perf_counter()
    await work()
    return time.perf_counter() - begin


async def in_turns(ours: Callable[[int], Awaitable[float]], theirs: Callable[[int], Awaitable[float]]) -> float:
    """Our time over theirs: the median of the rounds, after one to warm up."""
    await ours(-1)
    await theirs(-1)
    return median([await ours(number) / await theirs(number) for number in range(ROUNDS)])


async def concurrent_sessions(directory: Path) -> float:
    """Throughput of 20 sessions' appends beside the bare loop's (1 is as fast)."""
    names = [SessionId(f"session-{number}") for number in range(SESSIONS)]
    async with open_store(directory / "data") as store:
        for name in names:
            await store.append(name, [SessionCreated()], after=None)
        bare = Bare(directory / "bare.db")

        async def ours(number: int) -> float:
            # A session has one active run, so those of this round wait in its line until the clock has stopped.
            turns = [f"{number}-{turn}" for turn in range(APPENDS)]
            scripts = {name: [accept(name, f"{name}-{turn}")[:2] for turn in turns] for name in names}
            after = {name: await end_of(store, name) for name in names}

            async def work() -> None:
                async with asyncio.TaskGroup() as tasks:
                    for name in names:
                        tasks.create_task(one_session(store, name, scripts[name], after[name]))

            spent = await timed(work)
            for name in names:
                await store.append(name, [over for turn in turns for over in settle(f"{name}-{turn}")], after=None)
            return spent

        async def theirs(number: int) -> float:
            scripts = [
                [rows_of(accept(name, f"{name}-{number}-{turn}")[:2], name) for turn in range(APPENDS)]
                for name in names
            ]

            async def work() -> None:
                await asyncio.gather(*(one_bare_session(bare, script) for script in scripts))

            return await timed(work)

        try:
            return 1 / await in_turns(ours, theirs)
        finally:
            bare.close()


async def one_session(store: SqliteStore, name: SessionId, script: Sequence[Sequence[Event]], after: Position) -> None:
    for events in script:
        after = await store.append(name, events, after=after)


async def end_of(store: SqliteStore, name: SessionId) -> Position:
    info = await store.session(name)
    assert info is not None
    return info.position


async def one_bare_session(bare: Bare, script: Sequence[Sequence[tuple[str, bytes]]]) -> None:
    for rows in script:
        await bare.append(rows)


async def single_append(directory: Path) -> float:
    """Time of one accepted prompt beside one bare committed transaction of the same rows."""
    name = SessionId("alone")
    async with open_store(directory / "data") as store:
        await store.append(name, [SessionCreated()], after=None)
        db = bare_database(directory / "bare.db", 5)

        async def ours(number: int) -> float:
            spent = 0.0
            for turn in range(APPENDS):
                events = accept(name, f"{number}-{turn}")
                begin = time.perf_counter()
                await store.append(name, events, after=None)
                spent += time.perf_counter() - begin
                await store.append(name, settle(f"{number}-{turn}"), after=None)
            return spent

        async def theirs(number: int) -> float:
            spent = 0.0
            for turn in range(APPENDS):
                rows = rows_of(accept(name, f"{number}-{turn}"), name)
                begin = time.perf_counter()
                db.execute("BEGIN IMMEDIATE")
                insert(db, rows, 5)
                db.execute("COMMIT")
                spent += time.perf_counter() - begin
                db.execute("INSERT INTO rows0 (k, body) VALUES ('x', x'00')")
            return spent

        try:
            return await in_turns(ours, theirs)
        finally:
            db.close()


async def write_behind(directory: Path) -> tuple[float, float]:
    """Processor time and bytes of 100,000 deltas beside 10,000."""

    async def stream(count: int, name: str) -> tuple[float, int]:
        async with open_store(directory / name) as store:
            await say_nothing(store)
            begin = time.process_time()
            for start in range(0, count, 20):
                pieces = [
                    Piece(SessionId("s"), MessageId("m"), 0, PartKind.TEXT, 5 * number, "word ")
                    for number in range(start, start + 20)
                ]
                await store.write_behind(pieces)
            spent = time.process_time() - begin
        return spent, (directory / name / "turnkeeper.db").stat().st_size

    await stream(1000, "warm")
    few = [await stream(10_000, f"few-{number}") for number in range(3)]
    many = await stream(100_000, "many")
    few.extend([await stream(10_000, f"few-{number}") for number in range(3, 5)])
    return many[0] / median(seconds for seconds, _ in few), many[1] / few[0][1]


async def say_nothing(store: SqliteStore) -> None:
    said = MessageSaid(Message(MessageId("m"), SessionId("s"), Role.ASSISTANT))
    await store.append(SessionId("s"), [SessionCreated(), said], after=None)


async def opening(directory: Path) -> float:
    """Time to open 1,000 sessions with 100,000 messages and list them, beside an empty workspace and the bare read."""
    async with open_store(directory / "full") as store:
        for number in range(1000):
            await store.append(SessionId(f"s{number}"), list(conversation(number)), after=None)
    async with open_store(directory / "empty") as store:
        await store.head()

    async def ours(_: int) -> float:
        async def work() -> None:
            async with open_store(directory / "full") as store:
                assert len(await store.sessions()) == 1000

        return await timed(work)

    async def theirs(_: int) -> float:
        async def work() -> None:
            async with open_store(directory / "empty") as store:
                await store.sessions()
            await asyncio.to_thread(bare_read, directory / "full" / "turnkeeper.db")

        return await timed(work)

    return await in_turns(ours, theirs)


def conversation(number: int) -> Sequence[Event]:
    session_id = SessionId(f"s{number}")
    done = Finish(FinishReason.END_TURN)
    said = [
        MessageSaid(Message(MessageId(f"{number}-{place}"), session_id, Role.ASSISTANT, (Text("x" * 200), done)))
        for place in range(100)
    ]
    return [SessionCreated(f"Session {number}"), *said, PartSaid(MessageId(f"{number}-0"), 0, Text("y"))]


def bare_read(path: Path) -> None:
    """The rows of the list, and nothing made of them."""
    db = connect(path, query_only=True)
    assert len(list(db.execute("SELECT * FROM sessions WHERE parent_id = '' AND standing = 'here'"))) == 1000
    db.close()


async def measure() -> bool:
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        kept: list[bool] = []

        def report(what: str, ratio: float, bound: float, *, at_least: bool = False) -> None:
            kept.append(ratio >= bound if at_least else ratio <= bound)
            sign = "≥" if at_least else "≤"
            print(f"{'ok  ' if kept[-1] else 'BAD '} {ratio:6.2f}  ({sign} {bound})  {what}")

        for name in ("concurrent", "single", "behind", "opening"):
            (root / name).mkdir()
        ratio = await concurrent_sessions(root / "concurrent")
        report("throughput of 20 sessions beside a bare group-commit loop", ratio, 0.5, at_least=True)
        report("time of one append beside a bare commit of its rows", await single_append(root / "single"), 2.0)
        seconds, size = await write_behind(root / "behind")
        report("work of 100,000 written-behind deltas beside 10,000", seconds, 12.0)
        report("bytes of 100,000 written-behind deltas beside 10,000", size, 12.0)
        ratio = await opening(root / "opening")
        report("opening 1,000 sessions beside opening none and the bare read", ratio, 1.5)
        return all(kept)


if __name__ == "__main__":
    sys.exit(0 if asyncio.run(measure()) else 1)
