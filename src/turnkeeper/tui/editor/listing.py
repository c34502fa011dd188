"""Which files there are to be named: asked of the server, since they are on its machine, and remembered for a while."""

import time
from collections.abc import Callable, Sequence

import anyio.to_thread

from turnkeeper.client.asking import Unsupported
from turnkeeper.protocol.problems import Problem
from turnkeeper.tui.editor.fuzzy import Match, fitting, ranked
from turnkeeper.tui.live import Live

FRESH_SECONDS = 10.0
NOT_TOLD = "this server does not tell which files there are; write the path"


class Listing:
    """Owns the names as the server told them last, and what kept it from telling them."""

    def __init__(self, live: Live, *, now: Callable[[], float] = time.monotonic) -> None:
        self.names: Sequence[str] = ()
        self.truncated = False
        self.trouble = ""
        self._live = live
        self._now = now
        self._told_at: float | None = None
        self._narrowed: tuple[str, Sequence[str]] = ("", ())

    @property
    def is_known(self) -> bool:
        return self._told_at is not None

    async def refresh(self) -> None:
        """See to it that the names are no older than they may be."""
        if self._told_at is not None and self._now() - self._told_at < FRESH_SECONDS:
            return
        try:
            told = await self._live.workspace.files.names()
        except Unsupported:
            self.trouble = NOT_TOLD
        except Problem as problem:
            self.trouble = problem.message
        else:
            self.names, self.truncated, self.trouble = told.paths, told.truncated, ""
            self._narrowed = ("", self.names)
        self._told_at = self._now()

    async def best(self, query: str) -> list[Match]:
        """The names that fit best, found beside the screen's own work."""
        return await anyio.to_thread.run_sync(self._best, query)

    def _best(self, query: str) -> list[Match]:
        before, among = self._narrowed
        if not before or not query.startswith(before):
            among = self.names
        among = fitting(query, among) if query else among
        self._narrowed = (query, among)
        return ranked(query, among)
