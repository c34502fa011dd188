"""Files as the engine restores them: whole texts, read and written with the encoding and the mode they have."""

from pathlib import Path

import anyio

from turnkeeper.protocol.problems import Conflict
from turnkeeper.tools.files import Changed, replace, snapshot
from turnkeeper.tools.texts import UTF_8, NotText, coding_of


class FileChanged(Conflict):
    """The file was changed at this very moment; try again."""


class NotATextFile(Conflict):
    """The file is not text any more."""


class DiskFiles:
    async def read(self, path: Path) -> str | None:
        """The file's text, or None where there is no file."""
        found = await snapshot(path)
        if found is None:
            return None
        try:
            return coding_of(found.data).decode(found.data)
        except NotText as problem:
            raise NotATextFile(f"{path} is not text any more") from problem

    async def write(self, path: Path, content: str | None) -> None:
        """Replace the file whole, or remove it."""
        if content is None:
            await anyio.Path(path).unlink(missing_ok=True)
            return
        found = await snapshot(path)
        try:
            coding = coding_of(found.data) if found else UTF_8
            await replace(path, coding.encode(content), based_on=found)
        except Changed as problem:
            raise FileChanged from problem
