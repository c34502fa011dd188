"""What only our own clients ask for: runs, queues, receipts, and a workspace as of one moment.

Unlike on the rest of the wire, times of runs are Unix milliseconds. What only our own clients are told on the stream is
in `wire_details`.
"""

from collections.abc import Iterable

import msgspec

from turnkeeper.protocol import runs
from turnkeeper.protocol.clients import ClientName
from turnkeeper.protocol.ids import ClientId, Position, SessionId
from turnkeeper.protocol.requests import Permission, Request
from turnkeeper.protocol.runs import Failure, Run, RunOptions, RunState, Usage
from turnkeeper.protocol.sessions import SessionInfo
from turnkeeper.protocol.wire_clients import ClientView, NameView, name_views
from turnkeeper.protocol.wire_requests import (
    PermissionRequest,
    QuestionRequest,
    Unasked,
    permission_to_wire,
    questions_to_wire,
    unasked_views,
)
from turnkeeper.protocol.wire_sessions import Session, session_to_wire


class AttachmentView(msgspec.Struct, frozen=True):
    """What was sent along, without its bytes."""

    file_path: str = ""
    file_name: str = ""
    mime_type: str = ""
    size_bytes: int = 0


class FailureView(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a run did not complete. `cause` is text, so that a cause of a later version costs nobody the ending."""

    cause: str = msgspec.field(default_factory=str)
    message: str = msgspec.field(default_factory=str)
    details: str = ""
    retryable: bool = False


def failure_view(failure: Failure | None) -> FailureView | None:
    if failure is None:
        return None
    return FailureView(failure.cause.value, failure.message, failure.details, failure.retryable)


class RunView(msgspec.Struct, frozen=True, omit_defaults=True):
    """A run from accepted to its ending. Without `outcome` it has not ended."""

    run_id: str = msgspec.field(default_factory=str)
    session_id: str = msgspec.field(default_factory=str)
    state: str = msgspec.field(default_factory=lambda: RunState.QUEUED.value)
    kind: str = msgspec.field(default_factory=lambda: runs.RunKind.PROMPT.value)
    prompt: str = msgspec.field(default_factory=str)
    attachments: tuple[AttachmentView, ...] = ()
    options: RunOptions | None = None
    minted: bool = False
    foldable: bool = False
    by: str = ""
    user_message_id: str = ""
    accepted_at: int = 0
    started_at: int = 0
    ended_at: int = 0
    outcome: str = ""
    failure: FailureView | None = None
    message_id: str = ""
    text: str = ""
    usage: Usage | None = None
    steps: int = 0
    folded_into: str = ""
    parent: str = ""
    denied: tuple[str, ...] = ()

    @property
    def has_ended(self) -> bool:
        return self.state == RunState.ENDED.value


def run_to_wire(run: Run) -> RunView:
    return RunView(
        run_id=run.id,
        session_id=run.session_id,
        state=run.state.value,
        kind=run.kind.value,
        prompt=run.prompt.text,
        attachments=attachment_views(run.prompt),
        options=None if run.options == RunOptions() else run.options,
        minted=run.minted,
        foldable=run.foldable,
        by=run.by,
        user_message_id=run.user_message_id,
        accepted_at=run.accepted_at,
        started_at=run.started_at,
        ended_at=run.ended_at,
        outcome=run.outcome.value if run.outcome else "",
        failure=failure_view(run.failure),
        message_id=run.message_id,
        text=run.text,
        usage=None if run.usage == Usage() else run.usage,
        steps=run.steps,
        folded_into=run.folded_into or "",
        parent=run.parent or "",
        denied=run.denied,
    )


def attachment_views(prompt: runs.Prompt) -> tuple[AttachmentView, ...]:
    return tuple(AttachmentView(a.file_path, a.file_name, a.mime_type, len(a.content)) for a in prompt.attachments)


class Queue(msgspec.Struct, frozen=True):
    """A session's line, first to run first; `held` when it does not go on by itself."""

    runs: tuple[RunView, ...] = ()
    held: bool = False


def queue_to_wire(waiting: Iterable[Run], *, held: bool) -> Queue:
    return Queue(tuple(run_to_wire(run) for run in waiting), held)


class QueueEdit(msgspec.Struct, frozen=True):
    """A change of one waiting prompt; what is None stays."""

    prompt: str | None = None
    foldable: bool | None = None


class QueueOrder(msgspec.Struct, frozen=True):
    run_ids: tuple[str, ...] = ()


class CatalogSource(msgspec.Struct, frozen=True):
    """Where to read the catalogue of models: a URL, a file of the server's computer, or `embedded`."""

    source: str = ""


class CancelReceipt(msgspec.Struct, frozen=True):
    """What a cancel met: the runs that waited and now never run, and those that were active and now stop."""

    cancelled: tuple[str, ...] = ()
    stopping: tuple[str, ...] = ()


class Snapshot(msgspec.Struct, frozen=True):
    """A workspace as of one position: a stream resumed from there misses nothing and repeats nothing."""

    position: int = 0
    sessions: tuple[Session, ...] = ()
    runs: tuple[RunView, ...] = ()
    permissions: tuple[PermissionRequest, ...] = ()
    questions: tuple[QuestionRequest, ...] = ()
    held: tuple[str, ...] = ()
    unasked: tuple[Unasked, ...] = ()
    """Whose runs ask nobody for permission."""
    clients: tuple[ClientView, ...] = ()
    names: tuple[NameView, ...] = ()


def snapshot(
    position: Position,
    *,
    sessions: Iterable[SessionInfo],
    unended: Iterable[Run],
    requests: Iterable[Request],
    held: Iterable[SessionId],
    unasked: Iterable[tuple[ClientId, SessionId]] = (),
    clients: Iterable[ClientView] = (),
    names: Iterable[ClientName] = (),
) -> Snapshot:
    live = tuple(unended)
    asked = tuple(requests)
    busy = {run.session_id for run in live if run.state in (RunState.ACTIVE, RunState.STOPPING)}
    return Snapshot(
        position,
        tuple(session_to_wire(info, is_busy=info.id in busy) for info in sessions),
        tuple(run_to_wire(run) for run in live),
        tuple(permission_to_wire(one, exact=True) for one in asked if isinstance(one, Permission)),
        tuple(questions_to_wire(one, exact=True) for one in asked if not isinstance(one, Permission)),
        tuple(held),
        unasked_views(unasked),
        tuple(clients),
        name_views(names),
    )
