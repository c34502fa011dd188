"""Whatever the disk does, an append is written whole or not at all, its writer is told, and service resumes."""

import logging
from collections.abc import Generator
from functools import partial
from pathlib import Path

import anyio
import apsw
import pytest

from tests.store.faulty import FaultyDisk, faulty_disk
from tests.store.replaying import views_equal_replay
from tests.store.scenes import A, M, S, accepted, begin, completed, piece, said, tell
from turnkeeper.protocol.events import PartSaid, RunStarted
from turnkeeper.protocol.ids import MessageId, RunId
from turnkeeper.protocol.messages import Text
from turnkeeper.protocol.problems import StoreUnavailable
from turnkeeper.store import writer
from turnkeeper.store.database import Database, connect
from turnkeeper.store.readers import Readers
from turnkeeper.store.sqlite import SqliteStore, open_store

OPERATIONS_MAX = 400
"""More than any append here takes; a scene that gets this far would go on for ever."""
FAULTS = [(apsw.FullError, "write"), (apsw.IOError, "write"), (apsw.IOError, "sync")]


# While one failure is on its way out of SQLite, a second one on the way has nobody to be told to.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture
def disk() -> Generator[FaultyDisk]:
    # Each failure is logged as it should be, which is nobody's business here.
    logging.disable(logging.ERROR)
    with faulty_disk() as disk:
        yield disk
    logging.disable(logging.NOTSET)


async def whole_turn(store: SqliteStore, number: int) -> None:
    """What a prompt and its answer write: the views of runs, messages, parts and pieces all change."""
    run, message = RunId(f"run-{number}"), MessageId(f"message-{number}")
    await store.write_behind([piece("behind", message_id=M)])
    await tell(
        store,
        accepted(run, "p" * 3000),
        RunStarted(run),
        said(message, Text("a" * 3000), Text("b")),
        PartSaid(message, 1, Text("c" * 1000)),
        completed(run, "d" * 1000),
    )


@pytest.mark.parametrize(("failure", "operation"), FAULTS)
async def test_an_append_that_fails_at_any_write_leaves_nothing_and_the_next_one_succeeds(
    tmp_path: Path,
    disk: FaultyDisk,
    monkeypatch: pytest.MonkeyPatch,
    failure: type[apsw.Error],
    operation: str,
) -> None:
    monkeypatch.setattr(writer, "CHECKPOINT_PAGES", 8)
    refusals = 0
    async with open_store(tmp_path / "data") as store:
        await begin(store, said(M))
        for number in range(1, OPERATIONS_MAX):
            head = await store.head()
            disk.fail_at(number, failure, operation)
            try:
                await whole_turn(store, number)
            except StoreUnavailable:
                refusals += 1
                assert disk.mend()
                assert await store.head() == head
                await whole_turn(store, number)
            reached = disk.mend()
            assert await store.head() == head + 5
            await views_equal_replay(store)
            if not reached:
                break
        else:
            pytest.fail("every append met a failure")
    assert refusals >= (2 if operation == "sync" else 5)
    async with open_store(tmp_path / "data") as store:
        assert store.notice == ""
        await views_equal_replay(store)


async def test_a_read_that_fails_anywhere_is_reported_and_the_next_one_is_answered(
    tmp_path: Path, disk: FaultyDisk
) -> None:
    async with open_store(tmp_path / "data") as store:
        await begin(store, said(M, Text("a" * 30_000)), accepted(A))
        told: set[str] = set()
        for number in range(1, OPERATIONS_MAX):
            # Fresh connections, which have nothing in their cache.
            readers = store.readers
            store.readers = Readers(partial(connect, store.path, query_only=True))
            await readers.close()
            disk.fail_at(number, apsw.IOError, "read")
            try:
                assert [message.text for message in await store.messages(S)] == ["a" * 30_000]
                assert [run.id for run in await store.runs()] == [A]
                assert not disk.mend()
                break
            except StoreUnavailable as problem:
                told.add(problem.message)
                assert disk.mend()
            assert [message.text for message in await store.messages(S)] == ["a" * 30_000]
        else:
            pytest.fail("every read met a failure")
    assert told


async def test_an_append_that_cannot_read_what_it_rests_on_leaves_nothing_and_the_next_one_succeeds(
    tmp_path: Path, disk: FaultyDisk
) -> None:
    async with open_store(tmp_path / "data") as store:
        await begin(store, said(M))
        for number in range(1, OPERATIONS_MAX):
            head = await store.head()
            await store.writer.write(forget_pages, alone=True)
            disk.fail_at(number, apsw.IOError, "read")
            try:
                await whole_turn(store, number)
            except StoreUnavailable:
                assert disk.mend()
                assert await store.head() == head
                await whole_turn(store, number)
            reached = disk.mend()
            assert await store.head() == head + 5
            await views_equal_replay(store)
            if not reached:
                break
        else:
            pytest.fail("every append met a failure")
    assert number > 1


def forget_pages(db: Database) -> None:
    for _ in db.execute("PRAGMA shrink_memory"):
        pass


@pytest.mark.parametrize(("failure", "operation"), FAULTS)
async def test_of_many_appends_on_a_failing_disk_those_refused_are_absent_and_the_others_whole(
    tmp_path: Path, disk: FaultyDisk, failure: type[apsw.Error], operation: str
) -> None:
    async with open_store(tmp_path / "data") as store:
        await begin(store)
        for number in range(1, 40, 4):
            kept: set[RunId] = set()
            refused: set[RunId] = set()

            async def submit(
                run_id: RunId, store: SqliteStore = store, kept: set[RunId] = kept, refused: set[RunId] = refused
            ) -> None:
                try:
                    await tell(store, accepted(run_id, "x" * 3000))
                    kept.add(run_id)
                except StoreUnavailable:
                    refused.add(run_id)

            disk.fail_at(number, failure, operation)
            async with anyio.create_task_group() as tasks:
                for name in range(8):
                    tasks.start_soon(submit, RunId(f"{number}-{name}"))
            disk.mend()
            known = {run.id for run in await store.runs()}
            assert kept <= known
            assert not refused & known
            await views_equal_replay(store)


async def test_a_store_whose_disk_is_full_from_the_beginning_says_so_and_opens_once_there_is_room(
    tmp_path: Path, disk: FaultyDisk
) -> None:
    told = ""
    for number in range(1, OPERATIONS_MAX, 5):
        directory = tmp_path / f"data-{number}"
        disk.fail_at(number, apsw.FullError, "write", "sync")
        try:
            async with open_store(directory):
                pass
        except StoreUnavailable as problem:
            told = problem.message
        reached = disk.mend()
        async with open_store(directory) as store:
            await begin(store, accepted(A))
            await views_equal_replay(store)
        if not reached:
            break
    else:
        pytest.fail("no database was ever begun")
    assert "disk is full" in told


async def test_a_stranger_who_holds_the_database_is_waited_for_and_then_reported(sqlite: SqliteStore) -> None:
    await begin(sqlite)
    await sqlite.writer.write(impatient)
    stranger = connect(sqlite.path)
    stranger.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="another program keeps"):
        await tell(sqlite, accepted(A))
    assert [info.id for info in await sqlite.sessions()] == [S]
    stranger.execute("ROLLBACK")
    stranger.close()
    await tell(sqlite, accepted(A))
    await views_equal_replay(sqlite)


def impatient(db: Database) -> None:
    for _ in db.execute("PRAGMA busy_timeout = 10"):
        pass


async def test_a_bug_in_one_piece_of_work_is_reported_and_the_writer_lives_on(
    sqlite: SqliteStore, disk: FaultyDisk
) -> None:
    def stumble(db: Database) -> None:
        db.execute("INSERT INTO sessions (id) VALUES ('half')")
        raise ZeroDivisionError

    with pytest.raises(StoreUnavailable, match="ZeroDivisionError"):
        await sqlite.writer.write(stumble)
    assert await sqlite.sessions() == []
    await begin(sqlite)
