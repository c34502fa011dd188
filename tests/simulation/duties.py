"""What a command obliges the machine to do: the other half of what a log may contain.

The ledger notices what may not happen; this notices what had to happen and did not.
"""

from collections.abc import Sequence

from tests.simulation.ledger import Broken, Ledger, hold
from turnkeeper.core import commands as told
from turnkeeper.core.session import Session, decide, evolve
from turnkeeper.protocol import events as e
from turnkeeper.protocol.events import Event, Gate
from turnkeeper.protocol.problems import Problem, QueueFull, RunIdConflict, RunNotQueued, SessionBusy, WorkspaceClosing
from turnkeeper.protocol.requests import Answers, Questions, Request
from turnkeeper.protocol.runs import QUEUE_MAX, Outcome, RunKind


def told_and_judged(session: Session, ledger: Ledger, command: told.Command) -> tuple[Session, Ledger, list[Event]]:
    """Tell the machine, and check its answer against the ledger. A refusal has its reason, and changes nothing."""
    try:
        events = decide(session, command)
        became = session
        for event in events:
            became = evolve(became, event)
    except Problem as problem:
        hold(f"{type(problem).__name__} has its reason", is_right_to_refuse(ledger, command, problem))
        return session, ledger, []
    except AssertionError as impossible:
        raise Broken(f"what was decided is possible: {impossible}") from impossible
    after = written(ledger, command, events)
    check_duty(ledger, after, command, events)
    check_agreement(became, after)
    return became, after, events


def written(ledger: Ledger, command: told.Command, events: Sequence[Event]) -> Ledger:
    """The ledger after one decision, which must leave nobody waiting for nothing."""
    after = ledger.because(command) if events else ledger
    for event in events:
        after = after.after(event)
    hold("who starts or joins is heard at once", after.unsaid is None)
    idle = after.active is None and after.gate is Gate.OPEN
    hold("nobody waits in an idle session whose gate is open", not (idle and after.line))
    return after


def check_agreement(session: Session, ledger: Ledger) -> None:
    """The machine's own picture is the one that its log tells."""
    active = session.active.run_id if session.active else None
    hold("the machine knows who is active", (ledger.active.run_id if ledger.active else None) == active)
    hold("the machine knows who is stopping", session.stopping == ledger.stopping)
    line = [(run.run_id, run.foldable, run.prompt.text) for run in session.queue]
    hold("the machine knows its line", line == [(each.run_id, each.foldable, each.text) for each in ledger.line])
    hold("the machine knows what is asked", session.requests == ledger.pending)
    hold("the machine knows its gate", session.gate is ledger.gate)


def is_right_to_refuse(ledger: Ledger, command: told.Command, problem: Problem) -> bool:
    match command, problem:
        case told.Submit(run_id=run_id), RunIdConflict():
            return run_id in ledger.accepted or command.known is not None
        case told.Submit(run_id=run_id), WorkspaceClosing():
            return run_id not in ledger.accepted and ledger.gate is Gate.CLOSING
        case told.Submit(run_id=run_id, only_if_idle=True), SessionBusy():
            return run_id not in ledger.accepted and ledger.active is not None
        case told.Submit(run_id=run_id), QueueFull():
            return run_id not in ledger.accepted and len(ledger.line) >= QUEUE_MAX
        case ((told.Edit(run_id) | told.Steer(run_id) | told.Move(run_id)), RunNotQueued()):
            return ledger.waiting(run_id) is None
        case _:
            return False


def check_duty(before: Ledger, after: Ledger, command: told.Command, events: Sequence[Event]) -> None:  # noqa: C901
    """One case a command: what must be so once it was carried out."""
    match command:
        case told.Submit(run_id=run_id):
            _check_submit(before, after, command, events)
            hold("what was submitted is accepted", run_id in after.accepted or command.known is not None)
        case told.Fold(run_id):
            goes_on = before.is_active(run_id) and not before.stopping
            if goes_on and before.active and before.active.kind is RunKind.PROMPT:
                left = [each for each in after.line if each.foldable and each.kind is RunKind.PROMPT]
                hold("everybody who may join at a step joins", not left)
        case told.Cancel(None):
            hold("a cancel empties the line", not after.line)
            hold("a cancel stops who is active", after.active is None or after.stopping)
        case told.Cancel(run_id):
            hold("a cancelled run no longer waits", after.waiting(run_id) is None if run_id else True)
            hold("a cancelled run is stopping", after.stopping or not after.is_active(run_id))
            others = [each for each in before.line if each.run_id != run_id]
            hold("a cancel of one run leaves the others alone", list(after.line) == others)
        case told.ClearQueue():
            hold("a cleared line is empty", not after.line)
            hold(
                "clearing leaves the active run alone",
                (before.active, before.stopping) == (after.active, after.stopping),
            )
        case told.Finish(run_id, outcome):
            if before.is_active(run_id):
                hold("a run that finishes has ended so", after.endings.get(run_id) is outcome)
            else:
                hold("who is not active cannot finish", not events)
        case told.Recover(should_hold):
            _check_recover(before, after, should_hold=should_hold)
        case told.Release():
            expected = Gate.OPEN if before.gate is Gate.HELD else before.gate
            hold("a release opens what is held and nothing else", after.gate is expected)
        case told.Close(keep_queue=keep):
            hold("a closing session is closing", after.gate is Gate.CLOSING)
            hold("a closing session stops who is active", after.active is None or after.stopping)
            hold("closing keeps the line, or cancels it", after.line == (before.line if keep else ()))
        case told.Say(run_id, facts):
            hold(
                "the active run is heard, and nobody else",
                list(events) == (list(facts) if before.is_active(run_id) else []),
            )
        case told.Note(facts):
            hold("what is noted is written", list(events) == list(facts))
        case told.Edit(run_id, prompt):
            hold("an edit is written", list(events) == [e.PromptEdited(run_id, prompt, command.by)])
        case told.Steer(run_id, foldable):
            steered = after.waiting(run_id)
            hold("who is steered stands as told", steered is not None and steered.foldable == foldable)
        case told.Move(run_id, index):
            order = [each.run_id for each in after.line]
            hold("who is moved stands where told", order.index(run_id) == min(max(0, index), len(order) - 1))
            rest = [each.run_id for each in before.line if each.run_id != run_id]
            hold("a move keeps the others in order", [each for each in order if each != run_id] == rest)
        case told.Ask() | told.Answer() | told.Withdraw():
            _check_request(before, after, command)
        case told.Decided(request, answer, by):
            asks = before.is_active(request.run_id) and not before.stopping and request not in before.pending
            answered = e.RequestAnswered(request.id, answer, by, request.tool_call_id, unattended=True)
            settled = [e.RequestAsked(request), answered]
            hold("what nobody was asked is asked and settled at once", list(events) == (settled if asks else []))


def _check_submit(before: Ledger, after: Ledger, command: told.Submit, events: Sequence[Event]) -> None:
    if command.run_id in before.accepted or command.known:
        hold("a prompt that is known changes nothing", not events)
        return
    hold("who wants to be alone is refused by a busy session", not (command.only_if_idle and before.active))
    hold("a line has an end", len(after.line) <= QUEUE_MAX)
    hold("a submit opens what is held", after.gate is Gate.OPEN)
    hold("a submit leaves somebody active", after.active is not None)
    # Whoever stood in line before stands there still, or is the one who started.
    order = [each.run_id for each in before.line] + [command.run_id]
    started = [] if before.active else [after.active.run_id] if after.active else []
    hold("a newcomer stands last", started + [each.run_id for each in after.line] == order)


def _check_recover(before: Ledger, after: Ledger, *, should_hold: bool) -> None:
    if before.active:
        ending = after.endings.get(before.active.run_id)
        hold("what a crash left active has ended as interrupted", ending is Outcome.INTERRUPTED)
    expected = Gate.HELD if should_hold and before.line else Gate.OPEN
    hold("recovery opens the gate, or holds who waits", after.gate is expected)


def _check_request(before: Ledger, after: Ledger, command: told.Ask | told.Answer | told.Withdraw) -> None:
    match command:
        case told.Ask(request):
            asks = before.is_active(request.run_id) and not before.stopping
            hold("what a run asks is pending, and only that", (request in after.pending) == asks)
        case told.Answer(request_id, answer):
            asked = _pending(before, request_id)
            fits = asked is not None and isinstance(asked, Questions) == isinstance(answer, Answers)
            still = asked is not None and not fits
            hold("the first fitting answer settles", (_pending(after, request_id) is not None) == still)
        case told.Withdraw(request_id):
            hold("what is withdrawn is no longer asked", _pending(after, request_id) is None)


def _pending(ledger: Ledger, request_id: str) -> Request | None:
    return next((request for request in ledger.pending if request.id == request_id), None)
