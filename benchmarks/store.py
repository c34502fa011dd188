"""How much the store costs beside the bare minimum, as ratios measured in one run; exit 1 when a bound is broken.

Each thing is measured against something that writes or reads the same rows to the same kind of file with nothing around
it, in turns, so that whatever else the machine is doing slows both. What an acceptance costs is measured through the
engine, in `benchmarks/engine.py`.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from benchmarks._ratios import Measured, in_turns, report, timed
from turnkeeper.protocol.events import (
    Event,
    MessageSaid,
    PartSaid,
    SessionCreated,
)
from turnkeeper.protocol.ids import MessageId, SessionId
from turnkeeper.protocol.messages import Finish, FinishReason, Message, PartKind, Role, Text
from turnkeeper.store.database import connect
from turnkeeper.store.sqlite import SqliteStore, open_store
from turnkeeper.store.store import Piece


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


async def fill(directory: Path) -> None:
    """1,000 sessions with 100,000 messages."""
    async with open_store(directory) as store:
        for number in range(1000):
            await store.append(SessionId(f"s{number}"), list(conversation(number)), after=None)


async def opening(directory: Path) -> float:
    """Time to open 1,000 sessions with 100,000 messages and list them, beside an empty workspace and the bare read."""
    await fill(directory / "full")
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


def bare_messages(path: Path) -> None:
    """The rows of the list and of one conversation, and nothing made of them."""
    bare_read(path)
    db = connect(path, query_only=True)
    (newest,) = next(db.execute("SELECT id FROM sessions WHERE standing = 'here' ORDER BY changed DESC LIMIT 1"))
    of_it = "SELECT * FROM messages JOIN parts ON parts.message = messages.position WHERE messages.session_id = ?"
    assert len(list(db.execute(of_it, (newest,)))) == 200
    db.close()


async def measure() -> Sequence[Measured]:
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        for name in ("behind", "opening"):
            (root / name).mkdir()
        seconds, size = await write_behind(root / "behind")
        return (
            Measured("work of 100,000 written-behind deltas beside 10,000", seconds, 12.0),
            Measured("bytes of 100,000 written-behind deltas beside 10,000", size, 12.0),
            Measured(
                "opening 1,000 sessions beside opening none and the bare read", await opening(root / "opening"), 1.5
            ),
        )


if __name__ == "__main__":
    sys.exit(report(asyncio.run(measure())))
