"""A cancel, in every phase of a run: it takes no time, leaves nothing open, and starts nothing."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
import pytest
from anyio import fail_after

from tests.engine.turns.scenes import PATIENT, Noted, Standing, finishes, results, told
from turnkeeper.core import commands
from turnkeeper.engine.submitting import cancel, summarise
from turnkeeper.models.model import Trouble
from turnkeeper.models.scripted import CallTool, Fail, Hold, Say, ScriptedModel, Think, Turn, turn
from turnkeeper.protocol import events as e
from turnkeeper.protocol.ids import SessionId
from turnkeeper.protocol.messages import Reasoning, Role
from turnkeeper.protocol.requests import Question, QuestionType
from turnkeeper.protocol.runs import Outcome, Run
from turnkeeper.testing.scene import PlainTool, Stage, scene
from turnkeeper.tools.tool import Asking, Call, Hands

AT_ONCE_SECONDS = 0.1


async def ask_permission(call: Call, hands: Hands) -> str:
    await hands.permit(Asking(tool="write", action="write", description="", path="/scene", subject="/scene/x"))
    return "written"


async def ask_question(call: Call, hands: Hands) -> str:
    answers = await hands.question([Question("q", QuestionType.FREE_TEXT, "which?")])
    return "cancelled" if answers.cancelled else "answered"


async def delegate(call: Call, hands: Hands) -> str:
    return await hands.delegate("look", title="A child", kind="task")


@dataclass
class Phase:
    """A script that comes to stand in a phase, and what its calls are answered in the end."""

    turns: tuple[Turn, ...]
    results: tuple[str, ...] = ()
    finishes: tuple[str, ...] = ("canceled User canceled request",)


CANCELLED = "Error: user cancelled assistant tool calling"
FULL = turn(Fail(Trouble.CONTEXT_FULL, "prompt is too long"))
NOTED = ("noted c0", CANCELLED, CANCELLED)
PHASES = {
    "before the first word": Phase((turn(Hold("here")),)),
    "thinking": Phase((turn(Think("hm", characters=1), Hold("here")),)),
    "speaking": Phase((turn(Say("half"), Hold("here")),)),
    "calling": Phase((turn(CallTool("c1", "note"), Hold("here")),), (CANCELLED,)),
    "a tool": Phase((turn(CallTool("c0", "note"), CallTool("c1", "stand"), CallTool("c2", "note")),), NOTED),
    "a permission": Phase((turn(CallTool("c0", "note"), CallTool("c1", "permit"), CallTool("c2", "note")),), NOTED),
    "a question": Phase((turn(CallTool("c0", "note"), CallTool("c1", "question"), CallTool("c2", "note")),), NOTED),
    "a sub-agent": Phase((turn(CallTool("c1", "agent")), turn(Say("child"), Hold("here"))), (CANCELLED,)),
    "a pause before asking again": Phase((turn(Fail(Trouble.BUSY, retry_after_seconds=50)),)),
    "nobody listens": Phase((turn(Fail(Trouble.UNREACHABLE), when="go"),) * 9),
    "a sign-in": Phase((turn(Fail(Trouble.AUTH)),)),
    "a summary": Phase((FULL, turn(Say("sum"), Hold("here")))),
    "after a summary": Phase((FULL, turn(Say("sum")), turn(Hold("here"))), (), ("end_turn", *Phase(()).finishes)),
}


@asynccontextmanager
async def standing(phase: Phase) -> AsyncGenerator[tuple[Stage, SessionId, str, Noted]]:
    """A run that stands in its phase: nothing moves any more by itself for a while."""
    note, stand = Noted(), Standing()
    tools = [
        note.tool,
        stand.tool,
        PlainTool("permit", ask_permission),
        PlainTool("question", ask_question),
        PlainTool("agent", delegate),
    ]
    async with scene(*phase.turns, tools=tools, knobs=PATIENT) as stage:
        stage.models.people_sign_in = True
        session = await stage.session("named")
        run_id = await stage.submit("go", session, "r1")
        with anyio.move_on_after(0.01):
            await anyio.sleep(1)
        yield stage, session, run_id, note


@pytest.mark.parametrize("name", PHASES)
async def test_a_cancel_takes_no_time_and_leaves_nothing_open(name: str) -> None:
    phase = PHASES[name]
    with fail_after(60):
        async with standing(phase) as (stage, session, run_id, note):
            began = anyio.current_time()
            stopped = await cancel(stage.workspace, session)
            took = anyio.current_time() - began
            questions = len(stage.model.questions)
            used = list(note.used)
            await anyio.sleep(30)
            messages = await stage.messages(session)
            endings = [ending for ending in await told(stage.store, e.RunComplete) if ending.run_id == run_id]
            standing_after = await stage.store.standing(session)
    assert took < AT_ONCE_SECONDS
    assert [(run.id, run.outcome) for run in stopped] == [(run_id, Outcome.CANCELLED)]
    assert [ending.outcome for ending in endings] == [Outcome.CANCELLED]
    assert (stage.model.streams_open, len(stage.model.questions), note.used) == (0, questions, used)
    assert tuple(finishes(messages)) == phase.finishes
    assert tuple(content for _, content in results(messages)) == phase.results
    assert [m for m in messages if m.role is Role.ASSISTANT and any(not c.finished for c in m.tool_calls)] == []
    assert standing_after is not None
    assert (standing_after.active, standing_after.requests) == (None, ())


@pytest.mark.parametrize("name", PHASES)
async def test_the_next_prompt_after_a_cancel_is_answered(name: str) -> None:
    with fail_after(60):
        async with standing(PHASES[name]) as (stage, session, _, _):
            await cancel(stage.workspace, session)
            stage.model.add(turn(Say("next"), when="again"))
            run = await stage.run("again", session)
    assert (run.outcome, run.text) == (Outcome.COMPLETED, "next")


async def test_what_was_said_is_kept_and_thinking_is_closed() -> None:
    with fail_after(60):
        async with standing(PHASES["thinking"]) as (stage, session, _, _):
            await cancel(stage.workspace, session)
            (thought,) = [p for p in (await stage.messages(session))[1].parts if isinstance(p, Reasoning)]
    assert thought.thinking == "hm"
    assert thought.finished_at >= thought.started_at > 0


async def test_a_tool_hears_of_the_cancel_and_what_it_asked_is_withdrawn() -> None:
    with fail_after(60):
        async with standing(PHASES["a permission"]) as (stage, session, _, _):
            (asked,) = await told(stage.store, e.RequestAsked)
            await cancel(stage.workspace, session)
            withdrawn = await told(stage.store, e.RequestWithdrawn)
    assert [event.request_id for event in withdrawn] == [asked.request.id]


async def test_a_summary_that_was_cancelled_leaves_nothing_and_does_not_go_on() -> None:
    """In the original the run goes on after such a cancel."""
    with fail_after(600):
        async with standing(PHASES["a summary"]) as (stage, session, _, _):
            before = len(stage.model.questions)
            await cancel(stage.workspace, session)
            await anyio.sleep(60)
            messages = await stage.messages(session)
            info = await stage.store.session(session)
    assert len(stage.model.questions) == before
    assert [message.is_summary for message in messages] == [False, False]
    assert info is not None
    assert info.summary_message_id == ""


async def test_a_summary_a_person_asked_for_is_cancelled_like_any_run() -> None:
    with fail_after(60):
        async with scene(turn(Say("hello")), turn(Say("sum"), Hold("here")), turn(Say("next"))) as stage:
            session = await stage.session("named")
            await stage.run("hi", session)
            run_id = await summarise(stage.workspace, session)
            waiting = await stage.submit("meanwhile", session, "r2")
            await stage.model.reached("here")
            stopped = await stage.workspace.cancel(session, commands.Cancel(run_id))
            after = await stage.workspace.ended(waiting)
            messages = await stage.messages(session)
    assert [(run.id, run.outcome) for run in stopped] == [(run_id, Outcome.CANCELLED)]
    assert [message.text for message in messages] == ["hi", "hello", "meanwhile", "next"]
    assert after.text == "next"


async def test_a_title_is_stopped_with_its_run_and_the_next_prompt_gives_one() -> None:
    small = ScriptedModel([turn(Hold("naming"), Say("never")), turn(Say("A better name"))])
    with fail_after(60):
        async with scene(turn(Hold("here")), turn(Say("hello")), small=small) as stage:
            session = await stage.session("New Session")
            await stage.submit("go", session)
            await small.reached("naming")
            await stage.model.reached("here")
            await cancel(stage.workspace, session)
            await anyio.wait_all_tasks_blocked()
            open_after_cancel = small.streams_open
            await stage.run("again", session)
            await anyio.sleep(1)
            info = await stage.store.session(session)
    assert open_after_cancel == 0
    assert info is not None
    assert info.title == "A better name"


async def test_what_waits_is_cancelled_too_and_what_comes_after_is_not() -> None:
    with fail_after(60):
        async with scene(turn(Hold("here")), turn(Say("hello"))) as stage:
            session = await stage.session("named")
            first = await stage.submit("one", session, "r1")
            await stage.model.reached("here")
            second = await stage.submit("two", session, "r2")
            await cancel(stage.workspace, session)
            third = await stage.submit("three", session, "r3")
            runs: list[Run] = [await stage.workspace.ended(run_id) for run_id in (first, second, third)]
    assert [run.outcome for run in runs] == [Outcome.CANCELLED, Outcome.CANCELLED, Outcome.COMPLETED]


async def test_a_cancel_between_two_steps_starts_no_tool_and_asks_nothing() -> None:
    """Cancelled right when the answer with its calls is whole and on disk: nothing of it is done."""
    note = Noted()
    with fail_after(60):
        async with scene(turn(CallTool("c1", "note")), tools=[note.tool], knobs=PATIENT) as stage:
            session = await stage.session("named")
            live = stage.workspace.awake(session)

            def cut(entries: Sequence[e.Entry]) -> None:
                if any(isinstance(entry.event, e.UsageCounted) for entry in entries):
                    live.send(commands.Cancel())

            stage.store.on_commit(cut)
            run = await stage.run("go", session)
            messages = await stage.messages(session)
    assert (run.outcome, note.used) == (Outcome.CANCELLED, [])
    assert (finishes(messages), results(messages)) == (["canceled User canceled request"], [("c1", CANCELLED)])
