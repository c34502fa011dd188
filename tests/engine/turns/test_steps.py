"""Steps: what the model is shown at each, and what it said."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from anyio import fail_after

from tests.engine.turns.scenes import Noted, Standing, finishes
from turnkeeper.engine.submitting import cancel
from turnkeeper.models.scripted import CallTool, Hold, Say, Think, turn
from turnkeeper.protocol.messages import Reasoning, Role, ShellCommand, Text, ToolCall
from turnkeeper.protocol.runs import Cause, Outcome
from turnkeeper.testing.scene import FewTools, PlainTool, scene
from turnkeeper.tools.tool import Call, Hands


@dataclass
class NumberedPrompts:
    """Another prompt every time one is asked for."""

    asked: list[str] = field(default_factory=list[str])

    async def system(self, kind: str, *, model: str, provider: str, workdir: Path) -> tuple[str, ...]:
        if kind == "coder":
            self.asked.append(kind)
        return (f"{kind} {len(self.asked)}",)


async def test_every_step_has_the_tools_and_the_prompt_as_they_are_then() -> None:
    tools: list[PlainTool] = []

    async def learn(call: Call, hands: Hands) -> str:
        tools.append(Noted("learned").tool)
        return "there is another tool now"

    tools.append(PlainTool("learn", learn))
    with fail_after(5):
        async with scene(
            turn(CallTool("c1", "learn")),
            turn(CallTool("c2", "learned")),
            turn(Say("done")),
            tools=tools,
            prompts=NumberedPrompts(),
        ) as stage:
            run = await stage.run("go")
    assert run.text == "done"
    assert [[tool.name for tool in question.tools] for question in stage.model.questions] == [
        ["learn"],
        ["learn", "learned"],
        ["learn", "learned"],
    ]
    assert [question.system for question in stage.model.questions] == [("coder 1",), ("coder 2",), ("coder 3",)]


async def test_a_prompt_that_joined_is_seen_at_every_later_step() -> None:
    note = Noted()
    with fail_after(5):
        async with scene(
            turn(Hold("first"), CallTool("c1", "note")),
            turn(CallTool("c2", "note")),
            turn(CallTool("c3", "note")),
            turn(Say("as you wished")),
            tools=[note.tool],
        ) as stage:
            session = await stage.session()
            run_id = await stage.submit("do it", session, "r1")
            await stage.model.reached("first")
            await stage.submit("no, the other way", session)
            stage.model.release("first")
            run = await stage.workspace.ended(run_id)
    said = [[m.text for m in q.messages if m.role is Role.USER] for q in stage.model.questions]
    assert said == [["do it"], *[["do it", "no, the other way"]] * 3]
    assert (run.text, run.steps, note.used) == ("as you wished", 4, ["c1", "c2", "c3"])


async def test_a_foldable_prompt_behind_an_answer_that_ends_is_a_run_of_its_own() -> None:
    with fail_after(5):
        async with scene(turn(Hold("here"), Say("one")), turn(Say("two"))) as stage:
            session = await stage.session()
            first = await stage.submit("a", session, "r1")
            await stage.model.reached("here")
            second = await stage.submit("b", session)
            stage.model.release("here")
            runs = [await stage.workspace.ended(run_id) for run_id in (first, second)]
    assert [(run.outcome, run.text) for run in runs] == [(Outcome.COMPLETED, "one"), (Outcome.COMPLETED, "two")]


async def test_text_thinking_and_calls_keep_their_order_and_thinking_its_signature() -> None:
    note = Noted()
    said = (Think("first", "s1", '{"id":1}'), Say("one"), CallTool("c1", "note"), Think("then", "s2"), Say("two"))
    with fail_after(5):
        async with scene(turn(*said, CallTool("c2", "note")), turn(Say("done")), tools=[note.tool]) as stage:
            session = await stage.session()
            await stage.run("go", session)
            answer = (await stage.messages(session))[1]
    kinds = [type(part).__name__ for part in answer.parts]
    assert kinds == ["Reasoning", "Text", "ToolCall", "Reasoning", "Text", "ToolCall", "Finish"]
    shown = next(m for m in stage.model.questions[1].messages if m.role is Role.ASSISTANT)
    thought = [(p.thinking, p.signature, p.provider_data) for p in shown.parts if isinstance(p, Reasoning)]
    assert thought == [("first", "s1", '{"id":1}'), ("then", "s2", "")]
    assert [p.id if isinstance(p, ToolCall) else p.text for p in shown.parts if isinstance(p, ToolCall | Text)] == [
        "one",
        "c1",
        "two",
        "c2",
    ]


async def test_what_a_person_does_between_a_call_and_its_result_does_not_part_them() -> None:
    from turnkeeper.engine.shelling import run_shell

    stand = Standing()

    async def ran(command: str, heard: Callable[[str], None]) -> tuple[str, int]:
        return "clean", 0

    with fail_after(5):
        async with scene(turn(CallTool("c1", "stand")), turn(Say("done")), tools=[stand.tool]) as stage:
            session = await stage.session()
            run_id = await stage.submit("go", session)
            await stand.begun.wait()
            await run_shell(stage.workspace, session, "git status", run=ran)
            stand.go.set()
            await stage.workspace.ended(run_id)
            kept = await stage.messages(session)
    assert [isinstance(m.parts[0], ShellCommand) for m in kept] == [False, False, True, False, False]
    shown = stage.model.questions[1].messages
    at = next(i for i, m in enumerate(shown) if m.tool_calls)
    assert [r.content for r in shown[at + 1].tool_results] == ["stood"]


async def test_one_failed_lookup_of_the_tools_or_prompts_spoils_no_later_run() -> None:
    """The original keeps the first failure of getting ready for ever."""

    @dataclass
    class Broken(FewTools):
        times: int = 1

        def tools(self, kind: str, *, interactive: bool) -> Sequence[PlainTool]:
            self.times -= 1
            if self.times >= 0:
                raise RuntimeError("no tools today")
            return []

    with fail_after(5):
        async with scene(turn(Say("well"))) as stage:
            object.__setattr__(stage.workspace.means, "toolbox", Broken())
            session = await stage.session()
            first = await stage.run("go", session)
            second = await stage.run("again", session)
    assert (first.outcome, second.outcome, second.text) == (Outcome.FAILED, Outcome.COMPLETED, "well")
    assert first.failure is not None
    assert (first.failure.cause, first.failure.message) == (Cause.SERVER, "no tools today")


async def test_getting_ready_can_be_cancelled() -> None:
    @dataclass
    class Slow:
        asked: anyio.Event = field(default_factory=anyio.Event)

        async def system(self, kind: str, *, model: str, provider: str, workdir: Path) -> tuple[str, ...]:
            self.asked.set()
            await anyio.sleep_forever()
            return ()

    slow = Slow()
    with fail_after(5):
        async with scene(prompts=slow) as stage:
            session = await stage.session("named")
            run_id = await stage.submit("go", session)
            await slow.asked.wait()
            stopped = await cancel(stage.workspace, session)
            messages = await stage.messages(session)
    assert [(run.id, run.outcome) for run in stopped] == [(run_id, Outcome.CANCELLED)]
    assert [m.role for m in messages] == [Role.USER, Role.ASSISTANT]
    assert finishes(messages) == ["canceled User canceled request"]
