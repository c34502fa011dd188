"""What the terminal knows of its workspace: a view, folded from the feed, and whoever wants to hear that it changed.

    feed ─> fold ─> at most 30 times a second: heard(before, now)

Any number of parts listen; each is told the view as it was told last, and as it is. Nothing here is the truth: after a
gap, a lost server or a new one, the view is read anew and its listeners hear of that as of any change.
"""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import anyio
from anyio.abc import TaskGroup

from turnkeeper.client import view as views
from turnkeeper.client.asking import Unsupported
from turnkeeper.client.client import Client
from turnkeeper.client.events import FeedLimits, Gap, Heard, Link, LinkState, Told
from turnkeeper.client.view import View
from turnkeeper.client.workspace import WorkspaceClient
from turnkeeper.protocol.problems import NotFound, Problem
from turnkeeper.protocol.wire_changes import Settled
from turnkeeper.protocol.wire_own import RunView
from turnkeeper.tui.side.activity import family

FRAME_SECONDS = 1 / 30
AGAIN_SECONDS = 1.0
NAME_CHARS = 8
CONVERSATIONS_MAX = 24

T = TypeVar("T")
Listener = Callable[[View, View], None]


class Live:
    """Owns the view and the listeners. It is followed by one task, for as long as `follow` lasts."""

    def __init__(self, client: Client, workspace: WorkspaceClient, *, limits: FeedLimits | None = None) -> None:
        self.client = client
        self.workspace = workspace
        self.view = View()
        self.link = Link(LinkState.RECONNECTING, time.time())
        self.on_problem: Callable[[Problem, str], None] = lambda _problem, _doing: None
        self.on_link: Callable[[Link], None] = lambda _link: None
        self._limits = limits
        self._listeners: list[Listener] = []
        self._wanted: set[str] = set()
        self._reading: set[str] = set()
        self._changed = anyio.Event()
        self._begun = anyio.Event()
        self._tasks: TaskGroup | None = None

    @property
    def me(self) -> str:
        return self.client.id

    def name_of(self, client_id: str) -> str:
        """How a client is called here."""
        if not client_id:
            return "somebody"
        return "you" if self._is_oneself(client_id) else self.view.name_of(client_id) or client_id[:NAME_CHARS]

    def _is_oneself(self, client_id: str) -> bool:
        """This terminal, or one that has gone and was called the same: the same person came back."""
        if client_id == self.me or client_id in self.view.clients:
            return client_id == self.me
        return bool(self.client.name) and self.view.name_of(client_id) == self.client.name

    def listen(self, heard: Listener) -> Callable[[], None]:
        """Hear of every change, until what is returned is called."""
        self._listeners.append(heard)
        return lambda: self._listeners.remove(heard) if heard in self._listeners else None

    async def follow(self) -> None:
        """Follow the workspace until cancelled."""
        async with anyio.create_task_group() as tasks:
            with self._task_group(tasks):
                tasks.start_soon(self._tell)
                after = await self._first()
                async with self.workspace.follow(after=after, limits=self._limits) as heard:
                    await self._hear(heard)

    async def begun(self) -> None:
        """Returns when the workspace is known for the first time."""
        await self._begun.wait()

    async def read(self, session_id: str) -> None:
        """See to it that a conversation is known whole, now and after every gap."""
        self._wanted.add(session_id)
        if not self.view.conversation(session_id).is_whole:
            await self._read(session_id)

    def forget(self, session_id: str) -> None:
        """Nobody looks at this conversation any more; after a gap it need not be read again."""
        self._wanted.discard(session_id)

    async def attempt(self, asked: Awaitable[T], doing: str) -> T | None:
        """What the server answers; None where it refused, which has then been told."""
        try:
            return await asked
        except Problem as problem:
            self.on_problem(problem, doing)
            return None

    @contextmanager
    def _task_group(self, tasks: TaskGroup) -> Generator[None]:
        self._tasks = tasks
        try:
            yield
        finally:
            self._tasks = None

    async def _first(self) -> int | None:
        while True:
            try:
                snapshot = await self.workspace.snapshot()
            except Unsupported:
                # A server of the original has no snapshot; what it can tell is which sessions there are.
                sessions = {session.id: session for session in await self.workspace.sessions.list()}
                self._became(View(sessions=sessions))
                return None
            except Problem as problem:
                self._linked(Link(LinkState.RECONNECTING, self.link.since, self.link.attempts + 1, problem.message))
                await anyio.sleep(AGAIN_SECONDS)
                continue
            self._became(views.begun(snapshot))
            return snapshot.position

    async def _hear(self, heard: AsyncGenerator[Heard]) -> None:
        async for one in heard:
            match one:
                case Told(envelope):
                    before = self.view
                    self._became(views.seen(before, envelope))
                    if envelope.kind == "snapshot":
                        self._read_again()
                case Link():
                    self._linked(one)
                case Gap():
                    self._became(views.missed(self.view))
                    self._read_again()

    def _became(self, view: View) -> None:
        self._begun.set()
        if view is not self.view:
            self.view = view
            self._changed.set()

    def _linked(self, link: Link) -> None:
        self.link = link
        self.on_link(link)

    def _read_again(self) -> None:
        for session_id in self._wanted:
            if self._tasks is not None and not self.view.conversation(session_id).is_whole:
                self._tasks.start_soon(self._read, session_id)

    async def _read(self, session_id: str) -> None:
        if session_id in self._reading:
            return
        self._reading.add(session_id)
        try:
            self._became(views.reading(self.view, session_id))
            while True:
                try:
                    said = await self.workspace.messages.list(session_id)
                except NotFound:
                    return
                except Problem as problem:
                    self.on_problem(problem, "read the conversation")
                    await anyio.sleep(AGAIN_SECONDS)
                else:
                    break
            runs, decided = await self._past(session_id)
            self._became(views.remembered(views.read(self.view, session_id, said), session_id, runs, decided))
        finally:
            self._reading.discard(session_id)

    async def _past(self, session_id: str) -> tuple[Sequence[RunView], Sequence[Settled]]:
        """What a session's runs took, and who decided what they asked; a sub-agent's are in its parent's."""
        if "$$" in session_id:
            return (), ()
        try:
            return await self.workspace.runs.list(session_id), await self.workspace.permissions.audit()
        except Unsupported:
            # A server of the original keeps neither.
            return (), ()
        except Problem as problem:
            self.on_problem(problem, "read what earlier runs took")
            return (), ()

    def _shed(self) -> None:
        """Other people's sessions come all day; only those that are looked at are kept for long."""
        if len(self.view.conversations) > CONVERSATIONS_MAX:
            keep = self._reading.union(*(family(self.view, id) for id in self._wanted))
            self.view = views.shed(self.view, most=CONVERSATIONS_MAX, keep=keep)

    async def _tell(self) -> None:
        """Tell of all changes since the last frame at once."""
        told = View()
        while True:
            await self._changed.wait()
            self._changed = anyio.Event()
            self._shed()
            before, told = told, self.view
            for heard in tuple(self._listeners):
                heard(before, told)
            await anyio.sleep(FRAME_SECONDS)
