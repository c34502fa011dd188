"""A disk that fails when it is told to: every read, write and sync of SQLite's goes through it, and is counted."""

from collections.abc import Generator
from contextlib import contextmanager
from threading import Event
from typing import Any

import apsw


class FaultyDisk:
    """Fails its n-th operation from now, and everything after it until it is mended."""

    def __init__(self) -> None:
        self._left: int | None = None
        self._failure: type[apsw.Error] = apsw.IOError
        self._operations: tuple[str, ...] = ()
        self.failed = 0
        self.met = Event()
        """Set when it has come to a failure, or was mended: nobody waits for a failure that will not come."""

    def fail_at(self, number: int, failure: type[apsw.Error], *operations: str) -> None:
        self._left, self._failure, self._operations, self.failed = number, failure, operations, 0
        self.met.clear()

    def mend(self) -> bool:
        """Whether it had come to a failure."""
        self._left = None
        self.met.set()
        return self.failed > 0

    def meet(self, operation: str) -> None:
        if self._left is None or operation not in self._operations:
            return
        self._left -= 1
        if self._left <= 0:
            self.failed += 1
            self.met.set()
            raise self._failure("told to fail")


@contextmanager
def faulty_disk() -> Generator[FaultyDisk]:
    """Whatever is opened inside is on a disk that may fail."""
    disk = FaultyDisk()
    kept = _Disk(disk)
    apsw.set_default_vfs("faulty")
    try:
        yield disk
    finally:
        apsw.set_default_vfs("unix")
        kept.unregister()


class _Disk(apsw.VFS):
    def __init__(self, disk: FaultyDisk) -> None:
        super().__init__("faulty", "unix")
        self._disk = disk

    def xOpen(self, name: Any, flags: Any) -> "_File":
        return _File(self._disk, name, flags)


class _File(apsw.VFSFile):
    def __init__(self, disk: FaultyDisk, name: Any, flags: Any) -> None:
        super().__init__("unix", name, flags)
        self._disk = disk

    def xRead(self, amount: int, offset: int) -> bytes:
        self._disk.meet("read")
        return super().xRead(amount, offset)

    def xWrite(self, data: Any, offset: int) -> None:
        self._disk.meet("write")
        super().xWrite(data, offset)  # pyright: ignore[reportUnknownMemberType] apsw says no more

    def xSync(self, flags: int) -> None:
        self._disk.meet("sync")
        super().xSync(flags)

    def xTruncate(self, newsize: int) -> None:
        self._disk.meet("write")
        super().xTruncate(newsize)
