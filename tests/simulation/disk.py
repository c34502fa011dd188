"""A simulated disk: the logs of a workspace's sessions, kept as bytes, with every way in which a disk says no.

It promises what a store promises: an append is written whole or not at all; one that rests on an outdated position
writes nothing; no run is accepted twice or ends twice. It reads every log along with an independent ledger.
"""

from collections.abc import Sequence
from enum import Enum, auto

import msgspec

from tests.simulation.duties import written
from tests.simulation.ledger import Ledger
from turnkeeper.core.commands import Command
from turnkeeper.protocol import events as e
from turnkeeper.protocol.events import Event
from turnkeeper.protocol.ids import Position, RunId, SessionId
from turnkeeper.protocol.problems import RunTaken, SessionMoved, StoreUnavailable
from turnkeeper.protocol.runs import Outcome, Run, RunState

Decoder = msgspec.json.Decoder[Event]


class Fault(Enum):
    NONE = auto()
    REFUSED = auto()
    """The disk is full: nothing is written, and the writer learns it."""
    CUT_BEFORE = auto()
    """The power fails before anything is written."""
    CUT_AFTER = auto()
    """The power fails after everything is written, and before anybody is told."""


class PowerCut(Exception):
    """The server is gone, in the middle of a write."""


class Disk:
    """Owns the logs. `fault` is what happens to the next append."""

    def __init__(self, sessions: Sequence[SessionId]) -> None:
        self.fault = Fault.NONE
        self.ledgers = {session_id: Ledger() for session_id in sessions}
        self._logs: dict[SessionId, list[bytes]] = {session_id: [] for session_id in sessions}
        self._accepted: dict[RunId, tuple[SessionId, str]] = {}
        self._decoder: Decoder = msgspec.json.Decoder(Event)

    def position(self, session_id: SessionId) -> Position:
        return Position(len(self._logs[session_id]))

    def size(self) -> int:
        return sum(len(log) for log in self._logs.values())

    def log(self, session_id: SessionId) -> list[Event]:
        return [self._decoder.decode(line) for line in self._logs[session_id]]

    def run(self, run_id: RunId) -> Run | None:
        """What memory has of a run, in whatever session."""
        if run_id not in self._accepted:
            return None
        session_id, digest = self._accepted[run_id]
        ended = run_id in self.ledgers[session_id].endings
        return Run(run_id, session_id, RunState.ENDED if ended else RunState.QUEUED, digest=digest)

    def ending(self, run_id: RunId) -> Outcome | None:
        return self.ledgers[self._accepted[run_id][0]].endings.get(run_id) if run_id in self._accepted else None

    def append(self, session_id: SessionId, events: Sequence[Event], *, after: Position, because: Command) -> Position:
        fault, self.fault = self.fault, Fault.NONE
        if fault is Fault.CUT_BEFORE:
            raise PowerCut
        if fault is Fault.REFUSED:
            raise StoreUnavailable
        if after != self.position(session_id):
            raise SessionMoved(session_id, expected=after, found=self.position(session_id))
        accepted = [event for event in events if isinstance(event, e.RunAccepted)]
        if any(event.run_id in self._accepted for event in accepted):
            raise RunTaken
        lines = [msgspec.json.encode(event) for event in events]
        # The ledger reads what was written, as whoever comes next will read it.
        self.ledgers[session_id] = written(
            self.ledgers[session_id], because, [self._decoder.decode(line) for line in lines]
        )
        self._logs[session_id] += lines
        self._accepted |= {event.run_id: (session_id, event.digest) for event in accepted}
        if fault is Fault.CUT_AFTER:
            raise PowerCut
        return self.position(session_id)
