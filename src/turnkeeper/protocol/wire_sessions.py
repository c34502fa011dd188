"""Sessions, their files and what was read of them, on the wire.

A session in an answer tells whether it is busy and how many clients look at it; the same object on the stream always
says false and 0, and must not be believed there. Times are Unix seconds.
"""

from typing import Any

import msgspec

from turnkeeper.protocol.config import Number
from turnkeeper.protocol.ids import MessageId, RunId, SessionId
from turnkeeper.protocol.sessions import FileVersion, SessionInfo, Todo, TodoStatus
from turnkeeper.protocol.wire import number


class WireTodo(msgspec.Struct, frozen=True):
    content: str = ""
    status: str = ""
    active_form: str = ""


class Session(msgspec.Struct, frozen=True, omit_defaults=True):
    id: str = msgspec.field(default_factory=str)
    parent_session_id: str = msgspec.field(default_factory=str)
    title: str = msgspec.field(default_factory=str)
    message_count: int = msgspec.field(default_factory=int)
    prompt_tokens: int = msgspec.field(default_factory=int)
    completion_tokens: int = msgspec.field(default_factory=int)
    summary_message_id: str = msgspec.field(default_factory=str)
    cost: Number = msgspec.field(default_factory=int)
    todos: tuple[WireTodo, ...] = ()
    created_at: int = msgspec.field(default_factory=int)
    updated_at: int = msgspec.field(default_factory=int)
    is_busy: bool = msgspec.field(default_factory=bool)
    attached_clients: int = msgspec.field(default_factory=int)


def session_to_wire(info: SessionInfo, *, is_busy: bool = False, attached_clients: int = 0) -> Session:
    """As an answer shows it; without the last two, as the stream does."""
    return Session(
        id=info.id,
        parent_session_id=info.parent_id,
        title=info.title,
        message_count=info.message_count,
        prompt_tokens=info.prompt_tokens,
        completion_tokens=info.completion_tokens,
        summary_message_id=info.summary_message_id,
        cost=number(info.cost),
        todos=tuple(WireTodo(todo.content, todo.status.value, todo.active_form) for todo in info.todos),
        created_at=info.created_at,
        updated_at=info.updated_at,
        is_busy=is_busy,
        attached_clients=attached_clients,
    )


def agent_session_to_wire(info: SessionInfo, *, is_busy: bool) -> Session:
    """The agent's own view of a session: its id, its title, and whether it works. The rest is zero."""
    return Session(id=info.id, title=info.title, is_busy=is_busy)


def session_from_wire(wire: Session) -> SessionInfo:
    return SessionInfo(
        id=SessionId(wire.id),
        title=wire.title,
        parent_id=SessionId(wire.parent_session_id),
        message_count=wire.message_count,
        prompt_tokens=wire.prompt_tokens,
        completion_tokens=wire.completion_tokens,
        summary_message_id=MessageId(wire.summary_message_id),
        cost=float(wire.cost),
        todos=todos_from_wire(wire.todos),
        created_at=wire.created_at,
        updated_at=wire.updated_at,
    )


def todos_from_wire(todos: tuple[WireTodo, ...]) -> tuple[Todo, ...]:
    """A status we do not know is one that still waits."""
    return tuple(
        Todo(
            todo.content, TodoStatus(todo.status) if todo.status in _STATUSES else TodoStatus.PENDING, todo.active_form
        )
        for todo in todos
    )


_STATUSES = frozenset(TodoStatus)


class SessionCreation(msgspec.Struct, frozen=True):
    """What is read of a request for a new session: its title, whatever else of a session was sent."""

    title: str = ""


class SessionChange(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is read of a request to change a session. What was not sent is UNSET, and stays as it is.

    Both of the original's spellings are read, `prompt_tokens` and `PromptTokens`; the later of the two wins.
    """

    id: str = ""
    title: str | msgspec.UnsetType = msgspec.UNSET
    prompt_tokens: int | msgspec.UnsetType = msgspec.UNSET
    completion_tokens: int | msgspec.UnsetType = msgspec.UNSET
    summary_message_id: str | msgspec.UnsetType = msgspec.UNSET
    cost: Number | msgspec.UnsetType = msgspec.UNSET
    todos: tuple[WireTodo, ...] | msgspec.UnsetType = msgspec.UNSET

    @property
    def said(self) -> frozenset[str]:
        """The keys that were sent."""
        return frozenset(name for name in self.__struct_fields__ if name != "id" and _is_set(getattr(self, name)))


def _is_set(value: Any) -> bool:
    return value is not msgspec.UNSET


def session_as_change(info: SessionInfo) -> dict[str, Any]:
    """A session to PUT, in both spellings: a server of the original reads only its own, and zeroes what it misses."""
    said: dict[str, Any] = msgspec.to_builtins(session_to_wire(info))
    return said | {
        "PromptTokens": info.prompt_tokens,
        "CompletionTokens": info.completion_tokens,
        "SummaryMessageID": info.summary_message_id,
    }


class File(msgspec.Struct, frozen=True, omit_defaults=True):
    """One version of a file, as the stream spells it. Ours alone tells `absent`: there was no file then."""

    id: str = msgspec.field(default_factory=str)
    session_id: str = msgspec.field(default_factory=str)
    path: str = msgspec.field(default_factory=str)
    content: str = msgspec.field(default_factory=str)
    version: int = msgspec.field(default_factory=int)
    created_at: int = msgspec.field(default_factory=int)
    updated_at: int = msgspec.field(default_factory=int)
    absent: bool = False
    run_id: str = ""


class HistoryFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """One version of a file, as an answer spells it: the original's capitals, and beside them the stream's spelling.

    Ours alone tells `absent` and `run_id`, where there is something to tell.
    """

    capital_id: str = msgspec.field(name="ID")
    capital_session_id: str = msgspec.field(name="SessionID")
    capital_path: str = msgspec.field(name="Path")
    capital_content: str = msgspec.field(name="Content")
    capital_version: int = msgspec.field(name="Version")
    capital_created_at: int = msgspec.field(name="CreatedAt")
    capital_updated_at: int = msgspec.field(name="UpdatedAt")
    id: str
    session_id: str
    path: str
    content: str
    version: int
    created_at: int
    updated_at: int
    absent: bool = False
    run_id: str = ""


def file_to_wire(file: FileVersion) -> File:
    return File(
        file.id,
        file.session_id,
        file.path,
        file.content,
        file.version,
        file.created_at,
        file.updated_at,
        file.absent,
        file.run_id or "",
    )


def history_file(file: FileVersion) -> HistoryFile:
    said = (file.id, file.session_id, file.path, file.content, file.version, file.created_at, file.updated_at)
    return HistoryFile(*said, *said, absent=file.absent, run_id=file.run_id or "")


def file_from_wire(wire: File) -> FileVersion:
    """From either spelling: reading asks for neither capitals nor underscores."""
    return FileVersion(
        id=wire.id,
        session_id=SessionId(wire.session_id),
        path=wire.path,
        content=wire.content,
        version=wire.version,
        created_at=wire.created_at,
        updated_at=wire.updated_at,
        run_id=RunId(wire.run_id) if wire.run_id else None,
        absent=wire.absent,
    )


class FileReading(msgspec.Struct, frozen=True):
    """A client tells that a session has seen a file."""

    session_id: str = ""
    path: str = ""


class CurrentSession(msgspec.Struct, frozen=True):
    """Which session a client looks at; empty for none."""

    session_id: str = ""
