"""The machine: what becomes of a prompt, between two clients, a cancel and a crash.

    decide(session, command) -> events     what should happen
    evolve(session, event)   -> session    what the session is afterwards; asserts the event is possible
    replay(events)           -> session    evolve, folded over a log

A session is idle, active or stopping; behind the active run others wait in line, and a gate says whether the line
moves. Acceptance, queueing and starting are one decision, so there is no moment between them to guard.

    told               idle                  active                        stopping
    Submit             Accepted, Started     Accepted (waits)              Accepted (waits: it comes after the cancel)
    Submit, known id   the receipt it has, or a conflict when the body differs
    Fold               nothing               those that may -> Folded      nothing
    Cancel             nothing               waiting -> Cancelled,         waiting -> Cancelled
                                             requests withdrawn, Stopping
    Cancel one         nothing               that run only                 that run only
    Finish(active)                           Complete; Started(next)       Complete; Started(next)
    Recover            Started(next), if any Complete(interrupted); next   the same

Held, nothing starts until somebody submits or releases. Closing, nothing is accepted and nothing starts.
"""

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from turnkeeper.core import commands as told
from turnkeeper.core.folding import steer, suits
from turnkeeper.core.user_message import user_message
from turnkeeper.protocol import events as e
from turnkeeper.protocol.events import Event, Gate
from turnkeeper.protocol.ids import NO_CLIENT, ClientId, RunId, SessionId
from turnkeeper.protocol.messages import Role
from turnkeeper.protocol.problems import QueueFull, RunIdConflict, RunNotQueued, SessionBusy, WorkspaceClosing
from turnkeeper.protocol.requests import Answers, Permission, Questions, Request
from turnkeeper.protocol.runs import Cause, Failure, Outcome, RunKind

STOPPED_BY_SERVER = Failure(
    cause=Cause.SERVER, message="The server stopped while this run was going on; submit it again.", retryable=True
)


class Session(msgspec.Struct, frozen=True):
    """What the decisions of one session rest on; all else about it is in the views."""

    id: SessionId
    active: e.RunAccepted | None = None
    stopping: bool = False
    queue: tuple[e.RunAccepted, ...] = ()
    requests: tuple[Request, ...] = ()
    gate: Gate = Gate.OPEN

    def waiting(self, run_id: RunId) -> e.RunAccepted | None:
        return next((run for run in self.queue if run.run_id == run_id), None)

    def is_active(self, run_id: RunId) -> bool:
        return self.active is not None and self.active.run_id == run_id


def decide(session: Session, command: told.Command) -> list[Event]:  # noqa: C901 - one case a command
    """What follows from the command; nothing, when it comes too late. Raises a `Problem` to refuse it."""
    match command:
        case told.Submit():
            return _submit(session, command)
        case told.Say(run_id, facts):
            return list(facts) if session.is_active(run_id) else []
        case told.Note(facts):
            return list(facts)
        case told.Fold(run_id):
            return _fold(session, run_id)
        case told.Finish():
            return _finish(session, command)
        case told.Cancel(run_id, by):
            return _cancel(session, run_id, by)
        case told.ClearQueue():
            return _cancel_queue(session)
        case told.Edit(run_id, prompt, by):
            _must_wait(session, run_id)
            return [e.PromptEdited(run_id, prompt, by)]
        case told.Steer(run_id, foldable, by):
            return steer(_must_wait(session, run_id), session.active, by=by, foldable=foldable)
        case told.Move(run_id, index, by):
            return _move(session, run_id, index, by)
        case told.Recover():
            return _recover(session, command)
        case told.Release():
            return [e.GateMoved(Gate.OPEN), *_next(session)] if session.gate is Gate.HELD else []
        case told.Close(keep_queue, by):
            return _close(session, keep_queue=keep_queue, by=by)
        case told.Ask(request):
            return _ask(session, request)
        case told.Answer():
            return _answer(session, command)
        case told.Decided(request, answer, by):
            answered = e.RequestAnswered(request.id, answer, by, request.tool_call_id, unattended=True)
            return [*asked, answered] if (asked := _ask(session, request)) else []
        case told.Withdraw(request_id, reason):
            return [_withdrawn(request, reason) for request in session.requests if request.id == request_id]


def _submit(session: Session, told_: told.Submit) -> list[Event]:
    if session.is_active(told_.run_id) or session.waiting(told_.run_id) or told_.known:
        return _again(session, told_)
    if session.gate is Gate.CLOSING:
        raise WorkspaceClosing
    if told_.only_if_idle and session.active:
        raise SessionBusy
    if len(session.queue) >= told_.queue_max:
        raise QueueFull(told_.queue_max)
    accepted = e.RunAccepted(
        run_id=told_.run_id,
        prompt=told_.prompt,
        digest=told_.digest,
        run_kind=told_.run_kind,
        minted=told_.minted,
        foldable=told_.foldable,
        options=told_.options,
        by=told_.by,
        user_message_id=told_.user_message_id,
        at=told_.at,
        parent=told_.parent,
    )
    released: list[Event] = [e.GateMoved(Gate.OPEN)] if session.gate is Gate.HELD else []
    first = session.queue[0] if session.queue else accepted
    return [accepted, *released, *([] if session.active else _start(session, first))]


def _again(session: Session, told_: told.Submit) -> list[Event]:
    """The same prompt under the same id changes nothing; another prompt under it is refused."""
    live = session.active if session.is_active(told_.run_id) else session.waiting(told_.run_id)
    if live:
        same = live.digest == told_.digest
    else:
        same = told_.known is not None and (told_.known.session_id, told_.known.digest) == (session.id, told_.digest)
    if not same:
        raise RunIdConflict(told_.run_id)
    return []


def _start(session: Session, run: e.RunAccepted) -> list[Event]:
    """A run starts by saying what it was asked: from here on the prompt is part of the conversation."""
    return [e.RunStarted(run.run_id), *_said(session, run)]


def _said(session: Session, run: e.RunAccepted) -> list[Event]:
    return [e.MessageSaid(user_message(session.id, run))] if run.run_kind is RunKind.PROMPT else []


def _next(session: Session) -> list[Event]:
    return _start(session, session.queue[0]) if session.queue and not session.active else []


def _fold(session: Session, run_id: RunId) -> list[Event]:
    active = session.active
    if active is None or active.run_id != run_id or session.stopping or active.run_kind is not RunKind.PROMPT:
        return []
    joining = [run for run in session.queue if run.foldable and run.run_kind is RunKind.PROMPT and suits(run, active)]
    return [event for run in joining for event in (e.RunFolded(run.run_id, into=run_id), *_said(session, run))]


def _finish(session: Session, told_: told.Finish) -> list[Event]:
    if not session.is_active(told_.run_id):
        return []
    complete = e.RunComplete(
        run_id=told_.run_id,
        outcome=told_.outcome,
        message_id=told_.message_id,
        text=told_.text,
        failure=told_.failure,
        usage=told_.usage,
        steps=told_.steps,
        denied=told_.denied,
        minted=session.active is not None and session.active.minted,
    )
    start = _start(session, session.queue[0]) if session.queue and session.gate is Gate.OPEN else []
    return [*_withdraw_all(session, "the run has ended"), complete, *start]


def _cancel_queue(session: Session) -> list[Event]:
    # Only what was accepted before this moment is here to be cancelled, so a
    # prompt submitted afterwards cannot be caught by it.
    return [_never_ran(run) for run in session.queue]


def _never_ran(run: e.RunAccepted) -> e.RunComplete:
    return e.RunComplete(run.run_id, Outcome.CANCELLED, minted=run.minted)


def _stop(session: Session, by: ClientId = NO_CLIENT) -> list[Event]:
    if session.active is None or session.stopping:
        return []
    return [*_withdraw_all(session, "the run was cancelled"), e.RunStopping(session.active.run_id, by)]


def _cancel(session: Session, run_id: RunId | None, by: ClientId) -> list[Event]:
    if run_id is None:
        return [*_cancel_queue(session), *_stop(session, by)]
    if waiting := session.waiting(run_id):
        return [_never_ran(waiting)]
    return _stop(session, by) if session.is_active(run_id) else []


def _must_wait(session: Session, run_id: RunId) -> e.RunAccepted:
    run = session.waiting(run_id)
    if run is None:
        raise RunNotQueued(run_id)
    return run


def _move(session: Session, run_id: RunId, index: int, by: ClientId) -> list[Event]:
    _must_wait(session, run_id)
    before = tuple(run.run_id for run in session.queue)
    others = [waiting for waiting in before if waiting != run_id]
    others.insert(max(0, index), run_id)
    after = tuple(others)
    return [e.QueueReordered(after, by)] if after != before else []


def _recover(session: Session, told_: told.Recover) -> list[Event]:
    ended: list[Event] = []
    if session.active:
        interrupted = e.RunComplete(
            run_id=session.active.run_id,
            outcome=Outcome.INTERRUPTED,
            message_id=told_.message_id,
            text=told_.text,
            failure=STOPPED_BY_SERVER,
            usage=told_.usage,
            steps=told_.steps,
            minted=session.active.minted,
        )
        ended = [*_withdraw_all(session, "the server stopped"), interrupted]
    gate = Gate.HELD if told_.hold and session.queue else Gate.OPEN
    moved: list[Event] = [e.GateMoved(gate)] if gate is not session.gate else []
    start = _start(session, session.queue[0]) if session.queue and gate is Gate.OPEN else []
    return [*ended, *moved, *start]


def _close(session: Session, *, keep_queue: bool, by: ClientId) -> list[Event]:
    closing: list[Event] = [e.GateMoved(Gate.CLOSING)] if session.gate is not Gate.CLOSING else []
    cancelled = [] if keep_queue else _cancel_queue(session)
    return [*closing, *cancelled, *_stop(session, by)]


def _ask(session: Session, request: Request) -> list[Event]:
    goes_on = session.is_active(request.run_id) and not session.stopping
    return [e.RequestAsked(request)] if goes_on and not _pending(session, request.id) else []


def _answer(session: Session, told_: told.Answer) -> list[Event]:
    request = _pending(session, told_.request_id)
    if request is None or isinstance(request, Permission) == isinstance(told_.answer, Answers):
        return []
    if told_.digest and isinstance(request, Permission) and told_.digest != request.digest:
        return []
    return [e.RequestAnswered(request.id, told_.answer, told_.by, request.tool_call_id)]


def _pending(session: Session, request_id: str) -> Request | None:
    return next((request for request in session.requests if request.id == request_id), None)


def _withdraw_all(session: Session, reason: str) -> list[Event]:
    return [_withdrawn(request, reason) for request in session.requests]


def _withdrawn(request: Request, reason: str) -> e.RequestWithdrawn:
    return e.RequestWithdrawn(request.id, reason, request.tool_call_id, isinstance(request, Questions))


def evolve(session: Session, event: Event) -> Session:  # noqa: C901 - one case an event
    """The session once the event is true. An impossible event is a defect above, and stops here."""
    match event:
        case e.MessageSaid(message):
            if message.role in (Role.ASSISTANT, Role.TOOL) and message.run_id is not None:
                assert session.is_active(message.run_id), "only the active run speaks"
            return session
        case e.RunAccepted(run_id):
            assert not session.is_active(run_id) and not session.waiting(run_id), "a run is accepted once"
            assert session.gate is not Gate.CLOSING, "a closing session accepts nothing"
            return replace(session, queue=(*session.queue, event))
        case e.RunStarted(run_id):
            assert session.active is None, "one run at a time"
            assert session.gate is Gate.OPEN, "nothing starts behind a closed gate"
            assert session.queue and session.queue[0].run_id == run_id, "first come, first served"
            return replace(session, active=session.queue[0], stopping=False, queue=session.queue[1:])
        case e.RunComplete(run_id):
            return _without(session, run_id)
        case e.RunFolded(run_id, into):
            assert session.is_active(into) and not session.stopping, "a prompt joins a run that goes on"
            joining = session.waiting(run_id)
            assert joining, "only a waiting prompt can join"
            assert joining.run_kind is RunKind.PROMPT, "a summary stands on its own"
            return _without(session, run_id)
        case e.RunStopping(run_id):
            assert session.is_active(run_id) and not session.stopping, "a run is stopped once"
            return replace(session, stopping=True)
        case e.PromptEdited(run_id, prompt):
            return _changed(session, replace(_must_wait(session, run_id), prompt=prompt))
        case e.PromptSteered(run_id, foldable):
            return _changed(session, replace(_must_wait(session, run_id), foldable=foldable))
        case e.QueueReordered(run_ids):
            by_id = {run.run_id: run for run in session.queue}
            assert sorted(run_ids) == sorted(by_id), "a new order keeps everybody"
            return replace(session, queue=tuple(by_id[run_id] for run_id in run_ids))
        case e.GateMoved(gate):
            return replace(session, gate=gate)
        case e.RequestAsked(request):
            assert session.is_active(request.run_id) and not session.stopping, "only a run that goes on asks"
            assert _pending(session, request.id) is None, "a request is asked once"
            return replace(session, requests=(*session.requests, request))
        case e.RequestAnswered(request_id) | e.RequestWithdrawn(request_id):
            assert _pending(session, request_id), "a request is settled once"
            return replace(session, requests=tuple(r for r in session.requests if r.id != request_id))
        case _:
            return session


def _without(session: Session, run_id: RunId) -> Session:
    if session.is_active(run_id):
        assert not session.requests, "a request never outlives its run"
        return replace(session, active=None, stopping=False)
    # Found and cut out rather than filtered: a whole line that ends is cut from its head, and stays linear.
    at = next((index for index, run in enumerate(session.queue) if run.run_id == run_id), None)
    assert at is not None, "a run ends once, after it was accepted"
    return replace(session, queue=session.queue[:at] + session.queue[at + 1 :])


def _changed(session: Session, run: e.RunAccepted) -> Session:
    return replace(session, queue=tuple(run if run.run_id == each.run_id else each for each in session.queue))


def replay(session_id: SessionId, events: Iterable[Event]) -> Session:
    session = Session(session_id)
    for event in events:
        session = evolve(session, event)
    return session
