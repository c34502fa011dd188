"""Writing events down: one entry each, and the views it changes, on a connection whose transaction is open."""

from collections.abc import Sequence
from typing import Any

import apsw
import msgspec

from turnkeeper.protocol.events import (
    ClientNamed,
    ConfigChanged,
    EffectNoted,
    Entry,
    Event,
    FileSaid,
    FileSeen,
    GateMoved,
    GrantGiven,
    GrantRevoked,
    MessageDeleted,
    MessageReset,
    MessageSaid,
    PartSaid,
    PromptEdited,
    PromptSteered,
    QueueReordered,
    RequestAnswered,
    RequestAsked,
    RequestWithdrawn,
    RunAccepted,
    RunComplete,
    RunFolded,
    RunStarted,
    RunStopping,
    RunWaiting,
    SessionCreated,
    SessionDeleted,
    SessionRenamed,
    SkipSet,
    SummarySet,
    TodosSet,
    UsageCounted,
)
from turnkeeper.protocol.ids import START, Position, RequestId, RunId, SessionId
from turnkeeper.protocol.messages import Finish, Message
from turnkeeper.protocol.problems import (
    RequestSettled,
    RunNotFound,
    RunNotQueued,
    RunTaken,
    SessionMoved,
    SessionNotFound,
    SessionTaken,
)
from turnkeeper.protocol.requests import Answer
from turnkeeper.protocol.runs import Prompt, RunState, Usage
from turnkeeper.store.database import Database
from turnkeeper.store.faults import refusal_of
from turnkeeper.store.rows import encode, usage
from turnkeeper.store.rules import OUTLIVES_SESSION, TOUCHES_SESSION, reordered, request_of, run_of, seconds
from turnkeeper.store.statements import load
from turnkeeper.store.store import Piece

WRITE = load("write")


class Said(msgspec.Struct, frozen=True):
    """An event with the JSON it is kept as, made before the writer has to wait for it."""

    event: Event
    body: bytes


def append(
    db: Database, session_id: SessionId, told: Sequence[Said], *, after: Position | None, at: int
) -> tuple[Position, list[Entry]]:
    """Where the session's log ends now, and what was added to it."""
    begin, end, here = _ends(db, session_id)
    if after is not None and after != end:
        raise SessionMoved(session_id, expected=after, found=end)
    entries = [Entry(Position(place), session_id, said.event, at) for place, said in enumerate(told, start=begin + 1)]
    for entry, said in zip(entries, told, strict=True):
        here = _admit(entry, here)
        end = entry.position
        try:
            _add(db, entry, said.body)
        except (apsw.ConstraintError, apsw.TooBigError) as error:
            raise refusal_of(error, entry) from error
    _close_session(db, session_id, entries)
    return end, entries


def _add(db: Database, entry: Entry, body: bytes) -> None:
    event = entry.event
    where = (entry.position, entry.session_id, type(event).__name__, run_of(event), request_of(event))
    _run_sql(db, "add_entry", *where, entry.at, body)
    Record(db, entry).write()


def write_behind(db: Database, pieces: Sequence[Piece]) -> None:
    db.executemany(
        WRITE["add_piece"], ((piece.index, piece.part, piece.offset, piece.text, piece.message_id) for piece in pieces)
    )


def prune(db: Database, before: Position) -> int:
    last = next(db.execute(WRITE["last_before"], (before,)))[0]
    if last is None:
        return 0
    forgotten = _run_sql(db, "prune", before)
    _run_sql(db, "set_kept_after", last)
    return forgotten


def _ends(db: Database, session_id: SessionId) -> tuple[Position, Position, bool | None]:
    """Where the log ends and where the session's part of it, and whether the session is there; None: it never was."""
    ((head, position, standing),) = db.execute(WRITE["ends"], (session_id,))
    return head, START if position is None else position, None if standing is None else standing == "here"


def _admit(entry: Entry, here: bool | None) -> bool:
    match entry.event:
        case SessionCreated():
            if here is not None:
                raise SessionTaken(entry.session_id)
            return True
        case event:
            if here is None or (not here and not isinstance(event, OUTLIVES_SESSION)):
                raise SessionNotFound(entry.session_id)
            return here and not isinstance(event, SessionDeleted)


def _close_session(db: Database, session_id: SessionId, entries: Sequence[Entry]) -> None:
    if not entries:
        return
    end = entries[-1].position
    touching = [entry for entry in entries if isinstance(entry.event, TOUCHES_SESSION)]
    if touching:
        _run_sql(db, "touch_session", end, touching[-1].position, seconds(touching[-1].at), session_id)
    else:
        _run_sql(db, "move_session", end, session_id)


def _run_sql(db: Database, name: str, *bindings: Any) -> int:
    """How many rows it changed."""
    db.execute(WRITE[name], bindings)
    return db.changes()


class Record:
    """One entry, and the views it changes."""

    def __init__(self, db: Database, entry: Entry) -> None:
        self._db = db
        self._entry = entry

    def write(self) -> None:
        match self._entry.event:
            case RunAccepted() | RunStarted() | RunFolded() | RunStopping() | RunComplete() as event:
                self._run(event)
            case PromptEdited() | PromptSteered() | QueueReordered() as event:
                self._queue(event)
            case RequestAsked() | RequestAnswered() | RequestWithdrawn() as event:
                self._request(event)
            case MessageSaid() | PartSaid() | MessageReset() | MessageDeleted() as event:
                self._message(event)
            case SessionCreated() | SessionDeleted() | GateMoved() as event:
                self._session(event)
            case SessionRenamed() | TodosSet() | SummarySet() | UsageCounted() as event:
                self._info(event)
            case FileSaid() | FileSeen() | EffectNoted() as event:
                self._file(event)
            case GrantGiven(grant=grant):
                owner = grant.session_id if grant.scope == "session" else ""
                self._put("put_grant", grant.id, self._entry.position, owner, encode(grant))
            case GrantRevoked(grant_id=grant_id):
                self._put("drop_grant", grant_id)
            case ClientNamed(client=client):
                self._put("put_name", client.client_id, self._entry.position, client.name, client.kind)
            case ConfigChanged() | SkipSet() | RunWaiting():
                pass

    def _put(self, name: str, *bindings: Any) -> int:
        return _run_sql(self._db, name, *bindings)

    def _run(self, event: RunAccepted | RunStarted | RunFolded | RunStopping | RunComplete) -> None:
        at = self._entry.at
        match event:
            case RunAccepted():
                self._accept(event)
            case RunStarted(run_id=run_id):
                self._alter(run_id, "start_run", at, run_id)
            case RunStopping(run_id=run_id):
                self._alter(run_id, "stop_run", run_id)
            case RunFolded(run_id=run_id, into=into):
                self._alter(run_id, "fold_run", at, into, run_id)
            case RunComplete(run_id=run_id, outcome=outcome, failure=failure, text=text, message_id=message_id):
                why = encode(failure) if failure is not None else None
                denied = encode(event.denied) if event.denied else None
                self._alter(run_id, "end_run", at, outcome, why, text, message_id, event.steps, denied, run_id)
                if event.usage != Usage():
                    self._put("set_run_usage", *usage(event.usage), run_id)

    def _accept(self, event: RunAccepted) -> None:
        entry = self._entry
        self._put(
            "add_run",
            event.run_id,
            entry.position,
            entry.position,
            entry.session_id,
            event.run_kind,
            event.minted,
            event.foldable,
            event.digest,
            encode(event.prompt),
            encode(event.options),
            event.by,
            event.user_message_id,
            event.at or entry.at,
            event.parent,
        )

    def _alter(self, run_id: RunId, name: str, *bindings: Any) -> None:
        if not self._put(name, *bindings):
            self._state(run_id)
            raise RunTaken

    def _state(self, run_id: RunId) -> RunState:
        for (state,) in self._db.execute(WRITE["run_state"], (run_id,)):
            return RunState(state)
        raise RunNotFound(run_id)

    def _queue(self, event: PromptEdited | PromptSteered | QueueReordered) -> None:
        match event:
            case PromptEdited(run_id=run_id, prompt=prompt):
                self._alter_waiting(run_id, "set_prompt", encode(prompt))
            case PromptSteered(run_id=run_id, foldable=foldable):
                self._alter_waiting(run_id, "set_foldable", foldable)
            case QueueReordered(run_ids=run_ids):
                line = list(self._db.execute(WRITE["waiting"], (self._entry.session_id,)))
                for run_id, place in reordered(line, run_ids):
                    self._put("set_line", place, run_id)

    def _alter_waiting(self, run_id: RunId, name: str, value: Any) -> None:
        if not self._put(name, value, run_id):
            self._state(run_id)
            raise RunNotQueued(run_id)

    def _request(self, event: RequestAsked | RequestAnswered | RequestWithdrawn) -> None:
        match event:
            case RequestAsked(request=request):
                where = (self._entry.position, self._entry.session_id)
                self._put("add_request", request.id, *where, encode(request))
            case RequestAnswered(request_id=request_id, answer=answer, by=by):
                self._settle(request_id, answer, by=by)
            case RequestWithdrawn(request_id=request_id, reason=reason):
                self._settle(request_id, None, reason=reason)

    def _settle(self, request_id: RequestId, answer: Answer | None, *, by: str = "", reason: str = "") -> None:
        said = encode(answer) if answer is not None else None
        where = (self._entry.position, said, by, reason, self._entry.at, request_id)
        if not self._put("settle_request", *where):
            raise RequestSettled(request_id)

    def _message(self, event: MessageSaid | PartSaid | MessageReset | MessageDeleted) -> None:
        if isinstance(event, MessageSaid):
            self._say(event.message)
            return
        for place, session_id in list(self._db.execute(WRITE["find_message"], (event.message_id,))):
            match event:
                case PartSaid(index=index, part=part):
                    is_last = isinstance(part, Finish)
                    self._put("put_part", place, index, is_last, encode(part))
                    self._put("drop_pieces" if is_last else "drop_part_pieces", place, *(() if is_last else (index,)))
                    self._put("touch_message", seconds(self._entry.at), place)
                case MessageReset():
                    self._put("drop_parts", place)
                    self._put("drop_pieces", place)
                    self._put("touch_message", seconds(self._entry.at), place)
                case MessageDeleted():
                    self._put("drop_parts", place)
                    self._put("drop_pieces", place)
                    self._put("drop_message", place)
                    self._put("count_messages", -1, session_id)

    def _say(self, message: Message) -> None:
        place, session_id, now = self._entry.position, self._entry.session_id, seconds(self._entry.at)
        self._put(
            "add_message",
            place,
            message.id,
            session_id,
            message.role,
            message.model,
            message.provider,
            message.created_at or now,
            message.updated_at or now,
            message.is_summary,
            message.run_id,
            message.author,
            message.finish is not None,
        )
        for index, part in enumerate(message.parts):
            self._put("put_part", place, index, isinstance(part, Finish), encode(part))
        self._put("count_messages", 1, session_id)

    def _session(self, event: SessionCreated | SessionDeleted | GateMoved) -> None:
        session_id = self._entry.session_id
        match event:
            case SessionCreated(title=title, parent_id=parent_id, at=at):
                self._put("add_session", session_id, title, parent_id, seconds(at or self._entry.at))
            case GateMoved(gate=gate):
                self._put("set_gate", gate, session_id)
            case SessionDeleted():
                for what in ("pieces", "parts", "messages", "files", "reads", "effects", "requests", "grants"):
                    self._put(f"drop_session_{what}", session_id)
                self._put("bare_session_runs", encode(Prompt("")), session_id)
                self._put("bury_session", session_id)

    def _info(self, event: SessionRenamed | TodosSet | SummarySet | UsageCounted) -> None:
        session_id = self._entry.session_id
        match event:
            case SessionRenamed(title=title, by_person=by_person):
                self._put("set_title", title, by_person, session_id)
            case TodosSet(todos=todos):
                self._put("set_todos", encode(todos) if todos else None, session_id)
            case SummarySet(message_id=message_id):
                self._put("set_summary", message_id, session_id)
            case UsageCounted(usage=counted, prompt_tokens=prompt, completion_tokens=completion):
                context = (prompt, completion)
                self._put("count_session_usage", counted.cost, counted.estimated, *context, session_id)
                if event.run_id is not None:
                    self._put("count_run_usage", *usage(counted), event.run_id)

    def _file(self, event: FileSaid | FileSeen | EffectNoted) -> None:
        position, session_id = self._entry.position, self._entry.session_id
        match event:
            case FileSaid(file=file):
                what = (file.path, file.version, file.content, file.created_at, file.updated_at, file.run_id)
                self._put("add_file", position, file.id, session_id, *what, file.absent, file.form)
            case FileSeen(read=read):
                self._put("put_read", session_id, read.path, read.at, read.digest, read.mtime_ns)
            case EffectNoted(effect=effect):
                noted = msgspec.structs.replace(effect, session_id=session_id)
                self._put("put_effect", session_id, effect.tool_call_id, position, encode(noted))
