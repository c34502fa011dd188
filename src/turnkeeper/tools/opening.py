"""Opening what stands at a path that was judged, and never what a link that was put there since leads to.

A path is judged after all its links were resolved, so a link that is met on the way to it was not there when somebody
said yes. The quick way opens by the path and then asks the system where that really is; whatever it cannot vouch for
is walked to, folder by folder, through none that is a link.
"""

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

NEW_FOLDER_MODE = 0o755

NO_LINK = os.O_NOFOLLOW | os.O_CLOEXEC
# What was a file when it was judged may be a pipe by now, which must not keep us waiting.
AT_ONCE = NO_LINK | os.O_NONBLOCK
# To pass through a folder, its contents need not be readable, where the system can tell the two apart.
THROUGH = NO_LINK | os.O_DIRECTORY | getattr(os, "O_PATH", os.O_RDONLY)


class LeadsElsewhere(OSError):
    """The path leads elsewhere now."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"the path leads elsewhere now: {path}")


def opened(path: Path, flags: int = os.O_RDONLY) -> int:
    """A descriptor of what stands at a path that has no links, to be closed by the caller."""
    try:
        descriptor = os.open(path, flags | AT_ONCE)
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENOTDIR):
            raise
        return walked(path, flags)
    if stands_at(descriptor) == str(path):
        return descriptor
    os.close(descriptor)
    return walked(path, flags)


def stands_at(descriptor: int) -> str:
    """Where it really is what was opened; empty where the system does not say."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115 - asked at every edit
    except OSError:
        return ""


def opened_folder(folder: Path, made: list[Path] | None = None) -> int:
    """The same for a folder; given a list, what is missing of its path is made and noted there, the deepest last."""
    try:
        return opened(folder, os.O_DIRECTORY)
    except PermissionError:
        return walked(folder, THROUGH)
    except FileNotFoundError:
        if made is None:
            raise
        return walked(folder, os.O_DIRECTORY, made)


def walked(path: Path, flags: int, made: list[Path] | None = None) -> int:
    """To the path's end from the root, through folders that are held by a descriptor and so cannot be swapped."""
    if not path.is_absolute():
        raise LeadsElsewhere(path)
    at = os.open(path.anchor, THROUGH)
    for here in [*path.parents[-2::-1], path]:
        try:
            deeper = stepped(at, here, flags | AT_ONCE if here == path else THROUGH, made)
        finally:
            os.close(at)
        at = deeper
    return at


def stepped(at: int, here: Path, flags: int, made: list[Path] | None) -> int:
    try:
        return os.open(here.name or ".", flags, dir_fd=at)
    except FileNotFoundError as error:
        if made is None:
            error.filename = str(here)
            raise
    except OSError as error:
        if error.errno == errno.ELOOP or is_link(at, here.name):
            raise LeadsElsewhere(here) from error
        error.filename = str(here)
        raise
    make_folder(at, here, made)
    return stepped(at, here, flags, None)


def is_link(at: int, name: str) -> bool:
    return stat.S_ISLNK(os.stat(name or ".", dir_fd=at, follow_symlinks=False).st_mode)


def make_folder(at: int, here: Path, made: list[Path]) -> None:
    try:
        os.mkdir(here.name, NEW_FOLDER_MODE, dir_fd=at)
    except FileExistsError:
        # Somebody made it at this moment; it is theirs.
        return
    made.append(here)


def reading(path: Path) -> BufferedReader:
    """The file at a path that has no links, to be read."""
    return open(path, "rb", opener=lambda _, flags: opened(path, flags))


def remove_empty(made: list[Path]) -> None:
    """Folders that were made for nothing, the deepest last, up to the first that holds something."""
    for folder in reversed(made):
        try:
            remove_folder(folder)
        except OSError:
            return


def remove_folder(folder: Path) -> None:
    at = opened_folder(folder.parent)
    try:
        os.rmdir(folder.name, dir_fd=at)
    finally:
        os.close(at)
