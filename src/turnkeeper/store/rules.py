"""What every store agrees on: which events change what, and how a conversation is put together again."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from turnkeeper.protocol.events import (
    ClientNamed,
    ConfigChanged,
    Event,
    GrantGiven,
    GrantRevoked,
    MessageDeleted,
    MessageSaid,
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
    SessionCreated,
    SessionRenamed,
    SkipSet,
    SummarySet,
    TodosSet,
    UsageCounted,
)
from turnkeeper.protocol.ids import RequestId, RunId, SessionId
from turnkeeper.protocol.messages import Part, PartKind, Reasoning, Text, ToolCall
from turnkeeper.protocol.requests import Grant
from turnkeeper.store.store import part_of

TOUCHES_SESSION = (
    RunAccepted,
    MessageSaid,
    MessageDeleted,
    UsageCounted,
    TodosSet,
    SummarySet,
    SessionCreated,
    SessionRenamed,
)
"""What a person would call a change of the session; these move it up in the list."""

OUTLIVES_SESSION = (
    RunStarted,
    RunFolded,
    RunStopping,
    RunComplete,
    PromptEdited,
    PromptSteered,
    QueueReordered,
    RequestAnswered,
    RequestWithdrawn,
    GrantGiven,
    GrantRevoked,
    ConfigChanged,
    SkipSet,
    ClientNamed,
)
"""What may still be said in a deleted session, or in the workspace itself. An accepted run ends, whatever happens."""

RUN_EVENTS = (RunAccepted, RunStarted, RunFolded, RunStopping, RunComplete, PromptEdited, PromptSteered)


def run_of(event: Event) -> RunId | None:
    return event.run_id if isinstance(event, RUN_EVENTS) else None


def request_of(event: Event) -> RequestId | None:
    match event:
        case RequestAsked(request=request):
            return request.id
        case RequestAnswered(request_id=request_id) | RequestWithdrawn(request_id=request_id):
            return request_id
        case _:
            return None


def seconds(at: int) -> int:
    """Sessions and messages tell their times in Unix seconds; the log tells milliseconds."""
    return at // 1000


def reordered(line: Sequence[tuple[RunId, int]], wanted: Iterable[RunId]) -> list[tuple[RunId, int]]:
    """The waiting runs with new places: first those wanted first, then the rest as they stood.

    Places are dealt out again among the same runs, so whoever comes later still comes last.
    """
    waiting = [run_id for run_id, _ in line]
    first = [run_id for run_id in dict.fromkeys(wanted) if run_id in waiting]
    order = first + [run_id for run_id in waiting if run_id not in first]
    return list(zip(order, sorted(place for _, place in line), strict=True))


def holds_for(grant: Grant, session_id: SessionId) -> bool:
    """Whether it was granted to the session alone, and so goes with it."""
    return grant.scope == "session" and grant.session_id == session_id


PieceKey = tuple[int, PartKind, int]
"""Index of the part, which of its texts, and the offset in it."""


def assembled(parts: Mapping[int, Part], pieces: Iterable[tuple[PieceKey, str]]) -> tuple[Part, ...]:
    """A message's parts in order, each continued by what was written behind since it was said."""
    texts: dict[tuple[int, PartKind], list[tuple[int, str]]] = {}
    for (index, kind, offset), text in pieces:
        texts.setdefault((index, kind), []).append((offset, text))
    whole = dict(parts)
    for (index, kind), stretches in sorted(texts.items()):
        part = _continued(whole.get(index), kind, stretches)
        if part is not None:
            whole[index] = part
    return tuple(whole[index] for index in sorted(whole))


def _continued(part: Part | None, kind: PartKind, stretches: list[tuple[int, str]]) -> Part | None:
    match part, kind:
        case None, _:
            return part_of(kind, _joined("", stretches))
        case Text(), PartKind.TEXT:
            return Text(_joined(part.text, stretches))
        case Reasoning(), PartKind.REASONING:
            return msgspec.structs.replace(part, thinking=_joined(part.thinking, stretches))
        case ToolCall(), PartKind.INPUT:
            return msgspec.structs.replace(part, input=_joined(part.input, stretches))
        case _:
            return part


def _joined(begun: str, stretches: list[tuple[int, str]]) -> str:
    """Only what follows without a gap is known to belong there."""
    joined, length = [begun], len(begun)
    for offset, text in sorted(stretches):
        if offset == length:
            joined.append(text)
            length += len(text)
    return "".join(joined)
