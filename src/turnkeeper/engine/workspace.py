"""A workspace at work: its sessions awake, its runs going, its watchers told.

Opened by `open_workspace`, which recovers what a crash left before it hands the workspace out; closed by `close`,
which stops what runs within a limit. Everything it starts lives in its one task group and ends with it.
"""

import logging
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress

import anyio
from anyio.abc import TaskGroup

from turnkeeper.core import commands as told
from turnkeeper.engine.draft import Draft
from turnkeeper.engine.ending import perform
from turnkeeper.engine.means import Means
from turnkeeper.engine.naming import Names
from turnkeeper.engine.recovery import recover
from turnkeeper.engine.running import Running
from turnkeeper.engine.session import LiveSession
from turnkeeper.engine.shell_lines import Lines
from turnkeeper.engine.tail import Tail
from turnkeeper.protocol import events as e
from turnkeeper.protocol.events import Entry, Event
from turnkeeper.protocol.ids import NO_CLIENT, WORKSPACE, ClientId, MessageId, Position, RunId, SessionId
from turnkeeper.protocol.messages import Message
from turnkeeper.protocol.problems import Problem, RunNotFound, SessionNotFound, WorkspaceClosing
from turnkeeper.protocol.runs import Outcome, Run, RunState

log = logging.getLogger(__name__)


class Workspace:
    """Owns which sessions are awake and which runs are going."""

    def __init__(self, means: Means, tasks: TaskGroup, head: Position) -> None:
        self.means = means
        self.tail = Tail(head)
        self.tasks = tasks
        self.names = Names(means)
        self.lines = Lines()
        self.closing = False
        self._over = False
        """What has not ended by now will not end here."""
        self.unasked: frozenset[tuple[ClientId, SessionId]] = frozenset()
        """Whose runs ask nobody for permission, in one session or (without one) in all; every change is told."""
        self.on_quiet: Callable[[], None] | None = None
        """Called when a run has ended."""
        self.drafts: dict[MessageId, Draft] = {}
        """Messages being written right now."""
        self.naming: set[SessionId] = set()
        """Sessions somebody is finding a title for."""
        self._awake: OrderedDict[SessionId, LiveSession] = OrderedDict()
        self._running: dict[RunId, Running] = {}
        self._waiting: dict[RunId, anyio.Event] = {}

    # Sessions

    def awake(self, session_id: SessionId) -> LiveSession:
        session = self._awake.get(session_id)
        if session is None:
            session = LiveSession(session_id, store=self.means.store, tasks=self.tasks, react=self, now=self.means.now)
            self._awake[session_id] = session
            self._forget_idle()
        else:
            self._awake.move_to_end(session_id)
        return session

    def _forget_idle(self) -> None:
        surplus = len(self._awake) - self.means.knobs.sessions_awake_max
        if surplus <= 0:
            return
        newest = next(reversed(self._awake))
        for session_id in [s for s, live in self._awake.items() if live.is_idle and s != newest][:surplus]:
            del self._awake[session_id]

    @property
    def sessions_awake(self) -> int:
        """How many sessions are held in memory."""
        return len(self._awake)

    async def tell(self, session_id: SessionId, command: told.Command) -> list[Event]:
        """Carry out a command in a session; returns what became true, after it is on disk."""
        if self.closing and isinstance(command, told.Submit):
            raise WorkspaceClosing
        return await self.awake(session_id).tell(command)

    async def note(self, session_id: SessionId, *facts: e.Fact) -> None:
        await self.tell(session_id, told.Note(facts))

    async def set_skip(self, skip: bool, *, by: ClientId = NO_CLIENT, session_id: SessionId = WORKSPACE) -> None:
        """A client's runs ask nobody for permission from now on, or ask again; told to everybody before it holds."""
        if skip == ((by, session_id) in self.unasked):
            return
        await self.means.store.append(WORKSPACE, [e.SkipSet(skip, by, session_id)], after=None, at=self.means.now())
        self.unasked = self.unasked | {(by, session_id)} if skip else self.unasked - {(by, session_id)}

    async def found(self, session_id: SessionId, *facts: e.Fact) -> None:
        """Begin a session: its first facts, which no standing precedes."""
        await self.means.store.append(session_id, facts, after=Position(0), at=self.means.now())

    def is_busy(self, session_id: SessionId | None = None) -> bool:
        """Whether a session has an active run; of all of them, when none is named."""
        live = self._awake.values() if session_id is None else filter(None, [self._awake.get(session_id)])
        return any(session.state is not None and session.state.active is not None for session in live)

    def going(self, session_id: SessionId) -> Running | None:
        """The run that goes on in a session."""
        return next((running for running in self._running.values() if running.session.id == session_id), None)

    async def current(self, message_id: MessageId) -> Message | None:
        """A message as it is this moment, the part still being written included."""
        draft = self.drafts.get(message_id)
        return draft.message() if draft else await self.means.store.message(message_id)

    # Endings

    async def ended(self, run_id: RunId) -> Run:
        """The run, once it has ended, however long that takes: put a limit around it. Closing ends the wait, too."""
        ending = self._waiting.setdefault(run_id, anyio.Event())
        while True:
            run = await self.means.store.run(run_id)
            if run is None:
                self._waiting.pop(run_id, None)
                raise RunNotFound(run_id)
            if run.state is RunState.ENDED:
                self._waiting.pop(run_id, None)
                return run
            if self._over:
                raise WorkspaceClosing
            await ending.wait()

    async def cancel(self, session_id: SessionId, command: told.Cancel) -> list[Run]:
        """Cancel, wait (within a limit) until it has stopped, and say what was stopped, as far as it has."""
        if await self.means.store.session(session_id) is None:
            return []
        events = await self.tell(session_id, command)
        stopped = [event.run_id for event in events if isinstance(event, e.RunComplete | e.RunStopping)]
        if (already := self._stopping(session_id, command)) and already not in stopped:
            stopped.append(already)
        with anyio.move_on_after(self.means.knobs.stop_seconds + 1), suppress(WorkspaceClosing):
            return [await self.ended(run_id) for run_id in stopped]
        known = [await self.means.store.run(run_id) for run_id in stopped]
        return [run for run in known if run is not None]

    def _stopping(self, session_id: SessionId, command: told.Cancel) -> RunId | None:
        """The run that stops already because somebody asked before; this cancel is answered with it, too."""
        live = self._awake.get(session_id)
        if live is None or live.state is None or not live.state.stopping or live.state.active is None:
            return None
        run_id = live.state.active.run_id
        return run_id if command.run_id in (None, run_id) else None

    def heard(self, entries: Sequence[Entry]) -> None:
        """The store has committed these: wake everybody who waits for them."""
        self.tail.add(entries)
        for entry in entries:
            match entry.event:
                case e.RunComplete(run_id) | e.RunFolded(run_id):
                    self._ring(run_id)
                    if self.on_quiet:
                        self.on_quiet()
                case e.SessionDeleted():
                    self._awake.pop(entry.session_id, None)
                case _:
                    pass
        self.means.broker.ring(self.means.id, self.tail.head)

    def _ring(self, run_id: RunId) -> None:
        if bell := self._waiting.pop(run_id, None):
            bell.set()

    # Reactions

    def started(self, session: LiveSession, run: e.RunAccepted) -> None:
        running = Running(self, session, run, above=self._running.get(run.parent) if run.parent else None)
        self._running[run.run_id] = running
        self.tasks.start_soon(self._perform, running)

    async def _perform(self, running: Running) -> None:
        try:
            await perform(running)
        finally:
            self._running.pop(running.run.run_id, None)

    def stopping(self, session: LiveSession, event: e.RunStopping) -> None:
        if running := self._running.get(event.run_id):
            running.stop(Outcome.INTERRUPTED if self.closing and not event.by else Outcome.CANCELLED)

    def settled(self, session: LiveSession, event: e.RequestAnswered | e.RequestWithdrawn) -> None:
        if running := next((r for r in self._running.values() if r.session is session), None):
            running.settle(event)

    def lost(self, session: LiveSession) -> None:
        if self._awake.get(session.id) is session:
            del self._awake[session.id]
        for running in [r for r in self._running.values() if r.session is session]:
            running.stop(Outcome.INTERRUPTED)

    # Closing

    async def close(self, *, keep_queue: bool) -> None:
        """Accept nothing more and stop what runs; what waits is kept for the next opening, or cancelled."""
        self.closing = True
        with anyio.move_on_after(self.means.knobs.stop_seconds):
            async with anyio.create_task_group() as closing:
                closing.start_soon(self.lines.stop_all)
                for session in list(self._awake.values()):
                    closing.start_soon(self._close_session, session, keep_queue)
            for run_id in list(self._running):
                await self.ended(run_id)
        self.let_go()

    def let_go(self) -> None:
        """Nobody waits any longer for what does not end here: a line that is kept, a run that did not stop."""
        self._over = True
        for run_id in list(self._waiting):
            self._ring(run_id)

    async def _close_session(self, session: LiveSession, keep_queue: bool) -> None:
        if session.is_idle and (session.state is None or not session.state.queue):
            return
        try:
            await session.tell(told.Close(keep_queue=keep_queue))
        except (Problem, SessionNotFound) as problem:
            log.warning("session not closed", extra={"session_id": session.id, "problem": problem.message})


@asynccontextmanager
async def open_workspace(means: Means) -> AsyncGenerator[Workspace]:
    """A workspace with nothing left over from before; its task group ends with the block."""
    head = await means.store.head()
    refused: Problem | None = None
    async with anyio.create_task_group() as tasks:
        workspace = Workspace(means, tasks, head)
        means.store.on_commit(workspace.heard)
        try:
            await recover(workspace)
            await workspace.names.load()
        except Problem as problem:  # kept from the task group, which would wrap it
            refused = problem
        try:
            if not refused:
                yield workspace
        finally:
            workspace.closing = True
            workspace.let_go()
            tasks.cancel_scope.cancel()
    if refused:
        raise refused
