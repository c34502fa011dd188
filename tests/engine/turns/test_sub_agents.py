"""Sub-agents: child sessions with runs of their own, that end with the call that sent them."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from anyio import fail_after

from tests.engine.turns.scenes import PATIENT, ROOMY, results, told
from turnkeeper.engine.answering import answer
from turnkeeper.engine.means import Knobs
from turnkeeper.engine.submitting import cancel
from turnkeeper.models.model import Trouble
from turnkeeper.models.scripted import CallTool, Fail, Hold, Say, ScriptedModel, Turn, Use, turn
from turnkeeper.protocol import events as e
from turnkeeper.protocol.ids import ClientId
from turnkeeper.protocol.messages import Role
from turnkeeper.protocol.requests import Decision
from turnkeeper.protocol.runs import Outcome, Run, RunOptions, Usage
from turnkeeper.testing.scene import PlainTool, Stage, scene
from turnkeeper.tools.tool import Asking, Call, Hands

DOLLAR = Use(Usage(input_tokens=1_000_000))


async def delegate(call: Call, hands: Hands) -> str:
    return await hands.delegate(str(call.input.get("prompt", "look")), title="New Agent Session", kind="task")


async def write(call: Call, hands: Hands) -> str:
    await hands.permit(Asking(tool="write", action="write", description="", path="/scene", subject="/scene/x"))
    return "written"


AGENT = PlainTool("agent", delegate, parallel=True)
WRITE = PlainTool("write", write)
SEND = turn(CallTool("c1", "agent", {"prompt": "look closely"}), when="go")
DONE = turn(Say("done"), when="go")


@asynccontextmanager
async def sending(*children: Turn, knobs: Knobs = PATIENT, send: Turn = SEND) -> AsyncGenerator[Stage]:
    with fail_after(100_000):
        model = ScriptedModel([send, *children, DONE], info=ROOMY)
        async with scene(large=model, tools=[AGENT, WRITE], knobs=knobs) as stage:
            yield stage


async def test_a_child_session_answers_its_parents_call() -> None:
    async with sending(turn(Say("I saw it"))) as stage:
        session = await stage.session("named")
        run = await stage.run("go", session, by="someone")
        messages = await stage.messages(session)
        (child,) = await stage.store.sessions(parent=session)
        (own,) = await stage.store.runs(child.id)
        said = await stage.messages(child.id)
    assert (run.text, results(messages)) == ("done", [("c1", "I saw it")])
    assert (child.id, child.title) == (f"{messages[1].id}$$c1", "New Agent Session")
    assert (own.parent, own.outcome, own.minted, own.by) == (run.id, Outcome.COMPLETED, True, "someone")
    assert [(m.role, m.text) for m in said] == [(Role.USER, "look closely"), (Role.ASSISTANT, "I saw it")]
    assert stage.model.questions[1].system == ("You are the task.",)


@pytest.mark.parametrize(
    ("child", "answered"),
    [
        (turn(Say("  ")), "The tool failed: Sub-agent completed but produced no text output."),
        (turn(Fail(Trouble.REFUSED, "no")), "The tool failed: Failed to generate response: no. Asking the same"),
    ],
)
async def test_a_child_without_an_answer_is_told_to_the_model_and_the_parent_goes_on(
    child: Turn, answered: str
) -> None:
    async with sending(child) as stage:
        session = await stage.session("named")
        run = await stage.run("go", session)
        ((_, content),) = results(await stage.messages(session))
    assert (run.outcome, run.text) == (Outcome.COMPLETED, "done")
    assert content.startswith(answered)


@pytest.mark.parametrize("how", ["completed", "failed", "cancelled"])
async def test_a_child_is_paid_for_by_its_parent_however_it_ends(how: str) -> None:
    children = {
        "completed": turn(Say("seen"), DOLLAR),
        "failed": turn(DOLLAR, Fail(Trouble.REFUSED, "no")),
        "cancelled": turn(DOLLAR, Say("half"), Hold("here")),
    }
    async with sending(children[how]) as stage:
        session = await stage.session("named")
        run_id = await stage.submit("go", session)
        if how == "cancelled":
            await stage.model.reached("here")
            await cancel(stage.workspace, session)
        run = await stage.workspace.ended(run_id)
        info = await stage.store.session(session)
        (child,) = await stage.store.sessions(parent=session)
    assert info is not None
    assert (run.usage.cost, info.cost, child.cost) == (pytest.approx(1), pytest.approx(1), pytest.approx(1))
    assert info.prompt_tokens < 1_000_000, "the child's context is not the parent's"


async def test_children_that_overlap_lose_no_cost() -> None:
    send = turn(*[CallTool(f"c{number}", "agent", {"prompt": "look"}) for number in range(5)], when="go")
    async with sending(*[turn(Say("seen"), DOLLAR, when="look")] * 5, send=send) as stage:
        session = await stage.session("named")
        run = await stage.run("go", session)
        info = await stage.store.session(session)
    assert info is not None
    assert (run.usage.cost, info.cost) == (pytest.approx(5), pytest.approx(5))


async def test_a_child_spends_its_parents_budget_and_no_two_spend_the_same_dollar() -> None:
    send = turn(*[CallTool(f"c{number}", "agent", {"prompt": "look"}) for number in range(5)], when="go")
    working = [turn(CallTool("w", "nothing"), DOLLAR, when="look")] * 50
    async with sending(*working, send=send) as stage:
        session = await stage.session("named")
        run = await stage.run("go", session, options=RunOptions(cost_max=7.5))
        ended = await stage.store.runs()
    assert (run.outcome, run.failure and run.failure.cause.value) == (Outcome.FAILED, "limit")
    # Those already asking when it is reached are heard to their end: at most one question of each.
    assert 7.5 <= run.usage.cost <= 7.5 + 5
    assert {one.outcome for one in ended} == {Outcome.FAILED}


async def test_a_parents_time_is_its_childrens_too() -> None:
    async with sending(turn(Say("half"), Hold("here"))) as stage:
        session = await stage.session("named")
        began = anyio.current_time()
        run = await stage.run("go", session, options=RunOptions(seconds_max=20))
        took = anyio.current_time() - began
        (child,) = await stage.store.sessions(parent=session)
        (own,) = await stage.store.runs(child.id)
    assert (run.outcome, took) == (Outcome.FAILED, pytest.approx(20))
    assert own.outcome in (Outcome.CANCELLED, Outcome.FAILED)


async def test_cancelling_the_parent_cancels_its_children_at_once() -> None:
    async with sending(turn(Say("half"), Hold("here"))) as stage:
        session = await stage.session("named")
        run_id = await stage.submit("go", session)
        await stage.model.reached("here")
        began = anyio.current_time()
        stopped = await cancel(stage.workspace, session)
        took = anyio.current_time() - began
        ended = {run.id: run for run in await stage.store.runs()}
    assert took < 0.1
    assert [run.id for run in stopped] == [run_id]
    assert {run.outcome for run in ended.values()} == {Outcome.CANCELLED}
    assert (len(ended), stage.model.streams_open) == (2, 0)


async def test_a_child_is_cancelled_even_in_the_moment_it_is_sent() -> None:
    """Whatever moment the cancel comes in, nothing is left running that nobody waits for."""
    for moments in range(12):
        async with sending(turn(Say("half"), Hold("here"))) as stage:
            session = await stage.session("named")
            await stage.submit("go", session)
            for _ in range(10 + moments):
                await anyio.lowlevel.checkpoint()
            await cancel(stage.workspace, session)
            await anyio.sleep(10)
            unsettled = await stage.store.unsettled()
            runs: list[Run] = await stage.store.runs()
        assert unsettled == []
        assert all(run.outcome is not None for run in runs)


async def test_a_child_that_is_not_done_in_time_is_stopped_and_the_parent_goes_on() -> None:
    async with sending(turn(Say("half"), Hold("here")), knobs=Knobs(sub_agent_seconds=50)) as stage:
        session = await stage.session("named")
        run = await stage.run("go", session)
        ((_, content),) = results(await stage.messages(session))
        (child,) = await stage.store.sessions(parent=session)
        (own,) = await stage.store.runs(child.id)
    assert (run.outcome, run.text, own.outcome) == (Outcome.COMPLETED, "done", Outcome.CANCELLED)
    assert content.endswith("the sub-agent was not done in 50 seconds")


async def test_what_a_child_asks_of_a_person_is_asked_in_the_parents_workspace() -> None:
    async with sending(turn(CallTool("w", "write"), when="look"), turn(Say("wrote it"), when="look")) as stage:
        session = await stage.session("named")
        run_id = await stage.submit("go", session)
        await anyio.sleep(1)
        (request,) = (await stage.store.snapshot()).requests
        assert await answer(stage.workspace, request.id, Decision(allowed=True), by=ClientId("me"))
        run = await stage.workspace.ended(run_id)
        (child,) = await stage.store.sessions(parent=session)
        messages = await stage.messages(session)
    assert request.session_id == child.id
    assert (run.text, results(messages)) == ("done", [("c1", "wrote it")])


async def test_a_question_of_a_child_is_withdrawn_when_the_parent_is_cancelled() -> None:
    async with sending(turn(CallTool("w", "write"), when="look")) as stage:
        session = await stage.session("named")
        await stage.submit("go", session)
        await anyio.sleep(1)
        await cancel(stage.workspace, session)
        pending: Any = (await stage.store.snapshot()).requests
        withdrawn = await told(stage.store, e.RequestWithdrawn)
    assert (pending, len(withdrawn)) == ((), 1)


async def test_a_child_may_ask_the_model_its_parent_was_told_to_use() -> None:
    other = ScriptedModel([SEND, turn(Say("seen by the other")), DONE])
    with fail_after(60):
        async with scene(tools=[AGENT], named={"p/other": other}) as stage:
            session = await stage.session("named")
            run = await stage.run("go", session, options=RunOptions(large_model="p/other"))
    assert (run.text, len(other.questions), stage.model.questions) == ("done", 3, [])
