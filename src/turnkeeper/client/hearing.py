"""One run as whoever submitted it hears it: its words as they come, its tools, and its ending, once.

    news = hearing.hear(envelope)      in any order, twice, with pieces missing: the same words, each once

What is not of this run is not heard: other runs of the session, other sessions, sub-agents. The ending carries the
final text itself, so that nothing of the answer depends on what was heard before.

Two kinds of server are heard. One of ours names the run in every message, and tells fragments and finished parts. One
of the original tells whole messages and does not say whose: their words are left out, and only the ending is believed.
A caller without a run id takes the words of its session for its own.
"""

import msgspec
from msgspec.structs import replace

from turnkeeper.client.news import Again, Began, Called, Ended, More, Moved, News, Used
from turnkeeper.protocol.messages import Message, PartKind, Role, Text, ToolCall
from turnkeeper.protocol.runs import Outcome, RunState
from turnkeeper.protocol.wire_details import MessageDropped, PartSaid, RunEnded, RunMoved, WireDelta
from turnkeeper.protocol.wire_events import AgentEvent, RunComplete
from turnkeeper.protocol.wire_messages import WireMessage, message_from_wire, part_from_wire
from turnkeeper.protocol.wire_own import FailureView, RunView
from turnkeeper.protocol.wire_stream import Envelope


class _Heard(msgspec.Struct):
    """What was heard of one message: how far each part of text goes, and all of it in order."""

    lengths: dict[int, int] = msgspec.field(default_factory=dict[int, int])
    pieces: list[str] = msgspec.field(default_factory=list[str])
    calls: set[str] = msgspec.field(default_factory=set[str])

    @property
    def text(self) -> str:
        text = "".join(self.pieces)
        self.pieces[:] = [text]
        return text


class Hearing:
    """Owns what has been heard of one run so far."""

    def __init__(self, session_id: str, run_id: str = "") -> None:
        self._session_id = session_id
        self._run_id = run_id
        self._heard: dict[str, _Heard] = {}
        self._used: set[str] = set()
        self._state = ""

    def hear(self, envelope: Envelope) -> list[News]:
        """What this event says of the run; nothing, if it is about something else or was heard before."""
        if self._state == RunState.ENDED:
            return []
        match envelope.payload:
            case WireMessage() as wire if wire.session_id == self._session_id and envelope.type != "deleted":
                return self._message(wire)
            case WireDelta() as delta if delta.part == PartKind.TEXT:
                return self._delta(delta)
            case PartSaid() as said:
                return self._part(said)
            case MessageDropped() as dropped:
                return self._dropped(dropped)
            case RunMoved() as moved if self._is_ours(moved.run_id):
                return self._moved(envelope.kind, moved)
            case RunEnded() | RunComplete() as ended if self._is_our_ending(ended):
                return self._end(ending(ended))
            case AgentEvent() as event if event.error and not self._state and self._is_our_trouble(event):
                # One of our own servers tells how each run moves, and tells its ending better than this.
                failure = FailureView("provider", event.error)
                return self._end(ended_as(self._run_id, self._session_id, Outcome.FAILED, failure=failure))
            case _:
                return []

    # Whose is it?

    def _is_ours(self, run_id: str) -> bool:
        return bool(self._run_id) and run_id == self._run_id

    def _is_our_ending(self, ended: RunEnded | RunComplete) -> bool:
        return self._is_ours(ended.run_id) if self._run_id else ended.session_id == self._session_id

    def _is_our_trouble(self, event: AgentEvent) -> bool:
        """One that names a run is that run's; one that names none is its session's."""
        return self._is_ours(event.run_id) if event.run_id else event.session_id == self._session_id

    # What is said

    def _message(self, wire: WireMessage) -> list[News]:
        if self._run_id and wire.run_id != self._run_id:
            return []
        message = message_from_wire(wire)
        if message.role is Role.TOOL:
            return self._results(message)
        if message.role is not Role.ASSISTANT or message.is_summary:
            return []
        news: list[News] = []
        if message.id not in self._heard:
            self._heard[message.id] = _Heard()
            news.append(Began(message))
        for index, part in enumerate(message.parts):
            match part:
                case Text(text):
                    news += self._text(message.id, index, text)
                case ToolCall():
                    news += self._call(message.id, part)
                case _:
                    pass
        return news

    def _delta(self, delta: WireDelta) -> list[News]:
        heard = self._heard.get(delta.message_id)
        if heard is None:
            return []
        length = heard.lengths.get(delta.index, 0)
        if delta.offset > length or any(index > delta.index for index in heard.lengths):
            return []
        return self._add(delta.message_id, delta.index, delta.text[length - delta.offset :])

    def _part(self, said: PartSaid) -> list[News]:
        if said.message_id not in self._heard:
            return []
        match part_from_wire(said.part):
            case Text(text):
                return self._text(said.message_id, said.index, text)
            case ToolCall() as call:
                return self._call(said.message_id, call)
            case _:
                return []

    def _text(self, message_id: str, index: int, text: str) -> list[News]:
        """A part of text as it is by now; if it is not what was heard of it, the message is told anew."""
        heard = self._heard[message_id]
        length = heard.lengths.get(index, 0)
        before = sum(size for other, size in heard.lengths.items() if other < index)
        if heard.text[before : before + length] == text[:length]:
            return self._add(message_id, index, text[length:])
        heard.pieces[:], heard.lengths = [heard.text[:before]], {i: n for i, n in heard.lengths.items() if i < index}
        again: list[News] = [Again(message_id)]
        if before:
            again.append(More(message_id, heard.text))
        return [*again, *self._add(message_id, index, text)]

    def _add(self, message_id: str, index: int, text: str) -> list[News]:
        if not text:
            return []
        heard = self._heard[message_id]
        heard.lengths[index] = heard.lengths.get(index, 0) + len(text)
        heard.pieces.append(text)
        return [More(message_id, text)]

    def _dropped(self, dropped: MessageDropped) -> list[News]:
        heard = self._heard.get(dropped.message_id)
        if heard is None or not (heard.lengths or heard.calls):
            return []
        self._heard[dropped.message_id] = _Heard()
        return [Again(dropped.message_id)]

    def _call(self, message_id: str, call: ToolCall) -> list[News]:
        calls = self._heard[message_id].calls
        if not call.finished or call.id in calls:
            return []
        calls.add(call.id)
        return [Called(message_id, call)]

    def _results(self, message: Message) -> list[News]:
        fresh = [result for result in message.tool_results if result.tool_call_id not in self._used]
        self._used.update(result.tool_call_id for result in fresh)
        return [Used(result) for result in fresh]

    # How it moves on

    def _moved(self, kind: str, moved: RunMoved) -> list[News]:
        match kind:
            case "run_started":
                state = RunState.ACTIVE
            case "run_stopping":
                state = RunState.STOPPING
            case _:
                run = ended_as(moved.run_id, moved.session_id, Outcome.FOLDED)
                return self._end(replace(run, folded_into=moved.into))
        if self._state in (RunState.STOPPING, state):
            return []
        self._state = state
        return [Moved(state)]

    def _end(self, run: RunView) -> list[News]:
        self._state = RunState.ENDED
        return [Ended(run)]


def ended_as(run_id: str, session_id: str, outcome: Outcome, *, failure: FailureView | None = None) -> RunView:
    """A run that is over, of which little else is known."""
    ended = RunState.ENDED.value
    return RunView(run_id=run_id, session_id=session_id, state=ended, outcome=outcome.value, failure=failure)


def ending(ended: RunEnded | RunComplete) -> RunView:
    """An ending as it came on the stream. The original says only whether it was cancelled, and what went wrong."""
    if isinstance(ended, RunEnded) and ended.outcome:
        known = RunView(run_id=ended.run_id, session_id=ended.session_id, state=RunState.ENDED.value)
        known = replace(known, outcome=ended.outcome, failure=ended.failure, usage=ended.usage)
        known = replace(known, steps=ended.steps, denied=ended.denied)
    elif ended.cancelled:
        known = ended_as(ended.run_id, ended.session_id, Outcome.CANCELLED)
    elif ended.error:
        failure = FailureView("provider", ended.error)
        known = ended_as(ended.run_id, ended.session_id, Outcome.FAILED, failure=failure)
    else:
        known = ended_as(ended.run_id, ended.session_id, Outcome.COMPLETED)
    return replace(known, message_id=ended.message_id, text=ended.text)
