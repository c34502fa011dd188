"""The one thread that writes: what waits together is committed together.

When one of them is refused, all are done again with a savepoint for each, so that it leaves the others
alone. Whoever asked is answered after the commit is on disk, all of a batch in one call into the event loop.

The thread is started by `start` and ended by `close`. Work that was handed over is carried out even if whoever handed
it over is cancelled: its outcome is never in doubt.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, TypeVar

import anyio
import apsw

from turnkeeper.protocol.problems import Problem, StoreGone, StoreUnavailable
from turnkeeper.store.database import Database, undisturbed
from turnkeeper.store.faults import is_damage, problem_of

WORKS_MAX = 1024
"""How many pieces of work may wait for the writer; whoever comes later waits to be let in."""
BATCH_MAX = 256
"""How many share one commit."""
CHECKPOINT_PAGES = 1000
"""How long the write-ahead log grows before it is brought into the database."""
WAL_BYTES_MAX = 64 * 1024 * 1024
"""What is left of its file when it begins anew."""

Result = TypeVar("Result")
Outcome = Any

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """Something to be done with the writer's connection."""

    act: Callable[[Database], Any]
    then: Callable[[Any], None] | None
    """Called on the event loop with the result, before whoever asked goes on."""
    answer: asyncio.Future[Any]
    durable: bool
    """Whether it must be on disk when it is answered; what need not be is carried there by what follows."""
    alone: bool
    """Whether it cannot be done inside a transaction."""


class Writer:
    """Owns the writing connection, which only its thread touches. `look` raises before a transaction that would be
    written to files that are no longer there."""

    def __init__(self, connect: Callable[[], Database], *, look: Callable[[], None]) -> None:
        self._connect = connect
        self._look = look
        self._db: Database | None = None
        self._loop = asyncio.get_running_loop()
        self._room = anyio.Semaphore(WORKS_MAX, fast_acquire=True)
        self._works: SimpleQueue[Work | None] = SimpleQueue()
        self._ended = asyncio.Event()
        self._closing = False
        self._wal_pages = 0
        self.saw_damage = False
        # A daemon, so that a program that forgets to close its store can still end; what was answered is on disk.
        self._thread = threading.Thread(target=self._run, name="turnkeeper-writer", daemon=True)

    def start(self) -> None:
        self._thread.start()

    async def write(
        self,
        act: Callable[[Database], Result],
        *,
        then: Callable[[Result], None] | None = None,
        durable: bool = True,
        alone: bool = False,
    ) -> Result:
        answer: asyncio.Future[Result] = self._loop.create_future()
        return await undisturbed(self._hand_over(Work(act, then, answer, durable, alone)))

    async def _hand_over(self, work: Work) -> Any:
        async with self._room:
            if self._closing:
                raise StoreUnavailable("the store is closed")
            self._works.put(work)
            return await work.answer

    async def close(self) -> None:
        """What was handed over is still done."""
        if not self._closing:
            self._closing = True
            self._works.put(None)
        with anyio.CancelScope(shield=True):
            await self._ended.wait()

    def _run(self) -> None:
        going = True
        while going:
            batch, going = self._batch()
            outcomes = self._commit(batch) if batch else []
            self._tell(self._deliver, outcomes)
            if self._wal_pages >= CHECKPOINT_PAGES:
                self._checkpoint()
        self._disconnect()
        self._tell(self._ended.set)

    def _batch(self) -> tuple[list[Work], bool]:
        """What waits, and whether more may come."""
        batch: list[Work] = []
        while not batch or (len(batch) < BATCH_MAX and not self._works.empty()):
            work = self._works.get()
            if work is None:
                return batch, False
            batch.append(work)
        return batch, True

    def _commit(self, batch: Sequence[Work]) -> list[tuple[Work, Outcome]]:
        """One transaction for neighbours that can share one."""
        outcomes: list[tuple[Work, Outcome]] = []
        shared: list[Work] = []
        for work in batch:
            if work.alone:
                outcomes += [*self._together(shared), (work, self._attempt(self._alone, work))]
                shared = []
            else:
                shared.append(work)
        return outcomes + self._together(shared)

    def _together(self, works: Sequence[Work]) -> list[tuple[Work, Outcome]]:
        if not works:
            return []
        results = self._attempt(self._transact, works)
        if not isinstance(results, BaseException):
            return list(zip(works, results, strict=True))
        if len(works) == 1 or isinstance(results, StoreGone) or isinstance(results.__cause__, apsw.BusyError):
            return [(work, results) for work in works]
        # One that was too much for the disk must not take its neighbours with it.
        return [outcome for work in works for outcome in self._together([work])]

    def _attempt(self, do: Callable[[Any], Any], what: Any) -> Any:
        """The result, or the problem; after one, the connection is as if nothing had been begun."""
        try:
            return do(what)
        except StoreGone as gone:
            return gone  # Looked for and not found: nothing was begun.
        except apsw.Error as error:
            problem = problem_of(error)
            self.saw_damage |= is_damage(error)
            problem.__cause__ = error
            log.warning("store failed", extra={"problem": str(problem)})
        except Exception as error:
            # Whatever happens, whoever waits is told and the next is served.
            problem = StoreUnavailable(f"the workspace's database failed ({type(error).__name__}: {error})")
            problem.__cause__ = error
            log.exception("store failed")
        self._roll_back()
        return problem

    def _transact(self, works: Sequence[Work]) -> list[Outcome]:
        self._look()
        db = self._connected()
        # In WAL mode NORMAL writes without waiting for the disk; the next durable commit brings it there.
        level = "FULL" if any(work.durable for work in works) else "NORMAL"
        db.execute(f"PRAGMA synchronous = {level}")
        db.execute("BEGIN IMMEDIATE")
        try:
            results = [work.act(db) for work in works]
        except Problem:
            # Refusals are rare, and savepoints cost as much as what they guard: only now does each work get its own.
            db.execute("ROLLBACK")
            db.execute("BEGIN IMMEDIATE")
            results = [self._act(db, work) for work in works]
        db.execute("COMMIT")
        return results

    def _act(self, db: Database, work: Work) -> Outcome:
        """A problem refuses this work only; a failure of the database ends the whole transaction."""
        db.execute("SAVEPOINT work")
        try:
            result = work.act(db)
        except Problem as problem:
            db.execute("ROLLBACK TO work")
            result = problem
        db.execute("RELEASE work")
        return result

    def _alone(self, work: Work) -> Outcome:
        try:
            return work.act(self._connected())
        except Problem as problem:
            return problem

    def _connected(self) -> Database:
        if self._db is None:
            self._db = self._connect()
            # Instead of SQLite's own checkpoint, which is part of a commit: its failure would look like the commit's.
            self._db.set_wal_hook(self._count_pages)
            self._db.execute(f"PRAGMA journal_size_limit = {WAL_BYTES_MAX}")
        return self._db

    def _checkpoint(self) -> None:
        """Bring the write-ahead log into the database when nobody waits for it; if that fails, it is still the log."""
        self._wal_pages = 0
        try:
            if self._db is not None:
                for _ in self._db.execute("PRAGMA wal_checkpoint(PASSIVE)"):
                    pass
        except apsw.Error as error:
            log.warning("checkpoint failed", extra={"problem": str(problem_of(error))})

    def _count_pages(self, _db: object, _name: str, pages: int) -> int:
        self._wal_pages = pages
        return 0

    def _roll_back(self) -> None:
        try:
            if self._db is not None and self._db.in_transaction:
                self._db.execute("ROLLBACK")
        except apsw.Error:
            self._disconnect()

    def _disconnect(self) -> None:
        db, self._db = self._db, None
        try:
            if db is not None:
                db.close(True)
        except apsw.Error as error:
            log.warning("database not closed", extra={"problem": str(problem_of(error))})

    def _tell(self, do: Callable[..., object], *said: object) -> None:
        try:
            self._loop.call_soon_threadsafe(do, *said)
        except RuntimeError:
            log.warning("the event loop ended before its store was closed")

    def _deliver(self, outcomes: Sequence[tuple[Work, Outcome]]) -> None:
        for work, outcome in outcomes:
            if isinstance(outcome, BaseException):
                _answer(work, outcome)
                continue
            if work.then is not None:
                work.then(outcome)
            if not work.answer.done():
                work.answer.set_result(outcome)


def _answer(work: Work, problem: BaseException) -> None:
    if not work.answer.done():
        work.answer.set_exception(problem)
