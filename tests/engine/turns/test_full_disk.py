"""A disk that is full while a run goes on: what was said and done is not lost."""

from collections.abc import Sequence

import anyio
from anyio import fail_after

from tests.engine.turns.scenes import finishes, results, told
from turnkeeper.models.scripted import CallTool, Hold, Say, turn
from turnkeeper.protocol import events as e
from turnkeeper.protocol.ids import Position, SessionId
from turnkeeper.protocol.messages import Role
from turnkeeper.protocol.problems import StoreUnavailable
from turnkeeper.protocol.runs import Cause, Outcome
from turnkeeper.store.memory import MemoryStore
from turnkeeper.testing.scene import PlainTool, scene
from turnkeeper.tools.tool import Call, Hands


class FullStore(MemoryStore):
    """A store whose disk can be full."""

    full = False

    async def append(
        self, session_id: SessionId, events: Sequence[e.Event], *, after: Position | None, at: int = 0
    ) -> Position:
        if self.full:
            raise StoreUnavailable("database or disk is full")
        return await super().append(session_id, events, after=after, at=at)


async def test_a_result_that_could_not_be_written_is_not_lost_and_the_run_says_what_happened() -> None:
    store = FullStore()

    async def work(call: Call, hands: Hands) -> str:
        store.full = True
        return "worked"

    with fail_after(600):
        async with scene(turn(CallTool("c1", "work")), store=store, tools=[PlainTool("work", work)]) as stage:
            session = await stage.session("named")
            run_id = await stage.submit("go", session)
            await anyio.sleep(stage.workspace.means.knobs.store_seconds + 1)
            store.full = False
            run = await stage.workspace.ended(run_id)
            messages = await stage.messages(session)
    assert run.outcome is Outcome.FAILED
    assert run.failure is not None
    assert (run.failure.cause, run.failure.retryable) == (Cause.SERVER, True)
    assert results(messages) == [("c1", "worked")]
    assert finishes(messages) == ["error Server Error"]
    assert len(await told(store, e.RunComplete)) == 1


async def test_an_answer_that_could_not_be_written_is_written_with_the_ending() -> None:
    store = FullStore()
    with fail_after(600):
        async with scene(turn(Say("half"), Hold("here"), CallTool("c1", "x")), store=store) as stage:
            session = await stage.session("named")
            run_id = await stage.submit("go", session)
            await stage.model.reached("here")
            store.full = True
            stage.model.release("here")
            await anyio.sleep(stage.workspace.means.knobs.store_seconds + 1)
            store.full = False
            run = await stage.workspace.ended(run_id)
            messages = await stage.messages(session)
    assert (run.outcome, run.text) == (Outcome.FAILED, "half")
    assert (messages[-2].text if messages[-1].role is Role.TOOL else messages[-1].text) == "half"
