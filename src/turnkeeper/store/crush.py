"""Reading the original's database (`.crush/crush.db`), so that nobody has to leave their conversations behind.

It is opened for reading only and never changed, also while its own program works on it. What it cannot say is read as
the plainest thing there is; a part of a kind we do not know is left out rather than the conversation refused.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

import apsw
import msgspec

from turnkeeper.protocol.ids import MessageId, SessionId
from turnkeeper.protocol.messages import STOPPED, Finish, Message, Part, Reasoning, Role, ToolCall
from turnkeeper.protocol.problems import NotFound, Problem
from turnkeeper.protocol.sessions import FileRead, FileVersion, SessionInfo
from turnkeeper.protocol.transcripts import Transcript
from turnkeeper.protocol.wire_messages import WirePart, part_from_wire
from turnkeeper.protocol.wire_sessions import WireTodo, todos_from_wire
from turnkeeper.store.database import BUSY_MILLISECONDS, Database, Row
from turnkeeper.store.statements import load

DATABASE = "crush.db"
READ = load("crush")
KNOWN_PARTS = frozenset(
    {"text", "reasoning", "tool_call", "tool_result", "finish", "image_url", "binary", "shell_command"}
)

Result = TypeVar("Result")


class NoDatabase(NotFound):
    """There is no database of the original's."""


class NotReadable(Problem):
    """This is no database of the original's, or one that cannot be read."""

    status = 400


def session_ids(path: Path) -> list[SessionId]:
    """Every conversation in it, the least recently changed first, so that the latest is taken in last."""
    return _ask(path, lambda db: [SessionId(row[0]) for row in _rows(db, "sessions")])


def transcript(path: Path, session_id: SessionId) -> Transcript:
    return _ask(path, lambda db: _transcript(db, session_id))


def _ask(path: Path, question: Callable[[Database], Result]) -> Result:
    if not path.is_file():
        raise NoDatabase(f"there is no database {path}")
    try:
        db = _connect(path)
        try:
            return question(db)
        finally:
            db.close(True)
    except (apsw.Error, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise NotReadable(f"{path} cannot be read as the original's database: {error}") from error


def _connect(path: Path) -> Database:
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    db.set_busy_timeout(BUSY_MILLISECONDS)
    return cast(Database, db)


def _rows(db: Database, name: str, *bindings: Any) -> list[Row]:
    return list(db.execute(READ[name], bindings))


def _transcript(db: Database, session_id: SessionId) -> Transcript:
    found = _rows(db, "session", session_id)
    if not found:
        raise NoDatabase(f"there is no session {session_id} any more")
    return Transcript(
        info=_info(found[0]),
        messages=tuple([_message(row) for row in _rows(db, "messages", session_id)]),
        files=tuple(_files(_rows(db, "files", session_id))),
        reads=tuple([FileRead(session_id, row[0], row[1]) for row in _rows(db, "reads", session_id)]),
    )


def _info(row: Row) -> SessionInfo:
    todos = msgspec.json.decode(row[9], type=tuple[WireTodo, ...]) if row[9] else ()
    return SessionInfo(
        id=SessionId(row[0]),
        parent_id=SessionId(row[1] or ""),
        title=row[2],
        prompt_tokens=row[3],
        completion_tokens=row[4],
        cost=row[5],
        updated_at=row[6],
        created_at=row[7],
        summary_message_id=MessageId(row[8] or ""),
        todos=todos_from_wire(todos),
    )


def _message(row: Row) -> Message:
    id, session_id, role, parts, model, created_at, updated_at, provider, is_summary = row
    read = tuple(_parts(msgspec.json.decode(parts, type=list[dict[str, Any]])))
    if role != Role.ASSISTANT and not any(isinstance(part, Finish) for part in read):
        read = (*read, STOPPED)
    return Message(
        id=MessageId(id),
        session_id=SessionId(session_id),
        role=Role(role) if role in frozenset(Role) else Role.ASSISTANT,
        parts=read,
        model=model or "",
        provider=provider or "",
        created_at=created_at,
        updated_at=updated_at,
        is_summary=bool(is_summary),
    )


def _parts(parts: Iterable[dict[str, Any]]) -> Iterator[Part]:
    """As on the wire, with the few things that are kept there and never sent."""
    for said in parts:
        kind, data = str(said.get("type")), cast(dict[str, Any], said.get("data") or {})
        if kind not in KNOWN_PARTS:
            continue
        part = part_from_wire(WirePart(kind, data))
        match part:
            case Reasoning() if data.get("thought_signature"):
                part = msgspec.structs.replace(part, signature=part.signature or str(data["thought_signature"]))
            case ToolCall() if data.get("provider_executed"):
                part = msgspec.structs.replace(part, provider_executed=True)
            case _:
                pass
        yield part


def _files(rows: Iterable[Row]) -> Iterator[FileVersion]:
    """Versions count from 0 in each session and path with us; there, across all sessions."""
    counted: dict[str, int] = {}
    for id, session_id, path, content, created_at, updated_at in rows:
        version = counted.get(path, 0)
        counted[path] = version + 1
        yield FileVersion(id, SessionId(session_id), path, content, version, created_at, updated_at)
