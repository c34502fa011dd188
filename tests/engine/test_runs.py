"""Runs on a stage: a real engine, a scripted model, a store in memory."""

from anyio import fail_after

from turnkeeper.models.scripted import CallTool, Hold, Say, Think, turn
from turnkeeper.protocol.messages import Finish, FinishReason, Role, Text
from turnkeeper.protocol.runs import Outcome
from turnkeeper.testing.scene import PlainTool, scene
from turnkeeper.tools.tool import Call, Hands


async def test_a_prompt_is_answered_and_ends_once() -> None:
    with fail_after(5):
        async with scene(turn(Think("hm"), Say("hello"))) as stage:
            session = await stage.session()
            run = await stage.run("hi", session, run_id="r1")
            messages = await stage.messages(session)
    assert (run.outcome, run.text, run.steps) == (Outcome.COMPLETED, "hello", 1)
    assert [message.role for message in messages] == [Role.USER, Role.ASSISTANT]
    assert messages[1].text == "hello"
    assert messages[1].finish == Finish(FinishReason.END_TURN, messages[1].finish.time if messages[1].finish else 0)


async def test_a_tool_is_used_and_its_result_is_asked_about() -> None:
    async def count(call: Call, hands: Hands) -> str:
        return f"{len(str(call.input['text']))} characters"

    with fail_after(5):
        async with scene(
            turn(Say("let me see"), CallTool("c1", "count", {"text": "abc"})),
            turn(Say("three")),
            tools=[PlainTool("count", count)],
        ) as stage:
            session = await stage.session()
            run = await stage.run("how long is abc", session)
            roles = [message.role for message in await stage.messages(session)]
    assert run.text == "three"
    assert roles == [Role.USER, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT]
    assert stage.model.questions[1].messages[-1].tool_results[0].content == "3 characters"


async def test_a_cancel_keeps_what_was_said_and_says_so() -> None:
    with fail_after(5):
        async with scene(turn(Say("half"), Hold("here"), Say("never"))) as stage:
            session = await stage.session()
            run_id = await stage.submit("hi", session)
            await stage.model.reached("here")
            from turnkeeper.engine.submitting import cancel

            stopped = await cancel(stage.workspace, session)
            messages = await stage.messages(session)
    assert [(run.id, run.outcome) for run in stopped] == [(run_id, Outcome.CANCELLED)]
    assert messages[-1].parts[0] == Text("half")
    assert messages[-1].finish is not None
    assert messages[-1].finish.reason is FinishReason.CANCELED


async def test_prompts_wait_in_line_and_those_without_an_id_join_the_run_that_goes_on() -> None:
    async def look(call: Call, hands: Hands) -> str:
        return "seen"

    with fail_after(5):
        async with scene(
            turn(Hold("first"), CallTool("c1", "look", {})),
            turn(Say("both done")),
            turn(Say("third done")),
            tools=[PlainTool("look", look)],
        ) as stage:
            session = await stage.session()
            first = await stage.submit("one", session, "r1")
            await stage.model.reached("first")
            second = await stage.submit("two", session)
            third = await stage.submit("three", session, "r3")
            stage.model.release("first")
            runs = [await stage.workspace.ended(run_id) for run_id in (first, second, third)]
    assert [(run.outcome, run.folded_into, run.text) for run in runs] == [
        (Outcome.COMPLETED, None, "both done"),
        (Outcome.FOLDED, "r1", ""),
        (Outcome.COMPLETED, None, "third done"),
    ]
    assert [m.text for m in stage.model.questions[1].messages if m.role is Role.USER and m.text] == ["one", "two"]
