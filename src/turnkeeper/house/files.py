"""Files as the engine restores them: whole texts, as they were kept when that was their text."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from anyio import to_thread

from turnkeeper.protocol.problems import Conflict
from turnkeeper.tools.files import Changed, NotAFile, Snapshot, TooBig, remove_now, replace, snapshot_now
from turnkeeper.tools.forms import Form, form_of, mode_back, noted_found, written_as
from turnkeeper.tools.texts import UTF_8, CannotEncode, Coding, NotText, decoded


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
            return decoded(found.data)[0] if found else None

    async def write(self, path: Path, content: str | None, *, over: str | None, form: str = "") -> str:
        """Replace the file whole, or remove it, if it still is what it was when that was decided.

        A file that is there keeps its mode; one that comes back has the mode that was noted.
        """
        with reached(path):
            found = await snapshot(path)
            text, now = decoded(found.data) if found else (None, UTF_8)
            if text != over:
                raise FileChanged
            left = noted_found(path, found, now)
            await restore(path, content, found, form_of(form), now)
            return left


async def restore(path: Path, content: str | None, found: Snapshot | None, form: Form | None, now: Coding) -> None:
    if content is None:
        # The folders that were made for the file go with it.
        await to_thread.run_sync(remove_now, path, found, form.folders if form else 0)
        return
    await replace(path, written_as(content, form, now), based_on=found, mode=mode_back(path, form))


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
