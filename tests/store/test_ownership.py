"""A data directory belongs to one server, and everybody else is told where that one is."""

import signal
import stat
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from tests.store.replaying import views_equal_replay
from tests.store.scenes import A, B, S, accepted, begin, completed, piece, tell
from turnkeeper.protocol.events import RunStarted
from turnkeeper.protocol.ids import Position, RunId
from turnkeeper.protocol.problems import SessionMoved, StoreElsewhere, StoreGone, StoreUnavailable
from turnkeeper.store import lock
from turnkeeper.store.database import connect
from turnkeeper.store.sqlite import DATABASE, SqliteStore, open_store
from turnkeeper.store.upkeep import Upkeep

SERVER = """
import sys, anyio
from pathlib import Path
from tests.store.scenes import A, RunStarted, accepted, begin, tell
from turnkeeper.protocol.ids import RunId
from turnkeeper.store.sqlite import open_store

async def serve():
    async with open_store(Path(sys.argv[1]), address="unix:/run/first", version="7") as store:
        await begin(store, accepted(A), RunStarted(A))
        print("ready", flush=True)
        number = 0
        while True:
            await tell(store, accepted(RunId(str(number))))
            print(number, flush=True)
            number += 1
            if number == int(sys.argv[2]):
                await anyio.sleep_forever()

anyio.run(serve)
"""


@contextmanager
def server(directory: Path, appends: int) -> Generator[subprocess.Popen[str]]:
    """A process that has the directory open, and has told us of its last append."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(directory), str(appends)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert process.stdout is not None
    try:
        while process.stdout.readline() not in (f"{appends - 1}\n", ""):
            pass
        yield process
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(5)
        process.stdout.close()


async def test_a_second_server_is_told_where_the_first_is_until_that_one_dies(tmp_path: Path) -> None:
    with server(tmp_path / "data", 3) as first:
        with pytest.raises(StoreElsewhere) as elsewhere:
            await SqliteStore.open(tmp_path / "data")
        assert (elsewhere.value.address, elsewhere.value.pid) == ("unix:/run/first", first.pid)
        assert "unix:/run/first" in elsewhere.value.message
    async with open_store(tmp_path / "data") as store:
        assert store.notice == ""
        assert await store.unsettled() == [S]
        await tell(store, completed(A))


async def test_what_a_killed_server_answered_is_there_and_nothing_is_half_there(tmp_path: Path) -> None:
    with server(tmp_path / "data", 50) as first:
        first.kill()
        first.wait(5)
    async with open_store(tmp_path / "data") as store:
        assert {RunId(str(number)) for number in range(50)} <= {run.id for run in await store.runs()}
        await views_equal_replay(store)


async def test_within_one_process_too_a_directory_is_opened_once(sqlite: SqliteStore) -> None:
    with pytest.raises(StoreElsewhere) as elsewhere:
        await SqliteStore.open(sqlite.path.parent)
    assert elsewhere.value.address == "unix:/here"
    await sqlite.close()
    async with open_store(sqlite.path.parent) as again:
        await begin(again)


def forgets(_file: int, _how: int) -> None:
    """The lock of a file system that keeps none."""


async def test_a_server_that_woke_up_late_cannot_write_what_another_has_moved_past(
    sqlite: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = await begin(sqlite, accepted(A), RunStarted(A))
    # A file system that does not keep locks lets a second server in; the position still tells them apart.
    monkeypatch.setattr("turnkeeper.store.lock.fcntl.flock", forgets)
    async with open_store(sqlite.path.parent) as newcomer:
        await tell(newcomer, completed(A), after=end)
        with pytest.raises(SessionMoved):
            await tell(sqlite, completed(A, "too late"), after=end)
        assert await sqlite.head() == await newcomer.head() == end + 1
        await tell(sqlite, accepted(B), after=await newcomer.head())
        await views_equal_replay(newcomer)


@pytest.mark.parametrize("gone", [DATABASE, lock.LOCK, "."])
async def test_a_database_that_is_taken_away_under_its_server_acknowledges_nothing_more(
    sqlite: SqliteStore, gone: str
) -> None:
    await begin(sqlite)
    (sqlite.path.parent / gone).rename(sqlite.path.parent.with_name("taken"))
    for _ in range(2):
        with pytest.raises(StoreGone, match=r"removed or replaced.*nothing was accepted"):
            await tell(sqlite, accepted(A))
        with pytest.raises(StoreGone):
            await sqlite.write_behind([piece("x")])
        if gone != ".":
            (sqlite.path.parent / gone).write_bytes(b"another")


async def test_a_database_that_is_put_back_is_served_again(sqlite: SqliteStore) -> None:
    await begin(sqlite)
    aside = sqlite.path.parent.rename(sqlite.path.parent.with_name("aside"))
    with pytest.raises(StoreGone):
        await tell(sqlite, accepted(A))
    aside.rename(sqlite.path.parent)
    await tell(sqlite, accepted(A))
    await views_equal_replay(sqlite)


async def test_the_lock_file_says_who_holds_it_and_stays(sqlite: SqliteStore) -> None:
    path = sqlite.path.parent / lock.LOCK
    owner = msgspec.json.decode(path.read_bytes(), type=lock.Owner)
    assert (owner.address, owner.version) == ("unix:/here", "1")
    await sqlite.close()
    assert path.exists()


async def test_a_data_directory_is_private_and_ignored_by_version_control(sqlite: SqliteStore) -> None:
    directory = sqlite.path.parent
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert (directory / ".gitignore").read_text() == "*\n"


async def test_what_is_kept_is_private_also_in_a_directory_that_others_can_look_into(tmp_path: Path) -> None:
    directory = tmp_path / "came-with-a-checkout"
    directory.mkdir(mode=0o755)
    async with open_store(directory) as store:
        await begin(store, accepted(A))
        await Upkeep(store).backup(directory / "copy.db")
        await Upkeep(store).trim(before=Position(2), archive=directory / "archive.jsonl")
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in directory.iterdir()}
    assert {"turnkeeper.db", "turnkeeper.db-wal", "copy.db", "archive.jsonl"} <= set(modes)
    assert {name for name, mode in modes.items() if mode & 0o077} <= {".gitignore"}


async def test_a_directory_that_cannot_be_made_is_reported_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreUnavailable, match="file/data"):
        await SqliteStore.open(tmp_path / "file" / "data")


async def test_a_database_that_cannot_be_opened_gives_its_lock_back(tmp_path: Path) -> None:
    (tmp_path / "turnkeeper.db").mkdir()
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="permissions"):
            await SqliteStore.open(tmp_path)


async def test_a_closed_store_leaves_one_file_with_everything_in_it(sqlite: SqliteStore) -> None:
    await begin(sqlite)
    await sqlite.close()
    assert not sqlite.path.with_name(sqlite.path.name + "-wal").exists()
    db = connect(sqlite.path)
    assert list(db.execute("SELECT count(*) FROM entries")) == [(1,)]
    db.close()


def test_a_directory_that_cannot_be_written_says_how_to_keep_the_data_elsewhere(tmp_path: Path) -> None:
    in_the_way = tmp_path / "project"
    in_the_way.write_text("a file, in which no directory can be made")
    with pytest.raises(StoreUnavailable, match=r"cannot be written: .*; --data-dir DIR keeps it in another place"):
        lock.prepare(in_the_way / ".turnkeeper")
