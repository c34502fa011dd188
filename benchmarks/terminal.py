"""How the terminal holds out: a long conversation opened and scrolled, an answer streamed while somebody types.

A key counts everything that passed until what it did was on the screen, be it for the key or for the answer that
streams meanwhile: by the clock, which also waits for the next frame, and in the process's own time beside it.
The ratio to a reference loop says how fast the machine is. Memory is what is kept of drawings once all was in sight.
"""

import asyncio
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from textual.app import ComposeResult
from textual.strip import Strip
from textual.widgets import Input

from turnkeeper.client import view as views
from turnkeeper.client.conversation import Conversation
from turnkeeper.client.view import View
from turnkeeper.protocol.ids import MessageId, SessionId, ToolCallId
from turnkeeper.protocol.messages import STOPPED, Finish, FinishReason, Message, Role, Text, ToolCall, ToolResult
from turnkeeper.protocol.wire_details import WireDelta
from turnkeeper.protocol.wire_stream import Envelope
from turnkeeper.tui.chat.sheet import LINES_KEPT_MAX
from turnkeeper.tui.chat.transcript import Transcript
from turnkeeper.tui.host import Host

MESSAGES = 10_000
OPEN_SECONDS_MAX = 1.0
PAGE_SECONDS_MAX = 0.05
HITCH_SECONDS_MAX = 0.1
PAGES = 300
DELTAS_A_SECOND = 2_000
DELTA_CHARACTERS = 4
TYPING_SECONDS = 6.0
PAUSE_SECONDS = 0.02
KEY_SECONDS_MAX = 0.05
KEPT_BYTES_MAX = 64 << 20
FRAME_SECONDS = 1 / 30
HERE = "s"
CODE = "def answer(question: str) -> int:\n    # All of it.\n    return 42\n"
PROSE = (
    "The parser drops the **last** token when a file does not end with a newline, since what is held back is never "
    "given out. See `tokenize()` and [the report](https://example.org/77).\n\n"
    f"- first this\n- then that\n\n```python\n{CODE}```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
)


def conversation(count: int) -> Conversation:
    """Prompts, answers, and commands with their results, by turns."""
    said: dict[str, Message] = {}
    for at in range(count):
        id = MessageId(f"m{at}")
        match at % 4:
            case 0:
                role, parts = Role.USER, (Text(f"Question {at}: why is the last token lost?"), STOPPED)
            case 1:
                call = ToolCall(ToolCallId(f"c{at}"), "bash", '{"command": "pytest -q"}', finished=True)
                role, parts = Role.ASSISTANT, (Text("Let me run the tests."), call, Finish(FinishReason.TOOL_USE, 1))
            case 2:
                result = ToolResult(ToolCallId(f"c{at - 1}"), "bash", "....\n" * 30)
                role, parts = Role.TOOL, (result, STOPPED)
            case _:
                role, parts = Role.ASSISTANT, (Text(PROSE), Finish(FinishReason.END_TURN, 1))
        said[id] = Message(id, SessionId(HERE), role, parts, model="m", provider="p", created_at=1)
    return Conversation(said, is_whole=True)


class Times(NamedTuple):
    clock: float
    own: float


@dataclass
class Source:
    view: View
    listeners: list[Callable[[View, View], None]] = field(default_factory=list[Callable[[View, View], None]])

    def listen(self, heard: Callable[[View, View], None]) -> Callable[[], None]:
        self.listeners.append(heard)
        return lambda: self.listeners.remove(heard)

    async def read(self, session_id: str) -> None:
        del session_id

    def forget(self, session_id: str) -> None:
        del session_id

    def name_of(self, client_id: str) -> str:
        return client_id or "somebody"


class Page(Transcript):
    seen: object = None

    def render_line(self, y: int) -> Strip:
        self.seen = self.top
        return super().render_line(y)


class Line(Input):
    seen = ""

    def render_line(self, y: int) -> Strip:
        self.seen = self.value
        return super().render_line(y)


class Screen(Host):
    def __init__(self, source: Source) -> None:
        super().__init__(env={})
        self.source = source

        self.displayed = asyncio.Event()

    def compose(self) -> ComposeResult:
        yield Page(self.source)
        yield Line()

    def post_display_hook(self) -> None:
        self.displayed.set()

    async def press(self, key: str, seen: Callable[[], object]) -> Times:
        """Until what the key did is on the screen: `seen` tells what was drawn last."""
        before, clock, own = seen(), time.perf_counter(), time.process_time()
        self.simulate_key(key)
        while seen() == before:
            self.displayed.clear()
            await self.displayed.wait()
        return Times(time.perf_counter() - clock, time.process_time() - own)


def reference() -> float:
    """Work of Python's own, that nobody here can make slower or faster."""
    began = time.process_time()
    for _ in range(20):
        sum(len(f"r{number}") for number in range(20_000))
    return time.process_time() - began


async def opened(said: Conversation) -> float:
    """From asking for a session until it is drawn."""
    app = Screen(Source(View(conversations={HERE: said})))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        began = time.process_time()
        app.query_one(Transcript).show(HERE)
        await pilot.pause()
        return time.process_time() - began


async def scrolled(said: Conversation) -> tuple[list[Times], int]:
    """Each page on the way up from the end, and what drawing kept of all of it, in bytes."""
    app = Screen(Source(View(conversations={HERE: said})))
    async with app.run_test(size=(120, 40)) as pilot:
        chat = app.query_one(Page)
        chat.show(HERE)
        chat.focus()
        await pilot.pause()
        times = [await app.press("b", lambda: chat.seen) for _ in range(PAGES)]
        tracemalloc.start()
        for index in range(0, len(chat.sheet.items), 2):
            chat.sheet.lines(index)
        kept, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert chat.sheet.lines_kept <= LINES_KEPT_MAX + 1_000
        return times, kept


async def typed_while_streaming(said: Conversation) -> tuple[list[Times], float]:
    """How long keys took while an answer came, and how many deltas a second came."""
    last = MessageId("answer")
    begun = Conversation({**said.messages, last: Message(last, SessionId(HERE), Role.ASSISTANT)}, is_whole=True)
    source = Source(View(conversations={HERE: begun}))
    app = Screen(source)
    async with app.run_test(size=(120, 40)) as pilot:
        app.query_one(Transcript).show(HERE)
        line = app.query_one(Line).focus()
        await pilot.pause()
        times: list[Times] = []
        streaming = asyncio.create_task(stream(source, last))
        began = time.perf_counter()
        while (seconds := time.perf_counter() - began) < TYPING_SECONDS:
            times.append(await app.press("x", lambda: line.seen))
            await asyncio.sleep(PAUSE_SECONDS)
        streaming.cancel()
        length = sum(rope.length for rope in source.view.conversation(HERE).drafts.values())
        return times, length / DELTA_CHARACTERS / seconds


async def stream(source: Source, message_id: str) -> None:
    """An answer in fragments, told thirty times a second as `Live` tells it."""
    offset, told_at, view = 0, 0.0, source.view
    began = time.perf_counter()
    while True:
        due = int((time.perf_counter() - began) * DELTAS_A_SECOND)
        for _ in range(due - offset // DELTA_CHARACTERS):
            at = offset % len(PROSE)
            text = (PROSE[at:] + PROSE)[:DELTA_CHARACTERS]
            delta = WireDelta(HERE, message_id, 0, "text", offset, text)
            source.view = views.seen(source.view, Envelope("delta", "updated", delta))
            offset += len(text)
        now = time.perf_counter()
        if now - told_at >= FRAME_SECONDS:
            told_at, before, view = now, view, source.view
            for heard in source.listeners:
                heard(before, view)
        await asyncio.sleep(PAUSE_SECONDS / 4)


def high(times: Sequence[float]) -> float:
    """The 95th of a hundred."""
    return statistics.quantiles(times, n=20)[-1]


def main() -> int:
    said = conversation(MESSAGES)
    yardstick = min(reference() for _ in range(5))
    open_seconds = min(asyncio.run(opened(said)) for _ in range(2))
    pages, kept_bytes = asyncio.run(scrolled(said))
    keys, rate = asyncio.run(typed_while_streaming(said))
    streaming = f"a key while {rate:,.0f} deltas a second come, p95"
    rows = [
        (f"open {MESSAGES:,} messages", open_seconds, OPEN_SECONDS_MAX),
        ("a page up, by the clock, p95", high([page.clock for page in pages]), PAGE_SECONDS_MAX),
        ("a page up, the longest", max(page.own for page in pages), HITCH_SECONDS_MAX),
        (f"{streaming}, by the clock", high([key.clock for key in keys]), KEY_SECONDS_MAX),
        (streaming, high([key.own for key in keys]), KEY_SECONDS_MAX),
    ]
    print(f"{'':60}{'seconds':>10}{'bound':>8}{'ratio':>8}")
    for name, seconds, bound in rows:
        print(f"{name:60}{seconds:10.3f}{bound:8.2f}{seconds / yardstick:8.1f}")
    print(f"kept of drawings once all was in sight: {kept_bytes / (1 << 20):.1f} MiB, bound {KEPT_BYTES_MAX >> 20} MiB")
    fits = all(seconds <= bound for _, seconds, bound in rows) and rate >= DELTAS_A_SECOND * 0.9
    return 0 if fits and kept_bytes <= KEPT_BYTES_MAX else 1


if __name__ == "__main__":
    sys.exit(main())
