"""Who is in which workspace: clients come with claims, and when the last has left the light is turned off.

The rules are `core/claims.py` and `core/admission.py`; here what they decide is done and their deadlines are waited
for. Each open workspace is kept by one task, from the moment it is recovered until it is closed, so that closing one
touches nothing of another. One watchman waits for the next deadline, whoever's it is.
"""

import logging
from collections.abc import Generator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import anyio
from anyio.abc import TaskGroup

from turnkeeper.core import admission, claims
from turnkeeper.engine.desk import Desk
from turnkeeper.engine.room import Opening, Room
from turnkeeper.engine.workspace import Workspace
from turnkeeper.protocol.ids import ClientId, SessionId, WorkspaceId
from turnkeeper.protocol.problems import Problem, StoreUnavailable, WorkspaceNotFound
from turnkeeper.protocol.wire_workspaces import WorkspaceCreation

log = logging.getLogger(__name__)

CLOSE_SECONDS = 15.0
LEAVE_SECONDS = 3.0
"""How long the streams of a workspace that closes may take to tell its last words."""


@dataclass(frozen=True, slots=True)
class Build:
    """Which server this is."""

    version: str
    build_id: str
    commit: str = ""
    platform: str = ""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long clients may be away or silent."""

    heartbeat_seconds: float = 15.0
    send_seconds: float = 30.0
    streams_max: int = 1024
    linger_seconds: float = 60.0
    policy: claims.Policy = field(default_factory=claims.Policy)


class Opener(Protocol):
    def __call__(self, asked: WorkspaceCreation, path: Path) -> AbstractAsyncContextManager[tuple[Workspace, Desk]]:
        """A workspace, recovered and ready, for as long as the block lasts."""
        ...


class Reception:
    """Owns which workspaces are open and who is in them."""

    def __init__(self, tasks: TaskGroup, opener: Opener, *, build: Build, limits: Limits) -> None:
        self.build = build
        self.limits = limits
        self.leaving = anyio.Event()
        """Rung when the server has decided to go."""
        self._tasks = tasks
        self._opener = opener
        self._admission = admission.Admission()
        self._rooms: dict[WorkspaceId, Room] = {}
        self._openings: dict[str, Opening] = {}
        """By directory: two creates at once wait for one opening."""
        self._closings: dict[str, Room] = {}
        """By directory: one that is opened again is opened when it has closed."""
        self._stirred = anyio.Event()
        self.streams = 0
        """How many are open."""
        self._streams_ever = 0

    # Looking

    def rooms(self) -> list[Room]:
        return list(self._rooms.values())

    def room(self, workspace_id: str) -> Room:
        room = self._rooms.get(WorkspaceId(workspace_id))
        if room is None:
            raise WorkspaceNotFound
        return room

    def attached_clients(self, room: Room, session_id: SessionId) -> int:
        return claims.attached_clients(room.held, session_id)

    # Coming

    async def enter(self, asked: WorkspaceCreation, client: ClientId) -> Room:
        """Open the directory as a workspace, or join it where it is open; either way the client now holds it."""
        path = resolved(asked.path)
        key = str(path)
        self._admission, existing = admission.begin(self._admission, client=client, key=key, channels=asked.channels)
        if existing is not None:
            return self._hold(self._rooms[existing.workspace], client)
        opening = self._openings.get(key)
        if opening is None:
            opening = self._openings[key] = Opening()
            self._tasks.start_soon(self._keep, asked, path, opening)
        opening.waiting += 1
        try:
            await opening.done.wait()
        finally:
            # Settled exactly once, also when the one who asked is gone.
            opening.waiting -= 1
            settlement = self._settle(opening, client, key, asked.channels)
            self._settled(opening, settlement)
        match settlement:
            case admission.Inserted(opened) | admission.Joined(opened):
                return self._hold(self._rooms[opened.workspace], client)
            case admission.Refused(problem):
                raise problem
            case admission.Failed():
                raise opening.problem or Problem("failed to create app workspace")

    def _settle(self, opening: Opening, client: ClientId, key: str, channels: tuple[str, ...]) -> admission.Settlement:
        built = admission.Opened(opening.room.id, key, channels) if opening.room else None
        self._admission, settlement = admission.settle(
            self._admission,
            client=client,
            built=built,
            now=anyio.current_time(),
            linger_seconds=self.limits.linger_seconds,
        )
        self._stir()
        return settlement

    def _settled(self, opening: Opening, settlement: admission.Settlement) -> None:
        """What was built is the workspace; or, when nobody may have it, it is discarded."""
        room = opening.room
        if room is None:
            return
        if isinstance(settlement, admission.Inserted):
            self._rooms[room.id] = room
        elif not opening.waiting and room.id not in self._rooms:
            self._closings[room.key] = room
            room.ending.set()

    def _hold(self, room: Room, client: ClientId) -> Room:
        now = anyio.current_time()
        room.held = claims.create(room.held, client, now=now, policy=self.limits.policy)
        self._stir()
        return room

    async def _keep(self, asked: WorkspaceCreation, path: Path, opening: Opening) -> None:
        """One workspace's life, from recovered to closed."""
        key = str(path)
        try:
            if closing := self._closings.get(key):
                await closing.closed.wait()
            async with self._opener(asked, path) as (workspace, desk):
                room = opening.room = Room(asked, workspace, desk, key)
                workspace.on_quiet = self._stir
                self._opened(key, opening)
                await room.ending.wait()
                await workspace.close(keep_queue=room.keep_queue)
                await self._part(room)
        except StoreUnavailable as problem:
            opening.problem = Problem(f"failed to connect to database: {problem.message}")
        except Problem as problem:
            opening.problem = problem
        except Exception as error:  # what breaks in one workspace is kept from the others
            log.exception("workspace failed", extra={"path": key})
            opening.problem = Problem(f"failed to create app workspace: {error}")
        finally:
            self._opened(key, opening)
            if opening.room:
                self._forget(opening.room)
                opening.room.closed.set()
                if self._closings.get(key) is opening.room:
                    del self._closings[key]

    async def _part(self, room: Room) -> None:
        """End the streams of a workspace, once they have told its last words."""
        room.over.set()
        if room.streams:
            with anyio.move_on_after(LEAVE_SECONDS):
                await room.deserted.wait()

    def _opened(self, key: str, opening: Opening) -> None:
        opening.done.set()
        if self._openings.get(key) is opening:
            del self._openings[key]

    # Staying

    def select(self, workspace_id: str, client: ClientId, session_id: SessionId) -> None:
        room = self.room(workspace_id)
        room.held = claims.choose(room.held, client, session_id)

    @contextmanager
    def attached(self, room: Room, client: ClientId) -> Generator[None]:
        """The client has a stream open for as long as the block lasts."""
        self.streams += 1
        self._streams_ever += 1
        room.streams += 1
        name = str(self._streams_ever)
        room.held = claims.attach(room.held, client, name, at=room.workspace.means.now())
        try:
            yield
        finally:
            self.streams -= 1
            room.streams -= 1
            if not room.streams and room.over.is_set():
                room.deserted.set()
            now = anyio.current_time()
            room.held = claims.detach(room.held, client, name, now=now, policy=self.limits.policy)
            self._stir()

    @contextmanager
    def staying(self) -> Generator[None]:
        """The server does not leave by itself for as long as the block lasts, though no workspace is open."""
        self._admission = admission.stay(self._admission)
        try:
            yield
        finally:
            now = anyio.current_time()
            self._admission = admission.end_stay(self._admission, now=now, linger_seconds=self.limits.linger_seconds)
            self._stir()

    # Leaving

    async def release(self, workspace_id: str, client: ClientId) -> None:
        room = self._rooms.get(WorkspaceId(workspace_id))
        if room is not None:
            room.held = claims.release(room.held, client)
            await self._close_abandoned([room])

    async def retire(self, client: ClientId) -> None:
        """The client is gone for good: it holds nothing any more, and cannot come again."""
        self._admission = admission.retire(self._admission, client)
        held = [room for room in self._rooms.values() if room.held.of(client)]
        for room in held:
            room.held = claims.retire(room.held, client)
        await self._close_abandoned(held)

    def shut_down_if_idle(self) -> bool:
        self._admission, granted = admission.shutdown_if_idle(self._admission)
        self._stir()
        return granted

    async def close(self) -> None:
        """The server stops: what runs is interrupted, what waits is kept for the next start, and every stream ends."""
        self._admission = admission.leave(self._admission)
        rooms = self.rooms()
        for room in rooms:
            room.ending.set()
        with anyio.move_on_after(CLOSE_SECONDS):
            for room in rooms:
                await room.closed.wait()

    def _abandon(self, rooms: list[Room]) -> list[Room]:
        """Begin to close what nobody keeps open any more."""
        abandoned = [room for room in rooms if not self._is_kept(room)]
        for room in abandoned:
            self._forget(room)
            # Where runs go on without anybody, only a held line is left to wait: it waits for the next opening.
            room.keep_queue = self.limits.policy.runs_keep_open
            room.ending.set()
        return abandoned

    async def _close_abandoned(self, rooms: list[Room]) -> None:
        """Close what nobody keeps open any more, and wait until it is closed."""
        with anyio.move_on_after(CLOSE_SECONDS):
            for room in self._abandon(rooms):
                await room.closed.wait()

    def _is_kept(self, room: Room) -> bool:
        return claims.keeps_open(room.held, runs=int(room.workspace.is_busy()), policy=self.limits.policy)

    def _forget(self, room: Room) -> None:
        if self._rooms.get(room.id) is room:
            del self._rooms[room.id]
            if not room.closed.is_set():
                self._closings[room.key] = room
            self._admission = admission.close(
                self._admission,
                room.id,
                now=anyio.current_time(),
                linger_seconds=self.limits.linger_seconds,
            )
            self._stir()

    # Time

    def _stir(self) -> None:
        self._stirred.set()

    async def watch(self) -> None:
        """Wait for the next deadline, for ever; whatever changes a deadline wakes the watchman."""
        while True:
            self._stirred = anyio.Event()
            self._look()
            deadline = self._next_deadline()
            with anyio.move_on_after(max(0.0, deadline - anyio.current_time()) if deadline is not None else None):
                await self._stirred.wait()

    def _look(self) -> None:
        now = anyio.current_time()
        for room in self._rooms.values():
            room.held = claims.expire(room.held, now=now)
        self._abandon(self.rooms())
        self._admission = admission.expire(self._admission, now=anyio.current_time())
        if self._admission.closing:
            self.leaving.set()

    def _next_deadline(self) -> float | None:
        deadlines = [claims.next_deadline(room.held) for room in self._rooms.values()]
        deadlines.append(admission.next_deadline(self._admission))
        return min((deadline for deadline in deadlines if deadline is not None), default=None)


def resolved(path: str) -> Path:
    """The directory, absolute and without links; where there is none yet, what it will be."""
    return Path(path).absolute().resolve()
