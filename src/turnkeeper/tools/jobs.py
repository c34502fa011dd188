"""The commands that run in a workspace, each belonging to a session.

A table is opened with the workspace and closed with it: `async with JobTable() as jobs`. Leaving the block stops
whatever still runs. A session sees its own jobs only. Finished ones are kept until newer ones need the room.
"""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import anyio
import msgspec
from anyio.abc import TaskGroup

from turnkeeper.protocol.ids import SessionId
from turnkeeper.tools import shell_process
from turnkeeper.tools.shell_output import Output
from turnkeeper.tools.shell_process import STOPPING_SECONDS, CommandRefused, Exit, Process, Stopped

RUNNING_MAX = 50
FINISHED_MAX = 50
CLOSING_SECONDS = STOPPING_SECONDS + 1


class JobMissing(Exception):
    """There is no background job of this id in this session."""


class JobsFull(CommandRefused):
    """Too many commands are running in this workspace; stop one with job_kill."""


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
            self.id, self.session_id, line.command, line.description, state, self.started_at, self.process.exit
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


class JobTable:
    """All commands of one workspace."""

    def __init__(self, *, running_max: int = RUNNING_MAX) -> None:
        self._running_max = running_max
        self._jobs: dict[str, Job] = {}
        self._started = 0
        self._group: TaskGroup | None = None

    async def __aenter__(self) -> Self:
        self._group = await anyio.create_task_group().__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        group, self._group = self._group, None
        assert group is not None, "the table was opened"
        for job in self._jobs.values():
            job.process.stop()
        with anyio.move_on_after(CLOSING_SECONDS, shield=True):
            for job in list(self._jobs.values()):
                await job.process.ended.wait()
        group.cancel_scope.cancel()
        return await group.__aexit__(kind, error, trace)

    def start(self, session_id: SessionId, line: CommandLine) -> Job:
        """Begin a command; the table hears it out."""
        if self._group is None:
            raise CommandRefused("the workspace is closing")
        own = self._of(session_id)
        if sum(not job.done for job in self._jobs.values()) >= self._running_max:
            raise JobsFull(f"{self._running_max} commands run in this workspace already; stop one with job_kill")
        for job in [job for job in own if job.done][: max(0, len(own) - FINISHED_MAX)]:
            self.forget(job)
        process = shell_process.start(line.argv, cwd=line.workdir, env=line.env)
        self._started += 1
        job = Job(f"{self._started:03X}", session_id, line, process)
        self._jobs[job.id] = job
        self._group.start_soon(job.attend)
        return job

    def list(self, session_id: SessionId | None) -> Sequence[JobView]:
        """The session's background jobs, oldest first; those of all sessions, when none is named."""
        jobs = self._jobs.values() if session_id is None else self._of(session_id)
        return [job.view() for job in jobs if job.in_background]

    def news(self, session_id: SessionId) -> Sequence[Job]:
        """The session's background jobs that have ended since somebody last heard of it."""
        ended = [job for job in self._of(session_id) if job.in_background and job.done and not job.end_told]
        for job in ended:
            job.end_told = True
        return ended

    def get(self, session_id: SessionId, job_id: str) -> Job:
        job = self._jobs.get(job_id)
        if job is None or job.session_id != session_id or not job.in_background:
            raise JobMissing(f"there is no background job {job_id!r} in this session")
        return job

    def forget(self, job: Job) -> None:
        self._jobs.pop(job.id, None)

    async def kill(self, job: Job) -> Sequence[Stopped]:
        """Stop a job and everything it started; returns when nothing of it is left, and says what it was."""
        job.process.stop()
        with anyio.move_on_after(CLOSING_SECONDS):
            await job.process.ended.wait()
        return tuple(job.process.stopped)

    async def end_session(self, session_id: SessionId) -> None:
        """Stop and forget everything of a session."""
        own = self._of(session_id)
        async with anyio.create_task_group() as killing:
            for job in own:
                killing.start_soon(self.kill, job)
        for job in own:
            self.forget(job)

    def _of(self, session_id: SessionId) -> Sequence[Job]:
        return [job for job in self._jobs.values() if job.session_id == session_id]


def now_ms() -> int:
    return time.time_ns() // 1_000_000
