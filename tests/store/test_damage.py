"""A database that is damaged, old, new, or cut off in the middle of a write."""

import shutil
from pathlib import Path

import pytest

from tests.store.replaying import views_equal_replay, whole_log
from tests.store.scenes import A, M, S, accepted, begin, completed, piece, said, tell
from turnkeeper.protocol.events import FileSaid, PartSaid, RunStarted
from turnkeeper.protocol.ids import START
from turnkeeper.protocol.messages import Text
from turnkeeper.protocol.problems import StoreReadOnly
from turnkeeper.protocol.sessions import FileVersion
from turnkeeper.store.database import connect
from turnkeeper.store.migrate import Progress, make_ready
from turnkeeper.store.sqlite import DATABASE, SqliteStore, open_store
from turnkeeper.store.statements import migrations

PAGE_BYTES = 4096
FRAME_BYTES = 24 + PAGE_BYTES
WAL_HEADER_BYTES = 32


async def test_whatever_of_the_write_ahead_log_is_left_after_a_crash_is_a_whole_number_of_appends(
    sqlite: SqliteStore, tmp_path: Path
) -> None:
    ends = [START, await begin(sqlite, accepted(A), RunStarted(A))]
    ends.append(await tell(sqlite, said(M, Text("a" * 6000))))
    await sqlite.write_behind([piece("behind", index=1)])
    ends.append(await tell(sqlite, PartSaid(M, 1, Text("b")), completed(A)))
    wal = sqlite.path.with_name(DATABASE + "-wal")
    whole = wal.stat().st_size
    frames = range(WAL_HEADER_BYTES, whole + 1, FRAME_BYTES)
    assert frames[-1] == whole
    seen: set[int] = set()
    for boundary in frames:
        for size in {0, boundary, boundary + FRAME_BYTES // 2, boundary + 10}:
            directory = tmp_path / f"cut-{size}-{boundary}"
            directory.mkdir()
            shutil.copy(sqlite.path, directory)
            (directory / wal.name).write_bytes(wal.read_bytes()[:size])
            async with open_store(directory) as cut:
                assert cut.notice == ""
                await views_equal_replay(cut)
                seen.add(await cut.head())
    # Every crash left one of the states that an append had led to, and each of them was met.
    assert seen == set(ends)


async def test_a_damaged_database_is_moved_aside_whole_and_a_new_one_begun(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / DATABASE).write_bytes(b"this was never a database" * 1000)
        (tmp_path / f"{DATABASE}-wal").write_bytes(b"nor this a log")
        async with open_store(tmp_path) as store:
            aside = tmp_path / f"{DATABASE}.damaged-{number}"
            assert str(aside) in store.notice
            assert "damaged" in store.notice
            await begin(store)
        assert aside.read_bytes().startswith(b"this was never")
        assert (tmp_path / f"{aside.name}-wal").read_bytes() == b"nor this a log"


async def test_an_emptied_database_does_not_take_its_write_ahead_log_with_it(tmp_path: Path) -> None:
    (tmp_path / DATABASE).touch()
    (tmp_path / f"{DATABASE}-wal").write_bytes(b"what is left")
    async with open_store(tmp_path) as store:
        assert "damaged-1" in store.notice
    assert (tmp_path / f"{DATABASE}.damaged-1-wal").read_bytes() == b"what is left"


async def test_damage_within_is_found_after_a_crash(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        await begin(store, *(said(type(M)(str(number)), Text("x" * 3000)) for number in range(50)))
    spoil(tmp_path / DATABASE)
    (tmp_path / f"{DATABASE}-wal").touch()
    async with open_store(tmp_path) as store:
        assert "damaged-1" in store.notice
        assert await store.sessions() == []


async def test_damage_that_is_met_while_open_is_looked_for_at_the_next_opening(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        await begin(store)
        store.readers.saw_damage = True
    spoil(tmp_path / DATABASE, pages=range(3, 6))
    async with open_store(tmp_path) as store:
        assert "damaged-1" in store.notice
    async with open_store(tmp_path) as store:
        assert store.notice == ""


def spoil(path: Path, pages: range = range(20, 40)) -> None:
    with path.open("r+b") as file:
        for page in pages:
            file.seek(page * PAGE_BYTES)
            file.write(b"\xff" * 200)


async def test_a_newer_database_is_read_and_not_written(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        await begin(store, accepted(A))
    db = connect(tmp_path / DATABASE)
    db.execute("PRAGMA user_version = 99; CREATE TABLE what_is_to_come (x)")
    db.close()
    async with open_store(tmp_path) as store:
        assert "newer version" in store.notice
        for refused in (
            store.append(S, [completed(A)], after=None),
            store.write_behind([piece("x")]),
            store.prune(before=START),
        ):
            with pytest.raises(StoreReadOnly):
                await refused
        assert [entry.position for entry in await whole_log(store)] == [1, 2]
        assert await store.unsettled() == [S]
    assert not (tmp_path / f"{DATABASE}.damaged-1").exists()


async def test_an_older_database_is_brought_up_to_date_and_keeps_what_it_had(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        await begin(store, accepted(A))
    told: list[Progress] = []
    long = (
        "CREATE TABLE n AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 50000) SELECT x FROM n"
    )
    steps = [*migrations(), "ALTER TABLE sessions ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey'", long]
    assert make_ready(tmp_path / DATABASE, progress=told.append, steps=steps).notice == ""
    db = connect(tmp_path / DATABASE)
    assert list(db.execute("SELECT colour FROM sessions WHERE id = 's'")) == [("grey",)]
    last = len(steps)
    assert list(db.execute("PRAGMA user_version")) == [(last,)]
    db.close()
    assert [(step.version, step.target) for step in told if step.ticks == 0] == [(last - 1, last), (last, last)]
    assert max(step.ticks for step in told if step.version == last) > 1


async def test_the_first_schema_ever_written_is_brought_to_this_one_with_everything_in_it(tmp_path: Path) -> None:
    make_ready(tmp_path / DATABASE, steps=migrations()[:1])
    db = connect(tmp_path / DATABASE)
    db.execute("INSERT INTO files VALUES (1, 'f', 's', 'a.py', 0, 'x', 5, 6, NULL)")
    db.close()
    async with open_store(tmp_path) as store:
        assert store.notice == ""
        assert await store.files(S) == [FileVersion("f", S, "a.py", "x", 0, 5, 6)]
        await begin(store, FileSaid(FileVersion("g", S, "b.py", "", 0, absent=True, form="so")))
        assert [(file.absent, file.form) for file in await store.files(S)] == [(False, ""), (True, "so")]


async def test_a_migration_that_fails_half_way_changes_nothing(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        await begin(store, accepted(A))
    steps = [*migrations(), "ALTER TABLE sessions ADD COLUMN colour TEXT; SELECT no_such_thing FROM nowhere"]
    with pytest.raises(Exception, match="nowhere"):
        make_ready(tmp_path / DATABASE, steps=steps)
    async with open_store(tmp_path) as store:
        await views_equal_replay(store)
        await tell(store, completed(A))
