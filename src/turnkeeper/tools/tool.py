"""The port to a hand: what a tool is told, what it may ask of the house, and what it answers.

A tool's failure is an answer the model can read (`Answer(is_error=True)`). The only exception that ends a step
early is cancellation; anything else a tool raises becomes an error answer where it is used.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from turnkeeper.protocol.ids import MessageId, RunId, SessionId, ToolCallId
from turnkeeper.protocol.requests import Answers, Question
from turnkeeper.protocol.sessions import FileRead, Todo


class Call(msgspec.Struct, frozen=True):
    """One use of a tool: `input` has been parsed into an object and checked against the required keys."""

    id: ToolCallId
    name: str
    input: Mapping[str, Any]


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    content: str
    is_error: bool = False
    metadata: str = ""
    """JSON text for faces; never shown to the model."""
    data: str = ""
    """Media as canonical base64 text."""
    mime_type: str = ""
    stop_turn: bool = False
    """The turn ends after this step: a person said no, or a hook halted it."""


class Asking(msgspec.Struct, frozen=True, omit_defaults=True):
    """A call that wants permission, as a person and the rules see it."""

    tool: str
    action: str
    description: str
    path: str
    subject: str
    """What rules match: the command line, the absolute path, or the URL."""
    params: Mapping[str, Any] | str | None = None
    safe: bool = False
    """The tool knows this call to be harmless: without a rule against it, nobody is asked."""
    subjects: tuple[str, ...] = ()
    """A command line's parts, each of which a rule may deny; empty means `subject` alone."""
    shadows: tuple[str, ...] = ()
    """What it may run beside its parts: only what forbids looks at it."""
    hides: str = ""
    """Why nobody can know what it runs, so that it may be what a rule forbids; empty if it is spelled out."""


class Denied(Exception):
    """User denied permission"""

    def __init__(self, reason: str = "", *, by_person: bool = True) -> None:
        self.reason = reason
        self.by_person = by_person
        said = "User denied permission" if by_person else "Permission denied"
        super().__init__(f"{said}: {reason}" if reason else said)

    @property
    def ends_turn(self) -> bool:
        """A person's plain no ends the turn; a no with a reason, or a rule's, is something to work with."""
        return self.by_person and not self.reason


class Hands(Protocol):
    """What the house lends to one tool call. Everything it writes is durable when the call returns."""

    @property
    def workdir(self) -> Path: ...
    @property
    def data_dir(self) -> Path: ...
    @property
    def session_id(self) -> SessionId: ...
    @property
    def run_id(self) -> RunId: ...
    @property
    def message_id(self) -> MessageId: ...
    @property
    def tool_call_id(self) -> ToolCallId: ...
    @property
    def supports_images(self) -> bool: ...
    @property
    def env(self) -> Mapping[str, str]:
        """The environment of the workspace's client, not the server's own."""
        ...

    async def permit(self, asking: Asking) -> None:
        """Return when the call may be made; raises `Denied`."""
        ...

    async def begin(self, subject: str) -> None:
        """Note durably that the effect is about to happen; call it right before the first side effect."""
        ...

    async def begin_change(self, path: Path, *, before: str | None, form: str = "") -> None:
        """As `begin`, for a file: what it holds (None: there is none) is in the session's history before it is
        touched, so that a change can be taken back also if it is interrupted. `form` is a note of how it is kept.
        """
        ...

    async def question(self, questions: Sequence[Question], *, title: str = "", description: str = "") -> Answers: ...

    async def seen(self, path: Path, *, digest: str, mtime_ns: int) -> None:
        """Remember what the session has now seen of a file."""
        ...

    async def last_seen(self, path: Path) -> FileRead | None: ...

    async def changed(self, path: Path, *, after: str, digest: str, mtime_ns: int, form: str = "") -> None:
        """Record the change that was begun, and that the session knows the file as it is now."""
        ...

    async def todos(self) -> Sequence[Todo]: ...

    async def set_todos(self, todos: Sequence[Todo]) -> None: ...

    async def delegate(self, prompt: str, *, title: str, kind: str, workdir: Path | None = None) -> str:
        """Give a prompt to a sub-agent (`task` or `research`) in a child session, and wait for its text."""
        ...

    def progress(self, text: str) -> None:
        """Show live output to whoever watches; it is not kept."""
        ...


class Tool(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def parameters(self) -> Mapping[str, Any]:
        """A JSON schema of an object."""
        ...

    @property
    def parallel(self) -> bool:
        """Whether several calls of one step may overlap."""
        ...

    async def use(self, call: Call, hands: Hands) -> Answer: ...
