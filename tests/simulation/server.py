"""A simulated server: the five verbs (decide, write, become, react, ring) without time, and runs that take their time.

It is written as simply as it can be said, so that what goes wrong in a simulation went wrong in the machine.
"""

from random import Random

from msgspec.structs import replace

from tests.simulation.disk import Disk, PowerCut
from tests.simulation.duties import check_agreement, check_duty
from tests.simulation.ledger import Broken, hold
from turnkeeper.core import commands as told
from turnkeeper.core.session import Session, decide, evolve, replay
from turnkeeper.protocol import events as e
from turnkeeper.protocol.events import Event
from turnkeeper.protocol.ids import MessageId, Position, RequestId, RunId, SessionId, ToolCallId
from turnkeeper.protocol.messages import Message, Role, Text
from turnkeeper.protocol.problems import RunTaken, SessionMoved, StoreUnavailable
from turnkeeper.protocol.requests import Decision, Permission, Question, Questions, QuestionType, Request
from turnkeeper.protocol.runs import Outcome

SHARES = {"say": 4, "step": 3, "ask": 2, "decided": 1, "withdraw": 1, "finish": 3, "fail": 1}
LAST_WORDS = {"say": 1, "ask": 1, "decided": 1, "step": 1, "finish": 3, "late": 3}


class Task:
    """A run at work on one server. It learns that it is stopped only from its server's reaction."""

    def __init__(self, session_id: SessionId, run_id: RunId) -> None:
        self.session_id = session_id
        self.run_id = run_id
        self.stopped = False
        self.counted = 0

    def next_command(self, random: Random, asked: tuple[Request, ...]) -> told.Command | None:
        shares = LAST_WORDS if self.stopped else SHARES
        self.counted += 1
        match random.choices(list(shares), list(shares.values()))[0]:
            case "say":
                message = Message(
                    MessageId(f"{self.run_id}/{self.counted}"),
                    self.session_id,
                    Role.ASSISTANT,
                    (Text("…"),),
                    run_id=self.run_id,
                )
                return told.Say(self.run_id, (e.MessageSaid(message),))
            case "step":
                return told.Fold(self.run_id)
            case "ask":
                return told.Ask(self._request(random))
            case "decided":
                return told.Decided(self._permission(), Decision(allowed=random.random() < 0.5))
            case "withdraw":
                return told.Withdraw(random.choice(asked).id, "it took too long") if asked else None
            case "finish":
                return told.Finish(self.run_id, Outcome.CANCELLED if self.stopped else Outcome.COMPLETED)
            case "fail":
                return told.Finish(self.run_id, Outcome.FAILED)
            case _:
                return None

    def _request(self, random: Random) -> Request:
        name = RequestId(f"{self.run_id}?{self.counted}")
        call = ToolCallId(f"call {self.counted}")
        if random.random() < 0.5:
            return self._permission()
        asked = (Question("q", QuestionType.YES_NO, "Really?"),)
        return Questions(name, self.session_id, self.run_id, call, asked)

    def _permission(self) -> Permission:
        name, call = RequestId(f"{self.run_id}?{self.counted}"), ToolCallId(f"call {self.counted}")
        return Permission(name, self.session_id, self.run_id, call, "bash", "execute")


class Server:
    """Owns what one process believes of the sessions; the disk decides whether it is right."""

    def __init__(self, name: str, disk: Disk, sessions: tuple[SessionId, ...]) -> None:
        self.name = name
        self.alive = True
        self.tasks: dict[RunId, Task] = {}
        self.sessions = {session_id: replay(session_id, disk.log(session_id)) for session_id in sessions}
        self._positions = {session_id: disk.position(session_id) for session_id in sessions}
        self._disk = disk

    def tell(self, session_id: SessionId, command: told.Command) -> list[Event]:
        """Decide, write, become, react. Raises the refusal, and is dead after a `SessionMoved` or a power cut."""
        try:
            return self._tell(session_id, command)
        except RunTaken:
            assert isinstance(command, told.Submit)
            known = self._disk.run(command.run_id)
            return self._tell(session_id, replace(command, known=known))
        except (SessionMoved, PowerCut):
            self.alive = False
            self.tasks.clear()
            raise

    def _tell(self, session_id: SessionId, command: told.Command) -> list[Event]:
        before = self.sessions[session_id]
        ledger, is_current = self._disk.ledgers[session_id], self._is_current(session_id)
        events = decide(before, command)
        became = self._become(before, events)
        if events:
            self._positions[session_id] = self._write(session_id, events, command)
            self.sessions[session_id] = became
            self._react(session_id, events)
        if is_current:
            now = self._disk.ledgers[session_id]
            check_duty(ledger, now, command, events)
            check_agreement(self.sessions[session_id], now)
        return events

    def _is_current(self, session_id: SessionId) -> bool:
        return self._positions[session_id] == self._disk.position(session_id)

    def _become(self, session: Session, events: list[Event]) -> Session:
        try:
            for event in events:
                session = evolve(session, event)
        except AssertionError as impossible:
            raise Broken(f"what was decided is possible: {impossible}") from impossible
        return session

    def _write(self, session_id: SessionId, events: list[Event], command: told.Command) -> Position:
        size = self._disk.size()
        try:
            return self._disk.append(session_id, events, after=self._positions[session_id], because=command)
        except (StoreUnavailable, SessionMoved, RunTaken):
            hold("a refused write leaves no trace", self._disk.size() == size)
            raise

    def _react(self, session_id: SessionId, events: list[Event]) -> None:
        for event in events:
            match event:
                case e.RunStarted(run_id):
                    hold("a run starts once on a server", run_id not in self.tasks)
                    self.tasks[run_id] = Task(session_id, run_id)
                case e.RunStopping(run_id):
                    self.tasks[run_id].stopped = True
                case e.RunComplete(run_id):
                    self.tasks.pop(run_id, None)
                case _:
                    pass
