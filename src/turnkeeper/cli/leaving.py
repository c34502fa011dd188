"""What is known of a run that is attended, and what a signal makes of it.

first SIGINT, SIGTERM    cancel the run, and wait for its ending
the second               leave at once; the server ends the run all the same
"""

import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NoReturn

import anyio
import msgspec

from turnkeeper.cli.ending import Ending, of_signal
from turnkeeper.cli.progress import Progress
from turnkeeper.client.asking import Unsupported
from turnkeeper.protocol.problems import Problem

if TYPE_CHECKING:
    from turnkeeper.client.workspace import WorkspaceClient

STOP_SECONDS = 60.0
"""How long a run may take to stop after a signal."""


class Attended(msgspec.Struct):
    """Owns what is known of the run while it is waited for; a signal finds here what to cancel."""

    run_id: str = ""
    session_id: str = ""
    signal: int = 0
    workspace: "WorkspaceClient | None" = None
    submitted: anyio.Event = msgspec.field(default_factory=anyio.Event)
    is_submitting: bool = False
    answers_itself: bool = False
    """At a server that asks and waits for ever: what this run asks is allowed (`yolo`) or denied from here."""
    yolo: bool = False
    denied: list[str] = msgspec.field(default_factory=list[str])
    began: float = msgspec.field(default_factory=time.monotonic)
    waiting: anyio.CancelScope = msgspec.field(default_factory=anyio.CancelScope)

    @property
    def is_taken(self) -> bool:
        return self.is_submitting or self.submitted.is_set()


async def under_signals(attended: Attended, progress: Progress, work: Callable[[], Awaitable[Ending]]) -> Ending:
    """The ending that `work` waits for, or how we left before."""
    ending: Ending | None = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_watch_signals, attended, progress)
        tasks.start_soon(progress.turn)
        with attended.waiting:
            ending = await work()
        tasks.cancel_scope.cancel()
    if ending is not None:
        return ending
    run_id = attended.run_id if attended.is_taken else ""
    return of_signal(attended.signal or signal.SIGINT, run_id=run_id, session_id=attended.session_id)


async def _watch_signals(attended: Attended, progress: Progress) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with anyio.create_task_group() as tasks:
            async for number in signals:
                if attended.signal:
                    leave_at_once(attended, progress, number)
                attended.signal = number
                if attended.is_taken:
                    attended.waiting.deadline = anyio.current_time() + STOP_SECONDS
                    tasks.start_soon(_cancel, attended)
                else:
                    attended.waiting.cancel()


async def _cancel(attended: Attended) -> None:
    """Cancel the run. Its ending is heard where all endings are; a server that is gone ends it when it comes back."""
    await attended.submitted.wait()
    assert attended.workspace is not None
    runs = attended.workspace.runs
    try:
        await runs.cancel(attended.run_id)
    except Unsupported:
        await runs.cancel_session(attended.session_id)
    except Problem:
        return


def leave_at_once(attended: Attended, progress: Progress, number: int) -> NoReturn:
    """Say what is known, and go: no goodbye, no waiting for whatever is still open."""
    run_id = attended.run_id if attended.is_taken else ""
    ending = of_signal(number, run_id=run_id, session_id=attended.session_id)
    try:
        progress.ended(ending)
        sys.stdout.flush()
    finally:
        os._exit(ending.exit_code)
