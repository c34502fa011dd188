"""Runs as a view sees them: in line, going on, stopping, over. A run only moves on, whatever is told twice or late."""

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from turnkeeper.client import conversation as talk
from turnkeeper.client.known import View, with_, without
from turnkeeper.protocol import wire_details as own
from turnkeeper.protocol import wire_events as wire
from turnkeeper.protocol.runs import Outcome, RunState
from turnkeeper.protocol.wire_own import RunView
from turnkeeper.protocol.wire_stream import Envelope

ENDED_RUNS_MAX = 256
"""How many endings are remembered: enough that no late repetition brings one back."""

_ORDER = {RunState.QUEUED: 0, RunState.ACTIVE: 1, RunState.STOPPING: 2, RunState.ENDED: 3}


def accepted(view: View, _: Envelope, payload: own.RunAccepted) -> View:
    known = view.runs.get(payload.run_id)
    told = RunView(
        run_id=payload.run_id,
        session_id=payload.session_id,
        kind=payload.kind,
        prompt=payload.prompt,
        attachments=payload.attachments,
        minted=payload.minted,
        foldable=payload.foldable,
        by=payload.by,
        user_message_id=payload.user_message_id,
        accepted_at=payload.at,
        parent=payload.parent,
    )
    if known is not None:
        # It is further on than this; only what nobody knew of it yet is new.
        return view if known.accepted_at else _run(view, _completed_with(known, told))
    queue = (*view.queues.get(payload.session_id, ()), payload.run_id)
    return replace(_run(view, told), queues=with_(view.queues, payload.session_id, queue))


def _completed_with(known: RunView, told: RunView) -> RunView:
    return replace(
        told,
        state=known.state,
        outcome=known.outcome,
        failure=known.failure,
        message_id=known.message_id,
        text=known.text,
        usage=known.usage,
        steps=known.steps,
        folded_into=known.folded_into,
    )


def moved(view: View, envelope: Envelope, payload: own.RunMoved) -> View:
    match envelope.kind:
        case "run_started":
            return _advanced(view, payload, RunState.ACTIVE)
        case "run_stopping":
            return _advanced(view, payload, RunState.STOPPING)
        case _:
            folded = {"outcome": Outcome.FOLDED.value, "folded_into": payload.into}
            return _rested(_advanced(view, payload, RunState.ENDED, **folded), payload.session_id)


def ended(view: View, _: Envelope, payload: own.RunEnded | wire.RunComplete) -> View:
    told: dict[str, Any] = {"message_id": payload.message_id, "text": payload.text, "outcome": _outcome(payload)}
    if isinstance(payload, own.RunEnded):
        told |= {"failure": payload.failure, "usage": payload.usage, "steps": payload.steps}
    return _rested(_advanced(view, payload, RunState.ENDED, **told), payload.session_id)


def _outcome(payload: own.RunEnded | wire.RunComplete) -> str:
    """How it ended; a server of the original says only whether it was cancelled, and whether there was an error."""
    if isinstance(payload, own.RunEnded) and payload.outcome:
        return payload.outcome
    if payload.cancelled:
        return Outcome.CANCELLED.value
    return (Outcome.FAILED if payload.error else Outcome.COMPLETED).value


def _advanced(
    view: View, payload: own.RunMoved | own.RunEnded | wire.RunComplete, state: RunState, **told: Any
) -> View:
    """A run only ever moves on: what is behind it is not said of it again."""
    known = view.runs.get(payload.run_id)
    if known is not None and _ORDER[RunState(known.state)] >= _ORDER[state]:
        return view
    known = known or RunView(run_id=payload.run_id, session_id=payload.session_id)
    view = _run(view, replace(known, state=state.value, **told))
    queue = tuple(id for id in view.queues.get(payload.session_id, ()) if id != payload.run_id)
    return _busy(replace(view, queues=with_(view.queues, payload.session_id, queue)), payload.session_id)


def _rested(view: View, session_id: str) -> View:
    known = view.conversations.get(session_id)
    if known is None:
        return view
    after = talk.at_rest(known)
    return view if after is known else replace(view, conversations=with_(view.conversations, session_id, after))


def _busy(view: View, session_id: str) -> View:
    session, busy = view.sessions.get(session_id), view.active(session_id) is not None
    if session is None or session.is_busy is busy:
        return view
    return replace(view, sessions=with_(view.sessions, session_id, replace(session, is_busy=busy)))


def _run(view: View, run: RunView) -> View:
    return replace(view, runs=_bounded(with_(view.runs, run.run_id, run)))


def _bounded(runs: dict[str, RunView]) -> dict[str, RunView]:
    if len(runs) > ENDED_RUNS_MAX:
        ended = [id for id, one in runs.items() if one.has_ended]
        for id in ended[: max(0, len(ended) - ENDED_RUNS_MAX)]:
            del runs[id]
    return runs


def remembered(view: View, session_id: str, told: Iterable[RunView]) -> View:
    """Runs of a session that ended before anybody looked, told newest first: how they ended, and what they took."""
    past = {run.run_id: run for run in reversed(list(told)) if run.has_ended and run.run_id not in view.runs}
    if not past:
        return view
    # Where there are too many, those of sessions that are looked at no more go first.
    others = {id: run for id, run in view.runs.items() if run.has_ended and run.session_id != session_id}
    spoken = {id: replace(run, prompt="", attachments=(), text="") for id, run in past.items()}
    rest = {id: run for id, run in view.runs.items() if id not in others}
    return replace(view, runs=_bounded({**others, **spoken, **rest}))


def prompt(view: View, _: Envelope, payload: own.PromptChanged) -> View:
    known = view.runs.get(payload.run_id)
    if known is None:
        return view
    changed = known
    if payload.prompt is not None:
        changed = replace(changed, prompt=payload.prompt, attachments=payload.attachments)
    if payload.foldable is not None:
        changed = replace(changed, foldable=payload.foldable)
    return _run(view, changed)


def reordered(view: View, _: Envelope, payload: own.QueueReordered) -> View:
    waiting = [id for id in payload.run_ids if id in view.runs and view.runs[id].state == RunState.QUEUED.value]
    # One that was accepted since is behind those that were there.
    later = [id for id in view.queues.get(payload.session_id, ()) if id not in waiting]
    return replace(view, queues=with_(view.queues, payload.session_id, (*waiting, *later)))


def gate(view: View, _: Envelope, payload: own.GateMoved) -> View:
    gates = without(view.gates, payload.session_id)
    return replace(view, gates=gates if payload.gate == "open" else with_(gates, payload.session_id, payload.gate))
