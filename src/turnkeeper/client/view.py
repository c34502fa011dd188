"""What a client knows of a workspace: a pure fold of what its feed tells, shared by every face.

    view = begun(snapshot)                 everything but the conversations, as of one position
    view = reading(view, session_id)       a conversation is about to be read …
    view = read(view, session_id, said)    … and has been: what was told meanwhile is folded in after it
    view = remembered(view, session_id, …) what its earlier runs took, and who decided what they asked
    view = seen(view, envelope)            everything that is told

Folding again what was folded before changes nothing, and what is missed is made good by what follows, so any feed that
resumes, repeats or begins in the middle of an answer ends with the same view.

A view is frozen, and what did not change is the same object as before: a face redraws what differs by identity.
"""

from collections.abc import Callable, Collection, Iterable
from typing import Any

from msgspec.structs import replace

from turnkeeper.client import conversation as talk
from turnkeeper.client import seen_clients, seen_requests, seen_runs
from turnkeeper.client.conversation import Conversation
from turnkeeper.client.known import NOTHING_SAID, Settled, View, with_, without
from turnkeeper.protocol import wire_details as own
from turnkeeper.protocol import wire_events as wire
from turnkeeper.protocol.messages import Message
from turnkeeper.protocol.runs import RunState
from turnkeeper.protocol.wire_changes import Settled as AuditEntry
from turnkeeper.protocol.wire_own import RunView, Snapshot
from turnkeeper.protocol.wire_requests import (
    PermissionNotification,
    PermissionRequest,
    QuestionNotification,
    QuestionRequest,
    Unasked,
)
from turnkeeper.protocol.wire_sessions import File, Session
from turnkeeper.protocol.wire_stream import Envelope


def begun(snapshot: Snapshot) -> View:
    """A workspace as of the snapshot's position; its conversations are yet to be read."""
    runs = {run.run_id: run for run in snapshot.runs}
    queues: dict[str, tuple[str, ...]] = {}
    for run in snapshot.runs:
        if run.state == RunState.QUEUED.value:
            queues[run.session_id] = (*queues.get(run.session_id, ()), run.run_id)
    view = View(
        sessions={session.id: session for session in snapshot.sessions},
        runs=runs,
        queues=queues,
        gates=dict.fromkeys(snapshot.held, "held"),
        permissions={request.id: request for request in snapshot.permissions},
        questions={request.id: request for request in snapshot.questions},
        unasked=frozenset(snapshot.unasked),
        clients={client.client_id: client for client in snapshot.clients},
        names={one.client_id: one for one in snapshot.names},
    )
    return replace(view, sessions=seen_clients.attended(view)) if view.clients else view


def renewed(view: View, snapshot: Snapshot) -> View:
    """After something was missed: all of it as the snapshot says, and every conversation to be read again."""
    fresh = begun(snapshot)
    kept = {id: replace(known, is_whole=False) for id, known in view.conversations.items() if id in fresh.sessions}
    # Children are in no list of sessions; what was known of them is still the best there is.
    children = {id: one for id, one in view.sessions.items() if one.parent_session_id in fresh.sessions}
    ended = {id: run for id, run in view.runs.items() if run.has_ended}
    return replace(
        fresh,
        sessions={**children, **fresh.sessions},
        conversations=kept,
        runs={**ended, **fresh.runs},
        settled=view.settled,
        files=view.files,
        mcp=view.mcp,
        lsps=view.lsps,
        config_revision=view.config_revision + 1,
    )


def missed(view: View) -> View:
    """Something was missed that no snapshot tells: every conversation is to be read again."""
    stale = {id: replace(known, is_whole=False) for id, known in view.conversations.items()}
    return replace(view, conversations=stale)


def reading(view: View, session_id: str) -> View:
    """Say so before a conversation is asked for, so that nothing told meanwhile is lost."""
    return _talk(view, session_id, talk.begun_reading)


def read(view: View, session_id: str, messages: Iterable[Message]) -> View:
    return _talk(view, session_id, lambda known: talk.read(known, messages))


def remembered(view: View, session_id: str, runs: Iterable[RunView], decided: Iterable[AuditEntry]) -> View:
    """What a session's runs took and who decided, as the server keeps it; what was told since is not said again."""
    return seen_requests.remembered(seen_runs.remembered(view, session_id, runs), decided)


def shed(view: View, *, most: int, keep: Collection[str]) -> View:
    """At most so many conversations, without those held longest that nobody keeps. They can be read again."""
    spare = [id for id in view.conversations if id not in keep][: max(0, len(view.conversations) - most)]
    if not spare:
        return view
    gone = frozenset(spare)
    kept = {id: known for id, known in view.conversations.items() if id not in gone}
    return replace(view, conversations=kept)


def seen(view: View, envelope: Envelope) -> View:
    """The view after one more event."""
    fold = _FOLDS.get(type(envelope.payload))
    return view if fold is None else fold(view, envelope, envelope.payload)


# Conversations


def _said(view: View, envelope: Envelope, payload: Any) -> View:
    known = view.conversations.get(payload.session_id)
    if known is None:
        return view
    after = talk.told(known, envelope)
    return view if after is known else replace(view, conversations=with_(view.conversations, payload.session_id, after))


def _talk(view: View, session_id: str, change: Callable[[Conversation], Conversation]) -> View:
    known = view.conversations.get(session_id, NOTHING_SAID)
    return replace(view, conversations=with_(view.conversations, session_id, change(known)))


# Sessions and files


def _session(view: View, envelope: Envelope, payload: Session) -> View:
    if envelope.type == "deleted":
        return _forgotten(view, payload.id)
    known = view.sessions.get(payload.id)
    busy = view.active(payload.id) is not None
    # On the stream these two are always empty.
    watched = known.attached_clients if known else len(view.watching(payload.id)) or payload.attached_clients
    told = replace(payload, is_busy=busy or payload.is_busy, attached_clients=watched)
    view = replace(view, sessions=with_(view.sessions, payload.id, told))
    if envelope.type == "created" and payload.id not in view.conversations:
        return replace(view, conversations=with_(view.conversations, payload.id, Conversation(is_whole=True)))
    return view


def _forgotten(view: View, session_id: str) -> View:
    return replace(
        view,
        sessions=without(view.sessions, session_id),
        conversations=without(view.conversations, session_id),
        runs={id: run for id, run in view.runs.items() if run.session_id != session_id},
        queues=without(view.queues, session_id),
        gates=without(view.gates, session_id),
        permissions={id: one for id, one in view.permissions.items() if one.session_id != session_id},
        questions={id: one for id, one in view.questions.items() if one.session_id != session_id},
        files=without(view.files, session_id),
    )


def _file(view: View, envelope: Envelope, payload: File) -> View:
    known = view.files.get(payload.session_id, {})
    if envelope.type == "deleted":
        return replace(view, files=with_(view.files, payload.session_id, without(known, payload.path)))
    before = known.get(payload.path)
    if before is not None and before.version > payload.version:
        return view
    return replace(view, files=with_(view.files, payload.session_id, with_(known, payload.path, payload)))


# The rest


def _skip(view: View, _: Envelope, payload: own.SkipMoved) -> View:
    whose = frozenset({Unasked(payload.by, payload.session_id)})
    return replace(view, unasked=view.unasked | whose if payload.skip else view.unasked - whose)


def _config(view: View, _: Envelope, __: wire.ConfigChanged) -> View:
    return replace(view, config_revision=view.config_revision + 1)


def _mcp(view: View, _: Envelope, payload: wire.MCPEvent) -> View:
    return replace(view, mcp=with_(view.mcp, payload.name, payload))


def _lsp(view: View, _: Envelope, payload: wire.LSPEvent) -> View:
    return replace(view, lsps=with_(view.lsps, payload.name, payload))


def _snapshot(view: View, _: Envelope, payload: Snapshot) -> View:
    return renewed(view, payload)


_FOLDS: dict[type, Callable[[View, Envelope, Any], View]] = {
    own.WireDelta: _said,
    own.PartSaid: _said,
    own.MessageDropped: _said,
    own.RunAccepted: seen_runs.accepted,
    own.RunMoved: seen_runs.moved,
    own.RunEnded: seen_runs.ended,
    own.PromptChanged: seen_runs.prompt,
    own.QueueReordered: seen_runs.reordered,
    own.GateMoved: seen_runs.gate,
    own.RequestClosed: seen_requests.closed,
    own.SkipMoved: _skip,
    own.NameView: seen_clients.named,
    own.Presence: seen_clients.presence,
    wire.WireMessage: _said,
    File: _file,
    PermissionNotification: seen_requests.notified,
    PermissionRequest: seen_requests.permission,
    QuestionNotification: seen_requests.questions_closed,
    QuestionRequest: seen_requests.question,
    Session: _session,
    Snapshot: _snapshot,
    wire.ConfigChanged: _config,
    wire.LSPEvent: _lsp,
    wire.MCPEvent: _mcp,
    wire.RunComplete: seen_runs.ended,
}

__all__ = ["Settled", "View", "begun", "missed", "read", "reading", "remembered", "renewed", "seen", "shed"]
