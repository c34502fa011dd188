"""Connections that only read: they never wait for the writer, and never keep the event loop waiting for long."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import anyio
import apsw
from anyio.to_thread import run_sync

from turnkeeper.protocol.problems import StoreUnavailable
from turnkeeper.store.database import Database, undisturbed
from turnkeeper.store.faults import is_damage, problem_of

READERS_MAX = 4
"""How many reads go on at once."""

Result = TypeVar("Result")


class Readers:
    """Owns the reading connections: one for each read that goes on, kept for the next."""

    def __init__(self, connect: Callable[[], Database]) -> None:
        self._connect = connect
        self._free: list[Database] = []
        self._room = anyio.Semaphore(READERS_MAX)
        self._limiter = anyio.CapacityLimiter(READERS_MAX)
        self._closed = False
        self.saw_damage = False

    async def ask(self, question: Callable[[Database], Result], *, small: bool = False) -> Result:
        """A small question is one short statement. It is answered where it is asked, since a thread would cost more
        than its answer does; and as it keeps its connection for no longer than that, it waits for nobody's.
        """
        if small and self._free and not self._closed:
            return self._answer(self._free.pop(), question)
        async with self._room:
            if self._closed:
                raise StoreUnavailable("the store is closed")
            db = self._free.pop() if self._free else None
            return await undisturbed(
                run_sync(self._answer, db, partial(at_one_moment, question), limiter=self._limiter)
            )

    def _answer(self, db: Database | None, question: Callable[[Database], Result]) -> Result:
        try:
            db = db or self._connect()
            return question(db)
        except apsw.Error as error:
            self.saw_damage |= is_damage(error)
            if db is not None:
                db.close(True)
                db = None
            raise problem_of(error) from error
        finally:
            if db is not None:
                self._free.append(db)

    async def close(self) -> None:
        """Reads that go on are waited for."""
        self._closed = True
        with anyio.CancelScope(shield=True):
            for _ in range(READERS_MAX):
                await self._room.acquire()
        while self._free:
            self._free.pop().close(True)
        for _ in range(READERS_MAX):
            self._room.release()


def at_one_moment(question: Callable[[Database], Result], db: Database) -> Result:
    """In one transaction, so that all of the answer is as of one moment."""
    db.execute("BEGIN")
    try:
        return question(db)
    finally:
        db.execute("COMMIT")
