"""A session awake: one inbox, and the machine's state between two letters.

    decide -> write -> become -> react -> ring

A letter is answered when what follows from it is on disk. Letters are taken one by one, so nothing here needs a
lock, and an event that could not be written never happened. The workspace opens a session at its first letter and
forgets it when it is idle; work on the inbox happens in the workspace's task group and ends with it.
"""

import logging
from collections import deque
from collections.abc import Callable
from typing import Protocol

import anyio
from anyio.abc import TaskGroup

from turnkeeper.core import commands as told
from turnkeeper.core.session import Session, decide, evolve
from turnkeeper.protocol import events as e
from turnkeeper.protocol.events import Event
from turnkeeper.protocol.ids import START, SessionId
from turnkeeper.protocol.problems import Problem, QueueFull, RunTaken, SessionMoved, SessionNotFound, WorkspaceClosing
from turnkeeper.protocol.runs import Run
from turnkeeper.store.store import Standing, Store

log = logging.getLogger(__name__)

INBOX_LETTERS_MAX = 512


class Reactions(Protocol):
    """What the house does when something became true of a session."""

    def started(self, session: "LiveSession", run: e.RunAccepted) -> None: ...

    def stopping(self, session: "LiveSession", event: e.RunStopping) -> None: ...

    def settled(self, session: "LiveSession", event: e.RequestAnswered | e.RequestWithdrawn) -> None: ...

    def lost(self, session: "LiveSession") -> None: ...


class Letter:
    """A command on its way, and what came of it."""

    __slots__ = ("command", "done", "events", "problem")

    def __init__(self, command: told.Command) -> None:
        self.command = command
        self.done = anyio.Event()
        self.events: list[Event] = []
        self.problem: Exception | None = None

    async def answer(self) -> list[Event]:
        await self.done.wait()
        if self.problem:
            raise self.problem
        return self.events


class LiveSession:
    """Owns the machine's state of one session while it is awake."""

    def __init__(
        self, session_id: SessionId, *, store: Store, tasks: TaskGroup, react: Reactions, now: Callable[[], int]
    ) -> None:
        self.id = session_id
        self.state: Session | None = None
        self._position = START
        self._store = store
        self._tasks = tasks
        self._react = react
        self._now = now
        self._inbox: deque[Letter] = deque()
        self._working = False

    @property
    def is_idle(self) -> bool:
        """Whether it could be forgotten and read again from the store without anybody noticing."""
        state = self.state
        return not self._working and not self._inbox and (state is None or state.active is None)

    def send(self, command: told.Command) -> Letter:
        """Put a letter into the inbox. It will be carried out even if nobody waits for its answer."""
        letter = Letter(command)
        if len(self._inbox) >= INBOX_LETTERS_MAX:
            letter.problem = QueueFull(INBOX_LETTERS_MAX)
            letter.done.set()
            return letter
        if not self._working:
            try:
                self._tasks.start_soon(self._work)
            except RuntimeError:  # the group has ended, and the workspace with it
                letter.problem = WorkspaceClosing()
                letter.done.set()
                return letter
            self._working = True
        self._inbox.append(letter)
        return letter

    async def tell(self, command: told.Command) -> list[Event]:
        return await self.send(command).answer()

    async def _work(self) -> None:
        try:
            while self._inbox:
                await self._carry_out(self._inbox[0])
                self._inbox.popleft().done.set()
        finally:
            self._working = False
            for letter in self._inbox:
                letter.problem = letter.problem or WorkspaceClosing()
                letter.done.set()
            self._inbox.clear()

    async def _carry_out(self, letter: Letter) -> None:
        try:
            letter.events = await self._decide_and_write(letter.command)
        except SessionMoved as moved:
            letter.problem = moved
            log.warning("session lost", extra={"session_id": self.id, "found": moved.found})
            self.state = None
            self._react.lost(self)
        except Problem as problem:
            letter.problem = problem
        except Exception as error:  # a defect of ours must not leave anybody waiting
            letter.problem = error
            log.exception("letter failed", extra={"session_id": self.id, "command": type(letter.command).__name__})
        else:
            self._react_to(letter.events)

    async def _decide_and_write(self, command: told.Command) -> list[Event]:
        state = self.state if self.state is not None else await self._wake()
        try:
            return await self._write(state, decide(state, command))
        except RunTaken:
            if not isinstance(command, told.Submit) or command.known:
                raise
            known = await self._store.run(command.run_id)
            return await self._write(state, decide(state, _knowing(command, known)))

    async def _wake(self) -> Session:
        standing = await self._store.standing(self.id)
        if standing is None:
            raise SessionNotFound(self.id)
        self._position = standing.position
        self.state = as_it_stands(standing)
        return self.state

    async def _write(self, state: Session, events: list[Event]) -> list[Event]:
        if not events:
            return events
        after = state
        for event in events:
            after = evolve(after, event)
        self._position = await self._store.append(self.id, events, after=self._position, at=self._now())
        self.state = after
        return events

    def _react_to(self, events: list[Event]) -> None:
        for event in events:
            match event:
                case e.RunStarted():
                    assert self.state is not None
                    assert self.state.active is not None
                    self._react.started(self, self.state.active)
                case e.RunStopping():
                    self._react.stopping(self, event)
                case e.RequestAnswered() | e.RequestWithdrawn():
                    self._react.settled(self, event)
                case _:
                    pass


def _knowing(command: told.Submit, known: Run | None) -> told.Submit:
    from msgspec.structs import replace

    return replace(command, known=known)


def as_it_stands(standing: Standing) -> Session:
    """The machine's state, rebuilt from what memory has of it."""
    active = standing.active
    return Session(
        id=standing.session_id,
        active=accepted(active) if active else None,
        stopping=active is not None and active.state == "stopping",
        queue=tuple(accepted(run) for run in standing.queue),
        requests=standing.requests,
        gate=standing.gate,
    )


def accepted(run: Run) -> e.RunAccepted:
    return e.RunAccepted(
        run_id=run.id,
        prompt=run.prompt,
        digest=run.digest,
        run_kind=run.kind,
        minted=run.minted,
        foldable=run.foldable,
        options=run.options,
        by=run.by,
        user_message_id=run.user_message_id,
        at=run.accepted_at,
        parent=run.parent,
    )
