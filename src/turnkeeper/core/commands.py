"""What can be asked of a session. A command is a wish; `decide` says what becomes of it."""

import msgspec

from turnkeeper.protocol.events import Fact
from turnkeeper.protocol.ids import NO_CLIENT, NO_MESSAGE, ClientId, MessageId, RequestId, RunId
from turnkeeper.protocol.requests import Answer as AnswerGiven
from turnkeeper.protocol.requests import Decision, Permission, Request
from turnkeeper.protocol.runs import QUEUE_MAX, Failure, Outcome, Prompt, Run, RunKind, RunOptions, Usage


class _Command(msgspec.Struct, frozen=True, tag_field="kind", tag=True, omit_defaults=True):
    pass


class Submit(_Command, frozen=True):
    """Take this prompt. `known` is what memory already has under its run id, in whatever session."""

    run_id: RunId
    prompt: Prompt
    digest: str = ""
    run_kind: RunKind = RunKind.PROMPT
    minted: bool = False
    foldable: bool = False
    only_if_idle: bool = False
    options: RunOptions = RunOptions()
    by: ClientId = NO_CLIENT
    user_message_id: MessageId = NO_MESSAGE
    at: int = 0
    parent: RunId | None = None
    known: Run | None = None
    queue_max: int = QUEUE_MAX
    """How many may wait in line."""


class Fold(_Command, frozen=True):
    """The run stands between two steps: what waits and may join it, joins it."""

    run_id: RunId


class Cancel(_Command, frozen=True):
    """Stop the session (and empty its line), or one run of it."""

    run_id: RunId | None = None
    by: ClientId = NO_CLIENT


class ClearQueue(_Command, frozen=True):
    by: ClientId = NO_CLIENT


class Edit(_Command, frozen=True):
    run_id: RunId
    prompt: Prompt
    by: ClientId = NO_CLIENT


class Steer(_Command, frozen=True):
    """Let a waiting prompt join the active run at its next step, or stand on its own again."""

    run_id: RunId
    foldable: bool = True
    by: ClientId = NO_CLIENT


class Move(_Command, frozen=True):
    """Put a waiting prompt at this place of the line (0 is next; beyond the end is last)."""

    run_id: RunId
    index: int
    by: ClientId = NO_CLIENT


class Finish(_Command, frozen=True):
    run_id: RunId
    outcome: Outcome
    message_id: MessageId = NO_MESSAGE
    text: str = ""
    failure: Failure | None = None
    usage: Usage = Usage()
    steps: int = 0
    denied: tuple[str, ...] = ()


class Recover(_Command, frozen=True):
    """Nobody works on what is active here: end it as interrupted, and go on with the line (or hold it).

    What is known of how far it came is told with its ending.
    """

    hold: bool = False
    message_id: MessageId = NO_MESSAGE
    text: str = ""
    usage: Usage = Usage()
    steps: int = 0


class Release(_Command, frozen=True):
    """Let a held line go on."""


class Close(_Command, frozen=True):
    """The workspace closes: accept nothing more, stop what runs, keep the line for later or cancel it."""

    keep_queue: bool = True
    by: ClientId = NO_CLIENT


class Ask(_Command, frozen=True):
    request: Request


class Answer(_Command, frozen=True):
    """`digest`, where it is given, is that of the call the answer is about: another call is not answered by it."""

    request_id: RequestId
    answer: AnswerGiven
    by: ClientId = NO_CLIENT
    digest: str = ""


class Decided(_Command, frozen=True):
    """A permission that nobody was asked for: a rule, a policy or a standing permission has decided it."""

    request: Permission
    answer: Decision
    by: ClientId = NO_CLIENT


class Withdraw(_Command, frozen=True):
    request_id: RequestId
    reason: str = ""


class Say(_Command, frozen=True):
    """Facts a run has to tell. A run that is no longer active cannot write history."""

    run_id: RunId
    facts: tuple[Fact, ...]


class Note(_Command, frozen=True):
    """Facts of no run: a rename, a shell command typed by a person, a grant."""

    facts: tuple[Fact, ...]


Command = (
    Submit
    | Fold
    | Cancel
    | ClearQueue
    | Edit
    | Steer
    | Move
    | Finish
    | Recover
    | Release
    | Close
    | Ask
    | Answer
    | Decided
    | Withdraw
    | Say
    | Note
)
