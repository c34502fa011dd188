"""What was used and what it cost: by step, run, session and child, and an estimate where nobody tells."""

import pytest
from anyio import fail_after

from tests.engine.turns.scenes import Noted, told
from turnkeeper.engine.submitting import cancel
from turnkeeper.models.model import ModelInfo
from turnkeeper.models.scripted import CallTool, Hold, Say, ScriptedModel, Turn, Use, turn
from turnkeeper.protocol import events as e
from turnkeeper.protocol.runs import Outcome, Usage
from turnkeeper.protocol.sessions import SessionInfo
from turnkeeper.testing.scene import Stage, scene

PRICED = ModelInfo(
    id="m",
    provider="p",
    context_window=1_000_000,
    cost_per_1m_in=10,
    cost_per_1m_out=20,
    cost_per_1m_in_cached=12.5,
    cost_per_1m_out_cached=1,
)


async def info_of(stage: Stage, session: str) -> SessionInfo:
    from turnkeeper.protocol.ids import SessionId

    info = await stage.store.session(SessionId(session))
    assert info is not None
    return info


async def test_every_step_is_counted_and_runs_and_sessions_add_up() -> None:
    first = Usage(input_tokens=1_000, output_tokens=2_000)
    second = Usage(
        input_tokens=100, output_tokens=10, cache_read_tokens=1_000, cache_write_tokens=400, reasoning_tokens=5
    )
    script = [turn(CallTool("c1", "note"), Use(first)), turn(Say("done"), Use(second)), turn(Say("more"), Use(first))]
    with fail_after(60):
        async with scene(large=ScriptedModel(script, info=PRICED), tools=[Noted().tool]) as stage:
            session = await stage.session("named")
            run = await stage.run("go", session)
            info = await info_of(stage, session)
            counted = await told(stage.store, e.UsageCounted)
            again = await stage.run("more", session)
            after = await info_of(stage, session)
    # 1000 in at 10 and 2000 out at 20 dollars a million; then 100, 10, 1000 from the cache and 400 into it.
    costs = [0.05, 0.001 + 0.0002 + 0.001 + 0.005]
    assert [event.usage.cost for event in counted] == pytest.approx(costs)
    assert run.usage.cost == pytest.approx(sum(costs))
    assert (run.usage.input_tokens, run.usage.output_tokens, run.usage.cache_read_tokens) == (1_100, 2_010, 1_000)
    assert (run.usage.cache_write_tokens, run.usage.reasoning_tokens, run.usage.estimated) == (400, 5, False)
    assert (info.prompt_tokens, info.completion_tokens) == (1_500, 10), "the context: all that was read, the cache too"
    assert (info.cost, info.estimated_usage) == (pytest.approx(sum(costs)), False)
    assert again.usage.cost == pytest.approx(0.05)
    assert after.cost == pytest.approx(sum(costs) + 0.05)


async def test_a_price_the_provider_tells_is_the_price() -> None:
    told_price = Use(Usage(input_tokens=1_000, cost=0.7))
    with fail_after(60):
        async with scene(large=ScriptedModel([turn(Say("x"), told_price)], info=PRICED)) as stage:
            run = await stage.run("go", await stage.session("named"))
    assert run.usage.cost == 0.7


async def test_counts_that_come_in_pieces_are_one_count() -> None:
    pieces = (Use(Usage(input_tokens=100, output_tokens=1)), Say("hello"), Use(Usage(output_tokens=40)))
    with fail_after(60):
        async with scene(large=ScriptedModel([turn(*pieces)], info=PRICED)) as stage:
            run = await stage.run("go", await stage.session("named"))
    assert (run.usage.input_tokens, run.usage.output_tokens) == (100, 40)


async def test_where_the_provider_tells_nothing_there_is_an_estimate_that_says_so_and_costs_nothing() -> None:
    with fail_after(60):
        async with scene(large=ScriptedModel([turn(Say("a" * 400))], info=PRICED)) as stage:
            session = await stage.session("named")
            run = await stage.run("b" * 4_000, session)
            info = await info_of(stage, session)
    assert (run.usage.output_tokens, run.usage.estimated, run.usage.cost) == (100, True, 0.0)
    assert 1_000 <= run.usage.input_tokens < 1_100
    assert (info.estimated_usage, info.cost, info.completion_tokens) == (True, 0.0, 100)


async def test_what_is_not_told_stays_as_it_was_known() -> None:
    script = [
        turn(Say("x"), Use(Usage(input_tokens=500, output_tokens=20))),
        turn(Say("y"), Use(Usage(output_tokens=7))),
    ]
    with fail_after(60):
        async with scene(large=ScriptedModel(script, info=PRICED)) as stage:
            session = await stage.session("named")
            await stage.run("go", session)
            await stage.run("more", session)
            info = await info_of(stage, session)
    assert (info.prompt_tokens, info.completion_tokens) == (500, 7)


@pytest.mark.parametrize("script", [turn(Use(Usage(input_tokens=1_000)), Say("half"), Hold("here"))])
async def test_an_answer_that_was_cancelled_is_paid_for_as_far_as_it_was_counted(script: Turn) -> None:
    with fail_after(60):
        async with scene(large=ScriptedModel([script], info=PRICED)) as stage:
            session = await stage.session("named")
            await stage.submit("go", session)
            await stage.model.reached("here")
            (run,) = await cancel(stage.workspace, session)
            info = await info_of(stage, session)
    assert (run.outcome, run.usage.cost, info.cost) == (Outcome.CANCELLED, pytest.approx(0.01), pytest.approx(0.01))


async def test_a_subscription_costs_nothing_by_the_question() -> None:
    from msgspec.structs import replace

    flat = replace(PRICED, flat_rate=True)
    with fail_after(60):
        async with scene(large=ScriptedModel([turn(Say("x"), Use(Usage(input_tokens=1_000)))], info=flat)) as stage:
            run = await stage.run("go", await stage.session("named"))
    assert (run.usage.input_tokens, run.usage.cost) == (1_000, 0.0)
