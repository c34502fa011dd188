"""What a workspace holds in memory does not grow with what it has done, and nothing it began outlives it."""

import sys
from collections.abc import AsyncGenerator

import anyio
from anyio import fail_after

from turnkeeper.models.model import Chunk, Question
from turnkeeper.models.scripted import CallTool, Hold, Say, ScriptedModel, turn
from turnkeeper.protocol import events as e
from turnkeeper.protocol.ids import START
from turnkeeper.protocol.runs import QUEUE_MAX, Outcome
from turnkeeper.store.memory import MemoryStore
from turnkeeper.testing.scene import PlainTool, scene
from turnkeeper.tools.tool import Call, Hands


async def test_after_many_runs_in_many_sessions_nothing_is_left_of_them_in_memory() -> None:
    async def note(call: Call, hands: Hands) -> str:
        return "noted"

    large = ScriptedModel([turn(CallTool("c", "note")), turn(Say("done"))], again=True)
    with fail_after(30):
        async with scene(large=large, tools=[PlainTool("note", note)]) as stage:
            for _ in range(100):
                run = await stage.run("go")
                assert run.outcome is Outcome.COMPLETED
            await anyio.wait_all_tasks_blocked()
            here = stage.workspace
            assert (here.drafts, here.naming, here._running, here._waiting) == ({}, set(), {}, {})
            assert here.sessions_awake <= here.means.knobs.sessions_awake_max


async def test_a_long_line_is_worked_off_without_getting_deeper() -> None:
    depths: list[int] = []

    class Deep(ScriptedModel):
        """Notes how deep in the program it is asked."""

        async def stream(self, question: Question) -> AsyncGenerator[Chunk, None]:
            depth, frame = 0, sys._getframe()
            while frame := frame.f_back:
                depth += 1
            depths.append(depth)
            async for chunk in super().stream(question):
                yield chunk

    large = Deep([turn(Hold("first"), Say("done")), *[turn(Say("done"))] * QUEUE_MAX])
    with fail_after(30):
        async with scene(large=large) as stage:
            session = await stage.session("named")
            runs = [await stage.submit(f"do {number}", session, f"r{number}") for number in range(QUEUE_MAX)]
            await stage.model.reached("first")
            stage.model.release("first")
            ended = [await stage.workspace.ended(run_id) for run_id in runs]
    assert [run.outcome for run in ended] == [Outcome.COMPLETED] * QUEUE_MAX
    assert len(set(depths)) == 1, "the hundredth is asked as the first was"


async def test_a_title_that_is_looked_for_ends_with_its_workspace_and_writes_nothing_afterwards() -> None:
    small, store = ScriptedModel([turn(Hold("title"), Say("Too late"))]), MemoryStore()
    with fail_after(10):
        async with scene(turn(Say("hello")), small=small, store=store) as stage:
            await stage.run("go")
            await small.reached("title")
            await stage.workspace.close(keep_queue=True)
        assert small.streams_open == 0
        head = await store.head()
        small.release("title")
        await anyio.wait_all_tasks_blocked()
        assert await store.head() == head
        told = [entry.event for entry in await store.read(START, limit=1000)]
    assert not [event for event in told if isinstance(event, e.SessionRenamed)]
