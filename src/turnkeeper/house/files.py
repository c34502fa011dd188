"""Files as the engine restores them: whole texts, read and written with the encoding and the mode they have."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from anyio import to_thread

from turnkeeper.protocol.problems import Conflict
from turnkeeper.tools.files import Changed, NotAFile, Snapshot, TooBig, remove_now, replace, snapshot_now
from turnkeeper.tools.texts import UTF_8, CannotEncode, NotText, coding_of


class FileChanged(Conflict):
    """The file was changed at this very moment; try again."""


class NotATextFile(Conflict):
    """The file is not text any more."""


class FileOutOfReach(Conflict):
    """The file can be neither read nor written now."""


class DiskFiles:
    async def read(self, path: Path) -> str | None:
        """The file's text, or None where there is no file."""
        with reached(path):
            found = await snapshot(path)
            return coding_of(found.data).decode(found.data) if found else None

    async def write(self, path: Path, content: str | None, *, over: str | None) -> None:
        """Replace the file whole, or remove it, if it still is what it was when that was decided."""
        with reached(path):
            found = await snapshot(path)
            if (coding_of(found.data).decode(found.data) if found else None) != over:
                raise FileChanged
            if content is None:
                await to_thread.run_sync(remove_now, path, found, 0)
                return
            coding = coding_of(found.data) if found else UTF_8
            await replace(path, coding.encode(content), based_on=found)


async def snapshot(path: Path) -> Snapshot | None:
    return await to_thread.run_sync(snapshot_now, path)


@contextmanager
def reached(path: Path) -> Generator[None]:
    """What keeps a file from being read or written, as people are told it."""
    try:
        yield
    except Changed as problem:
        raise FileChanged from problem
    except NotText as problem:
        raise NotATextFile(f"{path} is not text any more") from problem
    except NotAFile as problem:
        raise FileOutOfReach(f"{path} is {problem}") from problem
    except (OSError, TooBig, CannotEncode) as problem:
        raise FileOutOfReach(f"{path}: {problem}") from problem
