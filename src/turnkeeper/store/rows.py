"""Between rows and words: what a column holds becomes what it means."""

import msgspec

from turnkeeper.protocol.events import Entry, Event
from turnkeeper.protocol.ids import MessageId, SessionId
from turnkeeper.protocol.messages import Message, Part, PartKind, Role
from turnkeeper.protocol.problems import BadRequest
from turnkeeper.protocol.requests import Answer, Grant, Request
from turnkeeper.protocol.runs import Failure, Outcome, Prompt, Run, RunKind, RunOptions, RunState, Usage
from turnkeeper.protocol.sessions import Effect, FileRead, FileVersion, SessionInfo, Todo
from turnkeeper.store.database import Row
from turnkeeper.store.store import Piece, Settled, Spent

_encoder = msgspec.json.Encoder()
_event = msgspec.json.Decoder(Event)
_part: msgspec.json.Decoder[Part] = msgspec.json.Decoder(Part)
_prompt = msgspec.json.Decoder(Prompt)
_options = msgspec.json.Decoder(RunOptions)
_failure = msgspec.json.Decoder(Failure)
_denied = msgspec.json.Decoder(tuple[str, ...])
_request: msgspec.json.Decoder[Request] = msgspec.json.Decoder(Request)
_answer: msgspec.json.Decoder[Answer] = msgspec.json.Decoder(Answer)
_grant = msgspec.json.Decoder(Grant)
_effect = msgspec.json.Decoder(Effect)
_todos = msgspec.json.Decoder(tuple[Todo, ...])


def encode(thing: object) -> bytes:
    try:
        return _encoder.encode(thing)
    except UnicodeEncodeError as error:
        raise BadRequest("half of a surrogate pair is not text, so it cannot be kept") from error


def entry(row: Row) -> Entry:
    position, session_id, at, body = row
    return Entry(position, session_id, _event.decode(body), at)


def session(row: Row) -> SessionInfo:
    return SessionInfo(
        id=row[0],
        title=row[1],
        parent_id=row[2],
        message_count=row[3],
        prompt_tokens=row[4],
        completion_tokens=row[5],
        estimated_usage=bool(row[6]),
        summary_message_id=row[7],
        cost=row[8],
        todos=_todos.decode(row[9]) if row[9] is not None else (),
        titled_by_person=bool(row[10]),
        created_at=row[11],
        updated_at=row[12],
        position=row[13],
    )


def message(row: Row, parts: tuple[Part, ...]) -> Message:
    return Message(
        id=row[1],
        session_id=row[2],
        role=Role(row[3]),
        parts=parts,
        model=row[4],
        provider=row[5],
        created_at=row[6],
        updated_at=row[7],
        is_summary=bool(row[8]),
        run_id=row[9],
        author=row[10],
    )


def part(body: bytes) -> Part:
    return _part.decode(body)


def piece(session_id: SessionId, row: Row) -> Piece:
    message_id, place, kind, start, text = row
    return Piece(session_id, MessageId(message_id), place, PartKind(kind), start, text)


def run(row: Row) -> Run:
    return Run(
        id=row[0],
        session_id=row[1],
        state=RunState(row[2]),
        kind=RunKind(row[3]),
        minted=bool(row[4]),
        foldable=bool(row[5]),
        digest=row[6],
        prompt=_prompt.decode(row[7]),
        options=_options.decode(row[8]),
        by=row[9],
        user_message_id=row[10],
        accepted_at=row[11],
        started_at=row[12],
        ended_at=row[13],
        outcome=Outcome(row[14]) if row[14] is not None else None,
        failure=_failure.decode(row[15]) if row[15] is not None else None,
        message_id=row[16],
        text=row[17],
        usage=Usage(*row[18:24], estimated=bool(row[24])),
        steps=row[25],
        folded_into=row[26],
        parent=row[27],
        denied=_denied.decode(row[28]) if row[28] is not None else (),
    )


def usage(counted: Usage) -> Row:
    return (
        counted.input_tokens,
        counted.output_tokens,
        counted.cache_read_tokens,
        counted.cache_write_tokens,
        counted.reasoning_tokens,
        counted.cost,
        counted.estimated,
    )


def request(row: Row) -> Request:
    return _request.decode(row[0])


def settled(row: Row) -> Settled:
    body, answer, by, reason, at = row
    return Settled(_request.decode(body), _answer.decode(answer) if answer is not None else None, by, reason, at)


def grant(row: Row) -> Grant:
    return _grant.decode(row[0])


def effect(row: Row) -> Effect:
    return _effect.decode(row[0])


def file(row: Row) -> FileVersion:
    return FileVersion(*row[:8], absent=bool(row[8]), form=row[9])


def file_read(row: Row) -> FileRead:
    return FileRead(*row)


def spent(row: Row) -> Spent:
    return Spent(
        run_id=row[0],
        session_id=row[1],
        outcome=Outcome(row[2]),
        accepted_at=row[3],
        started_at=row[4],
        ended_at=row[5],
        usage=Usage(row[6], row[7], row[8], row[9], row[10], row[11], bool(row[12])),
        steps=row[13],
        parent=row[14],
        provider=row[15] or "",
        model=row[16] or "",
    )
