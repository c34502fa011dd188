"""A workspace's log and views in one SQLite database: `turnkeeper.db` in its data directory.

What is written is on disk before its writer is answered, in the order of the log; readers wait for nobody. The
directory belongs to one server at a time. `open_store` opens it, `close` lets it go; so does the end of the process.
"""

import os
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import apsw
from anyio.to_thread import run_sync

from turnkeeper.protocol.events import Entry, Event
from turnkeeper.protocol.ids import MessageId, Position, RequestId, RunId, SessionId, ToolCallId
from turnkeeper.protocol.messages import Message
from turnkeeper.protocol.problems import StoreGone, StoreReadOnly, StoreUnavailable
from turnkeeper.protocol.requests import Grant, Request
from turnkeeper.protocol.runs import Run
from turnkeeper.protocol.sessions import Effect, FileRead, FileVersion, SessionInfo
from turnkeeper.store import lock, reading, record
from turnkeeper.store.database import connect, undisturbed
from turnkeeper.store.faults import problem_of
from turnkeeper.store.migrate import OnProgress, Ready, make_ready, suspect
from turnkeeper.store.readers import Readers
from turnkeeper.store.record import Said
from turnkeeper.store.rows import encode
from turnkeeper.store.store import READ_MAX, Accounts, Found, Piece, Settled, Snapshot, Standing
from turnkeeper.store.writer import Writer

DATABASE = "turnkeeper.db"

Listener = Callable[[Sequence[Entry]], None]


@asynccontextmanager
async def open_store(
    directory: Path, *, address: str = "", version: str = "", progress: OnProgress | None = None
) -> AsyncGenerator["SqliteStore"]:
    """Open the workspace that is kept in `directory`; `address` is where other servers are told to find this one.

    `progress` is called from another thread while an older database is brought to this version's schema.
    """
    store = await SqliteStore.open(directory, address=address, version=version, progress=progress)
    try:
        yield store
    finally:
        await store.close()


class SqliteStore:
    """Owns the directory's lock, the writer and the readers, from `open` to `close`."""

    def __init__(self, path: Path, held: lock.DirectoryLock, ready: Ready) -> None:
        self.path = path
        self.notice = ready.notice
        """A sentence for a person: the database was damaged, or is newer than this server."""
        self.read_only = ready.read_only
        self.writer = Writer(partial(connect, path, query_only=ready.read_only), look=self._look)
        self.readers = Readers(partial(connect, path, query_only=True))
        self._held = held
        self._was = path.stat()
        self._listeners: list[Listener] = []

    @classmethod
    async def open(
        cls, directory: Path, *, address: str = "", version: str = "", progress: OnProgress | None = None
    ) -> "SqliteStore":
        held, ready = await undisturbed(run_sync(partial(_open, directory, address, version, progress)))
        store = cls(directory / DATABASE, held, ready)
        store.writer.start()
        return store

    async def append(
        self, session_id: SessionId, events: Sequence[Event], *, after: Position | None, at: int = 0
    ) -> Position:
        told = [Said(event, encode(event)) for event in events]
        at = at or int(time.time() * 1000)
        self._check_writable()
        position, _ = await self.writer.write(
            lambda db: record.append(db, session_id, told, after=after, at=at), then=self._committed
        )
        return position

    def _committed(self, result: tuple[Position, Sequence[Entry]]) -> None:
        _, entries = result
        if entries:
            for listener in self._listeners:
                listener(entries)

    def _check_writable(self) -> None:
        if self.read_only:
            raise StoreReadOnly

    def _look(self) -> None:
        """What is written to files that nobody will find again must not be acknowledged."""
        if not (self._held.is_there() and self._is_there()):
            raise StoreGone(
                f"the database {self.path} was removed or replaced while it was open; nothing was accepted. "
                "Close the workspace and open it again"
            )

    def _is_there(self) -> bool:
        try:
            return os.path.samestat(self.path.stat(), self._was)
        except OSError:
            return False

    async def write_behind(self, pieces: Sequence[Piece]) -> None:
        self._check_writable()
        await self.writer.write(lambda db: record.write_behind(db, pieces), durable=False)

    async def prune(self, *, before: Position) -> int:
        self._check_writable()
        return await self.writer.write(lambda db: record.prune(db, before))

    def on_commit(self, listener: Listener) -> None:
        self._listeners.append(listener)

    async def pieces(self, session_id: SessionId) -> list[Piece]:
        return await self.readers.ask(lambda db: reading.pieces(db, session_id))

    async def head(self) -> Position:
        return await self.readers.ask(reading.head, small=True)

    async def kept_after(self) -> Position:
        return await self.readers.ask(reading.kept_after, small=True)

    async def read(self, after: Position, *, limit: int = READ_MAX) -> list[Entry]:
        return await self.readers.ask(lambda db: reading.entries(db, after, limit))

    async def snapshot(self) -> Snapshot:
        return await self.readers.ask(reading.snapshot)

    async def standing(self, session_id: SessionId) -> Standing | None:
        return await self.readers.ask(lambda db: reading.standing(db, session_id))

    async def unsettled(self) -> list[SessionId]:
        return await self.readers.ask(reading.unsettled)

    async def session(self, session_id: SessionId) -> SessionInfo | None:
        return await self.readers.ask(lambda db: reading.session(db, session_id), small=True)

    async def sessions(self, *, parent: SessionId | None = None) -> list[SessionInfo]:
        return await self.readers.ask(lambda db: reading.sessions(db, parent or SessionId("")))

    async def message(self, message_id: MessageId) -> Message | None:
        return await self.readers.ask(lambda db: reading.message(db, message_id))

    async def messages(self, session_id: SessionId) -> list[Message]:
        return await self.readers.ask(lambda db: reading.messages(db, session_id))

    async def user_messages(self, session_id: SessionId | None = None) -> list[Message]:
        return await self.readers.ask(lambda db: reading.user_messages(db, session_id))

    async def unfinished(self, session_id: SessionId) -> list[Message]:
        return await self.readers.ask(lambda db: reading.unfinished(db, session_id))

    async def search(self, words: Sequence[str], *, limit: int = READ_MAX) -> list[Found]:
        return await self.readers.ask(lambda db: reading.search(db, words, limit))

    async def accounts(self, *, since: int = 0) -> Accounts:
        return await self.readers.ask(lambda db: reading.accounts(db, since))

    async def run(self, run_id: RunId) -> Run | None:
        return await self.readers.ask(lambda db: reading.run(db, run_id), small=True)

    async def runs(self, session_id: SessionId | None = None, *, limit: int = READ_MAX) -> list[Run]:
        return await self.readers.ask(lambda db: reading.runs(db, session_id, limit))

    async def request(self, request_id: RequestId) -> Request | None:
        return await self.readers.ask(lambda db: reading.request(db, request_id), small=True)

    async def settled(self, *, limit: int = READ_MAX) -> list[Settled]:
        return await self.readers.ask(lambda db: reading.settled(db, limit))

    async def grants(self) -> list[Grant]:
        return await self.readers.ask(reading.grants, small=True)

    async def files(self, session_id: SessionId, *, newest_of: str | None = None) -> list[FileVersion]:
        if newest_of is None:
            return await self.readers.ask(lambda db: reading.files(db, session_id))
        return await self.readers.ask(lambda db: reading.newest_file(db, session_id, newest_of), small=True)

    async def file_reads(self, session_id: SessionId) -> list[FileRead]:
        return await self.readers.ask(lambda db: reading.file_reads(db, session_id))

    async def file_read(self, session_id: SessionId, path: str) -> FileRead | None:
        return await self.readers.ask(lambda db: reading.file_read(db, session_id, path), small=True)

    async def effects(self, session_id: SessionId) -> list[Effect]:
        return await self.readers.ask(lambda db: reading.effects(db, session_id))

    async def effect(self, tool_call_id: ToolCallId) -> Effect | None:
        return await self.readers.ask(lambda db: reading.effect(db, tool_call_id), small=True)

    async def close(self) -> None:
        """Readers first: the last connection to close brings the write-ahead log into the database."""
        await self.readers.close()
        await self.writer.close()
        if self.writer.saw_damage or self.readers.saw_damage:
            suspect(self.path)
        self._held.release()


def _open(directory: Path, address: str, version: str, progress: OnProgress | None) -> tuple[lock.DirectoryLock, Ready]:
    lock.prepare(directory)
    held = lock.take(directory, address=address, version=version)
    try:
        return held, make_ready(directory / DATABASE, progress=progress)
    except apsw.Error as error:
        held.release()
        raise problem_of(error) from error
    except OSError as error:
        held.release()
        raise StoreUnavailable(f"the database in {directory} cannot be opened: {error.strerror}") from error
    except BaseException:
        held.release()
        raise
