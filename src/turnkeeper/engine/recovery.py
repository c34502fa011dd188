"""What a crash left behind, put right before anybody is let in.

A run without an owner ends as interrupted: its message gets a finish, its calls get results that say how far they
are known to have got, its requests are withdrawn, and its line goes on (or waits, if the workspace says so).
"""

import logging
from collections.abc import Container
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from turnkeeper.core import commands as told
from turnkeeper.core.file_history import interrupted
from turnkeeper.engine.versions import newest, record
from turnkeeper.protocol import events as e
from turnkeeper.protocol.ids import NO_MESSAGE, MessageId, SessionId
from turnkeeper.protocol.messages import (
    STOPPED,
    Finish,
    FinishReason,
    Message,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
)
from turnkeeper.protocol.problems import Conflict, StoreReadOnly
from turnkeeper.protocol.runs import Run, Usage
from turnkeeper.protocol.sessions import EffectState

if TYPE_CHECKING:
    from turnkeeper.engine.workspace import Workspace

log = logging.getLogger(__name__)

INTERRUPTED = "Interrupted"
HOW_FAR = {
    None: "Error: the server stopped before this tool was used.",
    EffectState.INTENDED: "Error: the server stopped before this tool was used.",
    EffectState.STARTED: "Error: the server stopped while this tool was at work. It may have taken effect, in part or "
    "whole; check before repeating it.",
    EffectState.FINISHED: "Error: the server stopped before this tool's result was kept. It has taken effect.",
}


async def recover(workspace: "Workspace") -> None:
    """End what nobody works on. With a store that can only be read, nothing is put right and nothing runs."""
    for session_id in await workspace.means.store.unsettled():
        try:
            await _recover_session(workspace, session_id)
        except StoreReadOnly:
            log.warning("not recovered: the store is read-only")
            return


async def _recover_session(workspace: "Workspace", session_id: SessionId) -> None:
    store = workspace.means.store
    standing = await store.standing(session_id)
    run = standing.active if standing else None
    unfinished = await store.unfinished(session_id)
    facts = [fact for message in unfinished for fact in _finished(workspace, message)]
    if unfinished or run:
        facts += await _results(workspace, session_id)
    if facts:
        await workspace.note(session_id, *facts)
    if run is not None:
        await _files(workspace, run)
    hold = workspace.means.knobs.queue_waits_after_crash
    last, steps = await _last_step(workspace, run, without={message.id for message in unfinished})
    events = await workspace.tell(
        session_id,
        told.Recover(
            hold=hold,
            message_id=last.id if last else NO_MESSAGE,
            text=last.text if last else "",
            usage=run.usage if run else Usage(),
            steps=steps,
        ),
    )
    ended = [event.run_id for event in events if isinstance(event, e.RunComplete)]
    log.info("session recovered", extra={"session_id": session_id, "interrupted": ended, "repairs": len(facts)})


async def _files(workspace: "Workspace", run: Run) -> None:
    """A change that was begun and never recorded is in the file's history after all, if it came about."""
    means = workspace.means
    for effect in await means.store.effects(run.session_id):
        path = effect.subject
        if effect.run_id != run.id or effect.state is not EffectState.STARTED:
            continue
        if await newest(means, run.session_id, path) is None:
            continue
        try:
            disk = await means.files.read(Path(path))
        except Conflict as problem:
            log.warning("file not looked at", extra={"path": path, "problem": problem.message})
            continue
        say = partial(workspace.note, run.session_id)
        await record(means, say, run.session_id, path, partial(interrupted, disk=disk), run_id=run.id)


async def _last_step(
    workspace: "Workspace", run: Run | None, *, without: Container[MessageId]
) -> tuple[Message | None, int]:
    """The last the run said, and how many of its questions were answered whole."""
    if run is None:
        return None, 0
    said = [
        message
        for message in await workspace.means.store.messages(run.session_id)
        if message.run_id == run.id and message.role is Role.ASSISTANT
    ]
    return (said[-1] if said else None), sum(message.id not in without for message in said)


def _finished(workspace: "Workspace", message: Message) -> list[e.Fact]:
    """What had been written of an unfinished message becomes its parts; then why it ended."""
    now = workspace.means.now()
    facts: list[e.Fact] = []
    for index, part in enumerate(message.parts):
        match part:
            case ToolCall(finished=False):
                facts.append(e.PartSaid(message.id, index, replace(part, input="{}", finished=True), at=now))
            case Text() | Reasoning():
                facts.append(e.PartSaid(message.id, index, part, at=now))
            case _:
                pass
    finish = Finish(FinishReason.CANCELED, now // 1000, INTERRUPTED, "The server stopped during this answer.")
    return [*facts, e.PartSaid(message.id, len(message.parts), finish, at=now)]


async def _results(workspace: "Workspace", session_id: SessionId) -> list[e.Fact]:
    """For the calls of the last answer that have none. Only what follows it counts: some providers use an id twice."""
    messages = await workspace.means.store.messages(session_id)
    at = max((at for at, message in enumerate(messages) if message.role is Role.ASSISTANT), default=None)
    if at is None:
        return []
    answered = {result.tool_call_id for message in messages[at:] for result in message.tool_results}
    return [
        e.MessageSaid(await _result(workspace, messages[at], call))
        for call in messages[at].tool_calls
        if call.id not in answered and not call.provider_executed
    ]


async def _result(workspace: "Workspace", answer: Message, call: ToolCall) -> Message:
    means = workspace.means
    effect = await means.store.effect(call.id)
    known = effect is not None and effect.run_id == answer.run_id
    seconds = means.now() // 1000
    content = HOW_FAR[effect.state if effect and known else None]
    return Message(
        id=MessageId(means.new_id()),
        session_id=answer.session_id,
        role=Role.TOOL,
        parts=(ToolResult(call.id, call.name, content, is_error=True), STOPPED),
        created_at=seconds,
        updated_at=seconds,
    )
