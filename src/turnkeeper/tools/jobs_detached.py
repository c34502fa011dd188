"""Commands that outlive their workspace: the detached jobs of a server, by the directory they were started in.

Their table hands them over when it closes, and the next one of the same directory finds them here, running or ended.
They belong to the server's task group: a server that stops ends them, as does one that is killed. Until the last has
ended, the server does not leave by itself.
"""

import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

from anyio.abc import TaskGroup

from turnkeeper.tools.job import Job
from turnkeeper.tools.shell_process import CommandRefused

log = logging.getLogger(__name__)

DETACHED_MAX = 16
"""How many run in one server."""
ENDED_MAX = 50
"""How many that have ended are kept to be read."""


class DetachedFull(CommandRefused):
    """Too many detached commands run in this server; stop one with job_kill."""


class DetachedJobs:
    """Owns which they are. `staying` is entered for as long as one of them runs."""

    def __init__(
        self,
        tasks: TaskGroup,
        *,
        staying: Callable[[], AbstractContextManager[None]] = nullcontext,
        running_max: int = DETACHED_MAX,
    ) -> None:
        self._tasks = tasks
        self._staying = staying
        self._running_max = running_max
        self._jobs: list[tuple[str, Job]] = []

    def of(self, home: str) -> Sequence[Job]:
        """Those of a directory, oldest first."""
        return [job for at, job in self._jobs if at == home]

    def check(self) -> None:
        """Raises `DetachedFull` where there is no room for one more."""
        if sum(not job.done for _, job in self._jobs) >= self._running_max:
            raise DetachedFull(f"{self._running_max} detached commands run in this server already; stop one of them")

    def keep(self, home: str, job: Job) -> None:
        """Hear a command out, for longer than its workspace."""
        ended = [(at, one) for at, one in self._jobs if one.done]
        for forgotten in ended[: max(0, len(ended) - ENDED_MAX + 1)]:
            self._jobs.remove(forgotten)
        self._jobs.append((home, job))
        self._tasks.start_soon(self._attend, job)

    def forget(self, job: Job) -> None:
        self._jobs = [(at, one) for at, one in self._jobs if one is not job]

    async def _attend(self, job: Job) -> None:
        with self._staying():
            try:
                await job.attend()
            except Exception:  # what breaks in one command is kept from the server and all that it serves
                log.exception("detached job failed", extra={"job": job.id, "session_id": job.session_id})
