"""The fine detail of the stream, for clients that ask for it: every turn of a run's life, fragments, finished parts.

The original's clients skip kinds they do not know, and keys they do not know in kinds they do (`run_complete`).
"""

import msgspec

from turnkeeper.protocol import runs
from turnkeeper.protocol.messages import Delta
from turnkeeper.protocol.runs import Usage
from turnkeeper.protocol.wire_clients import NameView, Presence
from turnkeeper.protocol.wire_messages import WirePart
from turnkeeper.protocol.wire_own import AttachmentView, FailureView


class WireDelta(msgspec.Struct, frozen=True):
    """A fragment: what comes at `offset`, in characters, of part `index`."""

    session_id: str = ""
    message_id: str = ""
    index: int = 0
    part: str = ""
    offset: int = 0
    text: str = ""


def delta_to_wire(delta: Delta) -> WireDelta:
    return WireDelta(delta.session_id, delta.message_id, delta.index, delta.part.value, delta.offset, delta.text)


class RunAccepted(msgspec.Struct, frozen=True, omit_defaults=True):
    session_id: str = msgspec.field(default_factory=str)
    run_id: str = msgspec.field(default_factory=str)
    prompt: str = msgspec.field(default_factory=str)
    attachments: tuple[AttachmentView, ...] = ()
    kind: str = msgspec.field(default_factory=lambda: runs.RunKind.PROMPT.value)
    minted: bool = False
    foldable: bool = False
    by: str = ""
    user_message_id: str = ""
    at: int = 0
    parent: str = ""


class RunMoved(msgspec.Struct, frozen=True, omit_defaults=True):
    """A run started, is stopping, or was folded `into` another."""

    session_id: str = msgspec.field(default_factory=str)
    run_id: str = msgspec.field(default_factory=str)
    into: str = ""
    by: str = ""


class RunEnded(msgspec.Struct, frozen=True, omit_defaults=True):
    """The original's ending, its run always named, and beside it what we know more."""

    session_id: str = msgspec.field(default_factory=str)
    run_id: str = msgspec.field(default_factory=str)
    message_id: str = msgspec.field(default_factory=str)
    text: str = ""
    error: str = ""
    cancelled: bool = False
    outcome: str = ""
    failure: FailureView | None = None
    usage: Usage | None = None
    steps: int = 0
    denied: tuple[str, ...] = ()
    """What the run wanted to do and was not allowed to."""


class PromptChanged(msgspec.Struct, frozen=True, omit_defaults=True):
    """A waiting prompt has another text, or another way to be taken in."""

    session_id: str = msgspec.field(default_factory=str)
    run_id: str = msgspec.field(default_factory=str)
    prompt: str | None = None
    attachments: tuple[AttachmentView, ...] = ()
    foldable: bool | None = None
    by: str = ""


class QueueReordered(msgspec.Struct, frozen=True, omit_defaults=True):
    session_id: str = msgspec.field(default_factory=str)
    run_ids: tuple[str, ...] = msgspec.field(default_factory=lambda: tuple[str, ...]())
    by: str = ""


class GateMoved(msgspec.Struct, frozen=True):
    session_id: str = ""
    gate: str = ""


class PartSaid(msgspec.Struct, frozen=True):
    """Part `index` of a message is now this, whatever deltas were seen or missed."""

    session_id: str = ""
    message_id: str = ""
    index: int = 0
    part: WirePart = WirePart()
    at: int = 0


class MessageDropped(msgspec.Struct, frozen=True):
    """What had been streamed into a message is void."""

    session_id: str = ""
    message_id: str = ""


class RequestClosed(msgspec.Struct, frozen=True, omit_defaults=True):
    """A request was answered `by` someone, or withdrawn for a reason."""

    session_id: str = msgspec.field(default_factory=str)
    request_id: str = msgspec.field(default_factory=str)
    by: str = ""
    reason: str = ""
    decision: str = ""
    """`allowed` or `denied`; of questions, `answered` or `declined`."""


class SkipMoved(msgspec.Struct, frozen=True, omit_defaults=True):
    """From now on runs of client `by` ask nobody for permission, or they do again: in one session, or in all."""

    skip: bool = msgspec.field(default_factory=bool)
    by: str = msgspec.field(default_factory=str)
    session_id: str = ""


class RunWaiting(msgspec.Struct, frozen=True, omit_defaults=True):
    """A run waits: before it asks its model again (`retry`), until there are fresh credentials (`refresh`), or until
    somebody has signed in (`sign_in`)."""

    session_id: str = msgspec.field(default_factory=str)
    run_id: str = msgspec.field(default_factory=str)
    delay: str = msgspec.field(default_factory=str)
    seconds: float = 0.0
    message: str = ""
    provider: str = ""


OwnPayload = (
    WireDelta
    | RunAccepted
    | RunMoved
    | RunEnded
    | PromptChanged
    | QueueReordered
    | GateMoved
    | PartSaid
    | MessageDropped
    | RequestClosed
    | SkipMoved
    | RunWaiting
    | NameView
    | Presence
)

OWN_KINDS: dict[str, type[OwnPayload]] = {
    "delta": WireDelta,
    "run_accepted": RunAccepted,
    "run_started": RunMoved,
    "run_stopping": RunMoved,
    "run_folded": RunMoved,
    "run_complete": RunEnded,
    "prompt_changed": PromptChanged,
    "queue_reordered": QueueReordered,
    "gate_moved": GateMoved,
    "part_said": PartSaid,
    "message_reset": MessageDropped,
    "request_answered": RequestClosed,
    "request_withdrawn": RequestClosed,
    "skip_moved": SkipMoved,
    "run_waiting": RunWaiting,
    "client_named": NameView,
    "presence": Presence,
}
