"""What only our own clients ask for to get an overview: searches, copies, accounts, and what a session waits for.

Moments are Unix milliseconds, except where a word of the original's wire stands beside them.
"""

from enum import StrEnum

import msgspec

from turnkeeper.protocol.runs import Usage


class SearchHit(msgspec.Struct, frozen=True, omit_defaults=True):
    """A place where it was said; without a message, it is the session's title. `created_at` is in Unix seconds."""

    session_id: str = msgspec.field(default_factory=str)
    title: str = msgspec.field(default_factory=str)
    message_id: str = ""
    role: str = ""
    created_at: int = 0
    excerpt: str = ""


class ForkRequest(msgspec.Struct, frozen=True, omit_defaults=True):
    """A copy of a conversation: up to and including a message, or all of it."""

    message_id: str = ""
    title: str = ""


class ImportRequest(msgspec.Struct, frozen=True, omit_defaults=True):
    """Which database of the original's to read; without a path, the one of this project."""

    path: str = ""


class Imported(msgspec.Struct, frozen=True):
    """What became of it, by session id. One that is here already is left as it is."""

    path: str = ""
    sessions: tuple[str, ...] = ()
    here_already: tuple[str, ...] = ()
    failed: dict[str, str] = {}


class FileNames(msgspec.Struct, frozen=True):
    """Files of a workspace that somebody may want to name, by their paths from its directory; and if there are more."""

    paths: tuple[str, ...] = ()
    truncated: bool = False


class ProjectNotes(msgspec.Struct, frozen=True):
    """What a model is told of the project before anybody says anything: the branch, and the files of instructions."""

    branch: str = ""
    rules: tuple[str, ...] = ()
    """By their paths from the workspace's directory, where they are below it."""


class WaitKind(StrEnum):
    PERMISSION = "permission"
    QUESTION = "question"
    TOOL = "tool"
    MODEL = "model"
    """Nothing has been heard of the model yet."""
    WRITING = "writing"
    """The model is speaking."""
    RETRY = "retry"
    """The model is asked again in a moment."""
    SIGN_IN = "sign_in"
    """The provider no longer knows us: somebody has to sign in."""
    REFRESH = "refresh"
    """Fresh credentials are being fetched."""
    STOPPING = "stopping"
    SHELL = "shell"
    """A person runs a line beside the conversation."""
    RELEASE = "release"
    """The line is held until a person lets it go on."""
    ENGINE = "engine"
    """Nobody but us: between two of the others."""


class Wait(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that is waited for, since when, and until when at the most."""

    kind: WaitKind
    what: str = ""
    since: int = 0
    until: int = 0
    request_id: str = ""
    session_id: str = ""
    """Where it is waited for, when that is a sub-agent's session."""


class Why(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a session is busy. `now` is the server's clock, so that nobody need compare two."""

    session_id: str = msgspec.field(default_factory=str)
    now: int = msgspec.field(default_factory=int)
    busy: bool = msgspec.field(default_factory=bool)
    title: str = ""
    run_id: str = ""
    prompt: str = ""
    since: int = 0
    steps: int = 0
    waits: tuple[Wait, ...] = ()
    queued: int = 0


class Spending(msgspec.Struct, frozen=True):
    """One line of an account. `key` says of what: a day, a model, an hour, a day of the week."""

    key: str = ""
    runs: int = 0
    usage: Usage = Usage()
    sessions: int = 0


class Statistics(msgspec.Struct, frozen=True):
    """What was used and what it cost. Days and hours are the asker's own; weekdays begin with Monday as 0."""

    since: int = 0
    total: Spending = Spending()
    messages: int = 0
    outcomes: dict[str, int] = {}
    days: tuple[Spending, ...] = ()
    models: tuple[Spending, ...] = ()
    hours: tuple[Spending, ...] = ()
    weekdays: tuple[Spending, ...] = ()
    tools: dict[str, int] = {}
    run_seconds_median: float = 0.0


class ProviderState(msgspec.Struct, frozen=True, omit_defaults=True):
    """A provider as this workspace can use it. `why` says why it cannot be asked."""

    id: str = msgspec.field(default_factory=str)
    name: str = msgspec.field(default_factory=str)
    type: str = ""
    base_url: str = ""
    state: str = msgspec.field(default_factory=str)
    """`ready`, `disabled`, or `unavailable`."""
    why: str = ""
    models: int = msgspec.field(default_factory=int)
    key: str = ""
    """Where its key comes from, in words that hold no secret."""


class JobOutput(msgspec.Struct, frozen=True):
    """What a command said after a position, and where to go on from."""

    text: str = ""
    position: int = 0
    done: bool = False


class BackupRequest(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where the copy goes; without a path, among the workspace's data."""

    path: str = ""


class DatabaseReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of looking after a workspace's database."""

    wrong: tuple[str, ...] = ()
    """What a check found; nothing, if it is whole."""
    path: str = ""
    """Where a copy is."""
    pages: int = 0
    """How many empty pages were given back to the disk."""
