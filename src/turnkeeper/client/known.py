"""What a view holds, and how it is changed: by making another one, in which what did not change is the same object."""

from collections.abc import Mapping
from typing import TypeVar

import msgspec

from turnkeeper.client.conversation import Conversation
from turnkeeper.protocol import wire_events as wire
from turnkeeper.protocol.runs import RunState
from turnkeeper.protocol.wire_clients import ClientView, NameView, ShellLine
from turnkeeper.protocol.wire_own import RunView
from turnkeeper.protocol.wire_requests import PermissionRequest, QuestionRequest, Unasked
from turnkeeper.protocol.wire_sessions import File, Session

K = TypeVar("K")
V = TypeVar("V")


class Settled(msgspec.Struct, frozen=True):
    """What became of a request: answered `by` a client (`granted` says how, for a permission), or withdrawn."""

    tool_call_id: str = ""
    by: str = ""
    reason: str = ""
    granted: bool | None = None
    run_id: str = ""
    """Empty where nobody said whose call it was."""


class View(msgspec.Struct, frozen=True):
    sessions: Mapping[str, Session] = {}
    conversations: Mapping[str, Conversation] = {}
    """Those that were read, and those that began under our eyes."""
    runs: Mapping[str, RunView] = {}
    """All that have not ended, and the last that have."""
    queues: Mapping[str, tuple[str, ...]] = {}
    """By session the ids of the runs that wait, first to run first."""
    gates: Mapping[str, str] = {}
    """By session whether it goes on by itself, where that is not `open`."""
    permissions: Mapping[str, PermissionRequest] = {}
    questions: Mapping[str, QuestionRequest] = {}
    """Requests that wait for an answer."""
    settled: Mapping[str, Settled] = {}
    files: Mapping[str, Mapping[str, File]] = {}
    """By session and path the newest version of what it changed."""
    mcp: Mapping[str, wire.MCPEvent] = {}
    lsps: Mapping[str, wire.LSPEvent] = {}
    unasked: frozenset[Unasked] = frozenset()
    """Whose runs ask nobody for permission."""
    clients: Mapping[str, ClientView] = {}
    """Who is attached now, in the order they came."""
    lines: Mapping[str, ShellLine] = {}
    """What people run beside their conversations now, in the order it was begun."""
    names: Mapping[str, NameView] = {}
    """What those are called who did something that is kept, whether they are still there or not."""
    config_revision: int = 0
    """Grows whenever the configuration changed, which is then to be read again."""

    @property
    def skip(self) -> bool:
        """Whether anybody's runs ask nobody for permission."""
        return bool(self.unasked)

    def active(self, session_id: str) -> RunView | None:
        """The run that is going on in a session."""
        going = (RunState.ACTIVE.value, RunState.STOPPING.value)
        return next((run for run in self.runs.values() if run.session_id == session_id and run.state in going), None)

    def is_going_on(self, session_id: str) -> bool:
        """Whether there is something in a session to be stopped: a run, or a line beside it."""
        return self.active(session_id) is not None or bool(self.running(session_id))

    def waiting(self, session_id: str) -> list[RunView]:
        """The runs in line, with their prompts and authors."""
        return [self.runs[id] for id in self.queues.get(session_id, ()) if id in self.runs]

    def running(self, session_id: str) -> list[ShellLine]:
        """The lines that run in a session, and are not yet in its conversation."""
        said = self.conversation(session_id).messages
        return [line for line in self.lines.values() if line.session_id == session_id and line.id not in said]

    def watching(self, session_id: str) -> list[ClientView]:
        """Who looks at a session."""
        return [client for client in self.clients.values() if client.session_id == session_id]

    def name_of(self, client_id: str) -> str:
        """What a client is called; empty if it never said."""
        here, known = self.clients.get(client_id), self.names.get(client_id)
        return (here.name if here else "") or (known.name if known else "")

    def conversation(self, session_id: str) -> Conversation:
        return self.conversations.get(session_id, NOTHING_SAID)


NOTHING_SAID = Conversation()


def with_(known: Mapping[K, V], key: K, value: V) -> dict[K, V]:
    return {**known, key: value}


def without(known: Mapping[K, V], key: K) -> dict[K, V]:
    return {one: value for one, value in known.items() if one != key}
