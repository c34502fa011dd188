"""What can be asked of a workspace's database, on any connection, each answer as of one moment."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from turnkeeper.protocol.clients import ClientName
from turnkeeper.protocol.events import Entry, Gate
from turnkeeper.protocol.ids import MessageId, Position, RequestId, RunId, SessionId, ToolCallId
from turnkeeper.protocol.messages import Message, PartKind
from turnkeeper.protocol.requests import Grant, Request
from turnkeeper.protocol.runs import Run, RunState
from turnkeeper.protocol.sessions import Effect, FileRead, FileVersion, SessionInfo
from turnkeeper.store import finding, rows
from turnkeeper.store.database import Database, Row
from turnkeeper.store.record import WRITE
from turnkeeper.store.rules import PieceKey, assembled
from turnkeeper.store.statements import load
from turnkeeper.store.store import NAMES_MAX, Accounts, Found, Piece, Settled, Snapshot, Standing

READ = load("read")


def _all(db: Database, name: str, *bindings: Any) -> Iterable[Row]:
    return db.execute(READ[name], bindings)


def _one(db: Database, name: str, *bindings: Any) -> Row | None:
    return next(iter(list(_all(db, name, *bindings))), None)


def head(db: Database) -> Position:
    return next(db.execute(WRITE["head"]))[0]


def kept_after(db: Database) -> Position:
    return next(db.execute(READ["kept_after"]))[0]


def entries(db: Database, after: Position, limit: int) -> list[Entry]:
    return [rows.entry(row) for row in _all(db, "entries", after, limit)]


def snapshot(db: Database) -> Snapshot:
    return Snapshot(
        position=head(db),
        sessions=tuple(map(rows.session, _all(db, "all_sessions"))),
        runs=tuple(map(rows.run, _all(db, "all_lines"))),
        requests=tuple(map(rows.request, _all(db, "all_requests"))),
        held=tuple(row[0] for row in _all(db, "held")),
        names=tuple(ClientName(*row) for row in _all(db, "names", NAMES_MAX))[::-1],
    )


def standing(db: Database, session_id: SessionId) -> Standing | None:
    info = session(db, session_id)
    gate = _one(db, "gate", session_id)
    if info is None or gate is None:
        return None
    line = [rows.run(row) for row in _all(db, "line", session_id)]
    return Standing(
        session_id,
        info.position,
        Gate(gate[0]),
        next((run for run in line if run.state != RunState.QUEUED), None),
        tuple(run for run in line if run.state == RunState.QUEUED),
        tuple(map(rows.request, _all(db, "requests", session_id))),
    )


def unsettled(db: Database) -> list[SessionId]:
    return [row[0] for row in _all(db, "unsettled")]


def session(db: Database, session_id: SessionId) -> SessionInfo | None:
    row = _one(db, "session", session_id)
    return rows.session(row) if row is not None else None


def sessions(db: Database, parent: SessionId) -> list[SessionInfo]:
    return [rows.session(row) for row in _all(db, "sessions", parent)]


def message(db: Database, message_id: MessageId) -> Message | None:
    return next(iter(_whole(db, "message", message_id)), None)


def messages(db: Database, session_id: SessionId) -> list[Message]:
    return _whole(db, "messages", session_id)


def user_messages(db: Database, session_id: SessionId | None) -> list[Message]:
    return _whole(db, "all_user_messages") if session_id is None else _whole(db, "user_messages", session_id)


def search(db: Database, words: Sequence[str], limit: int) -> list[Found]:
    sifted = _all(db, "texts", finding.sieve(words))
    return list(islice(finding.found(sifted, finding.folded(words)), limit))


def accounts(db: Database, since: int) -> Accounts:
    runs = tuple(rows.spent(row) for row in _all(db, "spent", since))
    return Accounts(runs, dict(_all(db, "tools_called", since)))


def unfinished(db: Database, session_id: SessionId) -> list[Message]:
    return _whole(db, "unfinished", session_id)


def _whole(db: Database, name: str, *bindings: Any) -> list[Message]:
    """With their parts, and those continued as far as they were written behind."""
    return [_assemble(db, row) for row in list(_all(db, name, *bindings))]


def _assemble(db: Database, row: Row) -> Message:
    parts = {place: rows.part(body) for place, body in _all(db, "parts", row[0])}
    return rows.message(row, assembled(parts, map(_keyed, _all(db, "pieces", row[0]))))


def _keyed(row: Row) -> tuple[PieceKey, str]:
    place, part, start, text = row
    return (place, PartKind(part), start), text


def pieces(db: Database, session_id: SessionId) -> list[Piece]:
    return [rows.piece(session_id, row) for row in _all(db, "session_pieces", session_id)]


def run(db: Database, run_id: RunId) -> Run | None:
    row = _one(db, "run", run_id)
    return rows.run(row) if row is not None else None


def runs(db: Database, session_id: SessionId | None, limit: int) -> list[Run]:
    found = _all(db, "all_runs", limit) if session_id is None else _all(db, "runs", session_id, limit)
    return [rows.run(row) for row in found]


def request(db: Database, request_id: RequestId) -> Request | None:
    row = _one(db, "request", request_id)
    return rows.request(row) if row is not None else None


def settled(db: Database, limit: int) -> list[Settled]:
    return [rows.settled(row) for row in _all(db, "settled", limit)]


def grants(db: Database) -> list[Grant]:
    return [rows.grant(row) for row in _all(db, "grants")]


def files(db: Database, session_id: SessionId) -> list[FileVersion]:
    return [rows.file(row) for row in _all(db, "files", session_id)]


def newest_file(db: Database, session_id: SessionId, path: str) -> list[FileVersion]:
    return [rows.file(row) for row in _all(db, "newest_file", session_id, path)]


def file_reads(db: Database, session_id: SessionId) -> list[FileRead]:
    return [rows.file_read(row) for row in _all(db, "file_reads", session_id)]


def file_read(db: Database, session_id: SessionId, path: str) -> FileRead | None:
    row = _one(db, "file_read", session_id, path)
    return rows.file_read(row) if row is not None else None


def effects(db: Database, session_id: SessionId) -> list[Effect]:
    return [rows.effect(row) for row in _all(db, "effects", session_id)]


def effect(db: Database, tool_call_id: ToolCallId) -> Effect | None:
    row = _one(db, "effect", tool_call_id)
    return rows.effect(row) if row is not None else None
