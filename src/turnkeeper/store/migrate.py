"""Making a database ready to be used: whole, of our schema, or else moved aside or only read.

A database that is damaged is moved aside and never deleted. One that a newer version wrote is opened to be read.
"""

import logging
import math
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw
import msgspec

from turnkeeper.store.database import Database, connect
from turnkeeper.store.faults import is_damage
from turnkeeper.store.statements import migrations

CHECK_SECONDS_MAX = 2.0
"""How long a database that was not closed properly is looked over before it is trusted."""
STEPS_PER_TICK = 100_000
MAGIC = b"SQLite format 3\0"
SUSPECT = ".suspect"
"""Beside a database in which damage was met while it was open."""
SUFFIXES = ("", "-wal", "-shm")

log = logging.getLogger(__name__)


class Progress(msgspec.Struct, frozen=True):
    """How far a migration has come."""

    version: int
    target: int
    ticks: int
    """Rises while one step is at work."""


OnProgress = Callable[[Progress], None]


class Ready(msgspec.Struct, frozen=True):
    """What was found out about a database."""

    read_only: bool = False
    notice: str = ""
    """A sentence for a person, if there is something to be told."""


def make_ready(path: Path, *, progress: OnProgress | None = None, steps: Sequence[str] | None = None) -> Ready:
    """Called by whoever holds the directory's lock."""
    steps = migrations() if steps is None else steps
    suspected = path.with_name(path.name + SUSPECT)
    seconds_max = math.inf if suspected.exists() else CHECK_SECONDS_MAX if was_open(path) else 0.0
    try:
        return _make_ready(path, progress, steps, look_over_seconds_max=seconds_max)
    except apsw.Error as error:
        if not is_damage(error):
            raise
    finally:
        suspected.unlink(missing_ok=True)
    aside = move_aside(path)
    log.error("database moved aside", extra={"aside": str(aside)})
    _make_ready(path, progress, steps, look_over_seconds_max=0.0)
    return Ready(notice=f"The database {path} was damaged. It was moved to {aside}, and a new one was begun.")


def was_open(path: Path) -> bool:
    """Whether whoever had the database open last did not close it."""
    return path.with_name(path.name + "-wal").exists()


def suspect(path: Path) -> None:
    """Have the database looked over from end to end when it is opened again."""
    path.with_name(path.name + SUSPECT).touch()


def move_aside(path: Path) -> Path:
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    for suffix in reversed(SUFFIXES):
        part = path.with_name(path.name + suffix)
        if part.exists():
            part.rename(aside.with_name(aside.name + suffix))
    return aside


def _make_ready(
    path: Path, progress: OnProgress | None, steps: Sequence[str], *, look_over_seconds_max: float
) -> Ready:
    _recognise(path)
    db = connect(path)
    # The write-ahead log of a damaged database may hold what the database has lost, so it is left as it is.
    db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    try:
        version = _version(db)
        if look_over_seconds_max:
            _look_over(db, look_over_seconds_max)
        if version > len(steps):
            return Ready(
                read_only=True,
                notice=f"The database {path} was written by a newer version (schema {version}, known here: "
                f"{len(steps)}). It can be read, not written; use the newer version to go on.",
            )
        if version < len(steps):
            _migrate(db, version, steps, progress)
        _glance(db)
        return Ready()
    finally:
        db.close(True)


def _recognise(path: Path) -> None:
    """Before SQLite sees it: it would throw away the write-ahead log of what it does not take for a database."""
    if not path.is_file():
        return
    with path.open("rb") as file:
        begins = file.read(len(MAGIC))
    if begins != MAGIC and (begins or was_open(path)):
        raise apsw.NotADBError("the file does not begin as a database does")


def _version(db: Database) -> int:
    return int(next(db.execute("PRAGMA user_version"))[0])


def _migrate(db: Database, version: int, steps: Sequence[str], progress: OnProgress | None) -> None:
    if version == 0:
        # Both must be decided before there is a table.
        db.execute("PRAGMA auto_vacuum = INCREMENTAL")
        progress = None  # a new one is no older one, and there at once
    db.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
    for number, step in list(enumerate(steps, start=1))[version:]:
        with _told(db, progress, number, len(steps)):
            db.execute("BEGIN IMMEDIATE")
            try:
                db.execute(step)
                db.execute(f"PRAGMA user_version = {number}")
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise


@contextmanager
def _told(db: Database, progress: OnProgress | None, version: int, target: int) -> Generator[None]:
    """Whoever waits is told before a step and, when it is a long one, during it."""
    if progress is None:
        yield
        return
    ticks = 0

    def tick() -> bool:
        nonlocal ticks
        progress(Progress(version, target, ticks))
        ticks += 1
        return False

    tick()
    db.set_progress_handler(tick, STEPS_PER_TICK)
    try:
        yield
    finally:
        db.set_progress_handler(None)


def _glance(db: Database) -> None:
    """The first and the last page of every table and index: what is grossly damaged does not get past it."""
    for (table,) in list(db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT NULL")):
        for _ in db.execute(f'SELECT * FROM "{table}" LIMIT 1'):
            pass
    for _ in db.execute("SELECT * FROM entries ORDER BY position DESC LIMIT 1"):
        pass


def _look_over(db: Database, seconds_max: float) -> None:
    """A quick check, for as long as a start may take; what it does not reach is found when it is read."""
    until = time.monotonic() + seconds_max
    db.set_progress_handler(lambda: time.monotonic() > until, STEPS_PER_TICK)
    try:
        said = next(db.execute("PRAGMA quick_check(1)"))[0]
    except apsw.InterruptError:
        return
    finally:
        db.set_progress_handler(None)
    if said != "ok":
        raise apsw.CorruptError(said)
