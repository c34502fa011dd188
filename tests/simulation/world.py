"""A day in the life of a workspace, decided by one seed: clients, servers, a disk, and everything that goes wrong.

Clients submit and retry until they are answered; others cancel, edit, answer and close; writes are refused; power
fails; a server that lost its sessions to another goes on for a while without knowing. When the day is over the disk
works again, every client gets its answer, every run is left to finish, and the books are closed: whoever was told
that a prompt was accepted finds exactly one ending of it.
"""

from collections.abc import Callable
from random import Random

import msgspec
from msgspec.structs import replace

from tests.simulation.disk import Disk, Fault, PowerCut
from tests.simulation.ledger import Broken, hold
from tests.simulation.server import Server
from turnkeeper.core import commands as told
from turnkeeper.core.session import replay
from turnkeeper.protocol.events import Gate
from turnkeeper.protocol.ids import ClientId, MessageId, RunId, SessionId
from turnkeeper.protocol.problems import (
    Problem,
    QueueFull,
    RunIdConflict,
    RunNotQueued,
    SessionBusy,
    SessionMoved,
    StoreUnavailable,
    WorkspaceClosing,
)
from turnkeeper.protocol.requests import Answers, Decision
from turnkeeper.protocol.runs import Prompt, RunKind

SESSIONS = (SessionId("here"), SessionId("there"))
CLIENTS = (ClientId("ana"), ClientId("ben"))
THIEF = ClientId("thief")
TICKS = 120
DRAIN_TICKS_MAX = 5_000


class World:
    """Owns the day. `trace` is everything that happened, one line each: the same seed writes the same lines."""

    def __init__(self, seed: int) -> None:
        self.trace: list[str] = []
        self.disk = Disk(SESSIONS)
        self.acknowledged: list[RunId] = []
        self.done = 0
        self._random = Random(seed)
        self._unanswered: list[tuple[SessionId, told.Submit]] = []
        self._named = 0
        self._servers = 0
        self._zombies: list[Server] = []
        self._owner = self._open()
        # On quiet days lines grow long; on others hardly anything is finished before something breaks.
        trouble = self._random.choice([0, 1, 2])
        self._deeds: dict[Callable[[], None], int] = {
            self._work_somewhere: self._random.choice([20, 50]),
            self._submit: 14,
            self._retry: 8,
            self._answer: 8,
            self._arrange: 8,
            self._cancel: 5,
            self._steal: 2,
            self._release: 2,
            self._crash: trouble,
            self._overtake: trouble,
            self._close: trouble,
            self._break_disk: 2 * trouble,
        }

    def live(self) -> None:
        for _ in range(TICKS):
            self._tick()
        self._drain()
        self._close_books()

    def _tick(self) -> None:
        """One thing happens; a house that stands empty or closed is opened first."""
        if not self._owner.alive or all(s.gate is Gate.CLOSING and not s.active for s in self._owner.sessions.values()):
            self._owner = self._open()
        self._random.choices(list(self._deeds), list(self._deeds.values()))[0]()

    def _crash(self) -> None:
        self._note("crash", self._owner.name)
        self._owner.alive = False

    def _overtake(self) -> None:
        """Another server takes the logs; the old one does not know it yet."""
        self._zombies = [*self._zombies[-2:], self._owner]
        self._owner = self._open()

    def _close(self) -> None:
        keep = self._random.random() < 0.7
        for session_id in SESSIONS:
            self._tell(self._owner, session_id, told.Close(keep_queue=keep))

    def _release(self) -> None:
        self._tell(self._owner, self._session(), told.Release())

    def _break_disk(self) -> None:
        self.disk.fault = self._random.choice([Fault.REFUSED, Fault.REFUSED, Fault.CUT_BEFORE, Fault.CUT_AFTER])

    def _open(self) -> Server:
        """A server reads the logs and recovers what it finds, before it lets anybody in."""
        while True:
            self._servers += 1
            server = Server(f"server {self._servers}", self.disk, SESSIONS)
            self._note("open", server.name)
            if all(self._recover(server, session_id) for session_id in SESSIONS):
                return server

    def _recover(self, server: Server, session_id: SessionId) -> bool:
        hold = self._random.random() < 0.4
        while server.alive:
            if self._tell(server, session_id, told.Recover(hold)):
                return True
        return False

    def _tell(self, server: Server, session_id: SessionId, command: told.Command) -> bool:
        """Whether the command was carried out. No answer comes from a server that is dead or refused a write."""
        if not server.alive:
            return False
        sessions, tasks, answer = dict(server.sessions), dict(server.tasks), ""
        try:
            events = server.tell(session_id, command)
            self.done += 1
            answer = ", ".join(type(event).__name__ for event in events) or "nothing"
            return True
        except StoreUnavailable:
            hold("a refused write leaves no trace", (server.sessions, server.tasks) == (sessions, tasks))
            answer = "not written"
        except (SessionMoved, PowerCut) as lost:
            answer = type(lost).__name__
        except (RunNotQueued, WorkspaceClosing, SessionBusy, QueueFull, RunIdConflict) as refusal:
            hold("a refusal changes nothing", (server.sessions, server.tasks) == (sessions, tasks))
            answer = type(refusal).__name__
            self._refused(session_id, command, refusal)
        finally:
            self._note(server.name, session_id, msgspec.json.encode(command).decode(), "→", answer)
        return False

    def _refused(self, session_id: SessionId, command: told.Command, refusal: Problem) -> None:
        if isinstance(command, told.Submit):
            conflict = isinstance(refusal, RunIdConflict) and command.by != THIEF
            hold("whoever retries the same prompt is not told of a conflict", not conflict)
            if isinstance(refusal, SessionBusy):
                self._forget(command.run_id)

    def _submit(self) -> None:
        self._named += 1
        kind = RunKind.SUMMARY if self._random.random() < 0.15 else RunKind.PROMPT
        minted = kind is RunKind.PROMPT and self._random.random() < 0.5
        prompt = told.Submit(
            RunId(f"r{self._named}"),
            Prompt(f"do {self._named}" if kind is RunKind.PROMPT else ""),
            digest=f"digest {self._named}",
            run_kind=kind,
            minted=minted,
            foldable=minted,
            only_if_idle=kind is RunKind.SUMMARY and self._random.random() < 0.5,
            by=self._random.choice(CLIENTS),
            user_message_id=MessageId(f"m{self._named}"),
            at=self._named,
        )
        session_id = self._session()
        self._unanswered.append((session_id, prompt))
        self._send(session_id, prompt)

    def _retry(self) -> None:
        """A client that had no answer sends the same again; one that had, sometimes does so too."""
        if self._unanswered:
            self._send(*self._random.choice(self._unanswered))

    def _send(self, session_id: SessionId, prompt: told.Submit) -> None:
        if self._tell(self._anybody(), session_id, prompt):
            hold("what was acknowledged is on the disk", self.disk.run(prompt.run_id))
            if prompt.run_id not in self.acknowledged:
                self.acknowledged.append(prompt.run_id)
            if self._random.random() < 0.7:
                self._forget(prompt.run_id)

    def _forget(self, run_id: RunId) -> None:
        self._unanswered = [each for each in self._unanswered if each[1].run_id != run_id]

    def _steal(self) -> None:
        """Somebody uses a run id that is taken, for another prompt or in another session: nothing may come of it."""
        if not self.acknowledged:
            return
        taken = self._random.choice(self.acknowledged)
        run = self.disk.run(taken)
        assert run is not None
        session_id = self._session()
        digest = "stolen" if run.session_id == session_id else run.digest
        stolen = told.Submit(taken, Prompt("mine now"), digest=digest, by=THIEF)
        hold("a run id that is taken is taken", not self._tell(self._anybody(), session_id, stolen))

    def _answer(self) -> None:
        """Two clients answer at once: the first decides, the second nothing."""
        server, session_id = self._anybody(), self._session()
        pending = server.sessions[session_id].requests
        if not pending:
            return
        request = self._random.choice(pending)
        for client in self._random.sample(CLIENTS, 2):
            allowed = self._random.random() < 0.5
            answer = Decision(allowed=allowed) if self._random.random() < 0.5 else Answers(cancelled=allowed)
            self._tell(server, session_id, told.Answer(request.id, answer, by=client))

    def _arrange(self) -> None:
        server, session_id, by = self._anybody(), self._session(), self._random.choice(CLIENTS)
        run_id = self._somebody(server, session_id)
        command = self._random.choice(
            [
                told.Edit(run_id, Prompt(f"edited by {by}"), by),
                told.Steer(run_id, self._random.random() < 0.5, by),
                told.Move(run_id, self._random.randrange(4), by),
            ]
        )
        self._tell(server, session_id, command)

    def _cancel(self) -> None:
        server, session_id, by = self._anybody(), self._session(), self._random.choice(CLIENTS)
        one = told.Cancel(self._somebody(server, session_id), by)
        self._tell(server, session_id, self._random.choice([told.Cancel(by=by), one, one, told.ClearQueue(by)]))

    def _somebody(self, server: Server, session_id: SessionId) -> RunId:
        """Mostly somebody who waits here; sometimes one of the last, who may be active, gone or elsewhere."""
        waiting = server.sessions[session_id].queue
        if waiting and self._random.random() < 0.8:
            return self._random.choice(waiting).run_id
        return RunId(f"r{max(1, self._named - self._random.randrange(6))}")

    def _session(self) -> SessionId:
        return self._random.choice(SESSIONS)

    def _anybody(self) -> Server:
        alive = [server for server in self._zombies if server.alive]
        return self._random.choice(alive) if alive and self._random.random() < 0.3 else self._owner

    def _work_somewhere(self) -> None:
        self._work(self._anybody())

    def _work(self, server: Server) -> None:
        """One of the runs at work on this server does the next thing it does."""
        if not server.tasks:
            return
        task = self._random.choice(list(server.tasks.values()))
        command = task.next_command(self._random, server.sessions[task.session_id].requests)
        if command:
            self._tell(server, task.session_id, command)

    def _drain(self) -> None:
        """The disk works again, clients get their answers, and every run is left to finish."""
        self._note("drain")
        self._zombies = []
        self._owner = self._open()
        for _ in range(DRAIN_TICKS_MAX):
            self.disk.fault = Fault.NONE
            if not self._owner.alive or any(s.gate is Gate.CLOSING for s in self._owner.sessions.values()):
                self._owner = self._open()
            for session_id in SESSIONS:
                self._tell(self._owner, session_id, told.Release())
            while self._unanswered:
                session_id, prompt = self._unanswered.pop()
                if self._tell(self._owner, session_id, replace(prompt, only_if_idle=False)):
                    self.acknowledged.append(prompt.run_id)
            if self._owner.alive and not self._owner.tasks:
                return
            self._work(self._owner)
        raise Broken("finishing everything ends everybody")

    def _close_books(self) -> None:
        for session_id in SESSIONS:
            ledger = self.disk.ledgers[session_id]
            hold("finishing everything ends everybody", not ledger.alive)
            hold("every run that was accepted has ended", ledger.endings.keys() == ledger.accepted)
            logged = replay(session_id, self.disk.log(session_id))
            hold("a session replayed from its log is the session", logged == self._owner.sessions[session_id])
        for run_id in self.acknowledged:
            hold("who was told that a prompt was accepted finds its ending", self.disk.ending(run_id))

    def _note(self, *words: str) -> None:
        self.trace.append(" ".join(words))
