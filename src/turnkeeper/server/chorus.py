"""Those who keep up with a workspace, told all at once.

A watcher is a place, and most watchers stand at the same one: the newest. What comes next is made for them once and
handed to all their connections in one go. Who does not take it falls out with the place it had reached, reads on by
itself at its own pace (`sse.py`), and joins again where the others stand. So nobody waits for anybody, and nothing is
kept for anybody.
"""

import logging
from collections.abc import Callable
from weakref import WeakKeyDictionary, proxy

import anyio

from turnkeeper.engine.feed import Place, feed
from turnkeeper.engine.workspace import Workspace
from turnkeeper.server.protocol import framed
from turnkeeper.server.telling import Detail, Teller

log = logging.getLogger(__name__)

Take = Callable[[bytes], bool]
"""Takes a piece of a response's body, framed; or does not, and says so."""


class Seat:
    """One watcher in step; `left` is rung when it no longer is, and `place` is what it has reached then."""

    def __init__(self, take: Take, place: Place) -> None:
        self.take = take
        self.place = place
        self.left = anyio.Event()


class Chorus:
    """Owns who is in step in one workspace, and the place where all of them stand."""

    def __init__(self, workspace: Workspace, detail: Detail) -> None:
        # Not held: a chorus is kept beside its workspace, and would keep it alive.
        self._workspace: Workspace = proxy(workspace)
        self.teller = Teller(workspace, detail)
        self._seats: dict[Seat, None] = {}
        self._place: Place | None = None
        """None as long as nobody is there."""

    @property
    def size(self) -> int:
        return len(self._seats)

    def join(self, place: Place, take: Take) -> Seat | None:
        """A seat, for who stands where the others do; or where the log ends, if there is nobody else."""
        if self._place is None and place.position == self._workspace.tail.head:
            self._place = place
            self._workspace.tasks.start_soon(self._sing, place)
        if place != self._place:
            return None
        seat = Seat(take, place)
        self._seats[seat] = None
        return seat

    def leave(self, seat: Seat) -> None:
        if seat in self._seats:
            assert self._place is not None
            del self._seats[seat]
            seat.place = self._place
            seat.left.set()

    async def _sing(self, place: Place) -> None:
        try:
            async with feed(self._workspace) as reading:
                reading.go_to(place)
                while self._seats:
                    given = await reading.next()
                    if given.snapshot is not None:
                        return  # the log has gone on without us; each sees for itself where it is
                    self._hand_out(await self.teller.said(given), reading.place)
        except Exception:  # whatever it is, each of them will meet it by itself, and nobody else
            log.exception("telling all at once failed")
        finally:
            for seat in list(self._seats):
                self.leave(seat)
            self._place = None

    def _hand_out(self, said: bytes, place: Place) -> None:
        if said:
            piece = framed(said)
            for seat in [seat for seat in self._seats if not seat.take(piece)]:
                self.leave(seat)
        self._place = place


_CHORUSES: WeakKeyDictionary[Workspace, dict[Detail, Chorus]] = WeakKeyDictionary()


def chorus_of(workspace: Workspace, detail: Detail) -> Chorus:
    """The one chorus of a workspace for this detail: it lives as long as the workspace does."""
    choruses = _CHORUSES.setdefault(workspace, {})
    if detail not in choruses:
        choruses[detail] = Chorus(workspace, detail)
    return choruses[detail]
