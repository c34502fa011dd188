"""Writing a file so that a reader sees the old one or the new one, and so that two writers lose nothing of each other.

A change is read, made and written under a lock that lies beside the file; the new text takes the old one's place in one
step, readable by its owner alone. A file that is a link stays a link.
"""

import fcntl
import os
import secrets
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from turnkeeper.settings.reading import ConfigProblem, read_text
from turnkeeper.settings.settings import Source

LOCK_SECONDS = 5
LOCK_PAUSE_SECONDS = 0.02


class FileBusy(ConfigProblem):
    """Another program is writing this file."""

    status = 503


def change(path: Path, edit: Callable[[str], str], *, lock_seconds: float = LOCK_SECONDS) -> str:
    """Replace the file's text by what `edit` makes of it, and return that. A missing file has an empty text."""
    target = path.resolve()
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with locked(target, seconds=lock_seconds):
            before = read_text(target)
            after = edit(before or "")
            if after != before:
                replace(target, after)
    except OSError as error:
        raise ConfigProblem(f"cannot be written: {error.strerror}", source=Source(str(path))) from error
    return after


@contextmanager
def locked(path: Path, *, seconds: float = LOCK_SECONDS) -> Generator[None]:
    """Hold the lock of a file. The lock is a file of its own, since `path` itself is replaced under it."""
    lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _wait_for(lock, path, seconds)
        yield
    finally:
        os.close(lock)


def _wait_for(lock: int, path: Path, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() >= deadline:
                raise FileBusy(
                    f"is being written by another program for {seconds:g} seconds", source=Source(str(path))
                ) from error
            time.sleep(LOCK_PAUSE_SECONDS)


def replace(path: Path, text: str) -> None:
    """Write beside it, flush to the disk, then take its place."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise
