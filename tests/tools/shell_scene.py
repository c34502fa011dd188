"""Somebody who watches a command, and ways to know what became of its processes."""

import os
import re
from dataclasses import dataclass, field

import anyio
import psutil

from turnkeeper.testing.hands import FakeHands

SECONDS = 20


def patience() -> anyio.CancelScope:
    """What hangs is to fail, on a busy computer too."""
    scope = anyio.CancelScope()
    scope.deadline = anyio.current_time() + SECONDS
    return scope


@dataclass
class Watching(FakeHands):
    """Hands that can wait until something is shown."""

    rung: anyio.Event = field(default_factory=anyio.Event)

    def progress(self, text: str) -> None:
        super().progress(text)
        self.rung.set()
        self.rung = anyio.Event()

    async def shows(self, pattern: str) -> str:
        """What has been shown, once the pattern is in it."""
        with anyio.fail_after(SECONDS):
            while not re.search(pattern, "".join(self.shown)):
                await self.rung.wait()
        return "".join(self.shown)


def environment() -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}


def pids(text: str) -> list[int]:
    """The process ids that a command said, as `pid=123`."""
    return [int(found) for found in re.findall(r"pid=(\d+)", text)]


def alive(numbers: list[int]) -> list[int]:
    return [pid for pid in numbers if psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE]
