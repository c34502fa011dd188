"""What one of 500 watchers of a workspace costs the others when it has stalled; exit 1 when a bound is broken.

The watchers follow a long streamed answer to its end. One that has stalled took one look and then never asks again, as
a client does whose connection is stuck.
"""

import asyncio
import gc
import sys
import tracemalloc
from collections.abc import Sequence

import anyio

from benchmarks._ratios import Measured, in_turns, report, timed
from turnkeeper.engine.feed import follow
from turnkeeper.engine.workspace import Workspace
from turnkeeper.models.scripted import Say, turn
from turnkeeper.protocol.events import RunComplete
from turnkeeper.protocol.ids import START
from turnkeeper.testing.scene import scene

WATCHERS = 500
DELTAS = 300
LONG_DELTAS = 40_000
"""More than is kept for a watcher that has stalled."""
MIBIBYTE = 1024 * 1024


async def watch(workspace: Workspace) -> None:
    """Everything, until the run has ended."""
    async for entries, _, _ in follow(workspace, START):
        if any(isinstance(entry.event, RunComplete) for entry in entries):
            return


async def stall(workspace: Workspace) -> None:
    async for _ in follow(workspace, START):
        await anyio.sleep_forever()


async def fan_out(stalled: int) -> float:
    """Seconds for each who listens, until all of them have heard an answer to its end."""
    listening = WATCHERS - stalled
    async with scene(turn(Say("word " * DELTAS, characters=5))) as stage, anyio.create_task_group() as tasks:
        session = await stage.session()
        for _ in range(stalled):
            tasks.start_soon(stall, stage.workspace)

        async def work() -> None:
            async with anyio.create_task_group() as watching:
                for _ in range(listening):
                    watching.start_soon(watch, stage.workspace)
                await stage.submit("tell me", session)

        seconds = await timed(work)
        tasks.cancel_scope.cancel()
        return seconds / listening
    raise AssertionError("the answer has an end")


async def memory(stalled: int) -> int:
    """Bytes that are held after a very long answer."""
    async with scene(turn(Say("word " * LONG_DELTAS, characters=5))) as stage, anyio.create_task_group() as tasks:
        session = await stage.session()
        for _ in range(stalled):
            tasks.start_soon(stall, stage.workspace)
        await anyio.wait_all_tasks_blocked()
        tracemalloc.start()
        await stage.run("tell me", session)
        gc.collect()
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        tasks.cancel_scope.cancel()
        return held
    raise AssertionError("the answer has an end")


async def measure() -> Sequence[Measured]:
    slower = await in_turns(lambda _: fan_out(1), lambda _: fan_out(0))
    held = (await memory(1) - await memory(0)) / MIBIBYTE
    return (
        Measured("speed of 499 watchers beside one that has stalled", 1 / slower, 0.9, at_least=True),
        Measured("MiB that are held for one that has stalled", held, 1.0),
    )


if __name__ == "__main__":
    sys.exit(report(asyncio.run(measure())))
