"""An event stream: a watcher's feed, written to its socket as fast as it reads and no faster.

Who keeps up is told together with all others who do (`chorus.py`); who does not is told here, from its own place.

A stream ends in one of four ways: the client leaves, the workspace closes, the server stops, or the client does not
read for too long. When a workspace closes, whatever became true until then is told first, and the body gets its
terminating chunk, so that a client knows that it ended and comes back.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

import anyio
from starlette.types import Receive, Scope, Send

from turnkeeper.engine.feed import Feed, Given, Snapshot, feed
from turnkeeper.engine.room import Room
from turnkeeper.protocol.events import Entry, RequestAsked
from turnkeeper.protocol.ids import START, Position, RequestId
from turnkeeper.protocol.wire import HEARTBEAT, frame
from turnkeeper.protocol.wire_clients import Presence
from turnkeeper.protocol.wire_own import Snapshot as SnapshotView
from turnkeeper.protocol.wire_own import snapshot as snapshot_view
from turnkeeper.server.chorus import Chorus, Seat, Take
from turnkeeper.server.protocol import ABORT, PUSH
from turnkeeper.server.telling import Detail, Teller, asked, snapshot_line

PRESENCE_SECONDS = 0.05
"""How long who came and went is gathered before it is told."""
LAST_WORDS_SECONDS = 2.0
"""How long a watcher may take to read what was still said before its workspace closed."""
HEADERS = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache"),
    (b"connection", b"keep-alive"),
)


class EventStream:
    """The response to one watcher of a room."""

    def __init__(
        self,
        room: Room,
        chorus: Chorus,
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
        self._chorus = chorus
        self._teller = chorus.teller
        self._resumes = after is not None
        # Taken before the headers are sent: whoever has read them misses nothing that happens from then on.
        self._position = workspace.tail.head if after is None else after
        self._moved = anyio.Event()
        self._seat: Seat | None = None
        self._asked: frozenset[RequestId] = frozenset()
        self._asked_until = START
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

        await send({"type": "http.response.start", "status": 200, "headers": list(HEADERS)})
        await send({"type": "http.response.body", "body": b"", "more_body": True})
        try:
            async with anyio.create_task_group() as stream:
                for part in (left, ended, alive):
                    stream.start_soon(part)
                stream.start_soon(self._tell, send, extension(scope, PUSH, "push"))
                if self._teller.detail is Detail.DETAIL:
                    stream.start_soon(self._tell_presence, send)
        except* TimeoutError:
            # It does not read. It may come back and go on from where it was.
            gone = True
            if drop := extension(scope, ABORT, "abort"):
                drop()
        finally:
            self._stand_alone()
        if not gone:
            with anyio.move_on_after(1, shield=True):
                await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _last_words(self) -> None:
        """Until nothing more will be said, and what was said has been told."""
        await self._room.over.wait()
        self._stand_alone()
        with anyio.move_on_after(LAST_WORDS_SECONDS):
            while self._position < self._workspace.tail.head:
                await self._moved.wait()

    async def _write(self, send: Send, chunk: bytes) -> None:
        with anyio.fail_after(self._send_seconds):
            await send({"type": "http.response.body", "body": chunk, "more_body": True})

    async def _tell(self, send: Send, take: Take | None) -> None:
        async with feed(self._workspace, self._position) as reading:
            if not self._resumes and (pending := await self._pending()):
                await self._write(send, pending)
            while True:
                await self._in_step(reading, take)
                if said := await self._said(await reading.next()):
                    await self._write(send, said)
                self._reached(reading.place.position)

    async def _tell_presence(self, send: Send) -> None:
        async with aclosing(presence(self._room, self._teller)) as lines:
            async for line in lines:
                await self._write(send, line)

    async def _in_step(self, reading: Feed, take: Take | None) -> None:
        """As long as the watcher takes what all are told, it is told with them."""
        if take is None or self._room.over.is_set() or reading.place.position < self._asked_until:
            return
        self._seat = self._chorus.join(reading.place, take)
        if self._seat is not None:
            await self._seat.left.wait()
            reading.go_to(self._seat.place)
            self._reached(self._seat.place.position)

    def _stand_alone(self) -> None:
        if self._seat is not None:
            self._chorus.leave(self._seat)

    async def _pending(self) -> bytes:
        """Whoever comes late is asked what still waits for an answer."""
        snapshot = await self._workspace.means.store.snapshot()
        # What was asked since the stream began stands in the log too, and is told once.
        self._asked = frozenset(request.id for request in snapshot.requests)
        self._asked_until = snapshot.position
        exact = self._teller.detail is Detail.DETAIL
        return b"".join([frame(line) for request in snapshot.requests for line in asked(request, exact=exact)])

    async def _said(self, given: Given) -> bytes:
        if given.snapshot is not None:
            return snapshot_line(snapshot_of(self._room, given.snapshot), given.snapshot.position)
        news = [entry for entry in given.entries if not self._knows(entry)]
        return await self._teller.said(Given(news, given.deltas))

    def _knows(self, entry: Entry) -> bool:
        return isinstance(entry.event, RequestAsked) and entry.event.request.id in self._asked

    def _reached(self, position: Position) -> None:
        """Everything up to here has been written to the socket."""
        self._position = position
        self._moved.set()
        self._moved = anyio.Event()


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


async def presence(room: Room, teller: Teller) -> AsyncGenerator[bytes]:
    """Who is there and what they run: now, and again whenever that has changed, however often in between."""
    while True:
        stirred = room.stirred
        yield teller.present(Presence(room.here, room.workspace.lines.now))
        await stirred.wait()
        await anyio.sleep(PRESENCE_SECONDS)


def extension(scope: Scope, name: str, key: str) -> Callable[..., Any] | None:
    """What the connection can do beyond what every server can."""
    known: dict[str, dict[str, Any]] = scope.get("extensions") or {}
    return known.get(name, {}).get(key)
