"""A client's feed: everything that happens in a workspace, across lost connections, servers and workspaces.

    connect at a position ─> told ─ told ─ told ─┐
          ▲                                      │ silence, a cut, an end
          │     404: open the directory again    │
          └──── refused: revive the server ──────┘ after a pause: 0, 0.25 s … 10 s

Promised: on our own servers nothing durable is missed and nothing is told twice, whatever was lost between. Where a
server cannot resume (those of the original keep no positions), a `Gap` says that something may have been missed, and
its reader reads again what it shows. The feed goes on until its reader leaves.
"""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from enum import StrEnum

import anyio
import msgspec

from turnkeeper.client.asking import checked, query
from turnkeeper.client.http import Answer, ServerSilent, Stream
from turnkeeper.client.place import Place, Revive
from turnkeeper.protocol.problems import BadRequest, ClientRetired, NotFound, Problem, WorkspaceNotFound
from turnkeeper.protocol.wire_stream import Envelope, read_envelope

LINE_BYTES_MAX = 256 * 1024 * 1024


class FeedLimits(msgspec.Struct, frozen=True):
    silence_seconds: float = 40.0
    """More than two heartbeats: a stream that is silent for longer is dead, or is asked after where none beat."""
    first_pause_seconds: float = 0.25
    pause_seconds_max: float = 10.0
    lost_after_attempts: int = 20
    """From then on it says that it is lost; it goes on trying all the same."""
    health_seconds: float = 5.0
    steady_seconds: float = 1.0
    """A connection that lasted for less counts as one more attempt."""


class LinkState(StrEnum):
    CONNECTED = "connected"
    RECONNECTING = "reconnecting"
    LOST = "lost"


class Told(msgspec.Struct, frozen=True):
    """An event, and its place in the log if it is the last thing said of that place."""

    envelope: Envelope
    position: int | None = None


class Link(msgspec.Struct, frozen=True):
    """How the feed itself is: `since` is a Unix time, for a banner to count from."""

    state: LinkState
    since: float
    attempts: int = 0
    problem: str = ""


class Gap(msgspec.Struct, frozen=True):
    """Something may have been missed: read again what matters."""

    reason: str


Heard = Told | Link | Gap


@dataclass
class Feed:
    """Owns the position it has reached, and what it knows of the server it listens to."""

    place: Place
    revive: Revive
    reselect: Callable[[], Awaitable[None]]
    after: int | None = None
    detail: bool = True
    limits: FeedLimits | None = None
    unreadable: int = field(default=0, init=False)
    """How many events could not be read and were passed over."""
    _heard_before: bool = field(default=False, init=False)
    _hears_heartbeats: bool = field(default=False, init=False)
    _attempts: int = field(default=0, init=False)
    _since: float = field(default=0.0, init=False)
    _connected_at: float | None = field(default=None, init=False)

    @property
    def position(self) -> int | None:
        """The place in the log up to which everything was told."""
        return self.after

    async def heard(self) -> AsyncGenerator[Heard]:
        limits = self.limits or FeedLimits()
        self._since = time.time()
        while True:
            problem = ""
            try:
                async with aclosing(self._one_stream(limits)) as stream:
                    async for heard in stream:
                        yield heard
            except ClientRetired:
                raise
            except Problem as lost:
                problem = lost.message
                await self._mend(lost)
            if self._connected_at is not None:
                if time.monotonic() - self._connected_at >= limits.steady_seconds:
                    self._attempts = 0
                self._since, self._connected_at = time.time(), None
            self._attempts += 1
            state = LinkState.LOST if self._attempts >= limits.lost_after_attempts else LinkState.RECONNECTING
            yield Link(state, self._since, self._attempts, problem)
            await anyio.sleep(pause_seconds(self._attempts, limits))

    async def _one_stream(self, limits: FeedLimits) -> AsyncGenerator[Heard]:
        """One connection's worth; it ends when the server ends it, and raises what else ended it."""
        rest = query(client_id=self.place.client_id, detail="delta" if self.detail else None)
        headers = {"Accept": "text/event-stream", "Cache-Control": "no-cache"}
        if self.after is not None:
            headers["Last-Event-ID"] = str(self.after)
        resumes = self.after is not None
        async with self.place.http.stream(f"{self.place.root}/events{rest}", headers=headers) as stream:
            if stream.status != 200:
                checked(Answer(stream.status, {}, await stream.body()))
            await self.reselect()
            self._connected_at = time.monotonic()
            yield Link(LinkState.CONNECTED, time.time())
            if self._heard_before and not resumes:
                yield Gap("the server cannot tell what happened while the connection was lost")
            self._heard_before = True
            async with aclosing(self._blocks(stream, limits)) as blocks:
                async for block in blocks:
                    if (told := self._read(block)) is not None:
                        yield told

    async def _blocks(self, stream: Stream, limits: FeedLimits) -> AsyncGenerator[list[bytes]]:
        """Events as the lines they consist of. Blank lines between them are heartbeats."""
        rest = bytearray()
        lines: list[bytes] = []
        while True:
            async with aclosing(stream.chunks(seconds=limits.silence_seconds)) as chunks:
                try:
                    async for chunk in chunks:
                        rest += chunk
                        *whole, last = rest.split(b"\n")
                        rest = bytearray(last)
                        for line in whole:
                            if line := bytes(line.rstrip(b"\r")):
                                lines.append(line)
                            elif lines:
                                yield lines
                                lines = []
                            else:
                                self._hears_heartbeats = True
                        if len(rest) > LINE_BYTES_MAX:
                            raise ServerSilent("an event is longer than anything a server may say")
                    return
                except ServerSilent:
                    if self._hears_heartbeats:
                        raise
            # A server of the original has no heartbeat: its silence means nothing, if it is well.
            with anyio.move_on_after(limits.health_seconds) as asking:
                checked(await self.place.http.ask("GET", "/v1/health", seconds=limits.health_seconds))
            if asking.cancelled_caught:
                raise ServerSilent("the server does not answer any more")

    def _read(self, block: list[bytes]) -> Told | None:
        position: int | None = None
        data: bytes | None = None
        for line in block:
            name, _, said = line.partition(b":")
            if name == b"data":
                data = said.strip()
            elif name == b"id" and said.strip().isdigit():
                position = int(said)
        if data is None:
            return None
        if position is not None:
            if self.after is not None and position <= self.after and not data.startswith(b'{"type":"snapshot"'):
                return None
            self.after = position
        try:
            return Told(read_envelope(data), position)
        except BadRequest:
            self.unreadable += 1
            return None

    async def _mend(self, lost: Problem) -> None:
        """Do what can be done before the next attempt; what fails here is tried again after it."""
        try:
            if isinstance(lost, WorkspaceNotFound):
                await self.place.reopen()
            elif not isinstance(lost, NotFound) and self._attempts:
                await self.revive()
        except ClientRetired:
            raise
        except Problem:
            return


def pause_seconds(attempts: int, limits: FeedLimits) -> float:
    """Before the first attempt after a loss none at all, then longer and longer."""
    if attempts <= 1:
        return 0.0
    return float(min(limits.pause_seconds_max, limits.first_pause_seconds * 2 ** min(attempts - 2, 30)))
