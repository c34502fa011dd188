"""Every session there can be with a few prompts: all interleavings of all commands, until nothing new appears.

Breadth first, so that what breaks is shown by a shortest way to it. Two ways that lead to the same session are
followed once; what is kept apart is exactly what the machine or the promises can still tell apart.

Every prompt may be submitted once and again, every run asks at most one request, and a prompt is edited at most once:
so the sessions are finitely many, and the exploration ends because there are no more, not because it was stopped.
"""

import argparse
import sys
from collections.abc import Hashable, Iterator, Sequence

import msgspec

from tests.simulation.duties import told_and_judged
from tests.simulation.ledger import Broken, Ledger, hold
from turnkeeper.core import commands as told
from turnkeeper.core.session import Session, replay
from turnkeeper.protocol import events as e
from turnkeeper.protocol.events import Event, Gate
from turnkeeper.protocol.ids import MessageId, RequestId, RunId, SessionId, ToolCallId
from turnkeeper.protocol.messages import Message, Role
from turnkeeper.protocol.requests import Answers, Decision, Permission, Question, Questions, QuestionType, Request
from turnkeeper.protocol.runs import Outcome, Prompt, Run, RunKind, RunState

HERE = SessionId("here")
EDITED = Prompt("edited")
PROMPTS = (
    told.Submit(RunId("fold"), Prompt("f"), digest="f", minted=True, foldable=True, user_message_id=MessageId("mf")),
    told.Submit(RunId("own"), Prompt("o"), digest="o", user_message_id=MessageId("mo")),
    told.Submit(RunId("sum"), Prompt(""), digest="s", run_kind=RunKind.SUMMARY, only_if_idle=False),
    told.Submit(RunId("join"), Prompt("j"), digest="j", foldable=True, user_message_id=MessageId("mj")),
)
ASKED: tuple[Question, ...] = (Question("q", QuestionType.YES_NO, "Really?"),)


class Place(msgspec.Struct, frozen=True):
    """A session that can be reached, and the way there."""

    session: Session
    ledger: Ledger
    way: tuple[told.Command, ...] = ()
    log: tuple[Event, ...] = ()


class Explored(msgspec.Struct, frozen=True):
    """How far the exploration went. It is `complete` when there was nothing left to find."""

    sessions: int
    decisions: int
    depth: int
    complete: bool


class Lost(Exception):
    """A promise was broken; the message tells which, and a shortest way to break it."""

    def __init__(self, way: Sequence[told.Command], broken: Broken) -> None:
        steps = "\n".join(f"  {number}. {shown(command)}" for number, command in enumerate(way, start=1))
        super().__init__(f"{broken}\n{steps}")


def shown(command: told.Command) -> str:
    """A command in one line, without what it leaves unsaid."""
    return msgspec.json.encode(command).decode()


def explore(prompts: Sequence[told.Submit] = PROMPTS[:3], *, depth_max: int = 99) -> Explored:
    """Visit every session, check every promise; raises `Lost` where one is broken."""
    start = Place(Session(HERE), Ledger())
    seen: dict[Hashable, Session] = {key_of(start): start.session}
    drained: dict[Hashable, Hashable] = {}
    ring, decisions, depth = [start], 0, 0
    while ring and depth < depth_max:
        depth += 1
        found: list[Place] = []
        for place in ring:
            drain, key = drain_of(place.ledger), key_of(place)
            for command in commands_at(place, prompts):
                then, decisions = step(place, command), decisions + 1
                if then.session is place.session and then.ledger is place.ledger:
                    continue
                then_key = key_of(then)
                if command == drain:
                    drained[key] = then_key
                if then_key not in seen:
                    hold_replay(then)
                    seen[then_key] = then.session
                    found.append(then)
                elif seen[then_key] != then.session:
                    raise Lost(then.way, Broken("sessions that are told apart by nothing are the same"))
        ring = found
    if not ring:
        check_drains(seen, drained)
    return Explored(len(seen), decisions, depth, complete=not ring)


def step(place: Place, command: told.Command) -> Place:
    try:
        session, ledger, events = told_and_judged(place.session, place.ledger, command)
    except Broken as broken:
        raise Lost((*place.way, command), broken) from broken
    return Place(session, ledger, (*place.way, command), (*place.log, *events))


def hold_replay(place: Place) -> None:
    try:
        hold("a session replayed from its log is the session", replay(HERE, place.log) == place.session)
    except (Broken, AssertionError) as error:
        raise Lost(place.way, Broken(str(error))) from error


def check_drains(seen: dict[Hashable, Session], drained: dict[Hashable, Hashable]) -> None:
    """From everywhere: reopen, release, and finish what is active; in the end nobody is left."""
    for key, session in seen.items():
        at, steps = key, 0
        while at in drained and steps <= 2 * len(PROMPTS) + 2:
            at, steps = drained[at], steps + 1
        left = seen[at]
        if left.active or left.queue:
            raise Lost((), Broken(f"finishing everything ends everybody, from {session}"))


def drain_of(ledger: Ledger) -> told.Command | None:
    """What a patient caretaker does next, so that everybody accepted comes to an end."""
    if ledger.active:
        return finish(ledger, ledger.active.run_id)
    if ledger.line:
        return told.Recover() if ledger.gate is Gate.CLOSING else told.Release()
    return None


def finish(ledger: Ledger, run_id: RunId) -> told.Finish:
    cancelled = ledger.stopping and ledger.is_active(run_id)
    return told.Finish(run_id, Outcome.CANCELLED if cancelled else Outcome.COMPLETED)


def commands_at(place: Place, prompts: Sequence[told.Submit]) -> Iterator[told.Command]:
    """Everything that anybody could say now, whether it makes sense or not."""
    ledger = place.ledger
    yield from (told.Cancel(), told.ClearQueue(), told.Release())
    yield from (told.Recover(), told.Recover(hold=True), told.Close(), told.Close(keep_queue=False))
    for prompt in prompts:
        yield from submits(place, prompt)
        run_id = prompt.run_id
        yield from (told.Cancel(run_id), finish(ledger, run_id), told.Fold(run_id), saying(run_id))
        request = request_of(run_id)
        if request.id not in ledger.settled:
            yield told.Ask(request)
            # With more prompts the search is long enough as it is, and this touches none of their turns.
            if isinstance(request, Permission) and len(prompts) < 4:
                yield told.Decided(request, Decision(allowed=False))
        yield from (told.Answer(request.id, Decision(allowed=True)), told.Answer(request.id, Answers()))
        yield told.Withdraw(request.id)
        yield from (told.Edit(run_id, EDITED), told.Steer(run_id), told.Steer(run_id, foldable=False))
        yield from (told.Move(run_id, index) for index in range(len(prompts)))


def submits(place: Place, prompt: told.Submit) -> Iterator[told.Submit]:
    """The prompt, and once it is known: the same again, and another under its id."""
    ended = prompt.run_id in place.ledger.endings
    run = Run(prompt.run_id, HERE, RunState.ENDED, digest=prompt.digest) if ended else None
    yield msgspec.structs.replace(prompt, known=run)
    if prompt.run_id in place.ledger.accepted:
        yield msgspec.structs.replace(prompt, known=run, digest="another")
    if prompt.run_kind is RunKind.SUMMARY:
        yield msgspec.structs.replace(prompt, known=run, only_if_idle=True)


def saying(run_id: RunId) -> told.Say:
    return told.Say(run_id, (e.MessageSaid(Message(MessageId("said"), HERE, Role.ASSISTANT, run_id=run_id)),))


def request_of(run_id: RunId) -> Request:
    """The one thing that this run may ask: one asks for permission, the others ask questions."""
    if run_id == PROMPTS[0].run_id:
        return Permission(RequestId("may"), HERE, run_id, ToolCallId("call"), "bash", "execute")
    return Questions(RequestId(f"ask {run_id}"), HERE, run_id, ToolCallId("call"), ASKED)


def key_of(place: Place) -> Hashable:
    """What can still make a difference. How an ended run ended, and what it asked, no longer does."""
    ledger = place.ledger
    alive = ledger.alive
    return (
        ledger.accepted,
        ledger.line,
        ledger.active,
        ledger.stopping,
        ledger.gate,
        tuple(request.id for request in ledger.pending),
        tuple(request_of(run_id).id in ledger.settled for run_id in alive),
        tuple(run_id in ledger.doomed for run_id in alive),
    )


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="scripts/explore", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--prompts", type=int, default=3, choices=range(1, len(PROMPTS) + 1), help="how many (3)")
    parser.add_argument("--depth", type=int, default=99, help="stop after this many commands (when nothing is new)")
    options = parser.parse_args(arguments)
    try:
        explored = explore(PROMPTS[: options.prompts], depth_max=options.depth)
    except Lost as lost:
        sys.stdout.write(f"{lost}\n")
        return 1
    how = "nothing left to find" if explored.complete else "stopped there"
    sys.stdout.write(
        f"{explored.sessions:,} sessions, {explored.decisions:,} decisions, depth {explored.depth}: {how}\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
