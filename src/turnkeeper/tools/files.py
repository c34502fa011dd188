"""Reading a file to change it, and replacing it whole or not at all.

`replace` promises: whoever opens the file sees the old bytes or the new ones, never a part; mode and, where the system
lets us, owner stay; a link stays a link and what it leads to is replaced; and a file that changed since it was read is
not touched (`Changed`). Within one process that last promise has no gap: looking and renaming are done under one lock.
"""

import errno
import hashlib
import os
import secrets
import stat
import threading
from dataclasses import dataclass
from pathlib import Path

from anyio import to_thread

EDIT_BYTES_MAX = 16 * 1024 * 1024
DIGEST_BYTES_MAX = 8 * 1024 * 1024
NEW_FILE_MODE = 0o644
NEW_FOLDER_MODE = 0o755
SHORT_BYTES_MAX = 64 * 1024

# A file that is its own mount cannot be renamed over, and a folder that may not be written takes no new file: the
# file itself may still be writable.
ONLY_IN_PLACE = {errno.EBUSY, errno.EACCES, errno.EPERM, errno.EROFS, errno.EXDEV}

Identity = tuple[int, int, int, int, int]


class Changed(Exception):
    """The file changed since it was read."""


class NotAFile(Exception):
    """There is something else in its place, which the text names."""


class TooBig(Exception):
    """The file is too large to be held in memory."""

    def __init__(self, size: int) -> None:
        super().__init__(f"the file is {size} bytes; at most {EDIT_BYTES_MAX} can be edited here")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A file as it was read: its bytes, and how to know it again."""

    data: bytes
    digest: str
    mtime_ns: int
    mode: int
    owner: tuple[int, int]
    identity: Identity


def snapshot_now(path: Path, *, bytes_max: int = EDIT_BYTES_MAX) -> Snapshot | None:
    """The whole file, or None where there is none."""
    try:
        # Opened before it is looked at, so that both are about the same file; a pipe must not block us.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise NotAFile("a directory" if stat.S_ISDIR(status.st_mode) else "a device or a pipe")
        data = read_whole(descriptor, status.st_size, bytes_max)
    finally:
        os.close(descriptor)
    owner = status.st_uid, status.st_gid
    mode = stat.S_IMODE(status.st_mode)
    return Snapshot(data, digest_of(data), status.st_mtime_ns, mode, owner, identified(status))


def read_whole(descriptor: int, size: int, bytes_max: int) -> bytes:
    """To its end, in one read where the file is as long as it was a moment ago."""
    data = b""
    while max(size, len(data)) <= bytes_max:
        asked = max(size - len(data), 0) + 1
        piece = os.read(descriptor, asked)
        data += piece
        if not piece or (len(piece) < asked and len(data) == size):
            return data
    raise TooBig(max(size, len(data)))


def identified(status: os.stat_result) -> Identity:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def identity(path: Path) -> Identity | None:
    try:
        return identified(os.stat(path))  # noqa: PTH116 - asked at every edit
    except FileNotFoundError:
        return None


def digest_of(data: bytes) -> str:
    """What a session remembers a file's content by. Beyond the limit, its size and time have to do."""
    return hashlib.sha256(data).hexdigest() if len(data) <= DIGEST_BYTES_MAX else sized(len(data))


def sized(size: int) -> str:
    return f"size:{size}"


def digest_now(path: Path) -> tuple[str, int]:
    """A file's digest and time, in constant memory."""
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        if status.st_size > DIGEST_BYTES_MAX:
            return sized(status.st_size), status.st_mtime_ns
        return hashlib.file_digest(file, "sha256").hexdigest(), status.st_mtime_ns


@dataclass(frozen=True, slots=True)
class Written:
    """How to know the file again that was just written."""

    digest: str
    mtime_ns: int


swapping = threading.Lock()
"""Held between looking whether a file is still what it was and renaming another over it."""


async def replace(path: Path, data: bytes, *, based_on: Snapshot | None) -> Written:
    """The file, now holding `data`; `based_on` is what it was when the change was made up, None for no file."""
    return await to_thread.run_sync(replace_now, path, data, based_on)


def replace_now(path: Path, data: bytes, based_on: Snapshot | None) -> Written:
    made: list[Path] = []
    try:
        if based_on is None:
            made = make_folders(path.parent)
        part = written_beside(path, data, based_on)
        with swapping:
            mtime_ns = swap(part, path, data, based_on)
    except BaseException:
        remove_empty(made)
        raise
    settle(path.parent)
    return Written(digest_of(data), mtime_ns)


def swap(part: "Part | None", path: Path, data: bytes, based_on: Snapshot | None) -> int:
    if identity(path) != (based_on.identity if based_on else None):
        discard(part.path if part else None)
        raise Changed
    return put_in_place(part, path, data)


@dataclass(frozen=True, slots=True)
class Part:
    """A file beside the one it is to replace."""

    path: Path
    mtime_ns: int


def make_folders(folder: Path) -> list[Path]:
    """Make what is missing of a folder's path, and say what was made, the deepest last."""
    missing: list[Path] = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for one in reversed(missing):
        one.mkdir(NEW_FOLDER_MODE, exist_ok=True)
    return missing[::-1]


def remove_empty(made: list[Path]) -> None:
    for folder in reversed(made):
        try:
            folder.rmdir()
        except OSError:
            return


def written_beside(path: Path, data: bytes, based_on: Snapshot | None) -> Part | None:
    """The bytes, safe on disk in a file of the same folder; None where the folder takes no new file."""
    mode = based_on.mode if based_on else NEW_FILE_MODE & ~current_umask()
    name = f"{path.parent}/.{path.name[:64]}.{secrets.token_hex(4)}.part"
    try:
        descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError as error:
        if based_on is None or error.errno not in ONLY_IN_PLACE:
            raise
        return None
    try:
        write_whole(descriptor, data)
        status = keep_owner(descriptor, based_on)
        os.fchmod(descriptor, mode)
        os.fsync(descriptor)
    except BaseException:
        discard(Path(name))
        raise
    finally:
        os.close(descriptor)
    # Known before the rename: afterwards it might already be somebody else's file that is asked.
    return Part(Path(name), status.st_mtime_ns)


def write_whole(descriptor: int, data: bytes) -> None:
    written = 0
    while written < len(data):
        written += os.write(descriptor, data[written:] if written else data)


def keep_owner(descriptor: int, based_on: Snapshot | None) -> os.stat_result:
    status = os.fstat(descriptor)
    if based_on is not None and based_on.owner != (status.st_uid, status.st_gid):
        try:
            os.fchown(descriptor, *based_on.owner)
        except OSError:
            # Only root may give a file away; the content matters more than whose it is.
            pass
    return status


def current_umask() -> int:
    """The process's mask, read where it can be without setting it for a moment."""
    try:
        with Path("/proc/self/status").open(encoding="ascii", errors="replace") as status:
            return next((int(line.split()[1], 8) for line in status if line.startswith("Umask:")), 0o022)
    except OSError:
        return 0o022


def put_in_place(part: Part | None, path: Path, data: bytes) -> int:
    """Returns the time of the file that now stands there."""
    if part is None:
        return overwrite(path, data)
    try:
        os.replace(part.path, path)  # noqa: PTH105 - a file that is written a thousand times a second
    except OSError as error:
        discard(part.path)
        if error.errno not in ONLY_IN_PLACE:
            raise
        return overwrite(path, data)
    return part.mtime_ns


def overwrite(path: Path, data: bytes) -> int:
    with path.open("r+b") as file:
        file.write(data)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())
        return os.fstat(file.fileno()).st_mtime_ns


def discard(part: Path | None) -> None:
    if part is not None:
        part.unlink(missing_ok=True)


def settle(folder: Path) -> None:
    """Make the rename itself survive a power cut, where folders can be synced."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        return
    finally:
        os.close(descriptor)
