"""What a session is doing, in a few words, read from the view alone. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from turnkeeper.client.view import View
from turnkeeper.protocol.messages import PartKind, Role, ShellCommand, ToolCall
from turnkeeper.protocol.runs import RunState
from turnkeeper.protocol.wire_clients import ShellLine

COMMAND_CELLS = 36


@dataclass(frozen=True, slots=True)
class Activity:
    """`since` is in Unix milliseconds; 0 where nobody knows."""

    word: str = ""
    detail: str = ""
    since: int = 0
    needs_person: bool = False

    @property
    def is_busy(self) -> bool:
        return bool(self.word)


def family(view: View, session_id: str) -> frozenset[str]:
    """A session and its sub-agents' sessions, and theirs; of no session, nothing."""
    known = {session_id} if session_id else set[str]()
    grown = True
    while grown:
        more = {one.id for one in view.sessions.values() if one.parent_session_id in known and one.id not in known}
        grown = bool(more)
        known |= more
    return frozenset(known)


def requests_of(view: View, sessions: frozenset[str]) -> list[str]:
    """The ids of what waits for an answer in some sessions, first asked first."""
    permissions = [request.id for request in view.permissions.values() if request.session_id in sessions]
    questions = [request.id for request in view.questions.values() if request.session_id in sessions]
    return [*permissions, *questions]


def waiting_elsewhere(view: View) -> str:
    """A conversation in which something waits for an answer; empty where nothing does."""
    requests = (*view.permissions.values(), *view.questions.values())
    return next((_root(view, request.session_id) for request in requests), "")


def _root(view: View, session_id: str) -> str:
    """The conversation a sub-agent's session belongs to."""
    session = view.sessions.get(session_id)
    if session is None or not session.parent_session_id:
        return session_id
    return _root(view, session.parent_session_id)


def activity(view: View, session_id: str) -> Activity:
    """What is going on in a session at this moment."""
    run = view.active(session_id)
    lines = view.running(session_id)
    if run is None and lines:
        word = "stopping" if all(line.stopping for line in lines) else "running"
        return Activity(word, _named(lines), lines[0].since)
    if run is None:
        held = view.gates.get(session_id) == "held" and view.queues.get(session_id)
        return Activity("held", "the line waits to be released", needs_person=True) if held else Activity()
    since = run.started_at or run.accepted_at
    if run.state == RunState.STOPPING.value:
        return Activity("stopping", "", since)
    members = family(view, session_id)
    if any(request.session_id in members for request in view.permissions.values()):
        return Activity("waiting", "for a permission", since, needs_person=True)
    if any(request.session_id in members for request in view.questions.values()):
        return Activity("waiting", "for an answer", since, needs_person=True)
    word, detail = _doing(view, session_id)
    beside = ", ".join(filter(None, (detail, _named(lines))))
    return Activity("summarising" if run.kind == "summary" else word, beside, since)


def _named(lines: Iterable[ShellLine]) -> str:
    """What people run beside a conversation, so short that how to stop it stays in sight."""
    said = ", ".join("!" + " ".join(line.command.split()) for line in lines)
    return said if len(said) <= COMMAND_CELLS else f"{said[: COMMAND_CELLS - 3]}..."


def _doing(view: View, session_id: str) -> tuple[str, str]:
    conversation = view.conversation(session_id)
    kinds = {spot.kind for spot in conversation.drafts}
    if PartKind.TEXT in kinds:
        return "writing", ""
    if PartKind.INPUT in kinds:
        return "preparing", next((call.name for call in _open_calls(view, session_id)), "a tool")
    names = [call.name for call in _open_calls(view, session_id)]
    if names:
        return "using", ", ".join(dict.fromkeys(names))
    return "thinking", ""


def _open_calls(view: View, session_id: str) -> Iterator[ToolCall]:
    """The tool calls of the last answer that have no result yet."""
    messages = list(view.conversation(session_id).messages.values())
    results: set[str] = set()
    for message in reversed(messages):
        if message.role is Role.TOOL:
            results |= {result.tool_call_id for result in message.tool_results}
        elif message.role is Role.ASSISTANT:
            yield from (call for call in message.tool_calls if call.id not in results)
            return
        elif not any(isinstance(part, ShellCommand) for part in message.parts):
            # What a person ran beside the run says nothing of it.
            return


def clock(seconds: float) -> str:
    """`7s`, `1m05s`, `2h03m`."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02}m"


def ago(seconds: float) -> str:
    """`just now`, `5 min`, `3 h`, `2 d`."""
    whole = max(0, int(seconds))
    for size, unit in ((86400 * 7, "w"), (86400, "d"), (3600, "h"), (60, "min")):
        if whole >= size:
            return f"{whole // size} {unit}"
    return "just now"


def amount(tokens: int) -> str:
    """`950`, `12.3k`, `1.2M`."""
    if tokens < 1000:
        return str(tokens)
    if tokens < 100_000:
        return f"{tokens / 1000:.1f}k"
    if tokens < 1_000_000:
        return f"{tokens // 1000}k"
    return f"{tokens / 1_000_000:.1f}M"


def money(dollars: float) -> str:
    """`$0.00`; under a cent with more digits, so that a little is not nothing."""
    return f"${dollars:.4f}" if 0 < dollars < 0.01 else f"${dollars:.2f}"
