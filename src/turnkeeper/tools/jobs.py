"""The commands that run in a workspace, each belonging to a session.

A table is opened with the workspace and closed with it: `async with JobTable() as jobs`. Leaving the block stops
whatever still runs, but for what was detached: that goes on, and the next table of the same directory has it again
(`jobs_detached.py`). A session sees its own jobs only. Finished ones are kept until newer ones need the room.
"""

from collections.abc import Sequence
from types import TracebackType
from typing import Self

import anyio
from anyio.abc import TaskGroup

from turnkeeper.protocol.ids import SessionId
from turnkeeper.tools import shell_process
from turnkeeper.tools.job import CommandLine, Job, JobView
from turnkeeper.tools.jobs_detached import DetachedJobs
from turnkeeper.tools.shell_process import STOPPING_SECONDS, CommandRefused, Stopped

RUNNING_MAX = 50
FINISHED_MAX = 50
CLOSING_SECONDS = STOPPING_SECONDS + 1


class JobMissing(Exception):
    """There is no background job of this id in this session."""


class JobsFull(CommandRefused):
    """Too many commands are running in this workspace; stop one with job_kill."""


class JobTable:
    """All commands of one workspace, whose directory is `home`."""

    def __init__(self, *, running_max: int = RUNNING_MAX, detached: DetachedJobs | None = None, home: str = "") -> None:
        self._running_max = running_max
        self._detached = detached
        self._home = home
        self._jobs = {job.id: job for job in detached.of(home)} if detached else {}
        self._started = max((int(job_id, 16) for job_id in self._jobs), default=0)
        self._group: TaskGroup | None = None

    async def __aenter__(self) -> Self:
        self._group = await anyio.create_task_group().__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        group, self._group = self._group, None
        assert group is not None, "the table was opened"
        ending = [job for job in self._jobs.values() if not job.line.detached]
        for job in ending:
            job.process.stop()
        with anyio.move_on_after(CLOSING_SECONDS, shield=True):
            for job in ending:
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
        if line.detached:
            self._shelter().check()
        for job in [job for job in own if job.done][: max(0, len(own) - FINISHED_MAX)]:
            self.forget(job)
        process = shell_process.start(line.argv, cwd=line.workdir, env=line.env)
        self._started += 1
        job = Job(f"{self._started:03X}", session_id, line, process)
        self._jobs[job.id] = job
        if line.detached:
            self._shelter().keep(self._home, job)
        else:
            self._group.start_soon(job.attend)
        return job

    def _shelter(self) -> DetachedJobs:
        if self._detached is None:
            raise CommandRefused("no command can outlive its workspace here")
        return self._detached

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
        if self._detached:
            self._detached.forget(job)

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
