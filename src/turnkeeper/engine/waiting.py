"""Why a session is busy: everything it waits for at this moment, with since when and until when."""

from collections.abc import AsyncGenerator, Container, Iterable

from turnkeeper.core.title import cut, one_line
from turnkeeper.engine.conversations import found
from turnkeeper.engine.running import Running
from turnkeeper.engine.workspace import Workspace
from turnkeeper.protocol.events import Gate
from turnkeeper.protocol.ids import SessionId, ToolCallId
from turnkeeper.protocol.requests import Permission, Request
from turnkeeper.protocol.runs import Run, RunState
from turnkeeper.protocol.sessions import EffectState
from turnkeeper.protocol.wire_overview import Wait, WaitKind, Why
from turnkeeper.store.store import Standing


async def why(workspace: Workspace, session_id: SessionId) -> Why:
    info = await found(workspace, session_id)
    now = workspace.means.now()
    standing = await workspace.means.store.standing(session_id) or Standing(session_id, info.position)
    queued = len(standing.queue)
    if standing.active is None:
        held = standing.gate is Gate.HELD and queued > 0
        waits = (Wait(WaitKind.RELEASE, since=standing.queue[0].accepted_at),) if held else ()
        return Why(session_id, now, False, info.title, waits=(*waits, *_lines(workspace, session_id)), queued=queued)
    run = standing.active
    return Why(
        session_id=session_id,
        now=now,
        busy=True,
        title=info.title,
        run_id=run.id,
        prompt=cut(one_line(run.prompt.text)),
        since=run.started_at,
        steps=going.steps if (going := workspace.going(session_id)) else 0,
        waits=(*[wait async for wait in _waits(workspace, standing, run)], *_lines(workspace, session_id)),
        queued=queued,
    )


def _lines(workspace: Workspace, session_id: SessionId) -> Iterable[Wait]:
    lines = [line for line in workspace.lines.now if line.session_id == session_id]
    return [Wait(WaitKind.SHELL, cut(one_line(line.command)), line.since) for line in lines]


async def _waits(workspace: Workspace, standing: Standing, run: Run) -> AsyncGenerator[Wait]:
    if run.state is RunState.STOPPING:
        yield Wait(WaitKind.STOPPING)
    for request in standing.requests:
        yield _asked(workspace, request)
    going = workspace.going(standing.session_id)
    if going is None:
        return
    asking = {request.tool_call_id for request in standing.requests}
    nothing = not standing.requests
    async for wait in _tools(workspace, going, asking):
        nothing = False
        yield wait
    if going.draft is not None:
        yield _model(going)
    elif nothing and run.state is not RunState.STOPPING:
        yield Wait(WaitKind.ENGINE)


def _asked(workspace: Workspace, request: Request) -> Wait:
    since = request.expires_at - int(workspace.means.knobs.permission_seconds * 1000)
    match request:
        case Permission():
            what = f"{request.tool_name} {request.subject}".strip()
            return Wait(WaitKind.PERMISSION, what, since, request.expires_at, request.id)
        case _:
            what = "; ".join(question.question for question in request.questions)
            return Wait(WaitKind.QUESTION, what, since, request.expires_at, request.id)


async def _tools(workspace: Workspace, going: Running, asking: Container[ToolCallId]) -> AsyncGenerator[Wait]:
    """The calls at work. One that was given to a sub-agent is told by what the sub-agent waits for."""
    store = workspace.means.store
    for call_id, name in going.unanswered.items():
        if call_id in asking:
            continue
        children = [
            child for child in await store.sessions(parent=going.session.id) if child.id.endswith(f"$${call_id}")
        ]
        told = False
        for child in children:
            standing = await store.standing(child.id)
            if standing and standing.active:
                async for wait in _waits(workspace, standing, standing.active):
                    told = True
                    yield Wait(
                        wait.kind, wait.what, wait.since, wait.until, wait.request_id, wait.session_id or child.id
                    )
        effect = await store.effect(call_id)
        if effect is not None and effect.state is EffectState.FINISHED:
            continue
        if not told:
            yield Wait(WaitKind.TOOL, f"{name} {effect.subject if effect else ''}".strip(), effect.at if effect else 0)


def _model(going: Running) -> Wait:
    draft, knobs = going.draft, going.workspace.means.knobs
    assert draft is not None
    message = draft.message()
    who = f"{message.provider}/{message.model}"
    if waiting := draft.waiting:
        until = draft.waiting_since + int(waiting.seconds * 1000)
        return Wait(WaitKind(waiting.delay.value), waiting.message, draft.waiting_since, until)
    if draft.heard_at:
        until = draft.heard_at + int(knobs.between_events_seconds * 1000)
        return Wait(WaitKind.WRITING, who, draft.heard_at, until)
    since = message.created_at * 1000
    return Wait(WaitKind.MODEL, who, since, since + int(knobs.first_token_seconds * 1000))
