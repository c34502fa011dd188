"""Bringing files, pastes and pictures to what is attached."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import anyio.to_thread

from turnkeeper.protocol.problems import Problem
from turnkeeper.protocol.runs import Attachment
from turnkeeper.tui.editor import attaching
from turnkeeper.tui.editor.attaching import NotAttached
from turnkeeper.tui.editor.chips import Chips
from turnkeeper.tui.editor.clipboard import read_picture
from turnkeeper.tui.host import host_of
from turnkeeper.tui.live import Live

ELSEWHERE = "the server is on another computer: the path is written, and the model reads the file for itself"
BLIND = "reads text only: it is told that there is a picture, and does not see it."


class Gathering:
    """Reads beside the screen's own work; what cannot be attached is a `NotAttached`."""

    def __init__(self, live: Live, chips: Chips, write: Callable[[str], None]) -> None:
        self._live = live
        self._chips = chips
        self._write = write

    async def text(self, text: str) -> None:
        self._add((attaching.pasted(text, self._chips.attachments),))

    async def pictures(self, readings: Iterable[Sequence[str]], text: str) -> None:
        """The pictures whose paths were pasted; where none of them is there, it was text."""
        if found := await anyio.to_thread.run_sync(attaching.first_pictures, readings):
            self._add(found)
            await self._warn()
        else:
            self._write(text)

    async def clipboard(self) -> None:
        content = await read_picture(host_of(self._chips).env)
        self._add((attaching.picture(content, self._chips.attachments),))
        await self._warn()

    async def file(self, path: str) -> None:
        """A file of the workspace, if that is on this computer."""
        workspace = self._live.workspace
        root = Path(workspace.opened.path)
        if not self._live.client.host.is_local or not await anyio.to_thread.run_sync(root.is_dir):
            raise NotAttached(ELSEWHERE)
        found = await anyio.to_thread.run_sync(attaching.read_file, root / path, path)
        self._add((found,))
        if found.mime_type.startswith("image/"):
            await self._warn()

    async def tell_seen(self, path: str, session_id: str) -> None:
        """Tell the server what a session has seen. It is of use later on, and nothing is missing without it."""
        workspace = self._live.workspace
        try:
            await workspace.files.note_seen(session_id, path)
            await workspace.lsps.start(path)
        except Problem:
            return

    async def _warn(self) -> None:
        """Say so where the model will not see what was attached."""
        try:
            model = (await self._live.workspace.agent.info()).model
        except Problem:
            return
        if not model.supports_attachments:
            host_of(self._chips).say(f"{model.name or 'The model'} {BLIND}", severity="warning")

    def _add(self, new: Iterable[Attachment]) -> None:
        self._chips.attachments = attaching.added(self._chips.attachments, new)
