"""The port to a voice: what is asked of a model, and what it says, piece by piece."""

from collections.abc import AsyncGenerator, Mapping
from enum import StrEnum
from typing import Any, Protocol

import msgspec

from turnkeeper.protocol.ids import ToolCallId
from turnkeeper.protocol.letters import whole
from turnkeeper.protocol.messages import FinishReason, Message
from turnkeeper.protocol.runs import Cause, Usage


class ToolSpec(msgspec.Struct, frozen=True):
    """A tool as a model is told of it. `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


class ModelInfo(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the catalogue knows of a model; prices are US dollars per million tokens."""

    id: str
    provider: str
    name: str = ""
    context_window: int = 0
    default_max_tokens: int = 0
    cost_per_1m_in: float = 0.0
    cost_per_1m_out: float = 0.0
    cost_per_1m_in_cached: float = 0.0
    """Writing to the cache."""
    cost_per_1m_out_cached: float = 0.0
    """Reading from the cache."""
    can_reason: bool = False
    reasoning_levels: tuple[str, ...] = ()
    default_reasoning_effort: str = ""
    supports_images: bool = False
    media_in_tool_results: bool = False
    """Whether the provider takes images inside tool results; if not they follow as a user message."""
    flat_rate: bool = False


class Purpose(StrEnum):
    """What a question is asked for."""

    ANSWER = "answer"
    TITLE = "title"
    SUMMARY = "summary"


class Question(msgspec.Struct, frozen=True):
    """One request to a model: a valid conversation, repaired and cut to size by the asker."""

    system: tuple[str, ...]
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_tokens: int = 0
    session_id: str = ""
    """For providers that keep a conversation on one machine; a hash is sent, never the id."""
    purpose: Purpose = Purpose.ANSWER


class TextSaid(msgspec.Struct, frozen=True):
    text: str


class ReasoningSaid(msgspec.Struct, frozen=True):
    text: str


class ReasoningDone(msgspec.Struct, frozen=True):
    """The stretch of reasoning is over; what its provider wants to see again."""

    signature: str = ""
    provider_data: str = ""


class ToolCallBegun(msgspec.Struct, frozen=True):
    id: ToolCallId
    name: str


class ToolInputSaid(msgspec.Struct, frozen=True):
    id: ToolCallId
    text: str


class ToolCallDone(msgspec.Struct, frozen=True):
    """`input` is the raw JSON text as the model wrote it; it need not be valid."""

    id: ToolCallId
    name: str
    input: str
    provider_data: str = ""
    provider_executed: bool = False


class UsageSaid(msgspec.Struct, frozen=True):
    """Without cost unless the provider itself reports one (`cost` > 0)."""

    usage: Usage


class Finished(msgspec.Struct, frozen=True):
    reason: FinishReason


Chunk = TextSaid | ReasoningSaid | ReasoningDone | ToolCallBegun | ToolInputSaid | ToolCallDone | UsageSaid | Finished
"""Every stream ends with exactly one `Finished`; a stream that stops without it was cut."""


class Trouble(StrEnum):
    """What kind of refusal a model's is: this decides whether asking again can help."""

    BUSY = "busy"
    """429, 5xx, overloaded: later."""
    CUT = "cut"
    """The stream ended before its end."""
    UNREACHABLE = "unreachable"
    """Nobody listens there."""
    AUTH = "auth"
    """401: perhaps after fresh credentials."""
    REFUSED = "refused"
    """400, 403, 404, 422: asking the same again is pointless."""
    CONTEXT_FULL = "context_full"
    SILENT = "silent"
    """It stopped saying anything."""


SET_UP_TITLES = frozenset({"Not Configured", "Model Not Found"})
"""Troubles of these titles are mended in the configuration, not at the provider."""


class ModelTrouble(Exception):
    """The model could not answer."""

    def __init__(
        self,
        trouble: Trouble,
        message: str,
        *,
        title: str = "Provider Error",
        status: int = 0,
        retry_after_seconds: float | None = None,
    ) -> None:
        super().__init__(whole(message))
        self.trouble = trouble
        self.message = whole(message)
        self.title = whole(title)
        self.status = status
        self.retry_after_seconds = retry_after_seconds

    @property
    def cause(self) -> Cause:
        if self.title in SET_UP_TITLES:
            return Cause.USER
        return Cause.AUTH if self.trouble is Trouble.AUTH else Cause.PROVIDER

    @property
    def retryable(self) -> bool:
        return self.trouble in (Trouble.BUSY, Trouble.CUT, Trouble.UNREACHABLE, Trouble.SILENT)


class Model(Protocol):
    @property
    def info(self) -> ModelInfo: ...

    def stream(self, question: Question) -> AsyncGenerator[Chunk, None]:
        """Ask. Closing the generator (or cancelling its reader) closes the connection within 100 ms.

        Foreign failures arrive as `ModelTrouble`; no retry happens inside.
        """
        ...


class Models(Protocol):
    """All voices of a workspace: finds the one that was chosen."""

    async def choose(self, slot: str, override: str = "") -> Model:
        """The model in slot `large` or `small`, or the one named `provider/model`; raises `ModelTrouble`."""
        ...

    async def refresh(self, provider: str, *, since: float) -> bool:
        """Fresh credentials after a 401; whether asking again makes sense.

        Those who ask at the same time share one answer, and what was fetched after `since` (on the event loop's
        clock: when the refused model was chosen) is fresh enough.
        """
        ...

    def can_sign_in(self, provider: str) -> bool:
        """Whether a person could help by signing in to this provider."""
        ...

    async def sign_in_page(self, provider: str) -> str:
        """Where a person signs in so that there are fresh credentials, once that is known; put a limit around it."""
        ...

    async def signed_in(self, provider: str, *, since: float) -> None:
        """Return when somebody has signed in to the provider after `since`; put a limit around it."""
        ...
