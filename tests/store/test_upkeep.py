"""A database in use is kept small, copied and checked without anybody waiting for it."""

import resource
import signal
from pathlib import Path

import anyio
import msgspec
import pytest

from tests.store.replaying import views_equal_replay, whole_log
from tests.store.scenes import AT, S, accepted, begin, said, tell
from turnkeeper.protocol.events import Entry, SessionDeleted, SessionRenamed
from turnkeeper.protocol.ids import START, MessageId, Position, RunId
from turnkeeper.protocol.messages import Text
from turnkeeper.protocol.problems import BadRequest, StoreUnavailable
from turnkeeper.store import upkeep, writer
from turnkeeper.store.sqlite import SqliteStore, open_store
from turnkeeper.store.statements import SQL, load
from turnkeeper.store.upkeep import Upkeep


async def test_what_is_trimmed_is_in_the_archive_and_the_views_stay(
    sqlite: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "PRUNE_STEP_ENTRIES", 3)
    await begin(sqlite, *(accepted(RunId(str(number))) for number in range(9)))
    entries = await whole_log(sqlite)
    archive = tmp_path / "archive.jsonl"
    assert await Upkeep(sqlite).trim(before=Position(5), archive=archive) == 4
    assert await Upkeep(sqlite).trim(before=Position(9), archive=archive) == 4
    lines = archive.read_bytes().splitlines()
    assert [msgspec.json.decode(line, type=Entry) for line in lines] == entries[:8]
    assert await whole_log(sqlite) == entries[8:]
    assert len(await sqlite.runs()) == 9


async def test_nothing_is_forgotten_that_could_not_be_archived(sqlite: SqliteStore, tmp_path: Path) -> None:
    await begin(sqlite)
    with pytest.raises(StoreUnavailable, match="archive"):
        await Upkeep(sqlite).trim(before=Position(9), archive=tmp_path / "no" / "archive.jsonl")
    assert await sqlite.kept_after() == START


async def test_entries_expire_by_their_age_and_by_the_size_of_the_log(sqlite: SqliteStore) -> None:
    await begin(sqlite)
    for day in range(1, 5):
        await sqlite.append(S, [SessionRenamed("x" * 1000)], after=None, at=AT + day)
    keeper = Upkeep(sqlite)
    assert await keeper.expired() == 1
    assert await keeper.expired(before_at=AT + 3) == 4
    assert await keeper.expired(before_at=AT + 100) == 6
    assert await keeper.expired(bytes_max=2500) == 4
    assert await keeper.expired(before_at=AT + 1, bytes_max=2500) == 4


async def test_empty_pages_are_given_back_while_others_write(sqlite: SqliteStore) -> None:
    await begin(sqlite, *(said(MessageId(str(number)), Text("x" * 100_000)) for number in range(20)))
    await begin(sqlite, session_id=type(S)("t"))
    await tell(sqlite, SessionDeleted())
    await Upkeep(sqlite).trim(before=Position(99))
    before = sqlite.path.stat().st_size
    async with anyio.create_task_group() as tasks:
        for number in range(20):
            tasks.start_soon(write_in_another_session, sqlite, number)
        assert await Upkeep(sqlite).vacuum() > 500
    assert sqlite.path.stat().st_size < before / 4
    assert await Upkeep(sqlite).check() == []


async def write_in_another_session(store: SqliteStore, number: int) -> None:
    await tell(store, accepted(RunId(f"beside-{number}")), session_id=type(S)("t"))


async def test_a_write_ahead_log_that_grew_large_is_cut_when_it_begins_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "WAL_BYTES_MAX", 100_000)
    async with open_store(tmp_path) as store:
        await begin(store, said(MessageId("large"), Text("x" * 5_000_000)))
        wal = store.path.with_name(store.path.name + "-wal")
        assert wal.stat().st_size > 5_000_000
        # Its checkpoint was made before the next letter was opened, and the next one to be written begins anew.
        await tell(store, accepted(RunId("next")))
        assert wal.stat().st_size <= 100_000


async def test_a_backup_is_as_of_one_moment_while_others_write(sqlite: SqliteStore, tmp_path: Path) -> None:
    await begin(sqlite)
    (tmp_path / "copy").mkdir()
    async with anyio.create_task_group() as tasks:
        for number in range(50):
            tasks.start_soon(tell, sqlite, accepted(RunId(str(number)), "x" * 5000))
        await Upkeep(sqlite).backup(tmp_path / "copy" / sqlite.path.name)
    async with open_store(tmp_path / "copy") as copy:
        await views_equal_replay(copy)
        assert [info.id for info in await copy.sessions()] == [S]


async def test_a_backup_that_cannot_be_written_is_reported_and_leaves_no_part_of_it(
    sqlite: SqliteStore, tmp_path: Path
) -> None:
    copy = tmp_path / "nowhere" / "copy.db"
    with pytest.raises(BadRequest) as refused:
        await Upkeep(sqlite).backup(copy)
    assert refused.value.message == f"the copy {copy} cannot be written: no such file or directory"
    assert not copy.parent.exists()


async def test_a_copy_on_a_disk_without_room_says_so_and_leaves_no_part_of_it(
    sqlite: SqliteStore, tmp_path: Path
) -> None:
    await begin(sqlite, *(accepted(RunId(str(number)), "x" * 5000) for number in range(50)))
    copy = tmp_path / "copy.db"
    size = resource.getrlimit(resource.RLIMIT_FSIZE)
    was = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, size[1]))
        with pytest.raises(StoreUnavailable, match=f"copying the database to {copy} failed"):
            await Upkeep(sqlite).backup(copy)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, size)
        signal.signal(signal.SIGXFSZ, was)
    assert not copy.exists()
    assert not copy.with_name("copy.db.unfinished").exists()


async def test_a_damaged_page_is_found_by_the_check(sqlite: SqliteStore) -> None:
    await begin(sqlite, *(accepted(RunId(str(number)), "x" * 3000) for number in range(30)))
    await Upkeep(sqlite).vacuum()
    with sqlite.path.open("r+b") as file:
        for page in range(10, 40):
            file.seek(page * 4096)
            file.write(b"\xff" * 100)
    assert await Upkeep(sqlite).check() != []


@pytest.mark.parametrize("file", ["read", "write", "upkeep"])
def test_every_statement_has_a_name_and_a_sentence(file: str) -> None:
    text = (SQL / f"{file}.sql").read_text("utf-8")
    blocks = text.split("-- name: ")[1:]
    assert len(load(file)) == len(blocks) > 5
    assert [block for block in blocks if not block.splitlines()[1].startswith("-- ")] == []
