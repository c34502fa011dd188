"""Attending a run from a command: submitted once, heard to its end, whatever happens to the line or the server.

    follow ─> submit ─> hear … ─> its ending

    the server is lost       find it again, start our own again; the log still has the ending
    it stays lost            nobody can say how the run ended, and we say that

A run is named before it is submitted, so that submitting it again is harmless.
"""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable

import anyio
from msgspec.structs import replace

from turnkeeper.cli.ending import Ending, of_run
from turnkeeper.cli.leaving import Attended
from turnkeeper.cli.progress import Progress
from turnkeeper.client.asking import Unsupported
from turnkeeper.client.events import Heard, Link, LinkState, Told
from turnkeeper.client.hearing import Hearing, ended_as
from turnkeeper.client.http import ServerLost, ServerUnreachable
from turnkeeper.client.news import Ended
from turnkeeper.client.workspace import WorkspaceClient
from turnkeeper.protocol.messages import Role
from turnkeeper.protocol.problems import Problem
from turnkeeper.protocol.runs import Outcome
from turnkeeper.protocol.wire_own import RunView
from turnkeeper.protocol.wire_requests import PermissionRequest
from turnkeeper.protocol.wire_stream import Envelope

LOST_SECONDS = 30.0
"""How long a server may be gone before nobody waits for it any more."""
SUBMIT_ATTEMPTS_MAX = 3
NEVER = float("inf")

Submit = Callable[[], Awaitable[bool]]
"""Submits the run; False if somebody else had done so before, under the same name."""


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
