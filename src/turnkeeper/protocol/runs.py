"""What a client submits, and how its life ends."""

from enum import StrEnum

import msgspec

from turnkeeper.protocol.ids import NO_CLIENT, NO_MESSAGE, ClientId, MessageId, RunId, SessionId

QUEUE_MAX = 100
"""How many prompts may wait in one session."""


class Attachment(msgspec.Struct, frozen=True):
    file_path: str = ""
    file_name: str = ""
    mime_type: str = ""
    content: bytes = b""


class Prompt(msgspec.Struct, frozen=True, omit_defaults=True):
    text: str
    attachments: tuple[Attachment, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to answer: no text, and nothing attached that can be read as text."""
        return not self.text and not any(a.mime_type.startswith("text/") for a in self.attachments)


class RunKind(StrEnum):
    PROMPT = "prompt"
    SUMMARY = "summary"


class RunOptions(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one run may be told that its workspace is not."""

    large_model: str = ""
    """`provider/model`, for this run only."""
    small_model: str = ""
    agent: str = "coder"
    """What kind of agent takes it: `coder`, or for a sub-agent `task` or `research`."""
    workdir: str = ""
    """Where a sub-agent works, if not in the workspace's directory."""
    interactive: bool = True
    """Whether somebody is there to answer requests; if not, the run's own policy answers at once."""
    yolo: bool = False
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    steps_max: int | None = None
    tokens_max: int | None = None
    cost_max: float | None = None
    seconds_max: float | None = None


class Outcome(StrEnum):
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    """Someone asked."""
    INTERRUPTED = "interrupted"
    """The server stopped."""
    FOLDED = "folded"
    """Another run took the prompt in."""


class Cause(StrEnum):
    """Who a failure belongs to, so that a person knows where to look."""

    PROVIDER = "provider"
    AUTH = "auth"
    LIMIT = "limit"
    TOOL = "tool"
    POLICY = "policy"
    SERVER = "server"
    USER = "user"


class Failure(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a run did not complete: a sentence a person can act on."""

    cause: Cause
    message: str
    details: str = ""
    retryable: bool = False


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Tokens and money. Money is in US dollars."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    cost: float = 0.0
    estimated: bool = False

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
            cost=self.cost + other.cost,
            estimated=self.estimated or other.estimated,
        )


class RunState(StrEnum):
    QUEUED = "queued"
    ACTIVE = "active"
    STOPPING = "stopping"
    ENDED = "ended"


class Run(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is known of a run: from accepted to its ending."""

    id: RunId
    session_id: SessionId
    state: RunState
    kind: RunKind = RunKind.PROMPT
    minted: bool = False
    """Whether the server named it because its client did not; such an id is not on the original wire."""
    foldable: bool = False
    digest: str = ""
    """Of the prompt as first submitted: the same run id with another digest is a conflict."""
    prompt: Prompt = Prompt("")
    options: RunOptions = RunOptions()
    by: ClientId = NO_CLIENT
    user_message_id: MessageId = NO_MESSAGE
    accepted_at: int = 0
    started_at: int = 0
    ended_at: int = 0
    outcome: Outcome | None = None
    failure: Failure | None = None
    message_id: MessageId = NO_MESSAGE
    text: str = ""
    usage: Usage = Usage()
    steps: int = 0
    folded_into: RunId | None = None
    parent: RunId | None = None
    """The run whose sub-agent this is."""
    denied: tuple[str, ...] = ()
    """What it wanted to do and was not allowed to, as rules are written."""
