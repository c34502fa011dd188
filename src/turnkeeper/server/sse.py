"""An event stream: a watcher's feed, written to its socket as fast as it reads and no faster.

A stream ends in one of four ways: the client leaves, the workspace closes, the server stops, or the client does not
read for too long. When a workspace closes, whatever became true until then is told first, and the body gets its
terminating chunk, so that a client knows that it ended and comes back.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

import anyio
from starlette.types import Receive, Scope, Send

from turnkeeper.engine.feed import Snapshot, follow
from turnkeeper.engine.room import Room
from turnkeeper.protocol.events import Entry, MessageReset, PartSaid, RequestAsked
from turnkeeper.protocol.ids import MessageId, Position, RequestId
from turnkeeper.protocol.messages import Delta
from turnkeeper.protocol.wire import HEARTBEAT, envelope, frame
from turnkeeper.protocol.wire_clients import Presence
from turnkeeper.protocol.wire_own import Snapshot as SnapshotView
from turnkeeper.protocol.wire_own import snapshot as snapshot_view
from turnkeeper.server.protocol import ABORT
from turnkeeper.server.telling import Detail, Teller, asked, fragments, snapshot_line

WHOLE_MESSAGE_SECONDS = 0.033
PRESENCE_SECONDS = 0.05
"""How long who came and went is gathered before it is told."""
LAST_WORDS_SECONDS = 2.0
"""How long a watcher may take to read what was still said before its workspace closed."""
HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache"),
    (b"connection", b"keep-alive"),
]


class EventStream:
    """The response to one watcher of a room."""

    def __init__(
        self,
        room: Room,
        teller: Teller,
        *,
        after: Position | None,
        heartbeat_seconds: float,
        send_seconds: float,
        admitted: Callable[[], bool] = lambda: True,
    ) -> None:
        """`admitted` says whether the watcher would be let in now; when not, its stream ends at the next heartbeat."""
        workspace = room.workspace
        self._room = room
        self._workspace = workspace
        self._teller = teller
        self._detail = teller.detail
        self._resumes = after is not None
        # Taken before the headers are sent: whoever has read them misses nothing that happens from then on.
        self._position = workspace.tail.head if after is None else after
        self._moved = anyio.Event()
        self._asked: frozenset[RequestId] = frozenset()
        self._heartbeat_seconds = heartbeat_seconds
        self._send_seconds = send_seconds
        self._admitted = admitted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        gone = False

        async def left() -> None:
            nonlocal gone
            while (await receive())["type"] != "http.disconnect":
                pass
            gone = True
            stream.cancel_scope.cancel()

        async def ended() -> None:
            await self._last_words()
            stream.cancel_scope.cancel()

        async def alive() -> None:
            while self._admitted():
                await anyio.sleep(self._heartbeat_seconds)
                await self._write(send, HEARTBEAT)
            stream.cancel_scope.cancel()

        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        await send({"type": "http.response.body", "body": b"", "more_body": True})
        try:
            async with anyio.create_task_group() as stream:
                for part in (left, ended, alive):
                    stream.start_soon(part)
                stream.start_soon(self._tell, send, self._chunks())
                if self._detail is Detail.DETAIL:
                    stream.start_soon(self._tell, send, presence(self._room))
        except* TimeoutError:
            # It does not read. It may come back and go on from where it was.
            gone = True
            if drop := scope.get("extensions", {}).get(ABORT):
                drop["abort"]()
        if not gone:
            with anyio.move_on_after(1, shield=True):
                await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _tell(self, send: Send, lines: AsyncGenerator[bytes]) -> None:
        async with aclosing(lines):
            async for line in lines:
                await self._write(send, line)

    async def _last_words(self) -> None:
        """Until nothing more will be said, and what was said has been told."""
        await self._room.over.wait()
        with anyio.move_on_after(LAST_WORDS_SECONDS):
            while self._position < self._workspace.tail.head:
                await self._moved.wait()

    async def _write(self, send: Send, chunk: bytes) -> None:
        with anyio.fail_after(self._send_seconds):
            await send({"type": "http.response.body", "body": chunk, "more_body": True})

    async def _chunks(self) -> AsyncGenerator[bytes, None]:
        async with aclosing(self._heard()) as heard:
            if not self._resumes:
                yield await self._pending()
            async for chunk in heard:
                if chunk:
                    yield chunk

    async def _pending(self) -> bytes:
        """Whoever comes late is asked what still waits for an answer."""
        requests = (await self._workspace.means.store.snapshot()).requests
        # What was asked since the stream began stands in the log too, and is told once.
        self._asked = frozenset(request.id for request in requests)
        lines = [line for request in requests for line in asked(request, exact=self._detail is Detail.DETAIL)]
        return b"".join(b"data: " + line + b"\n\n" for line in lines)

    async def _heard(self) -> AsyncGenerator[bytes, None]:
        fine = self._detail is Detail.DETAIL
        async with aclosing(follow(self._workspace, self._position)) as feed:
            async for entries, deltas, snapshot in feed:
                if snapshot is not None:
                    yield self._snapshot(snapshot)
                    self._reached(snapshot.position)
                elif entries:
                    yield await self._told(entries if fine else told_once(entries))
                    self._reached(entries[-1].position)
                elif fine:
                    yield fragments(list(deltas))
                else:
                    # All watchers look at the same ticks, so that what they see is encoded once. The feed gathers
                    # what is whispered meanwhile, so a slow eye costs nobody anything.
                    await anyio.sleep(until_tick(anyio.current_time()))
                    yield b"".join(self._teller.written(message_id) for message_id in changed(deltas))

    def _reached(self, position: Position) -> None:
        """Everything up to here has been written to the socket."""
        self._position = position
        self._moved.set()
        self._moved = anyio.Event()

    async def _told(self, entries: Sequence[Entry]) -> bytes:
        teller = self._teller
        news = [entry for entry in entries if not self._knows(entry)]
        return b"".join([teller.recall(entry) or await teller.tell(entry) for entry in news])

    def _knows(self, entry: Entry) -> bool:
        return isinstance(entry.event, RequestAsked) and entry.event.request.id in self._asked

    def _snapshot(self, snapshot: Snapshot) -> bytes:
        return snapshot_line(snapshot_of(self._room, snapshot), snapshot.position)


def snapshot_of(room: Room, seen: Snapshot) -> SnapshotView:
    """What the log says, and beside it what only the living know."""
    return snapshot_view(
        seen.position,
        sessions=seen.sessions,
        unended=seen.runs,
        requests=seen.requests,
        held=seen.held,
        unasked=room.workspace.unasked,
        clients=room.here,
        names=seen.names,
    )


async def presence(room: Room) -> AsyncGenerator[bytes]:
    """Who is there: now, and again whenever that has changed, however often in between."""
    while True:
        stirred = room.stirred
        yield frame(envelope("presence", "updated", Presence(room.here)))
        await stirred.wait()
        await anyio.sleep(PRESENCE_SECONDS)


def until_tick(now: float) -> float:
    """How long it is until the next moment at which messages being written are looked at."""
    return WHOLE_MESSAGE_SECONDS - now % WHOLE_MESSAGE_SECONDS


def changed(deltas: Sequence[Delta]) -> list[MessageId]:
    return list(dict.fromkeys(delta.message_id for delta in deltas))


def told_once(entries: Sequence[Entry]) -> list[Entry]:
    """Of several changes of one message heard together only the last is told: a whole message holds all of them."""
    last: dict[MessageId, int] = {}
    for entry in entries:
        if isinstance(entry.event, PartSaid | MessageReset):
            last[entry.event.message_id] = entry.position
    return [
        entry
        for entry in entries
        if not isinstance(entry.event, PartSaid | MessageReset) or last[entry.event.message_id] == entry.position
    ]
