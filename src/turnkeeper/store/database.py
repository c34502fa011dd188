"""A connection to a database, as this room uses it."""

import contextlib
import os
from collections.abc import Awaitable, Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

import anyio
import apsw

BUSY_MILLISECONDS = 2000
"""How long a stranger's lock is waited for."""
CACHE_KIBIBYTES = 8000
STATEMENTS_MAX = 200
"""How many prepared statements a connection remembers."""

Row = tuple[Any, ...]
Result = TypeVar("Result")


class Backup(Protocol):
    def step(self, npages: int = ..., /) -> bool: ...

    def finish(self) -> None: ...


class Database(Protocol):
    """What we use of `apsw.Connection`, with types that say what we bind and get."""

    @property
    def in_transaction(self) -> bool: ...

    def execute(self, statements: str, bindings: Row = ..., /) -> Iterator[Row]: ...

    def executemany(self, statements: str, bindings: Iterable[Row], /) -> Iterator[Row]: ...

    def changes(self) -> int: ...

    def set_progress_handler(self, callable: Callable[[], bool] | None, nsteps: int = ..., /) -> None: ...

    def config(self, op: int, value: int, /) -> int: ...

    def set_wal_hook(self, callable: Callable[[Any, str, int], int] | None, /) -> None: ...

    def backup(self, databasename: str, sourceconnection: "Database", sourcedatabasename: str, /) -> "Backup": ...

    def close(self, force: bool = ..., /) -> None: ...


def connect(path: Path, *, query_only: bool = False) -> Database:
    """Cheap enough to be made again after a failure. A database that is made here is its owner's alone."""
    if not query_only:
        make_private(path)
    db = apsw.Connection(str(path), statementcachesize=STATEMENTS_MAX)
    db.set_busy_timeout(BUSY_MILLISECONDS)
    typed = cast(Database, db)
    typed.execute(f"PRAGMA temp_store = MEMORY; PRAGMA cache_size = -{CACHE_KIBIBYTES}; PRAGMA fullfsync = ON")
    if query_only:
        typed.execute("PRAGMA query_only = ON")
    return typed


def make_private(path: Path) -> None:
    """Make a file for its owner's eyes only, unless there is one.

    A directory that was there before us, as one that came with a checkout, may be open to others. What SQLite puts
    beside a database gets the database's own mode.
    """
    with contextlib.suppress(OSError):  # whoever opens it tells what is wrong
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))


async def undisturbed(work: Awaitable[Result]) -> Result:
    """Await what goes on even if whoever waits for it is cancelled."""
    with anyio.CancelScope(shield=True):
        return await work
    raise AssertionError("a shielded scope is left with a result or an exception")
