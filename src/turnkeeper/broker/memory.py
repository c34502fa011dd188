"""Bells and whispers within one process.

What is whispered is kept once for all watchers of a workspace, each of which is a place in it. So a whisper costs the
same however many listen, and a watcher that has stalled costs the others nothing. What is kept is bounded: one that
falls too far behind misses the oldest deltas, and sees by the offset of the next one that it did.
"""

from collections import deque
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from itertools import islice

import anyio
import msgspec
from anyio.lowlevel import checkpoint

from turnkeeper.protocol.ids import START, MessageId, Position, WorkspaceId
from turnkeeper.protocol.messages import Delta, PartKind

DELTA_BYTES_MAX = 1024 * 1024
"""How much of what was whispered in a workspace is kept for those who have not heard it yet."""
DELTA_BYTES_EACH = 200
"""What a delta weighs beside its text."""

Key = tuple[MessageId, int, PartKind]


class MemoryBroker:
    """Owns a room for each workspace that is watched."""

    def __init__(self) -> None:
        self._rooms: dict[WorkspaceId, Room] = {}

    def ring(self, workspace: WorkspaceId, position: Position) -> None:
        if room := self._rooms.get(workspace):
            room.ring(position)

    def whisper(self, workspace: WorkspaceId, delta: Delta) -> None:
        if room := self._rooms.get(workspace):
            room.whisper(delta)

    @asynccontextmanager
    async def watch(self, workspace: WorkspaceId, *, deltas: bool = True) -> AsyncGenerator["MemoryWatch"]:
        room = self._rooms.setdefault(workspace, Room())
        room.watchers += 1
        try:
            yield MemoryWatch(room, deltas=deltas)
        finally:
            room.watchers -= 1
            if not room.watchers:
                del self._rooms[workspace]


class Room:
    """Where the watchers of one workspace listen."""

    def __init__(self) -> None:
        self.watchers = 0
        self.position = START
        self.rung = anyio.Event()
        """Set and replaced at the next bell."""
        self.stirred = anyio.Event()
        """Set and replaced at the next bell or whisper."""
        self.whispered = 0
        """How many deltas there have been."""
        self._kept: deque[Delta] = deque()
        self._bytes = 0

    def ring(self, position: Position) -> None:
        if position <= self.position:
            return
        self.position = position
        self.rung.set()
        self.rung = anyio.Event()
        self._stir()

    def whisper(self, delta: Delta) -> None:
        self.whispered += 1
        self._kept.append(delta)
        self._bytes += _weight(delta)
        while self._bytes > DELTA_BYTES_MAX:
            self._bytes -= _weight(self._kept.popleft())
        self._stir()

    def _stir(self) -> None:
        self.stirred.set()
        self.stirred = anyio.Event()

    def since(self, heard: int) -> list[Delta]:
        """What was whispered after the first `heard` deltas, as far as it is still kept."""
        newest = islice(reversed(self._kept), self.whispered - heard)
        return list(newest)[::-1]


class MemoryWatch:
    """A place in a room: how much of the whispers was heard."""

    def __init__(self, room: Room, *, deltas: bool) -> None:
        self._room = room
        self._deltas = deltas
        self.heard = room.whispered

    async def next(self, after: Position) -> tuple[Position, list[Delta]]:
        room = self._room
        # Others get their turn even if there is always something new.
        await checkpoint()
        while room.position <= after and not (self._deltas and room.whispered > self.heard):
            await (room.stirred if self._deltas else room.rung).wait()
        fresh = conflated(room.since(self.heard)) if self._deltas else []
        self.heard = room.whispered
        return room.position, fresh


def conflated(deltas: Iterable[Delta]) -> list[Delta]:
    """What continues a delta of the same part becomes one with it; what does not stays apart."""
    runs: list[list[Delta]] = []
    latest: dict[Key, tuple[list[Delta], int]] = {}
    for delta in deltas:
        key = (delta.message_id, delta.index, delta.part)
        run, end = latest.get(key, ([], -1))
        if end != delta.offset:
            run = [delta]
            runs.append(run)
        else:
            run.append(delta)
        latest[key] = (run, delta.offset + len(delta.text))
    return [msgspec.structs.replace(run[0], text="".join(delta.text for delta in run)) for run in runs]


def _weight(delta: Delta) -> int:
    """Characters count as the most bytes that one of them takes."""
    return DELTA_BYTES_EACH + 4 * len(delta.text)
