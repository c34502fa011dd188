"""A store that lives as long as its process: for tests, and for trying things without a disk.

It keeps the whole contract of the port except that nothing survives it, and it can be told to fail.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from time import time

import msgspec
from anyio.lowlevel import cancel_shielded_checkpoint

from turnkeeper.protocol.clients import ClientName
from turnkeeper.protocol.events import Entry, Event, Gate
from turnkeeper.protocol.ids import START, MessageId, Position, RequestId, RunId, SessionId, ToolCallId
from turnkeeper.protocol.messages import Message, Role, Text
from turnkeeper.protocol.problems import SessionMoved, StoreUnavailable
from turnkeeper.protocol.requests import Grant, Request
from turnkeeper.protocol.runs import Outcome, Run, RunState
from turnkeeper.protocol.sessions import Effect, FileRead, FileVersion, SessionInfo
from turnkeeper.store import finding
from turnkeeper.store.rules import assembled
from turnkeeper.store.store import NAMES_MAX, READ_MAX, Accounts, Found, Piece, Settled, Snapshot, Spent, Standing
from turnkeeper.store.views import Views

Interruption = Callable[[SessionId, Sequence[Event]], Awaitable[None]]


class MemoryStore:
    """Owns a log and its views. `before_append` is awaited before each append; what it raises refuses that append."""

    def __init__(self) -> None:
        self.before_append: Interruption | None = None
        self._views = Views()
        self._entries: list[Entry] = []
        self._kept_after = START
        self._failures: list[Exception] = []
        self._listeners: list[Callable[[Sequence[Entry]], None]] = []
        self._closed = False

    def fail_next(self, failure: Exception | None = None, *, times: int = 1) -> None:
        """The next appends write nothing and raise this instead."""
        self._failures.extend([failure or StoreUnavailable()] * times)

    async def append(
        self, session_id: SessionId, events: Sequence[Event], *, after: Position | None, at: int = 0
    ) -> Position:
        await cancel_shielded_checkpoint()
        if self.before_append is not None:
            await self.before_append(session_id, events)
        self._check_open()
        if self._failures:
            raise self._failures.pop(0)
        found = self._views.ends.get(session_id, START)
        if after is not None and after != found:
            raise SessionMoved(session_id, expected=after, found=found)
        return self._write(session_id, events, at or int(time() * 1000))

    def _write(self, session_id: SessionId, events: Sequence[Event], at: int) -> Position:
        head = self._head()
        entries = [
            Entry(Position(position), session_id, event, at) for position, event in enumerate(events, start=head + 1)
        ]
        try:
            for entry in entries:
                self._views.apply(entry)
        except BaseException:
            self._views.undo()
            raise
        self._views.keep()
        self._entries.extend(entries)
        if entries:
            for listener in self._listeners:
                listener(entries)
        return self._views.ends.get(session_id, START)

    def put_back(self, entries: Iterable[Entry]) -> None:
        """Fold entries that were read from another log, as they stand there."""
        for entry in entries:
            self._views.apply(entry)
            self._views.keep()
            self._entries.append(entry)

    async def write_behind(self, pieces: Sequence[Piece]) -> None:
        await cancel_shielded_checkpoint()
        self._check_open()
        for piece in pieces:
            self._views.write_behind(piece)

    def on_commit(self, listener: Callable[[Sequence[Entry]], None]) -> None:
        self._listeners.append(listener)

    async def pieces(self, session_id: SessionId) -> list[Piece]:
        found = [
            Piece(session_id, message_id, index, kind, offset, text)
            for message_id in self._views.conversations.get(session_id, {})
            for (index, kind, offset), text in self._views.pieces.get(message_id, {}).items()
        ]
        return sorted(found, key=lambda piece: (piece.message_id, piece.index, piece.part, piece.offset))

    async def head(self) -> Position:
        return self._head()

    def _head(self) -> Position:
        return self._entries[-1].position if self._entries else self._kept_after

    async def kept_after(self) -> Position:
        return self._kept_after

    async def read(self, after: Position, *, limit: int = READ_MAX) -> list[Entry]:
        begin = bisect_right(self._entries, after, key=lambda entry: entry.position)
        return self._entries[begin : begin + limit]

    async def snapshot(self) -> Snapshot:
        here = self._views.sessions
        requests = sorted(self._views.requests.values(), key=lambda item: item[0])
        return Snapshot(
            position=self._head(),
            sessions=tuple(sorted(here.values(), key=self._changed, reverse=True)),
            runs=tuple(run for session_id in sorted(here) for run in self._line(session_id)),
            requests=tuple(request for _, _, request in requests),
            held=tuple(sorted(key for key, gate in self._views.gates.items() if gate == Gate.HELD)),
            names=self._names(),
        )

    async def standing(self, session_id: SessionId) -> Standing | None:
        if session_id not in self._views.sessions:
            return None
        line = self._line(session_id)
        requests = sorted(item for item in self._views.requests.items() if item[1][1] == session_id)
        return Standing(
            session_id,
            self._views.ends[session_id],
            self._views.gates[session_id],
            next((run for run in line if run.state != RunState.QUEUED), None),
            tuple(run for run in line if run.state == RunState.QUEUED),
            tuple(request for _, (_, _, request) in sorted(requests, key=lambda item: item[1][0])),
        )

    def _line(self, session_id: SessionId) -> list[Run]:
        runs = self._views.runs
        places = self._views.line.get(session_id, {})
        order = sorted(places, key=lambda run_id: (runs[run_id][1].state == RunState.QUEUED, places[run_id]))
        return [runs[run_id][1] for run_id in order]

    def _changed(self, info: SessionInfo) -> Position:
        return self._views.changed[info.id]

    async def unsettled(self) -> list[SessionId]:
        asking = {session_id for _, session_id, _ in self._views.requests.values()}
        return [
            session_id
            for session_id, gate in sorted(self._views.gates.items())
            if gate != Gate.OPEN
            or session_id in asking
            or self._views.line.get(session_id)
            or any(map(_is_unfinished, self._conversation(session_id)))
        ]

    async def session(self, session_id: SessionId) -> SessionInfo | None:
        return self._views.sessions.get(session_id)

    async def sessions(self, *, parent: SessionId | None = None) -> list[SessionInfo]:
        children = [info for info in self._views.sessions.values() if info.parent_id == (parent or "")]
        return sorted(children, key=self._changed, reverse=True)

    async def message(self, message_id: MessageId) -> Message | None:
        session_id = self._views.places.get(message_id)
        if session_id is None:
            return None
        return self._whole(self._views.conversations[session_id][message_id][1])

    def _whole(self, message: Message) -> Message:
        pieces = self._views.pieces.get(message.id, {}).items()
        return msgspec.structs.replace(message, parts=assembled(self._views.parts[message.id], pieces))

    def _conversation(self, session_id: SessionId) -> list[Message]:
        said = self._views.conversations.get(session_id, {}).values()
        return [self._whole(message) for _, message in sorted(said, key=lambda item: item[0])]

    async def messages(self, session_id: SessionId) -> list[Message]:
        return self._conversation(session_id)

    async def user_messages(self, session_id: SessionId | None = None) -> list[Message]:
        chosen = list(self._views.conversations) if session_id is None else [session_id]
        said = [item for key in chosen for item in self._views.conversations.get(key, {}).values()]
        newest = sorted(said, key=lambda item: item[0], reverse=True)
        return [self._whole(message) for _, message in newest if message.role == Role.USER]

    async def unfinished(self, session_id: SessionId) -> list[Message]:
        return [message for message in self._conversation(session_id) if _is_unfinished(message)]

    async def search(self, words: Sequence[str], *, limit: int = READ_MAX) -> list[Found]:
        wanted = finding.folded(words)
        said = [item for conversation in self._views.conversations.values() for item in conversation.values()]
        newest = [self._whole(message) for _, message in sorted(said, key=lambda item: item[0], reverse=True)]
        spoken = (message for message in newest if message.role in finding.SPOKEN)
        found = [
            Found(message.session_id, message.id, message.role, message.created_at, part.text)
            for message in spoken
            for part in message.parts
            if isinstance(part, Text) and finding.holds(part.text, wanted)
        ]
        return found[:limit]

    async def accounts(self, *, since: int = 0) -> Accounts:
        ended = [run for _, run in sorted(self._views.runs.values(), key=lambda item: item[0])]
        tools = Counter(
            effect.tool
            for effects in self._views.effects.values()
            for _, effect in effects.values()
            if effect.at >= since
        )
        return Accounts(
            tuple([self._spent(run) for run in ended if run.outcome is not None and run.accepted_at >= since]),
            dict(sorted(tools.items())),
        )

    def _spent(self, run: Run) -> Spent:
        conversation = self._views.conversations.get(run.session_id, {})
        _, last = conversation.get(run.message_id, (START, None))
        return Spent(
            run.id,
            run.session_id,
            run.outcome or Outcome.COMPLETED,
            run.accepted_at,
            run.started_at,
            run.ended_at,
            run.usage,
            run.steps,
            run.parent,
            last.provider if last else "",
            last.model if last else "",
        )

    async def run(self, run_id: RunId) -> Run | None:
        return self._views.runs[run_id][1] if run_id in self._views.runs else None

    async def runs(self, session_id: SessionId | None = None, *, limit: int = READ_MAX) -> list[Run]:
        newest = sorted(self._views.runs.values(), key=lambda item: item[0], reverse=True)
        return [run for _, run in newest if session_id in (None, run.session_id)][:limit]

    async def request(self, request_id: RequestId) -> Request | None:
        return self._views.requests[request_id][2] if request_id in self._views.requests else None

    async def settled(self, *, limit: int = READ_MAX) -> list[Settled]:
        newest = sorted(self._views.settled.values(), key=lambda item: item[0], reverse=True)
        return [settled for _, settled in newest[:limit]]

    async def grants(self) -> list[Grant]:
        return [grant for _, grant in sorted(self._views.grants.values(), key=lambda item: item[0])]

    def _names(self) -> tuple[ClientName, ...]:
        return tuple(who for _, who in sorted(self._views.names.values(), key=lambda item: item[0])[-NAMES_MAX:])

    async def files(self, session_id: SessionId, *, newest_of: str | None = None) -> list[FileVersion]:
        versions = self._views.files.get(session_id, {}).values()
        ordered = [file for _, file in sorted(versions, key=lambda item: item[0])]
        if newest_of is None:
            return ordered
        return sorted((file for file in ordered if file.path == newest_of), key=lambda file: file.version)[-1:]

    async def file_reads(self, session_id: SessionId) -> list[FileRead]:
        return sorted(self._views.reads.get(session_id, {}).values(), key=lambda read: read.path)

    async def file_read(self, session_id: SessionId, path: str) -> FileRead | None:
        return self._views.reads.get(session_id, {}).get(path)

    async def effects(self, session_id: SessionId) -> list[Effect]:
        noted = self._views.effects.get(session_id, {}).values()
        return [effect for _, effect in sorted(noted, key=lambda item: item[0])]

    async def effect(self, tool_call_id: ToolCallId) -> Effect | None:
        noted = [table[tool_call_id] for table in self._views.effects.values() if tool_call_id in table]
        return max(noted, key=lambda item: item[0])[1] if noted else None

    async def prune(self, *, before: Position) -> int:
        self._check_open()
        kept = [entry for entry in self._entries if entry.position >= before]
        forgotten = len(self._entries) - len(kept)
        if forgotten:
            self._kept_after = self._entries[forgotten - 1].position
        self._entries = kept
        return forgotten

    async def close(self) -> None:
        self._closed = True

    def _check_open(self) -> None:
        if self._closed:
            raise StoreUnavailable("the store is closed")


def _is_unfinished(message: Message) -> bool:
    return message.role == Role.ASSISTANT and message.finish is None
