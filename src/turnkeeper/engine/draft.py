"""A message while it is written: what the model has said so far, part by part.

Each chunk heard becomes at most a few durable facts (a part begun, changed or done) and whispers (fragments of an
open part). Interleaved text, reasoning and tool calls keep their order. The text of an open part is kept in
fragments and joined once, so a long answer costs linear work.
"""

from collections.abc import Callable

import anyio
from msgspec.structs import replace

from turnkeeper.models import model as said
from turnkeeper.protocol import events as e
from turnkeeper.protocol.ids import MessageId, ToolCallId
from turnkeeper.protocol.messages import (
    Delta,
    Finish,
    FinishReason,
    Message,
    Part,
    PartKind,
    Reasoning,
    Text,
    ToolCall,
)
from turnkeeper.protocol.runs import Usage
from turnkeeper.store.store import Piece


class Draft:
    """Owns one unfinished assistant message."""

    def __init__(
        self, message: Message, *, whisper: Callable[[Delta], None], now: Callable[[], int], unsaved_bytes_max: int
    ) -> None:
        self.usage = Usage()
        self.reason = FinishReason.UNKNOWN
        self.heard_at = 0
        """When the model said something last; 0 before it has."""
        self.waiting: e.RunWaiting | None = None
        """Why the model is not asked right now."""
        self.waiting_since = 0
        self.revision = 0
        """Grows with every chunk, so that a view can be made once for many watchers."""
        self._message = message
        self._parts: list[Part] = []
        self._open: PartKind | None = None
        self._fragments: list[str] = []
        self._length = 0
        self._started_at = 0
        self._inputs: dict[ToolCallId, tuple[int, int]] = {}
        self.begun = anyio.Event()
        """Rung when something is unsaved; replaced when nothing is."""
        self.full = anyio.Event()
        """Rung when as much is unsaved as may be; replaced when it was saved."""
        self._unsaved: list[str] = []
        self._unsaved_from = 0
        self._unsaved_bytes = 0
        self._unsaved_bytes_max = unsaved_bytes_max
        self._handed_out: Piece | None = None
        self._untold: list[e.Fact] = []
        self._whisper = whisper
        self._now = now

    @property
    def id(self) -> MessageId:
        return self._message.id

    def message(self) -> Message:
        """The whole message as of now."""
        parts = list(self._parts)
        if self._open:
            parts[-1] = self._open_part()
        return replace(self._message, parts=tuple(parts))

    def hear(self, chunk: said.Chunk) -> list[e.Fact]:
        """Take in a chunk; returns the facts to tell before the next one, and `told` when they are written."""
        self.revision += 1
        self.heard_at, self.waiting = self._now(), None
        facts = self._hear(chunk)
        self._untold += facts
        return facts

    def told(self) -> None:
        """Everything that was returned is on disk. What is not is told again at the end, whatever went wrong."""
        self._untold.clear()

    def _hear(self, chunk: said.Chunk) -> list[e.Fact]:
        match chunk:
            case said.TextSaid(text):
                return self._write(PartKind.TEXT, text if self._parts else text.removeprefix("\n"))
            case said.ReasoningSaid(text):
                return self._write(PartKind.REASONING, text)
            case said.ReasoningDone(signature, provider_data):
                return self._end_reasoning(signature, provider_data)
            case said.ToolCallBegun(call_id, name):
                return [*self.end_part(), self._begin_call(call_id, name)]
            case said.ToolInputSaid(call_id, text):
                self._write_input(call_id, text)
                return []
            case said.ToolCallDone():
                return self._end_call(chunk)
            case said.UsageSaid(usage):
                self.usage = _larger(self.usage, usage)
                return []
            case said.Finished(reason):
                self.reason = reason
                return self.end_part()

    def _write(self, kind: PartKind, text: str) -> list[e.Fact]:
        if not text:
            return []
        facts: list[e.Fact] = []
        if self._open is not kind:
            facts = self.end_part()
            self._parts.append(Text("") if kind is PartKind.TEXT else Reasoning(""))
            self._open = kind
            self._started_at = self._now() // 1000
        index = len(self._parts) - 1
        self._whisper(Delta(self._message.session_id, self._message.id, index, kind, self._length, text))
        self._fragments.append(text)
        self._length += len(text)
        if not self._unsaved:
            self.begun.set()
        self._unsaved.append(text)
        self._unsaved_bytes += len(text.encode())
        if self._unsaved_bytes >= self._unsaved_bytes_max:
            self.full.set()
        return facts

    def _open_part(self) -> Part:
        text = "".join(self._fragments)
        if len(self._fragments) > 1:
            self._fragments = [text]
        return Text(text) if self._open is PartKind.TEXT else Reasoning(text, started_at=self._started_at)

    def end_part(self) -> list[e.Fact]:
        """Close the part being written, if any."""
        if self._open is None:
            return []
        part = self._open_part()
        if isinstance(part, Reasoning):
            part = replace(part, finished_at=self._now() // 1000)
        self._open = None
        self._forget_text()
        return [self._put(len(self._parts) - 1, part)]

    def _put(self, index: int, part: Part) -> e.Fact:
        if index == len(self._parts):
            self._parts.append(part)
        else:
            self._parts[index] = part
        return e.PartSaid(self._message.id, index, part, at=self._now())

    def _end_reasoning(self, signature: str, provider_data: str) -> list[e.Fact]:
        before = [] if self._open is PartKind.REASONING else self.end_part()
        if self._open is None:
            self._parts.append(Reasoning("", started_at=self._now() // 1000))
            self._open = PartKind.REASONING
        self.end_part()
        index = len(self._parts) - 1
        part = self._parts[index]
        assert isinstance(part, Reasoning)
        return [*before, self._put(index, replace(part, signature=signature, provider_data=provider_data))]

    def _begin_call(self, call_id: ToolCallId, name: str) -> e.Fact:
        self._inputs[call_id] = (len(self._parts), 0)
        return self._put(len(self._parts), ToolCall(call_id, name))

    def _write_input(self, call_id: ToolCallId, text: str) -> None:
        if call_id not in self._inputs:
            return
        index, offset = self._inputs[call_id]
        self._inputs[call_id] = (index, offset + len(text))
        self._whisper(Delta(self._message.session_id, self._message.id, index, PartKind.INPUT, offset, text))

    def _end_call(self, done: said.ToolCallDone) -> list[e.Fact]:
        before = self.end_part()
        index, _ = self._inputs.pop(done.id, (len(self._parts), 0))
        call = ToolCall(
            id=done.id,
            name=done.name,
            input=done.input,
            finished=True,
            provider_executed=done.provider_executed,
            provider_data=done.provider_data,
        )
        return [*before, self._put(index, call)]

    def postpone(self, waiting: e.RunWaiting) -> e.RunWaiting:
        """The model is asked again at a later moment."""
        self.waiting, self.waiting_since = waiting, self._now()
        return waiting

    def reset(self) -> e.Fact:
        """Drop what was streamed: the model is asked again."""
        self.heard_at, self.waiting = 0, None
        self._parts, self._inputs = [], {}
        self._open = None
        self._forget_text()
        self.usage, self.reason = Usage(), FinishReason.UNKNOWN
        self.revision += 1
        self._untold = [e.MessageReset(self._message.id)]
        return self._untold[0]

    def _forget_text(self) -> None:
        self._fragments, self._length = [], 0
        self._unsaved, self._unsaved_from, self._unsaved_bytes = [], 0, 0
        self._handed_out = None
        self._hush()

    def _hush(self) -> None:
        """Bells that have rung are replaced; those still to ring are waited for by somebody."""
        if self.full.is_set():
            self.full = anyio.Event()
        if self.begun.is_set() and not self._unsaved:
            self.begun = anyio.Event()

    def finish(self, finish: Finish) -> list[e.Fact]:
        """End the message: what is not yet told, the open part closed, unfinished calls closed, and why it ended."""
        self._untold += self.end_part()
        for index, part in enumerate(self._parts):
            if isinstance(part, ToolCall) and not part.finished:
                self._untold.append(self._put(index, replace(part, input="{}", finished=True)))
        self.revision += 1
        at = next((index for index, part in enumerate(self._parts) if isinstance(part, Finish)), len(self._parts))
        return [*self._untold, self._put(at, finish)]

    def unsaved(self) -> Piece | None:
        """What was written since it was last `saved`, to be kept behind."""
        if self._open is None or not self._unsaved:
            return None
        text = "".join(self._unsaved)
        self._unsaved = [text]
        self._handed_out = Piece(
            self._message.session_id, self._message.id, len(self._parts) - 1, self._open, self._unsaved_from, text
        )
        return self._handed_out

    def saved(self, piece: Piece) -> None:
        """The piece is kept. It may be of a part that has ended meanwhile, whose text is nobody's concern any more."""
        if piece is not self._handed_out:
            return
        del self._unsaved[0]
        self._unsaved_from += len(piece.text)
        self._unsaved_bytes = sum(len(text.encode()) for text in self._unsaved)
        self._hush()


def _larger(one: Usage, other: Usage) -> Usage:
    """Providers repeat or complete their counts as they go; the largest of each is the final one."""
    return Usage(
        input_tokens=max(one.input_tokens, other.input_tokens),
        output_tokens=max(one.output_tokens, other.output_tokens),
        cache_read_tokens=max(one.cache_read_tokens, other.cache_read_tokens),
        cache_write_tokens=max(one.cache_write_tokens, other.cache_write_tokens),
        reasoning_tokens=max(one.reasoning_tokens, other.reasoning_tokens),
        cost=max(one.cost, other.cost),
    )
