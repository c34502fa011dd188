"""What was done and can be undone, what still runs in the background, and what was decided: asked for by our own
clients alone."""

import msgspec


class ChangeView(msgspec.Struct, frozen=True):
    """A file before the session and now; null is no file."""

    path: str
    before: str | None
    after: str | None


class UndoRequest(msgspec.Struct, frozen=True):
    """Which files (all, without a path), and how far: before a run, to a version, or one change."""

    path: str = ""
    run_id: str = ""
    version: int | None = None
    over: bool = False


class RestoredView(msgspec.Struct, frozen=True):
    path: str
    problem: str = ""


class JobRow(msgspec.Struct, frozen=True):
    """A shell command in the background of a session."""

    id: str
    session_id: str
    command: str
    description: str
    state: str
    started_at: int
    exit_code: int | None = None
    detached: bool = False
    """It goes on when the workspace is closed."""


class Settled(msgspec.Struct, frozen=True):
    """One entry of the audit: what was asked, what was decided, by whom and when."""

    request_id: str
    session_id: str
    run_id: str
    tool: str
    subject: str
    decision: str
    scope: str = ""
    by: str = ""
    reason: str = ""
    at: int = 0
    tool_call_id: str = ""


class QueueMove(msgspec.Struct, frozen=True):
    """Where a waiting prompt goes: 0 is next."""

    index: int = 0
