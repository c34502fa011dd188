"""Conversations as a list shows them, and what belongs to them beside messages."""

from enum import StrEnum

import msgspec

from turnkeeper.protocol.ids import NO_MESSAGE, START, MessageId, Position, RunId, SessionId, ToolCallId

UNTITLED = "Untitled Session"


class TodoStatus(StrEnum):
    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"


class Todo(msgspec.Struct, frozen=True):
    content: str
    status: TodoStatus
    active_form: str = ""


class SessionInfo(msgspec.Struct, frozen=True, omit_defaults=True):
    """A session's row: what is true of it apart from what it is doing."""

    id: SessionId
    title: str = ""
    parent_id: SessionId = SessionId("")
    message_count: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated_usage: bool = False
    summary_message_id: MessageId = NO_MESSAGE
    cost: float = 0.0
    todos: tuple[Todo, ...] = ()
    titled_by_person: bool = False
    created_at: int = 0
    updated_at: int = 0
    position: Position = START
    """Where the session's part of the log ends: what the next append must be based on."""


class FileVersion(msgspec.Struct, frozen=True):
    """A file's whole content at one moment of a session; versions count from 0 per session and path."""

    id: str
    session_id: SessionId
    path: str
    content: str
    version: int
    created_at: int = 0
    updated_at: int = 0
    run_id: RunId | None = None
    absent: bool = False
    """There was no file at this moment (and `content` is empty): undoing a creation removes the file again."""
    form: str = ""
    """How it was kept on disk beside its text, as the hands noted it; empty where nobody knows. No face is told."""


class FileRead(msgspec.Struct, frozen=True):
    """What a session last saw of a file, so that a stale edit can be refused."""

    session_id: SessionId
    path: str
    at: int
    digest: str = ""
    mtime_ns: int = 0


class EffectState(StrEnum):
    INTENDED = "intended"
    STARTED = "started"
    FINISHED = "finished"


class Effect(msgspec.Struct, frozen=True, omit_defaults=True):
    """How far one tool call got: what a person reads after a crash to know which command may have run."""

    tool_call_id: ToolCallId
    session_id: SessionId
    run_id: RunId
    tool: str
    state: EffectState
    subject: str = ""
    """What it acts on: a command, a path. Only a tool that acts says so."""
    at: int = 0
    """When it got this far, in Unix milliseconds."""
    started_at: int = 0
    """When it began to act; 0 if it never did, as a call that was denied or only reads."""
