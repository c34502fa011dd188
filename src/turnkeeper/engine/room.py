"""An open workspace as the reception knows it: who is in it, and what rings when somebody comes, goes, or it closes."""

from dataclasses import dataclass, field

import anyio

from turnkeeper.core import claims
from turnkeeper.engine.desk import Desk
from turnkeeper.engine.workspace import Workspace
from turnkeeper.protocol.clients import ClientName
from turnkeeper.protocol.ids import WorkspaceId
from turnkeeper.protocol.problems import Problem
from turnkeeper.protocol.wire_clients import ClientView
from turnkeeper.protocol.wire_workspaces import WorkspaceCreation

NOBODY = claims.Claims()


@dataclass(slots=True, eq=False)
class Room:
    """Owns who is in an open workspace."""

    asked: WorkspaceCreation
    workspace: Workspace
    desk: Desk
    key: str
    interactive: bool = True
    ending: anyio.Event = field(default_factory=anyio.Event)
    """Its runs are stopped now."""
    over: anyio.Event = field(default_factory=anyio.Event)
    """They have stopped, and said so: its streams end now."""
    streams: int = 0
    deserted: anyio.Event = field(default_factory=anyio.Event)
    """The last of its streams has ended, after it was over."""
    keep_queue: bool = True
    closed: anyio.Event = field(default_factory=anyio.Event)
    here: tuple[ClientView, ...] = ()
    """Who is attached, in the order they came."""
    stirred: anyio.Event = field(default_factory=anyio.Event)
    """Rung, and replaced, when somebody came, went, said who they are, looks at another session, or runs a line."""
    _held: claims.Claims = NOBODY

    def __post_init__(self) -> None:
        self.workspace.lines.on_moved = self._stir

    @property
    def id(self) -> WorkspaceId:
        return self.workspace.means.id

    @property
    def held(self) -> claims.Claims:
        return self._held

    @held.setter
    def held(self, held: claims.Claims) -> None:
        self._held = held
        here = tuple(view(claim) for claim in claims.present(held))
        if here != self.here:
            self.here = here
            self._stir()

    def _stir(self) -> None:
        self.stirred.set()
        self.stirred = anyio.Event()

    def introduce(self, who: ClientName) -> None:
        """A client says who it is; one that is not here has nobody to say it to."""
        self.held = claims.introduce(self.held, who)


@dataclass(slots=True, eq=False)
class Opening:
    """A workspace on its way: a room, or why there is none."""

    done: anyio.Event = field(default_factory=anyio.Event)
    room: Room | None = None
    problem: Problem | None = None
    waiting: int = 0
    """How many creates wait for it."""


def view(claim: claims.Claim) -> ClientView:
    return ClientView(claim.client, claim.name, claim.kind, claim.session, claim.since, len(claim.streams))
