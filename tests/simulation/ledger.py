"""An independent reading of a session's log, which believes nothing that the machine says of itself.

`after(event)` is the ledger once the event is written; `Broken` is raised by an event that may not follow. The rules
here are written from what was promised, without looking at `core/session.py`, so that a defect there has two readers.
"""

import msgspec
from msgspec.structs import replace

from turnkeeper.core import commands as told
from turnkeeper.protocol import events as e
from turnkeeper.protocol.events import Event, Gate
from turnkeeper.protocol.ids import RequestId, RunId
from turnkeeper.protocol.messages import Message, Role
from turnkeeper.protocol.requests import Answers, Questions, Request
from turnkeeper.protocol.runs import Outcome, RunKind


class Broken(Exception):
    """A promise was broken."""


def hold(promise: str, kept: object) -> None:
    if not kept:
        raise Broken(promise)


class Waiting(msgspec.Struct, frozen=True):
    """A prompt in line, and whether it may join the active run."""

    run_id: RunId
    kind: RunKind
    foldable: bool
    minted: bool
    text: str


class Ledger(msgspec.Struct, frozen=True):
    """What a log says so far."""

    accepted: frozenset[RunId] = frozenset()
    endings: dict[RunId, Outcome] = {}
    line: tuple[Waiting, ...] = ()
    active: Waiting | None = None
    stopping: bool = False
    gate: Gate = Gate.OPEN
    pending: tuple[Request, ...] = ()
    settled: frozenset[RequestId] = frozenset()
    unsaid: Waiting | None = None
    """Who has just started or joined, and must be heard with the next event."""
    doomed: frozenset[RunId] = frozenset()
    """Whom somebody has asked to end; nobody else may end cancelled."""

    @property
    def alive(self) -> tuple[RunId, ...]:
        waiting = tuple(each.run_id for each in self.line)
        return (self.active.run_id, *waiting) if self.active else waiting

    def waiting(self, run_id: RunId) -> Waiting | None:
        return next((each for each in self.line if each.run_id == run_id), None)

    def is_active(self, run_id: RunId | None) -> bool:
        return self.active is not None and self.active.run_id == run_id

    def because(self, command: told.Command) -> "Ledger":
        """Whom this command may end: those who are here now, and never who comes later."""
        in_line = {each.run_id for each in self.line}
        everybody = set(self.alive)
        match command:
            case told.Cancel(None):
                reached = everybody
            case told.Cancel(run_id):
                reached = everybody & {run_id}
            case told.ClearQueue():
                reached = in_line
            case told.Close(keep_queue=keep):
                reached = everybody - in_line if keep else everybody
            case _:
                return self
        return replace(self, doomed=self.doomed | reached)

    def after(self, event: Event) -> "Ledger":
        hold("who starts or joins is heard at once", self.unsaid is None or isinstance(event, e.MessageSaid))
        match event:
            case e.RunAccepted():
                return self._accepted(event)
            case e.RunStarted(run_id):
                return self._started(run_id)
            case e.RunFolded(run_id, into):
                return self._folded(run_id, into)
            case e.RunComplete(run_id, outcome):
                return self._complete(run_id, outcome, minted=event.minted)
            case e.RunStopping(run_id):
                hold("only the active run is stopped, and once", self.is_active(run_id) and not self.stopping)
                hold("nobody is stopped whom nobody asked to stop", run_id in self.doomed)
                hold("a run that is stopped asks nothing", not self.pending)
                return replace(self, stopping=True)
            case e.GateMoved(gate):
                hold("a gate moves to another place", gate is not self.gate)
                return replace(self, gate=gate)
            case e.MessageSaid(message):
                return self._said(message)
            case e.PromptEdited(run_id) | e.PromptSteered(run_id) | e.QueueReordered((run_id, *_)):
                hold("only who waits can be changed", self.waiting(run_id))
                return self._rearranged(event)
            case e.RequestAsked() | e.RequestAnswered() | e.RequestWithdrawn():
                return self._requested(event)
            case _:
                return self

    def _accepted(self, event: e.RunAccepted) -> "Ledger":
        hold("a run is accepted once", event.run_id not in self.accepted)
        hold("a closing session accepts nothing", self.gate is not Gate.CLOSING)
        waiting = Waiting(event.run_id, event.run_kind, event.foldable, event.minted, event.prompt.text)
        return replace(self, accepted=self.accepted | {event.run_id}, line=(*self.line, waiting))

    def _started(self, run_id: RunId) -> "Ledger":
        hold("one run at a time", self.active is None)
        hold("nothing starts behind a gate", self.gate is Gate.OPEN)
        hold("first come, first served", self.line and self.line[0].run_id == run_id)
        first = self.line[0]
        unsaid = first if first.kind is RunKind.PROMPT else None
        return replace(self, active=first, stopping=False, line=self.line[1:], unsaid=unsaid)

    def _folded(self, run_id: RunId, into: RunId) -> "Ledger":
        joining = self.waiting(run_id)
        hold("who joins was waiting", joining)
        assert joining is not None
        hold("who joins was allowed to, and is no summary", joining.foldable and joining.kind is RunKind.PROMPT)
        hold("a prompt joins a run that goes on", self.is_active(into) and not self.stopping)
        hold("a summary takes nobody in", self.active and self.active.kind is RunKind.PROMPT)
        return replace(self._ended(run_id, Outcome.FOLDED), unsaid=joining)

    def _complete(self, run_id: RunId, outcome: Outcome, *, minted: bool) -> "Ledger":
        hold("a run ends after it was accepted", run_id in self.accepted)
        hold("a run ends once", run_id in self.alive)
        who = self.active if self.active and self.active.run_id == run_id else self.waiting(run_id)
        hold("an ending tells whether a client named the run", who and who.minted == minted)
        hold("being folded has an event of its own", outcome is not Outcome.FOLDED)
        hold("nobody ends cancelled whom nobody cancelled", outcome is not Outcome.CANCELLED or run_id in self.doomed)
        if self.is_active(run_id):
            hold("a request never outlives its run", not self.pending)
        else:
            hold("only a cancel ends who waits", outcome is Outcome.CANCELLED)
        return self._ended(run_id, outcome)

    def _ended(self, run_id: RunId, outcome: Outcome) -> "Ledger":
        hold("a run ends once", run_id not in self.endings)
        ended = replace(self, endings={**self.endings, run_id: outcome}, doomed=self.doomed - {run_id})
        if self.is_active(run_id):
            return replace(ended, active=None, stopping=False)
        return replace(ended, line=tuple(each for each in self.line if each.run_id != run_id))

    def _said(self, message: Message) -> "Ledger":
        if self.unsaid is not None:
            heard = message.role is Role.USER and message.run_id == self.unsaid.run_id
            hold("who starts or joins is heard at once", heard)
            hold("what is heard is the prompt as it was last edited", message.text == self.unsaid.text)
            return replace(self, unsaid=None)
        hold("a prompt is said once", message.role is not Role.USER or message.run_id is None)
        hold("only the active run speaks", message.run_id is None or self.is_active(message.run_id))
        return self

    def _rearranged(self, event: e.PromptEdited | e.PromptSteered | e.QueueReordered) -> "Ledger":
        match event:
            case e.PromptEdited(run_id, prompt):
                edited = (replace(each, text=prompt.text) if each.run_id == run_id else each for each in self.line)
                return replace(self, line=tuple(edited))
            case e.PromptSteered(run_id, foldable):
                steered = (replace(each, foldable=foldable) if each.run_id == run_id else each for each in self.line)
                return replace(self, line=tuple(steered))
            case e.QueueReordered(order):
                by_id = {each.run_id: each for each in self.line}
                hold("a new order keeps everybody", sorted(order) == sorted(by_id))
                return replace(self, line=tuple(by_id[run_id] for run_id in order))

    def _requested(self, event: e.RequestAsked | e.RequestAnswered | e.RequestWithdrawn) -> "Ledger":
        if isinstance(event, e.RequestAsked):
            known = self.settled | {request.id for request in self.pending}
            hold("a request is asked once", event.request.id not in known)
            hold("only a run that goes on asks", self.is_active(event.request.run_id) and not self.stopping)
            return replace(self, pending=(*self.pending, event.request))
        request = next((each for each in self.pending if each.id == event.request_id), None)
        hold("a request is settled once, while its run is there", request)
        if isinstance(event, e.RequestAnswered):
            hold("an answer fits what was asked", isinstance(request, Questions) == isinstance(event.answer, Answers))
        left = tuple(each for each in self.pending if each.id != event.request_id)
        return replace(self, pending=left, settled=self.settled | {event.request_id})
