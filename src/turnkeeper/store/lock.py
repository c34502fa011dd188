"""Whose a data directory is: one server's at a time, and everybody else is told where that one is.

The lock is the kernel's, on an open file, so that it ends with the process that holds it however that ends. The file
stays where it is: what it says matters only while it is locked.
"""

import fcntl
import os
import time
from pathlib import Path

import msgspec

from turnkeeper.protocol.problems import StoreElsewhere, StoreUnavailable

LOCK = "turnkeeper.lock"
ELSEWHERE = "--data-dir DIR keeps it in another place"
OWNER_READS_MAX = 20
OWNER_READ_SECONDS = 0.01


class Owner(msgspec.Struct, frozen=True):
    """Who has the directory."""

    pid: int
    address: str
    version: str
    started_at: int
    """Unix seconds."""


class DirectoryLock:
    """Held from `take` until `release`."""

    def __init__(self, path: Path, file: int) -> None:
        self._path = path
        self._file = file
        self._was = os.fstat(file)

    def is_there(self) -> bool:
        """Whether whoever comes now would meet this lock: somebody may have removed the file, or put another there."""
        try:
            return self._file >= 0 and os.path.samestat(self._path.stat(), self._was)
        except OSError:
            return False

    def release(self) -> None:
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)


def prepare(directory: Path) -> None:
    """The directory, for its owner's eyes only and none of version control's business."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        ignore = directory / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", "utf-8")
    except OSError as error:
        said = f"the data directory {directory} cannot be written: {error.strerror}; {ELSEWHERE}"
        raise StoreUnavailable(said) from error


def take(directory: Path, *, address: str, version: str) -> DirectoryLock:
    path = directory / LOCK
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        said = f"the lock {path} cannot be opened: {error.strerror}; {ELSEWHERE}"
        raise StoreUnavailable(said) from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _sign(file, Owner(os.getpid(), address, version, int(time.time())))
    except BlockingIOError as error:
        os.close(file)
        raise _elsewhere(directory) from error
    except OSError as error:
        os.close(file)
        raise StoreUnavailable(f"the lock {path} cannot be taken: {error.strerror}") from error
    return DirectoryLock(path, file)


def _sign(file: int, owner: Owner) -> None:
    os.ftruncate(file, 0)
    os.pwrite(file, msgspec.json.encode(owner) + b"\n", 0)


def _elsewhere(directory: Path) -> StoreElsewhere:
    owner = _owner(directory / LOCK)
    if owner is None:
        return StoreElsewhere(f"another server has {directory} open")
    said = f"another server has {directory} open: process {owner.pid} at {owner.address or 'an unknown address'}"
    return StoreElsewhere(said, address=owner.address, pid=owner.pid)


def _owner(path: Path) -> Owner | None:
    """Whoever has just taken the lock may still be signing it."""
    for _ in range(OWNER_READS_MAX):
        try:
            return msgspec.json.decode(path.read_bytes(), type=Owner)
        except (msgspec.DecodeError, OSError):
            time.sleep(OWNER_READ_SECONDS)
    return None
