"""Which workspaces a server has, who may open another, and when the server has nothing left to stay for.

A directory is opened once, however many clients ask for it at a time: the first that is ready wins, and the others
join it. A create that was admitted holds off every decision to leave until it is settled, and every create that began
is settled exactly once. The decision to leave (`closing`) is final.
"""

import msgspec

from turnkeeper.protocol.ids import ClientId, WorkspaceId
from turnkeeper.protocol.problems import ChannelsDiffer, ClientRetired, Problem, ServerClosing

LINGER_SECONDS = 60.0
RETIRED_MAX = 10_000
"""How many retired clients are remembered. A client retires as it leaves: only the last ones can still be knocking."""


class Opened(msgspec.Struct, frozen=True):
    workspace: WorkspaceId
    key: str
    """The directory, absolute and without links: what makes two creates the same."""
    channels: tuple[str, ...] = ()


class Admission(msgspec.Struct, frozen=True):
    opened: tuple[Opened, ...] = ()
    pending: int = 0
    """Creates that were admitted and are not settled."""
    leave_at: float | None = None
    """When the server leaves, if nobody comes until then."""
    staying: int = 0
    """How much goes on here without a workspace."""
    closing: bool = False
    retired: tuple[ClientId, ...] = ()
    """The latest last."""

    @property
    def idle(self) -> bool:
        return not self.opened and not self.pending and not self.staying

    def at(self, key: str) -> Opened | None:
        return next((one for one in self.opened if one.key == key), None)


class Inserted(msgspec.Struct, frozen=True):
    """The workspace that was built is the one: register the client on it."""

    opened: Opened


class Joined(msgspec.Struct, frozen=True):
    """Somebody was faster: discard what was built, register the client on this one."""

    opened: Opened


class Refused(msgspec.Struct, frozen=True):
    """Discard what was built, and tell the client why."""

    problem: Problem


class Failed(msgspec.Struct, frozen=True):
    """Nothing was built."""


Settlement = Inserted | Joined | Refused | Failed


def begin(
    admission: Admission, *, client: ClientId, key: str, channels: tuple[str, ...]
) -> tuple[Admission, Opened | None]:
    """Admit a create. The workspace to join, or None: build one and `settle`. Raises what it is refused for.

    A refusal leaves everything as it was, the time of leaving too.
    """
    if problem := why_not(admission, client):
        raise problem
    existing = admission.at(key)
    if existing is None:
        return msgspec.structs.replace(admission, leave_at=None, pending=admission.pending + 1), None
    if existing.channels != channels:
        raise ChannelsDiffer
    return msgspec.structs.replace(admission, leave_at=None), existing


def settle(
    admission: Admission, *, client: ClientId, built: Opened | None, now: float, linger_seconds: float = LINGER_SECONDS
) -> tuple[Admission, Settlement]:
    """The end of a create that was begun, with what was built (None: it failed). Asks again what may have changed."""
    assert admission.pending > 0
    settlement = settlement_of(admission, client, built)
    opened = (*admission.opened, settlement.opened) if isinstance(settlement, Inserted) else admission.opened
    left = msgspec.structs.replace(admission, opened=opened, pending=admission.pending - 1)
    return lingering(left, now=now, linger_seconds=linger_seconds), settlement


def settlement_of(admission: Admission, client: ClientId, built: Opened | None) -> Settlement:
    if built is None:
        return Failed()
    if problem := why_not(admission, client):
        return Refused(problem)
    winner = admission.at(built.key)
    if winner is None:
        return Inserted(built)
    return Joined(winner) if winner.channels == built.channels else Refused(ChannelsDiffer())


def why_not(admission: Admission, client: ClientId) -> Problem | None:
    if admission.closing:
        return ServerClosing()
    return ClientRetired() if client in admission.retired else None


def close(
    admission: Admission, workspace: WorkspaceId, *, now: float, linger_seconds: float = LINGER_SECONDS
) -> Admission:
    """The workspace is no longer there to be found; one that was not there changes nothing."""
    opened = tuple(one for one in admission.opened if one.workspace != workspace)
    if opened == admission.opened:
        return admission
    return lingering(msgspec.structs.replace(admission, opened=opened), now=now, linger_seconds=linger_seconds)


def stay(admission: Admission) -> Admission:
    """Something goes on that needs the server and no workspace."""
    return msgspec.structs.replace(admission, leave_at=None, staying=admission.staying + 1)


def end_stay(admission: Admission, *, now: float, linger_seconds: float = LINGER_SECONDS) -> Admission:
    """One of them is over."""
    assert admission.staying > 0
    left = msgspec.structs.replace(admission, staying=admission.staying - 1)
    return lingering(left, now=now, linger_seconds=linger_seconds)


def lingering(admission: Admission, *, now: float, linger_seconds: float) -> Admission:
    """If the server has become idle, the time of leaving is set; without a linger that is now."""
    if not admission.idle:
        return admission
    if linger_seconds <= 0:
        return msgspec.structs.replace(admission, closing=True, leave_at=None)
    return msgspec.structs.replace(admission, leave_at=now + linger_seconds)


def expire(admission: Admission, *, now: float) -> Admission:
    """The server decides to leave, if the time for it has come."""
    if admission.leave_at is None or admission.leave_at > now:
        return admission
    assert admission.idle
    return msgspec.structs.replace(admission, closing=True, leave_at=None)


def next_deadline(admission: Admission) -> float | None:
    return admission.leave_at


def shutdown_if_idle(admission: Admission) -> tuple[Admission, bool]:
    """Somebody asks the server to leave: granted, and final, if it has nothing to stay for."""
    if not admission.idle:
        return admission, False
    return msgspec.structs.replace(admission, closing=True, leave_at=None), True


def leave(admission: Admission) -> Admission:
    """The server leaves, whatever it has to stay for: somebody stopped it."""
    return msgspec.structs.replace(admission, closing=True, leave_at=None)


def retire(admission: Admission, client: ClientId) -> Admission:
    """Creates by this client are refused from now on. Again is the same as once."""
    others = tuple(known for known in admission.retired if known != client)
    return msgspec.structs.replace(admission, retired=(*others, client)[-RETIRED_MAX:])
