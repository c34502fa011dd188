"""Attending a run from a command: submitted once, heard to its end, whatever happens to the line, the server or us.

    follow ─> submit ─> hear … ─> its ending

    the server is lost       find it again, start our own again; the log still has the ending
    it stays lost            nobody can say how the run ended, and we say that
    first SIGINT, SIGTERM    cancel the run, and wait for its ending
    the second               leave at once; the server ends the run all the same

A run is named before it is submitted, so that submitting it again is harmless.
"""

import os
import signal
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import NoReturn

import anyio
import msgspec
from msgspec.structs import replace

from turnkeeper.cli.ending import Ending, of_run, of_signal
from turnkeeper.cli.progress import Progress
from turnkeeper.client.asking import Unsupported
from turnkeeper.client.events import Heard, Link, LinkState, Told
from turnkeeper.client.hearing import Ended, Hearing, ended_as
from turnkeeper.client.http import ServerLost, ServerUnreachable
from turnkeeper.client.workspace import WorkspaceClient
from turnkeeper.protocol.messages import Role
from turnkeeper.protocol.problems import Problem
from turnkeeper.protocol.runs import Outcome
from turnkeeper.protocol.wire_own import RunView
from turnkeeper.protocol.wire_requests import PermissionRequest
from turnkeeper.protocol.wire_stream import Envelope

LOST_SECONDS = 30.0
"""How long a server may be gone before nobody waits for it any more."""
STOP_SECONDS = 60.0
"""How long a run may take to stop after a signal."""
SUBMIT_ATTEMPTS_MAX = 3
NEVER = float("inf")

Submit = Callable[[], Awaitable[bool]]
"""Submits the run; False if somebody else had done so before, under the same name."""


class Attended(msgspec.Struct):
    """Owns what is known of the run while it is waited for; a signal finds here what to cancel."""

    run_id: str = ""
    session_id: str = ""
    signal: int = 0
    workspace: WorkspaceClient | None = None
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


async def attend(
    workspace: WorkspaceClient, attended: Attended, progress: Progress, submit: Submit | None = None
) -> Ending:
    """Submit (unless that was done before) and hear the run to its end."""
    attended.workspace = workspace
    if submit is None:
        attended.submitted.set()
    async with workspace.follow() as heard:
        run = await _heard_to_its_end(heard, workspace, attended, progress, submit)
    if attended.denied:
        run = replace(run, denied=(*run.denied, *attended.denied))
    code = 128 + attended.signal if attended.signal else None
    return of_run(run, model=progress.model, exit_code=code, seconds=time.monotonic() - attended.began)


async def _heard_to_its_end(
    heard: AsyncGenerator[Heard],
    workspace: WorkspaceClient,
    attended: Attended,
    progress: Progress,
    submit: Submit | None,
) -> RunView:
    hearing: Hearing | None = None
    problem = ""
    with anyio.CancelScope() as patience:
        async for one in heard:
            match one:
                case Link(state=LinkState.CONNECTED):
                    patience.deadline = NEVER
                    is_new = False
                    if submit is not None and not attended.submitted.is_set():
                        is_new = await _submit(submit, workspace, attended)
                    if hearing is None:
                        hearing = Hearing(attended.session_id, attended.run_id)
                        progress.accepted(attended.run_id, attended.session_id)
                    if not is_new and (run := await _ended_meanwhile(workspace, attended)) is not None:
                        return run
                case Link(problem=said):
                    problem = said or problem
                    patience.deadline = min(patience.deadline, anyio.current_time() + LOST_SECONDS)
                case Told(Envelope(payload=PermissionRequest() as request)) if attended.answers_itself:
                    if request.session_id == attended.session_id:
                        await _answer(workspace, attended, request)
                case Told(envelope) if hearing is not None:
                    for news in hearing.hear(envelope):
                        if isinstance(news, Ended):
                            return news.run
                        progress.tell(news)
                case _:
                    # What may have been missed was asked for when the connection came back.
                    pass
    raise ServerLost(f"the server was lost: {problem}" if problem else "")


async def _answer(workspace: WorkspaceClient, attended: Attended, request: PermissionRequest) -> None:
    from turnkeeper.cli.original import answered

    if refused := await answered(workspace, request, yolo=attended.yolo):
        attended.denied.append(refused)


async def _submit(submit: Submit, workspace: WorkspaceClient, attended: Attended) -> bool:
    """A run that is named before can be submitted until it is heard that it was taken."""
    attended.is_submitting = True
    for attempt in range(1, SUBMIT_ATTEMPTS_MAX + 1):
        try:
            is_new = await submit()
        except (ServerLost, ServerUnreachable):
            if attempt == SUBMIT_ATTEMPTS_MAX:
                raise
            await workspace.reopen()
        except Problem:
            attended.is_submitting = False
            raise
        else:
            attended.submitted.set()
            return is_new and attempt == 1
    raise AssertionError


async def _ended_meanwhile(workspace: WorkspaceClient, attended: Attended) -> RunView | None:
    """The run, if it has ended: asked for wherever its ending may have been missed."""
    try:
        run = await workspace.runs.get(attended.run_id)
    except Unsupported:
        return await _guessed(workspace, attended)
    except (ServerLost, ServerUnreachable):
        return None
    return run if run.has_ended else None


async def _guessed(workspace: WorkspaceClient, attended: Attended) -> RunView | None:
    """A server of the original keeps no runs: when its session rests, what was said last is the answer."""
    if (await workspace.agent.session(attended.session_id)).is_busy:
        return None
    said = [one for one in await workspace.messages.list(attended.session_id) if one.role is Role.ASSISTANT]
    if not said:
        return None
    guessed = ended_as(attended.run_id, attended.session_id, Outcome.COMPLETED)
    return replace(guessed, message_id=said[-1].id, text=said[-1].text)
