"""What became true, in order: the durable log of a workspace.

An event has happened and cannot be refused. It is written before anyone is told, and its position in the log is
the only order there is.
"""

from enum import StrEnum

import msgspec

from turnkeeper.protocol.clients import ClientName
from turnkeeper.protocol.ids import (
    NO_CLIENT,
    NO_MESSAGE,
    ClientId,
    MessageId,
    Position,
    RequestId,
    RunId,
    SessionId,
    ToolCallId,
)
from turnkeeper.protocol.messages import Message, Part
from turnkeeper.protocol.requests import Answer, Grant, Request
from turnkeeper.protocol.runs import Failure, Outcome, Prompt, RunKind, RunOptions, Usage
from turnkeeper.protocol.sessions import Effect, FileRead, FileVersion, Todo


class Gate(StrEnum):
    """Whether a session goes on by itself."""

    OPEN = "open"
    HELD = "held"
    """The line waits until somebody releases it or submits again."""
    CLOSING = "closing"
    """Nothing more is accepted and nothing more starts; what waits is kept for the next opening."""


class _Event(msgspec.Struct, frozen=True, tag_field="kind", omit_defaults=True):
    pass


class RunAccepted(_Event, frozen=True, tag="RunAccepted"):
    run_id: RunId
    prompt: Prompt
    digest: str = ""
    run_kind: RunKind = RunKind.PROMPT
    minted: bool = False
    foldable: bool = False
    options: RunOptions = RunOptions()
    by: ClientId = NO_CLIENT
    user_message_id: MessageId = NO_MESSAGE
    at: int = 0
    parent: RunId | None = None


class RunStarted(_Event, frozen=True, tag="RunStarted"):
    run_id: RunId


class RunFolded(_Event, frozen=True, tag="RunFolded"):
    """The prompt became part of another run: an ending of its own."""

    run_id: RunId
    into: RunId


class RunStopping(_Event, frozen=True, tag="RunStopping"):
    run_id: RunId
    by: ClientId = NO_CLIENT


class RunComplete(_Event, frozen=True, tag="RunComplete"):
    """The one terminal event of a run."""

    run_id: RunId
    outcome: Outcome
    message_id: MessageId = NO_MESSAGE
    text: str = ""
    failure: Failure | None = None
    usage: Usage = Usage()
    steps: int = 0
    minted: bool = False
    """Whether the run's id was the server's own, which the original wire does not tell."""
    denied: tuple[str, ...] = ()
    """What it wanted to do and was not allowed to, as rules are written."""


class PromptEdited(_Event, frozen=True, tag="PromptEdited"):
    run_id: RunId
    prompt: Prompt
    by: ClientId = NO_CLIENT


class PromptSteered(_Event, frozen=True, tag="PromptSteered"):
    """A waiting prompt was told to join the active run at its next step, or to stand on its own again."""

    run_id: RunId
    foldable: bool
    by: ClientId = NO_CLIENT


class QueueReordered(_Event, frozen=True, tag="QueueReordered"):
    run_ids: tuple[RunId, ...]
    by: ClientId = NO_CLIENT


class GateMoved(_Event, frozen=True, tag="GateMoved"):
    gate: Gate


class RequestAsked(_Event, frozen=True, tag="RequestAsked"):
    request: Request


class RequestAnswered(_Event, frozen=True, tag="RequestAnswered"):
    request_id: RequestId
    answer: Answer
    by: ClientId = NO_CLIENT
    tool_call_id: ToolCallId = ToolCallId("")
    unattended: bool = False
    """Nobody was asked: a rule or a policy decided."""


class RequestWithdrawn(_Event, frozen=True, tag="RequestWithdrawn"):
    request_id: RequestId
    reason: str = ""
    tool_call_id: ToolCallId = ToolCallId("")
    was_question: bool = False


class MessageSaid(_Event, frozen=True, tag="MessageSaid"):
    """A message was added to the conversation, with the parts it had then."""

    message: Message


class PartSaid(_Event, frozen=True, tag="PartSaid"):
    """Part `index` of a message is now this: finished, or structurally changed."""

    message_id: MessageId
    index: int
    part: Part
    at: int = 0


class MessageReset(_Event, frozen=True, tag="MessageReset"):
    """What had been streamed into a message was dropped, because the model is asked again."""

    message_id: MessageId


class MessageDeleted(_Event, frozen=True, tag="MessageDeleted"):
    message_id: MessageId


class UsageCounted(_Event, frozen=True, tag="UsageCounted"):
    """One question's usage. Context sizes replace what was known (None keeps it); money adds up."""

    usage: Usage
    run_id: RunId | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class Delay(StrEnum):
    """What a run waits for, when it is not a person's answer."""

    RETRY = "retry"
    """The model could not answer and is asked again after a pause."""
    SIGN_IN = "sign_in"
    """The provider no longer knows us: somebody has to sign in."""
    REFRESH = "refresh"
    """The provider refused our credentials; fresh ones are on their way."""


class RunWaiting(_Event, frozen=True, tag="RunWaiting"):
    """A run waits, for so many seconds at the most; it goes on by itself, or ends."""

    run_id: RunId
    delay: Delay
    seconds: float
    message: str = ""
    """Why, in a sentence a person can act on."""
    provider: str = ""


class TodosSet(_Event, frozen=True, tag="TodosSet"):
    todos: tuple[Todo, ...]


class SummarySet(_Event, frozen=True, tag="SummarySet"):
    message_id: MessageId


class SessionCreated(_Event, frozen=True, tag="SessionCreated"):
    title: str = ""
    parent_id: SessionId = SessionId("")
    at: int = 0


class SessionRenamed(_Event, frozen=True, tag="SessionRenamed"):
    title: str
    by_person: bool = False


class SessionDeleted(_Event, frozen=True, tag="SessionDeleted"):
    pass


class FileSaid(_Event, frozen=True, tag="FileSaid"):
    file: FileVersion


class FileSeen(_Event, frozen=True, tag="FileSeen"):
    read: FileRead


class GrantGiven(_Event, frozen=True, tag="GrantGiven"):
    grant: Grant


class GrantRevoked(_Event, frozen=True, tag="GrantRevoked"):
    grant_id: str


class EffectNoted(_Event, frozen=True, tag="EffectNoted"):
    effect: Effect


class ConfigChanged(_Event, frozen=True, tag="ConfigChanged"):
    pass


class SkipSet(_Event, frozen=True, tag="SkipSet"):
    """From now on nobody is asked for permission when a client's runs want something, or they are again.

    Without a session it is about all runs of the client; without a client, about those nobody put a name to.
    """

    skip: bool
    by: ClientId = NO_CLIENT
    session_id: SessionId = SessionId("")


class ClientNamed(_Event, frozen=True, tag="ClientNamed"):
    """A client that does something which is kept said who it is, so that it can still be named when it has gone."""

    client: ClientName


Lifecycle = (
    RunAccepted
    | RunStarted
    | RunFolded
    | RunStopping
    | RunComplete
    | PromptEdited
    | PromptSteered
    | QueueReordered
    | GateMoved
    | RequestAsked
    | RequestAnswered
    | RequestWithdrawn
)
"""What the machine decides by itself."""

Fact = (
    MessageSaid
    | PartSaid
    | MessageReset
    | MessageDeleted
    | UsageCounted
    | RunWaiting
    | TodosSet
    | SummarySet
    | SessionCreated
    | SessionRenamed
    | SessionDeleted
    | FileSaid
    | FileSeen
    | GrantGiven
    | GrantRevoked
    | EffectNoted
    | ConfigChanged
    | SkipSet
    | ClientNamed
)
"""What a run, a client or the server has to say, and the machine lets through or not."""

Event = Lifecycle | Fact


class Entry(msgspec.Struct, frozen=True):
    """An event at its place in the log."""

    position: Position
    session_id: SessionId
    event: Event
    at: int = 0
    """When it was written, Unix milliseconds: for people to read, never to sort by."""
