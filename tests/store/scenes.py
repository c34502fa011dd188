"""What the tests of the stores say, in few words."""

from collections.abc import Sequence

from turnkeeper.protocol.events import Event, MessageSaid, RunAccepted, RunComplete, RunStarted, SessionCreated
from turnkeeper.protocol.ids import MessageId, Position, RequestId, RunId, SessionId, ToolCallId
from turnkeeper.protocol.messages import Message, Part, PartKind, Role, Text
from turnkeeper.protocol.requests import Permission
from turnkeeper.protocol.runs import Outcome, Prompt
from turnkeeper.store.store import Piece, Store

S = SessionId("s")
T = SessionId("t")
A, B, C = RunId("a"), RunId("b"), RunId("c")
M, N = MessageId("m"), MessageId("n")
Q = RequestId("q")
AT = 1_700_000_000_000
"""Unix milliseconds of everything that happens in a scene."""
SECONDS = AT // 1000


def accepted(run_id: RunId, text: str = "do it") -> RunAccepted:
    return RunAccepted(run_id, Prompt(text), digest=f"digest of {text}")


def completed(run_id: RunId, text: str = "done") -> RunComplete:
    return RunComplete(run_id, Outcome.COMPLETED, text=text)


def said(message_id: MessageId, *parts: Part, role: Role = Role.ASSISTANT, session_id: SessionId = S) -> MessageSaid:
    return MessageSaid(Message(message_id, session_id, role, parts))


def asked(request_id: RequestId = Q, session_id: SessionId = S, run_id: RunId = A) -> Permission:
    return Permission(request_id, session_id, run_id, ToolCallId("call"), "bash", "execute", params={"command": "ls"})


def piece(
    text: str, offset: int = 0, *, index: int = 0, part: PartKind = PartKind.TEXT, message_id: MessageId = M
) -> Piece:
    return Piece(S, message_id, index, part, offset, text)


async def tell(store: Store, *events: Event, session_id: SessionId = S, after: Position | None = None) -> Position:
    return await store.append(session_id, events, after=after, at=AT)


async def begin(store: Store, *events: Event, session_id: SessionId = S) -> Position:
    """A session, and what is said in it first."""
    return await tell(store, SessionCreated("A session"), *events, session_id=session_id)


def texts(messages: Sequence[Message]) -> list[str]:
    return [message.text for message in messages]


__all__ = [
    "AT",
    "SECONDS",
    "A",
    "B",
    "C",
    "M",
    "N",
    "Q",
    "RunStarted",
    "S",
    "T",
    "Text",
    "accepted",
    "asked",
    "begin",
    "completed",
    "piece",
    "said",
    "tell",
    "texts",
]
