"""What a person allowed always: a file of theirs, read at every judgement and changed under a lock.

It lies beside what all workspaces share, so that every server of the person reads the same.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import msgspec
from anyio import to_thread

from turnkeeper.protocol.problems import Problem
from turnkeeper.protocol.requests import Grant
from turnkeeper.settings.atomic import change

Grants = tuple[Grant, ...]


class GrantsUnreadable(Problem):
    """What was allowed always cannot be read."""


class GrantsFile:
    """Remembers what it read for as long as the file stays as it was."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int] | None = None
        self._grants: Grants = ()

    async def grants(self) -> Sequence[Grant]:
        try:
            status = self._path.stat()
        except FileNotFoundError:
            return ()
        stamp = status.st_mtime_ns, status.st_ino
        if stamp != self._seen:
            self._grants = read(await to_thread.run_sync(partial(self._path.read_text, "utf-8")), self._path)
            self._seen = stamp
        return self._grants

    async def add(self, grants: Sequence[Grant]) -> None:
        await self._change(lambda known: (*known, *grants))

    async def remove(self, grant_id: str) -> bool:
        known = await self.grants()
        await self._change(lambda known: tuple(grant for grant in known if grant.id != grant_id))
        return any(grant.id == grant_id for grant in known)

    async def _change(self, edit: Callable[[Grants], Grants]) -> None:
        def edited(text: str) -> str:
            changed = msgspec.json.encode(edit(read(text, self._path)))
            return msgspec.json.format(changed, indent=2).decode() + "\n"

        await to_thread.run_sync(change, self._path, edited)


def read(text: str, path: Path) -> Grants:
    try:
        return msgspec.json.decode(text or "[]", type=Grants)
    except msgspec.DecodeError as error:
        raise GrantsUnreadable(f"{path} cannot be read: {error}") from error
