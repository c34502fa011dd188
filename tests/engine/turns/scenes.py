"""What the tests of turns have in common: tools with little to do, and short words for what was said."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import anyio
from msgspec.structs import replace

from turnkeeper.engine.means import Knobs
from turnkeeper.models.scripted import SCRIPTED
from turnkeeper.protocol import events as e
from turnkeeper.protocol.ids import START
from turnkeeper.protocol.messages import Message, Role
from turnkeeper.store.store import Store
from turnkeeper.testing.scene import PlainTool
from turnkeeper.tools.tool import Answer, Call, Hands

PATIENT = Knobs()
"""The knobs as they are delivered: on a clock that jumps, nobody waits for them."""

ROOMY = replace(SCRIPTED, context_window=0)
"""A scripted model that is never full; a dollar for a million tokens read, two for a million written."""

Does = Callable[[Call, Hands], Awaitable[str | Answer]]


class Noted:
    """A tool that remembers the calls it was used for, in the order in which they began."""

    def __init__(self, name: str = "note", *, parallel: bool = False, does: Does | None = None) -> None:
        self.used: list[str] = []
        self._does = does
        self.tool = PlainTool(name, self._use, parallel=parallel)

    async def _use(self, call: Call, hands: Hands) -> str | Answer:
        self.used.append(call.id)
        return await self._does(call, hands) if self._does else f"noted {call.id}"


class Standing:
    """A tool that stands still until it is let go, or until it is cancelled."""

    def __init__(self, name: str = "stand") -> None:
        self.begun = anyio.Event()
        self.go = anyio.Event()
        self.cancelled = 0
        self.tool = PlainTool(name, self._use)

    async def _use(self, call: Call, hands: Hands) -> str:
        self.begun.set()
        try:
            await self.go.wait()
        except anyio.get_cancelled_exc_class():
            self.cancelled += 1
            raise
        return "stood"


def results(messages: Sequence[Message]) -> list[tuple[str, str]]:
    """Every tool result of a conversation: the call's id, and what came of it."""
    return [(result.tool_call_id, result.content) for message in messages for result in message.tool_results]


def finishes(messages: Sequence[Message]) -> list[str]:
    """Why each answer ended, and what is said about it."""
    answers = (message for message in messages if message.role is Role.ASSISTANT)
    return [f"{m.finish.reason.value} {m.finish.message}".strip() if m.finish else "unfinished" for m in answers]


async def told(store: Store, *kinds: type[e.Event]) -> list[Any]:
    """The events of these kinds in the log, in order."""
    return [entry.event for entry in await store.read(START, limit=100_000) if isinstance(entry.event, kinds)]
