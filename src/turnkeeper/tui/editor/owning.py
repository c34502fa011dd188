"""Whose a draft is: the terminal's that writes it, for as long as that one lives.

A lock of the kernel ends with the process that holds it, however that ends; so a draft whose lock can be taken is one
whose terminal has gone. A lock file that is given up is removed, and whoever locked it just then sees that and tries
again.
"""

import fcntl
import os
import weakref
from pathlib import Path


class Owning:
    """Owns the locks of the drafts that one terminal has on disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[str, int] = {}
        self.close = weakref.finalize(self, _close, self._held)

    def take(self, name: str) -> bool:
        """Whether this draft is ours: it was already, or nobody's."""
        while name not in self._held:
            file = os.open(self._path(name), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _is_same(file, self._path(name)):
                    self._held[name] = file
                    return True
            except BlockingIOError:
                os.close(file)
                return False
            os.close(file)
        return True

    def give_up(self, name: str) -> None:
        """The draft is gone; the next one may be anybody's."""
        if name in self._held:
            self._path(name).unlink(missing_ok=True)
            os.close(self._held.pop(name))

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.lock"


def _is_same(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


def _close(held: dict[str, int]) -> None:
    while held:
        os.close(held.popitem()[1])
