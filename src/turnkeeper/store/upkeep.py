"""Keeping a workspace's database small, whole and copied, while it is in use.

All of it stays out of the way: what is long happens on connections of its own, what writes does so in small steps.
"""

import errno
import os
from pathlib import Path

import apsw
import msgspec
from anyio.to_thread import run_sync

from turnkeeper.protocol.events import Entry
from turnkeeper.protocol.ids import START, Position
from turnkeeper.protocol.problems import BadRequest, StoreUnavailable
from turnkeeper.store.database import Database, connect, make_private, undisturbed
from turnkeeper.store.faults import problem_of
from turnkeeper.store.reading import head
from turnkeeper.store.sqlite import SqliteStore
from turnkeeper.store.statements import load

PRUNE_STEP_ENTRIES = 2000
"""How many entries are forgotten in one transaction."""

FOR_NOW = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE)
"""What may be otherwise later, in the same place."""

UPKEEP = load("upkeep")


class Upkeep:
    """What may be done to an open store now and then."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store

    async def expired(self, *, before_at: int | None = None, bytes_max: int | None = None) -> Position:
        """The position before which entries are older than `before_at` (Unix ms), or beyond the log's size."""
        return await self._store.readers.ask(lambda db: _expired(db, before_at, bytes_max))

    async def trim(self, *, before: Position, archive: Path | None = None) -> int:
        """Forget entries before a position, after they were added to a file of JSON lines; returns how many."""
        forgotten = 0
        position = await self._store.kept_after()
        while position + 1 < before:
            entries = await self._store.read(position, limit=PRUNE_STEP_ENTRIES)
            expired = [entry for entry in entries if entry.position < before]
            if not expired:
                break
            if archive is not None:
                await run_sync(_add_lines, archive, expired)
            position = expired[-1].position
            forgotten += await self._store.prune(before=Position(position + 1))
        return forgotten

    async def vacuum(self) -> int:
        """Give the file's empty pages back to the disk, a few at a time; returns how many."""
        writer = self._store.writer
        first = left = await writer.write(_free_pages)
        while left:
            await writer.write(_vacuum_some, alone=True)
            before, left = left, await writer.write(_free_pages)
            if left >= before:
                break
        await writer.write(_checkpoint, alone=True)
        return first - left

    async def backup(self, path: Path) -> None:
        """Copy the database as of one moment, whatever is written meanwhile. The copy is there whole or not at all."""
        await undisturbed(run_sync(_backup, self._store.path, path))

    async def check(self) -> list[str]:
        """What is wrong with the database; nothing, if it is whole."""
        return await undisturbed(run_sync(_check, self._store.path))


def _expired(db: Database, before_at: int | None, bytes_max: int | None) -> Position:
    too_old = too_many = START
    if before_at is not None:
        since = next(db.execute(UPKEEP["first_since"], (before_at,)))[0]
        too_old = head(db) if since is None else since - 1
    if bytes_max is not None:
        too_many = next(db.execute(UPKEEP["last_beyond"], (bytes_max,)))[0] or START
    return Position(max(too_old, too_many) + 1)


def _add_lines(path: Path, entries: list[Entry]) -> None:
    """On disk before they are forgotten."""
    make_private(path)
    try:
        with path.open("ab") as file:
            file.write(msgspec.json.Encoder().encode_lines(entries))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise StoreUnavailable(f"the archive {path} cannot be written: {error.strerror}") from error


def _free_pages(db: Database) -> int:
    return next(db.execute(UPKEEP["free_pages"]))[0]


def _vacuum_some(db: Database) -> None:
    _exhaust(db, "vacuum_some")


def _checkpoint(db: Database) -> None:
    _exhaust(db, "checkpoint")


def _exhaust(db: Database, name: str) -> None:
    """These work while their rows are asked for."""
    for _ in db.execute(UPKEEP[name]):
        pass


def _backup(source_path: Path, path: Path) -> None:
    unfinished = path.with_name(path.name + ".unfinished")
    try:
        unfinished.unlink(missing_ok=True)
        # Made here rather than by SQLite, since the system says why it cannot be.
        unfinished.touch(mode=0o600)
        source, copy = connect(source_path, query_only=True), connect(unfinished)
        try:
            backup = copy.backup("main", source, "main")
            try:
                backup.step(-1)
            finally:
                backup.finish()
        finally:
            copy.close(True)
            source.close(True)
        unfinished.rename(path)
    except (apsw.FullError, apsw.IOError) as error:
        unfinished.unlink(missing_ok=True)
        raise StoreUnavailable(f"copying the database to {path} failed: {error}") from error
    except apsw.Error as error:
        unfinished.unlink(missing_ok=True)
        raise problem_of(error) from error
    except OSError as error:
        said = f"the copy {path} cannot be written: {(error.strerror or str(error)).lower()}"
        raise (StoreUnavailable(said) if error.errno in FOR_NOW else BadRequest(said)) from error


def _check(path: Path) -> list[str]:
    try:
        db = connect(path, query_only=True)
        try:
            return [row[0] for row in db.execute(UPKEEP["check"]) if row[0] != "ok"]
        finally:
            db.close(True)
    except apsw.Error as error:
        return [str(problem_of(error))]
