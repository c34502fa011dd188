"""Reading a file to change it, and replacing it whole or not at all.

`replace` promises: whoever opens the file sees the old bytes or the new ones, never a part; mode and, where the system
lets us, owner stay; a link stays a link and what it leads to is replaced; and a file that changed since it was read is
not touched (`Changed`). Within one process that last promise has no gap: looking and renaming are done under one lock.
Paths are those that were judged, without links: everything is done in the folder they lead to, held open meanwhile.
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

from turnkeeper.tools.opening import NO_LINK, opened, opened_folder, reading, remove_empty

EDIT_BYTES_MAX = 16 * 1024 * 1024
DIGEST_BYTES_MAX = 8 * 1024 * 1024
NEW_FILE_MODE = 0o644
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
        # Opened before it is looked at, so that both are about the same file.
        descriptor = opened(path)
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


def identity(folder: int, name: str) -> Identity | None:
    """Of what stands there itself: a link in the place of a file is another file."""
    try:
        return identified(os.stat(name, dir_fd=folder, follow_symlinks=False))
    except FileNotFoundError:
        return None


def digest_of(data: bytes) -> str:
    """What a session remembers a file's content by. Beyond the limit, its size and time have to do."""
    return hashlib.sha256(data).hexdigest() if len(data) <= DIGEST_BYTES_MAX else sized(len(data))


def sized(size: int) -> str:
    return f"size:{size}"


def digest_now(path: Path) -> tuple[str, int]:
    """A file's digest and time, in constant memory."""
    with reading(path) as file:
        status = os.fstat(file.fileno())
        if status.st_size > DIGEST_BYTES_MAX:
            return sized(status.st_size), status.st_mtime_ns
        return hashlib.file_digest(file, "sha256").hexdigest(), status.st_mtime_ns


@dataclass(frozen=True, slots=True)
class Written:
    """How to know the file again that was just written."""

    digest: str
    mtime_ns: int
    mode: int


swapping = threading.Lock()
"""Held between looking whether a file is still what it was and renaming another over it."""


async def replace(path: Path, data: bytes, *, based_on: Snapshot | None, mode: int | None = None) -> Written:
    """The file, now holding `data`; `based_on` is what it was when the change was made up, None for no file.

    `mode` is that of a new file, if it has one of its own.
    """
    return await to_thread.run_sync(replace_now, path, data, based_on, mode)


def replace_now(path: Path, data: bytes, based_on: Snapshot | None, mode: int | None = None) -> Written:
    made: list[Path] = []
    mode = mode_of(based_on, mode)
    try:
        folder = opened_folder(path.parent, made if based_on is None else None)
        try:
            part = written_beside(folder, path.name, data, based_on, mode)
            with swapping:
                mtime_ns = swap(part, Target(folder, path.name), data, based_on)
            settle(folder)
        finally:
            os.close(folder)
    except BaseException:
        remove_empty(made)
        raise
    return Written(digest_of(data), mtime_ns, mode)


def remove_now(path: Path, based_on: Snapshot | None, folders: int) -> None:
    """Remove the file if it still is what it was, and so many of the folders above it, if nothing else is in them."""
    if based_on is None:
        return
    folder = opened_folder(path.parent)
    try:
        with swapping:
            if identity(folder, path.name) != based_on.identity:
                raise Changed
            os.unlink(path.name, dir_fd=folder)
        settle(folder)
    finally:
        os.close(folder)
    remove_empty(list(path.parents)[:folders][::-1])


@dataclass(frozen=True, slots=True)
class Target:
    """A name in a folder that is held open, so that nobody can put another folder in its place."""

    folder: int
    name: str


def swap(part: "Part | None", target: Target, data: bytes, based_on: Snapshot | None) -> int:
    if identity(target.folder, target.name) != (based_on.identity if based_on else None):
        discard(part)
        raise Changed
    return put_in_place(part, target, data)


@dataclass(frozen=True, slots=True)
class Part:
    """A file beside the one it is to replace, in the same folder."""

    folder: int
    name: str
    mtime_ns: int = 0


def written_beside(folder: int, name: str, data: bytes, based_on: Snapshot | None, mode: int) -> Part | None:
    """The bytes, safe on disk in a file of the same folder; None where the folder takes no new file."""
    part = part_name(name)
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_LINK, 0o600, dir_fd=folder)
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
        discard(Part(folder, part))
        raise
    finally:
        os.close(descriptor)
    # Known before the rename: afterwards it might already be somebody else's file that is asked.
    return Part(folder, part, status.st_mtime_ns)


def part_name(name: str) -> str:
    return f".{name[:64]}.{secrets.token_hex(4)}.part"


def mode_of(based_on: Snapshot | None, mode: int | None) -> int:
    if based_on:
        return based_on.mode
    return NEW_FILE_MODE & ~current_umask() if mode is None else mode


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


def put_in_place(part: Part | None, target: Target, data: bytes) -> int:
    """Returns the time of the file that now stands there."""
    if part is None:
        return overwrite(target, data)
    try:
        os.replace(part.name, target.name, src_dir_fd=part.folder, dst_dir_fd=target.folder)
    except OSError as error:
        discard(part)
        if error.errno not in ONLY_IN_PLACE:
            raise
        return overwrite(target, data)
    return part.mtime_ns


def overwrite(target: Target, data: bytes) -> int:
    descriptor = os.open(target.name, os.O_WRONLY | NO_LINK, dir_fd=target.folder)
    try:
        write_whole(descriptor, data)
        os.ftruncate(descriptor, len(data))
        os.fsync(descriptor)
        return os.fstat(descriptor).st_mtime_ns
    finally:
        os.close(descriptor)


def discard(part: Part | None) -> None:
    if part is None:
        return
    try:
        os.unlink(part.name, dir_fd=part.folder)
    except FileNotFoundError:
        return


def settle(folder: int) -> None:
    """Make the rename itself survive a power cut, where folders can be synced."""
    try:
        os.fsync(folder)
    except OSError:
        return
