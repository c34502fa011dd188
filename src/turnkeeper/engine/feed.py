"""A watcher's reading of a workspace: everything after a position, then everything new.

Nothing is pushed, so nothing can be dropped: a watcher is a position. Slow ones fall behind, late ones catch up,
lost ones resume. What it is given is one of

    entries        durable, in order, each exactly once
    deltas         fragments of what is being written; may be missing, never needed
    a snapshot     where the log no longer reaches back to the position asked for
"""

from collections.abc import AsyncGenerator, Sequence

from turnkeeper.engine.workspace import Workspace
from turnkeeper.protocol.events import Entry
from turnkeeper.protocol.ids import Position
from turnkeeper.protocol.messages import Delta
from turnkeeper.store.store import READ_MAX, Snapshot


async def follow(
    workspace: Workspace, after: Position | None = None, *, deltas: bool = True
) -> AsyncGenerator[tuple[Sequence[Entry], Sequence[Delta], Snapshot | None], None]:
    """Yield (entries, deltas, snapshot) for ever; the caller's scope ends it."""
    means = workspace.means
    async with means.broker.watch(means.id, deltas=deltas) as watch:
        position = workspace.tail.head if after is None else after
        while True:
            entries = workspace.tail.after(position, READ_MAX)
            if entries is None or position > workspace.tail.head:
                if await _is_out_of_reach(workspace, position):
                    snapshot = await means.store.snapshot()
                    position = snapshot.position
                    yield (), (), snapshot
                    continue
                entries = await means.store.read(position)
                if entries and entries[0].position != position + 1:
                    continue  # what came between was forgotten while we asked
            if entries:
                position = entries[-1].position
                yield entries, (), None
                continue
            _, whispered = await watch.next(position)
            if whispered:
                yield (), whispered, None


async def _is_out_of_reach(workspace: Workspace, position: Position) -> bool:
    """Older than what is kept, or from a log that is not this one."""
    store = workspace.means.store
    return position < await store.kept_after() or position > await store.head()
