"""How events are told on the wire: in our own words to our own clients, and an ending in the original's words too.

Apart from the words themselves, so that whoever only reads them need not know the log.
"""

from collections.abc import Iterable

from turnkeeper.protocol import events
from turnkeeper.protocol.ids import SessionId
from turnkeeper.protocol.requests import decided
from turnkeeper.protocol.runs import Outcome, Usage
from turnkeeper.protocol.wire_clients import NameView
from turnkeeper.protocol.wire_details import (
    GateMoved,
    MessageDropped,
    OwnPayload,
    PartSaid,
    PromptChanged,
    QueueReordered,
    RequestClosed,
    RunAccepted,
    RunEnded,
    RunMoved,
    RunWaiting,
    SkipMoved,
)
from turnkeeper.protocol.wire_events import CONTEXT_CANCELED, RunComplete
from turnkeeper.protocol.wire_messages import part_to_wire
from turnkeeper.protocol.wire_own import CancelReceipt, attachment_views, failure_view


def told(event: events.Event, session_id: SessionId) -> tuple[str, OwnPayload] | None:  # noqa: C901 - one case an event
    """An event in our own words: its kind on the stream and its payload; None if the original has the words for it."""
    match event:
        case events.RunAccepted():
            return "run_accepted", _accepted(event, session_id)
        case events.RunStarted(run_id):
            return "run_started", RunMoved(session_id, run_id)
        case events.RunStopping(run_id, by):
            return "run_stopping", RunMoved(session_id, run_id, by=by)
        case events.RunFolded(run_id, into):
            return "run_folded", RunMoved(session_id, run_id, into=into)
        case events.RunComplete():
            return "run_complete", run_ended(event, session_id)
        case events.PromptEdited(run_id, prompt, by):
            changed = PromptChanged(session_id, run_id, prompt.text, attachment_views(prompt), by=by)
            return "prompt_changed", changed
        case events.PromptSteered(run_id, foldable, by):
            return "prompt_changed", PromptChanged(session_id, run_id, foldable=foldable, by=by)
        case events.QueueReordered(run_ids, by):
            return "queue_reordered", QueueReordered(session_id, run_ids, by)
        case events.GateMoved(gate):
            return "gate_moved", GateMoved(session_id, gate.value)
        case events.PartSaid(message_id, index, part, at):
            return "part_said", PartSaid(session_id, message_id, index, part_to_wire(part), at)
        case events.MessageReset(message_id):
            return "message_reset", MessageDropped(session_id, message_id)
        case events.RequestAnswered(request_id, answer, by):
            return "request_answered", RequestClosed(session_id, request_id, by=by, decision=decided(answer))
        case events.RequestWithdrawn(request_id, reason):
            return "request_withdrawn", RequestClosed(session_id, request_id, reason=reason)
        case events.SkipSet(skip, by, here):
            return "skip_moved", SkipMoved(skip, by, here)
        case events.ClientNamed(client):
            return "client_named", NameView(client.client_id, client.name, client.kind)
        case events.RunWaiting(run_id, delay, seconds, message, provider):
            return "run_waiting", RunWaiting(session_id, run_id, delay.value, seconds, message, provider)
        case _:
            return None


def _accepted(event: events.RunAccepted, session_id: SessionId) -> RunAccepted:
    return RunAccepted(
        session_id=session_id,
        run_id=event.run_id,
        prompt=event.prompt.text,
        attachments=attachment_views(event.prompt),
        kind=event.run_kind.value,
        minted=event.minted,
        foldable=event.foldable,
        by=event.by,
        user_message_id=event.user_message_id,
        at=event.at,
        parent=event.parent or "",
    )


def run_ended(event: events.RunComplete, session_id: SessionId) -> RunEnded:
    return RunEnded(
        session_id=session_id,
        run_id=event.run_id,
        message_id=event.message_id,
        text=event.text,
        error=ending_error(event),
        cancelled=event.outcome is Outcome.CANCELLED,
        outcome=event.outcome.value,
        failure=failure_view(event.failure),
        usage=None if event.usage == Usage() else event.usage,
        steps=event.steps,
        denied=event.denied,
    )


def run_complete(ending: events.RunComplete, session_id: SessionId, *, minted: bool = False) -> RunComplete:
    """How the original tells an ending. An id the server minted was never the client's, and is not told."""
    return RunComplete(
        session_id=session_id,
        run_id="" if minted else ending.run_id,
        message_id=ending.message_id,
        text=ending.text,
        error=ending_error(ending),
        cancelled=ending.outcome is Outcome.CANCELLED,
    )


def ending_error(ending: events.RunComplete) -> str:
    """Why a run did not complete. One that was cancelled while it waited has no error, only that it was cancelled."""
    if ending.failure is not None:
        return ending.failure.message
    match ending.outcome:
        case Outcome.CANCELLED:
            return CONTEXT_CANCELED if ending.message_id else ""
        case Outcome.INTERRUPTED:
            return "the server stopped before the run ended"
        case Outcome.FAILED:
            return "the run failed"
        case Outcome.COMPLETED | Outcome.FOLDED:
            return ""


def cancel_receipt(decided: Iterable[events.Event]) -> CancelReceipt:
    """From the events the cancel was answered with."""
    cancelled: list[str] = []
    stopping: list[str] = []
    for event in decided:
        match event:
            case events.RunComplete(run_id, Outcome.CANCELLED):
                cancelled.append(run_id)
            case events.RunStopping(run_id):
                stopping.append(run_id)
            case _:
                continue
    return CancelReceipt(tuple(cancelled), tuple(stopping))
