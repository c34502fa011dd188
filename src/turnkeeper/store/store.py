"""The port to memory: a workspace's log and its views.

Whoever implements it promises:

- `append` writes the events and every view they change in one transaction, or nothing at all, and returns only
  after the transaction is on disk. Its events get consecutive positions.
- An append based on an outdated position writes nothing and raises `SessionMoved`.
- No run is accepted twice and none ends twice, whatever the caller believes (`RunTaken`).
- Readers are never blocked by writers, and order is by position, never by clock.
- A foreign failure (disk full, locked, I/O) is raised as `StoreUnavailable`; nothing of that append was written.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from turnkeeper.protocol.clients import ClientName
from turnkeeper.protocol.events import Entry, Event, Gate
from turnkeeper.protocol.ids import MessageId, Position, RequestId, RunId, SessionId, ToolCallId
from turnkeeper.protocol.messages import Message, Part, PartKind, Role
from turnkeeper.protocol.requests import Answer, Grant, Request
from turnkeeper.protocol.runs import Outcome, Run, Usage
from turnkeeper.protocol.sessions import Effect, FileRead, FileVersion, SessionInfo

READ_MAX = 512
"""How many entries one read returns at the most."""
NAMES_MAX = 1024
"""How many clients are remembered by name, those named last first."""


class Piece(msgspec.Struct, frozen=True):
    """A stretch of a part still streaming, written behind: what comes at `offset` of part `index`."""

    session_id: SessionId
    message_id: MessageId
    index: int
    part: PartKind
    offset: int
    text: str


class Standing(msgspec.Struct, frozen=True):
    """Where a session stands: what its live self is rebuilt from."""

    session_id: SessionId
    position: Position
    gate: Gate = Gate.OPEN
    active: Run | None = None
    queue: tuple[Run, ...] = ()
    requests: tuple[Request, ...] = ()


class Settled(msgspec.Struct, frozen=True):
    """A request that is over, for the audit: what was decided, by whom, when."""

    request: Request
    answer: Answer | None
    by: str = ""
    reason: str = ""
    at: int = 0


class Found(msgspec.Struct, frozen=True):
    """A text in which what somebody looks for was said."""

    session_id: SessionId
    message_id: MessageId
    role: Role
    created_at: int
    text: str


class Spent(msgspec.Struct, frozen=True):
    """A run that has ended, as the accounts know it. A sub-agent's (`parent`) is in its parent's usage too."""

    run_id: RunId
    session_id: SessionId
    outcome: Outcome
    accepted_at: int
    started_at: int
    ended_at: int
    usage: Usage
    steps: int = 0
    parent: RunId | None = None
    provider: str = ""
    model: str = ""


class Accounts(msgspec.Struct, frozen=True):
    """What was done since some moment: the runs that ended, oldest first, and how often each tool was called."""

    runs: tuple[Spent, ...] = ()
    tools: dict[str, int] = {}


class Snapshot(msgspec.Struct, frozen=True):
    """A workspace as of one position, in one read."""

    position: Position
    sessions: tuple[SessionInfo, ...] = ()
    runs: tuple[Run, ...] = ()
    """Those not ended, in the order of their session's line."""
    requests: tuple[Request, ...] = ()
    held: tuple[SessionId, ...] = ()
    names: tuple[ClientName, ...] = ()
    """Clients that did something which is kept, as they named themselves; in the order in which they did."""


class Store(Protocol):
    async def append(
        self, session_id: SessionId, events: Sequence[Event], *, after: Position | None, at: int = 0
    ) -> Position:
        """Write `events` after the session's position `after`; returns the last one's position.

        `after=None` is for facts that no decision about the session's runs rests on (the workspace's own).
        """
        ...

    async def write_behind(self, pieces: Sequence[Piece]) -> None:
        """Keep stretches of unfinished parts. They are dropped when their part is said, or their message has its end.

        What comes after the end is not kept: whoever writes it no longer owns the message.
        """
        ...

    def on_commit(self, listener: Callable[[Sequence[Entry]], None]) -> None:
        """Have `listener` called on the event loop with every committed append's entries, in the log's order.

        It is called before the append returns to its caller.
        """
        ...

    async def pieces(self, session_id: SessionId) -> list[Piece]:
        """What is written behind and not yet said."""
        ...

    async def head(self) -> Position: ...

    async def kept_after(self) -> Position:
        """Entries up to and including this position are no longer kept."""
        ...

    async def read(self, after: Position, *, limit: int = READ_MAX) -> list[Entry]: ...

    async def snapshot(self) -> Snapshot: ...

    async def standing(self, session_id: SessionId) -> Standing | None:
        """None: there is no such session."""
        ...

    async def unsettled(self) -> list[SessionId]:
        """Sessions with an active run, a waiting one, a pending request, an unfinished message, or a gate not open."""
        ...

    async def session(self, session_id: SessionId) -> SessionInfo | None: ...

    async def sessions(self, *, parent: SessionId | None = None) -> list[SessionInfo]:
        """Children of `parent`, or the top-level ones, most recently changed first."""
        ...

    async def message(self, message_id: MessageId) -> Message | None:
        """With unfinished parts as far as they were written behind."""
        ...

    async def messages(self, session_id: SessionId) -> list[Message]: ...

    async def user_messages(self, session_id: SessionId | None = None) -> list[Message]:
        """Newest first."""
        ...

    async def unfinished(self, session_id: SessionId) -> list[Message]:
        """Assistant messages without a finish part."""
        ...

    async def search(self, words: Sequence[str], *, limit: int = READ_MAX) -> list[Found]:
        """Texts of people and models that hold every word, whatever its case; newest first."""
        ...

    async def accounts(self, *, since: int = 0) -> Accounts:
        """Of runs accepted, and tools called, at or after a moment in Unix milliseconds."""
        ...

    async def run(self, run_id: RunId) -> Run | None: ...

    async def runs(self, session_id: SessionId | None = None, *, limit: int = READ_MAX) -> list[Run]:
        """Newest first."""
        ...

    async def request(self, request_id: RequestId) -> Request | None:
        """If it is still pending."""
        ...

    async def settled(self, *, limit: int = READ_MAX) -> list[Settled]: ...

    async def grants(self) -> list[Grant]: ...

    async def files(self, session_id: SessionId, *, newest_of: str | None = None) -> list[FileVersion]:
        """In the order they were written; of one path, if it is named, the newest alone."""
        ...

    async def file_reads(self, session_id: SessionId) -> list[FileRead]: ...

    async def file_read(self, session_id: SessionId, path: str) -> FileRead | None: ...

    async def effects(self, session_id: SessionId) -> list[Effect]: ...

    async def effect(self, tool_call_id: ToolCallId) -> Effect | None: ...

    async def prune(self, *, before: Position) -> int:
        """Forget entries before a position (views stay); returns how many."""
        ...

    async def close(self) -> None: ...


def part_of(piece_kind: PartKind, text: str) -> Part | None:
    """What an unfinished part looks like when only its written-behind text is known."""
    from turnkeeper.protocol.messages import Reasoning, Text

    match piece_kind:
        case PartKind.TEXT:
            return Text(text)
        case PartKind.REASONING:
            return Reasoning(text)
        case PartKind.INPUT | PartKind.OUTPUT:
            return None
