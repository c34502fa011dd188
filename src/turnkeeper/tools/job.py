"""One command of a session: what is to be run, how far it is, and how it is shown."""

import time
from collections.abc import Mapping
from pathlib import Path

import anyio
import msgspec

from turnkeeper.protocol.ids import SessionId
from turnkeeper.tools.shell_output import Output
from turnkeeper.tools.shell_process import Exit, Process


class JobView(msgspec.Struct, frozen=True):
    """A job as it is shown."""

    id: str
    session_id: SessionId
    command: str
    description: str
    state: str
    """`running`, `left` (it has ended, what it started has not) or `completed`."""
    started_at: int
    exit: Exit | None
    detached: bool = False


class Job:
    """One command of a session, from its start until it is forgotten."""

    def __init__(self, job_id: str, session_id: SessionId, line: "CommandLine", process: Process) -> None:
        self.id = job_id
        self.session_id = session_id
        self.line = line
        self.process = process
        self.output = Output(line.file)
        self.started_at = now_ms()
        self.in_background = False
        self.timed_out = False
        self.end_told = False
        """Whether the model knows that it has ended."""
        self._heard = anyio.Event()

    @property
    def done(self) -> bool:
        return self.process.ended.is_set()

    @property
    def exited(self) -> bool:
        return self.process.exited.is_set()

    def view(self) -> JobView:
        state = "completed" if self.done else "left" if self.exited else "running"
        line = self.line
        return JobView(
            self.id,
            self.session_id,
            line.command,
            line.description,
            state,
            self.started_at,
            self.process.exit,
            line.detached,
        )

    def hear(self, stream: str, data: bytes) -> None:
        self.output.feed(data)
        self._heard.set()
        self._heard = anyio.Event()

    async def more(self, position: int) -> None:
        """Return when there is output after the position."""
        while self.output.total_bytes <= position:
            await self._heard.wait()

    async def attend(self) -> None:
        try:
            with anyio.move_on_after(self.line.seconds_max) as limit:
                await self.process.attend(self.hear)
            self.timed_out = limit.cancelled_caught
        finally:
            self.output.close()


class CommandLine(msgspec.Struct, frozen=True):
    """What is to be run: `argv` is what the system is told, `command` what people are."""

    command: str
    argv: tuple[str, ...]
    workdir: Path
    env: Mapping[str, str]
    description: str = ""
    file: Path | None = None
    """Where long output goes."""
    seconds_max: float | None = None
    """After this it is stopped."""
    detached: bool = False
    """It outlives its workspace."""


def now_ms() -> int:
    return time.time_ns() // 1_000_000
