"""Keeping a composer's drafts: in memory at once, on disk a moment later."""

from pathlib import Path

import anyio.to_thread
from textual.timer import Timer
from textual.widget import Widget

from turnkeeper.tui.editor.drafts import Draft, Drafts
from turnkeeper.tui.host import host_of

WRITE_SECONDS = 0.4
"""From the first change to the disk, however many follow it: what a killed terminal can lose."""


class Keeping:
    """Owns when drafts are written, and whether it was said that they cannot be."""

    def __init__(self, owner: Widget, folder: Path | None, place: str) -> None:
        self._owner = owner
        self._drafts = Drafts(folder)
        self._place = place
        self._timer: Timer | None = None
        self._told = False

    def load(self, session_id: str) -> Draft:
        return self._drafts.load(self._place, session_id)

    def put(self, session_id: str, draft: Draft) -> None:
        self._drafts.put(self._place, session_id, draft)
        if self._timer is None and self._owner.is_running:
            self._timer = self._owner.set_timer(WRITE_SECONDS, self._due)

    async def write(self) -> None:
        if await anyio.to_thread.run_sync(self._drafts.write):
            self._told = False
        elif not self._told:
            self._told = True
            host_of(self._owner).say("Drafts cannot be written to disk; what you write is kept only here.")

    async def put_away(self) -> None:
        """The terminal goes: what it has written may be taken over."""
        await self.write()
        self._drafts.close()

    def _due(self) -> None:
        self._timer = None
        self._owner.run_worker(self.write, name="write drafts", group="drafts")
