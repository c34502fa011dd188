"""A watcher's reading of a workspace: everything after a position, then everything new.

Nothing is pushed, so nothing can be dropped: a watcher is a position. Slow ones fall behind, late ones catch up,
lost ones resume. What it is given is one of

    entries        durable, in order, each exactly once
    deltas         fragments of what is being written; may be missing, never needed
    a snapshot     where the log no longer reaches back to the position asked for
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

from turnkeeper.broker.broker import Watch
from turnkeeper.engine.workspace import Workspace
from turnkeeper.protocol.events import Entry
from turnkeeper.protocol.ids import Position
from turnkeeper.protocol.messages import Delta
from turnkeeper.store.store import READ_MAX, Snapshot


class Place(NamedTuple):
    """Where a watcher stands: in the log, and among the whispers. Two at the same place are given the same next."""

    position: Position
    whisper: int


class Given(NamedTuple):
    """What a watcher is given next; one of the three."""

    entries: Sequence[Entry] = ()
    deltas: Sequence[Delta] = ()
    snapshot: Snapshot | None = None


class Feed:
    """Owns a watcher's place."""

    def __init__(self, workspace: Workspace, watch: Watch, position: Position) -> None:
        self._workspace = workspace
        self._watch = watch
        self._position = position

    @property
    def place(self) -> Place:
        return Place(self._position, self._watch.heard)

    def go_to(self, place: Place) -> None:
        """Go on from where another watcher of the same workspace stood."""
        self._position, self._watch.heard = place

    async def next(self) -> Given:
        """What follows, as soon as there is something."""
        workspace = self._workspace
        while True:
            entries = workspace.tail.after(self._position, READ_MAX)
            if entries is None or self._position > workspace.tail.head:
                if await _is_out_of_reach(workspace, self._position):
                    snapshot = await workspace.means.store.snapshot()
                    self._position = snapshot.position
                    return Given(snapshot=snapshot)
                entries = await workspace.means.store.read(self._position)
                if entries and entries[0].position != self._position + 1:
                    continue  # what came between was forgotten while we asked
            if entries:
                self._position = entries[-1].position
                return Given(entries)
            _, whispered = await self._watch.next(self._position)
            if whispered:
                return Given(deltas=whispered)


@asynccontextmanager
async def feed(workspace: Workspace, after: Position | None = None, *, deltas: bool = True) -> AsyncGenerator[Feed]:
    """A feed from a position onward, or from now."""
    async with workspace.means.broker.watch(workspace.means.id, deltas=deltas) as watch:
        yield Feed(workspace, watch, workspace.tail.head if after is None else after)


async def follow(workspace: Workspace, after: Position | None = None, *, deltas: bool = True) -> AsyncGenerator[Given]:
    """Everything a feed gives, for ever; the caller's scope ends it."""
    async with feed(workspace, after, deltas=deltas) as reading:
        while True:
            yield await reading.next()


async def _is_out_of_reach(workspace: Workspace, position: Position) -> bool:
    """Older than what is kept, or from a log that is not this one."""
    store = workspace.means.store
    return position < await store.kept_after() or position > await store.head()
