"""What a conversation shows, one frozen item for each thing a person can stop at: a prompt, a text, a tool's use …

An item's `key` stays the same for as long as it is the same thing, whatever becomes of it; two items that are equal are
drawn alike. Nothing here knows how anything looks.
"""

from enum import StrEnum

import msgspec

from turnkeeper.protocol.runs import Usage
from turnkeeper.protocol.wire_requests import QuestionRequest


class Standing(StrEnum):
    """Where a tool call stands. The value is the word a person reads."""

    PENDING = "pending"
    WAITING = "waiting for permission"
    ASKING = "waiting for an answer"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    DENIED = "denied"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"
    UNUSED = "not used"

    @property
    def is_going_on(self) -> bool:
        return self in (Standing.PENDING, Standing.WAITING, Standing.ASKING, Standing.RUNNING)


class Attached(msgspec.Struct, frozen=True):
    """A file that came with a message, without its bytes."""

    name: str
    mime_type: str
    size_bytes: int = 0


class Prompt(msgspec.Struct, frozen=True):
    key: str
    text: str
    author: str
    at: int
    attached: tuple[Attached, ...] = ()


class Said(msgspec.Struct, frozen=True):
    """Text of the model, or of nobody in particular. `writing`: more of it is to come."""

    key: str
    text: str
    writing: bool = False


class Thought(msgspec.Struct, frozen=True):
    key: str
    text: str
    seconds: int = 0
    thinking: bool = False


class Used(msgspec.Struct, frozen=True):
    """A tool call with its result, or with what it has put out so far."""

    key: str
    call_id: str
    name: str
    input: str
    standing: Standing
    content: str = ""
    metadata: str = ""
    mime_type: str = ""
    is_error: bool = False
    output: str = ""
    """What it is putting out while it runs."""
    questions: QuestionRequest | None = None
    """What it waits to hear."""
    child: str = ""
    """The session of its sub-agent, if it has one."""
    nested: "tuple[Item, ...]" = ()
    by: str = ""
    """Who answered its request, where that is known."""


class Shell(msgspec.Struct, frozen=True):
    """A command that a person ran, or that runs."""

    key: str
    command: str
    output: str
    exit_code: int
    author: str
    at: int
    going_on: str = ""
    """A word for what it does, while it has not ended."""


class Summary(msgspec.Struct, frozen=True):
    """What stands for everything before it, where the model goes on from."""

    key: str
    text: str
    writing: bool = False


class Picture(msgspec.Struct, frozen=True):
    key: str
    attached: Attached


class EndKind(StrEnum):
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"
    REFUSED = "refused"
    CUT = "cut short"


class Ending(msgspec.Struct, frozen=True):
    """A run that did not end well: why, what was stopped by it, and whether trying again may help."""

    key: str
    kind: EndKind
    title: str = ""
    message: str = ""
    cause: str = ""
    retryable: bool = False
    stopped: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()


class Footer(msgspec.Struct, frozen=True):
    """What a run took."""

    key: str
    model: str
    provider: str
    seconds: float = 0.0
    steps: int = 0
    usage: Usage | None = None


class Working(msgspec.Struct, frozen=True):
    """A run goes on and nothing else shows it, or somebody told it to stop."""

    key: str
    what: str
    stopping: bool = False


Item = Prompt | Said | Thought | Used | Shell | Summary | Picture | Ending | Footer | Working
