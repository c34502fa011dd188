"""The port that wakes watchers: bells that ring and whispers that may be missed.

A bell says that a workspace's log has grown; losing one costs latency, never truth. A whisper is a delta; a watcher
that is slow hears fewer, larger ones, or none.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from turnkeeper.protocol.ids import Position, WorkspaceId
from turnkeeper.protocol.messages import Delta


class Watch(Protocol):
    """One watcher's ear at one workspace. Memory it holds is bounded, however slow its owner is."""

    heard: int
    """How many of the whispers were heard: a place among them that another watch can go on from."""

    async def next(self, after: Position) -> tuple[Position, list[Delta]]:
        """Wait until the log is known to reach beyond `after` or something was whispered; returns both."""
        ...


class Broker(Protocol):
    def ring(self, workspace: WorkspaceId, position: Position) -> None: ...

    def whisper(self, workspace: WorkspaceId, delta: Delta) -> None: ...

    def watch(self, workspace: WorkspaceId, *, deltas: bool = True) -> AbstractAsyncContextManager[Watch]: ...


__all__ = ["AsyncIterator", "Broker", "Watch"]
