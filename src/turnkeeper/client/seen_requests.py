"""Requests as a view sees them: waiting, or settled by somebody. One that was settled does not come back."""

from collections.abc import Iterable

from msgspec.structs import replace

from turnkeeper.client.known import Settled, View, with_, without
from turnkeeper.protocol import wire_details as own
from turnkeeper.protocol.wire_changes import Settled as AuditEntry
from turnkeeper.protocol.wire_requests import (
    PermissionNotification,
    PermissionRequest,
    QuestionNotification,
    QuestionRequest,
)
from turnkeeper.protocol.wire_stream import Envelope

SETTLED_MAX = 256
GRANTED = {"allowed": True, "denied": False}


def permission(view: View, _: Envelope, payload: PermissionRequest) -> View:
    if payload.id in view.settled:
        return view
    return replace(view, permissions=with_(view.permissions, payload.id, payload))


def question(view: View, _: Envelope, payload: QuestionRequest) -> View:
    if payload.id in view.settled:
        return view
    return replace(view, questions=with_(view.questions, payload.id, payload))


def closed(view: View, _: Envelope, payload: own.RequestClosed) -> View:
    asked = view.permissions.get(payload.request_id)
    known = Settled(asked.tool_call_id, run_id=asked.run_id) if asked else Settled()
    before = view.settled.get(payload.request_id, known)
    granted = GRANTED.get(payload.decision, before.granted)
    return _settle(view, payload.request_id, replace(before, by=payload.by, reason=payload.reason, granted=granted))


def notified(view: View, _: Envelope, payload: PermissionNotification) -> View:
    """The first notice only says that somebody was asked; the second says what the answer was."""
    if not payload.granted and not payload.denied:
        return view
    call = payload.tool_call_id
    # Models reuse the ids of calls. Our own servers (a digest tells them) also say which request it was.
    open_now = [id for id, one in view.permissions.items() if one.tool_call_id == call and not one.digest]
    answered = [id for id, known in view.settled.items() if known.tool_call_id == call and known.granted is None]
    for id in [*open_now, *answered]:
        known = view.settled.get(id, Settled(call))
        view = _settle(view, id, replace(known, granted=payload.granted))
    return view


def remembered(view: View, told: Iterable[AuditEntry]) -> View:
    """What was decided before anybody looked; told newest first. What was heard since is known better."""
    past = {
        one.request_id: Settled(one.tool_call_id, one.by, one.reason, GRANTED.get(one.decision), one.run_id)
        for one in told
        if one.request_id not in view.settled
    }
    room = max(0, SETTLED_MAX - len(view.settled))
    kept = dict(reversed(list(past.items())[:room]))
    return replace(view, settled={**kept, **view.settled}) if kept else view


def questions_closed(view: View, _: Envelope, payload: QuestionNotification) -> View:
    return _settle(view, payload.batch_id, view.settled.get(payload.batch_id, Settled()))


def _settle(view: View, request_id: str, how: Settled) -> View:
    settled = with_(view.settled, request_id, how)
    while len(settled) > SETTLED_MAX:
        del settled[next(iter(settled))]
    return replace(
        view,
        settled=settled,
        permissions=without(view.permissions, request_id),
        questions=without(view.questions, request_id),
    )
