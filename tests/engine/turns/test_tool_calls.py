"""The tool calls of a step: each made at most once, overlapping where they may, answered in their order."""

import anyio
from anyio import fail_after

from tests.engine.turns.scenes import Noted, Standing, finishes, results
from turnkeeper.models.model import Trouble
from turnkeeper.models.scripted import CallTool, Fail, Hold, Say, Stop, turn
from turnkeeper.protocol.messages import FinishReason
from turnkeeper.protocol.runs import Outcome
from turnkeeper.testing.scene import PlainTool, scene
from turnkeeper.tools.tool import Answer, Call, Denied, Hands


async def test_calls_that_may_overlap_do_and_their_results_stand_in_the_calls_order() -> None:
    second_is_done = anyio.Event()

    async def look(call: Call, hands: Hands) -> str:
        if call.id == "c2":
            second_is_done.set()
        await second_is_done.wait()
        return f"{call.id} seen"

    with fail_after(5):
        async with scene(
            turn(CallTool("c1", "look"), CallTool("c2", "look"), CallTool("c3", "look")),
            turn(Say("done")),
            tools=[PlainTool("look", look, parallel=True)],
        ) as stage:
            session = await stage.session()
            await stage.run("look around", session)
            messages = await stage.messages(session)
    assert results(messages) == [("c1", "c1 seen"), ("c2", "c2 seen"), ("c3", "c3 seen")]


async def test_a_call_that_must_stand_alone_does_among_others_that_overlap() -> None:
    together = 0
    most: dict[str, int] = {}

    async def work(call: Call, hands: Hands) -> str:
        nonlocal together
        together += 1
        await anyio.sleep(1)
        most[call.id] = together
        await anyio.sleep(1)
        together -= 1
        return "done"

    looking, writing = PlainTool("look", work, parallel=True), PlainTool("write", work)
    calls = [CallTool("1", "look"), CallTool("2", "look"), CallTool("3", "write"), CallTool("4", "write")]
    with fail_after(60):
        async with scene(turn(*calls, CallTool("5", "look")), turn(Say("done")), tools=[looking, writing]) as stage:
            began = anyio.current_time()
            await stage.run("work")
            took = anyio.current_time() - began
    assert most == {"1": 2, "2": 2, "3": 1, "4": 1, "5": 1}
    assert took == 8


async def test_only_so_many_calls_overlap() -> None:
    together, most = 0, 0

    async def work(call: Call, hands: Hands) -> str:
        nonlocal together, most
        together += 1
        most = max(most, together)
        await anyio.sleep(1)
        together -= 1
        return "done"

    calls = [CallTool(str(number), "look") for number in range(12)]
    with fail_after(60):
        async with scene(turn(*calls), turn(Say("ok")), tools=[PlainTool("look", work, parallel=True)]) as stage:
            run = await stage.run("work")
    assert (run.outcome, most) == (Outcome.COMPLETED, stage.workspace.means.knobs.parallel_tools_max)


async def test_a_question_asked_again_uses_no_tool_again() -> None:
    note = Noted()
    with fail_after(5):
        async with scene(
            turn(CallTool("c1", "note"), Fail(Trouble.BUSY)),
            turn(CallTool("c1", "note"), CallTool("c2", "note")),
            turn(Fail(Trouble.CUT)),
            turn(Say("done")),
            tools=[note.tool],
        ) as stage:
            session = await stage.session()
            run = await stage.run("go", session)
            messages = await stage.messages(session)
    assert (run.text, run.steps) == ("done", 2)
    assert note.used == ["c1", "c2"]
    assert results(messages) == [("c1", "noted c1"), ("c2", "noted c2")]


async def test_a_tools_failure_is_an_answer_and_costs_no_other_call_anything() -> None:
    async def lose(call: Call, hands: Hands) -> str:
        raise ConnectionError("the network is down")

    note = Noted()
    with fail_after(5):
        async with scene(
            turn(CallTool("c1", "note"), CallTool("c2", "fetch"), CallTool("c3", "note"), CallTool("c4", "nothing")),
            turn(Say("I see")),
            tools=[note.tool, PlainTool("fetch", lose)],
        ) as stage:
            session = await stage.session()
            run = await stage.run("go", session)
            messages = await stage.messages(session)
    assert (run.outcome, run.text, note.used, len(stage.model.questions)) == (
        Outcome.COMPLETED,
        "I see",
        ["c1", "c3"],
        2,
    )
    assert results(messages) == [
        ("c1", "noted c1"),
        ("c2", "The tool failed: the network is down"),
        ("c3", "noted c3"),
        ("c4", "There is no tool named nothing. Available tools: fetch, note"),
    ]


async def test_arguments_that_cannot_be_read_are_told_to_the_model() -> None:
    note = Noted()
    with fail_after(5):
        async with scene(turn(CallTool("c1", "note", '{"a":')), turn(Say("sorry")), tools=[note.tool]) as stage:
            session = await stage.session()
            run = await stage.run("go", session)
            (result,) = [r for m in await stage.messages(session) for r in m.tool_results]
    assert (run.text, note.used, result.is_error) == ("sorry", [], True)
    assert "not valid JSON" in result.content


async def test_a_no_ends_the_turn_and_nobody_is_asked_about_the_rest() -> None:
    async def ask(call: Call, hands: Hands) -> str:
        raise Denied

    note = Noted()
    with fail_after(5):
        async with scene(
            turn(CallTool("c1", "write"), CallTool("c2", "note"), CallTool("c3", "note")),
            tools=[PlainTool("write", ask), note.tool],
        ) as stage:
            session = await stage.session()
            run = await stage.run("go", session)
            messages = await stage.messages(session)
    assert (run.outcome, note.used) == (Outcome.COMPLETED, [])
    assert finishes(messages) == ["end_turn"]
    unused = "The turn ended before this tool was used"
    assert results(messages) == [("c1", "User denied permission"), ("c2", unused), ("c3", unused)]


async def test_a_tool_that_ends_the_turn_does_so_after_its_step() -> None:
    async def halt(call: Call, hands: Hands) -> Answer:
        return Answer("enough", stop_turn=True)

    with fail_after(5):
        async with scene(turn(Say("well"), CallTool("c1", "halt")), tools=[PlainTool("halt", halt)]) as stage:
            session = await stage.session()
            run = await stage.run("go", session)
            messages = await stage.messages(session)
    assert (run.outcome, run.text, finishes(messages)) == (Outcome.COMPLETED, "well", ["end_turn"])


async def test_calls_of_an_answer_that_was_too_long_are_not_made_and_say_so() -> None:
    note = Noted()
    with fail_after(5):
        async with scene(turn(CallTool("c1", "note"), Stop(FinishReason.MAX_TOKENS)), tools=[note.tool]) as stage:
            session = await stage.session()
            await stage.run("go", session)
            messages = await stage.messages(session)
    assert note.used == []
    assert (finishes(messages), results(messages)) == (
        ["max_tokens"],
        [("c1", "The turn ended before this tool was used")],
    )


async def test_a_prompt_that_waits_behind_a_no_is_a_run_of_its_own() -> None:
    async def halt(call: Call, hands: Hands) -> Answer:
        await stand.go.wait()
        return Answer("no", is_error=True, stop_turn=True)

    stand, note = Standing(), Noted()
    with fail_after(5):
        async with scene(
            turn(Hold("here"), CallTool("c1", "halt"), CallTool("c2", "note")),
            turn(Say("fine")),
            tools=[PlainTool("halt", halt), note.tool],
        ) as stage:
            session = await stage.session()
            first = await stage.submit("a", session, "r1")
            await stage.model.reached("here")
            stage.model.release("here")
            second = await stage.submit("then do this", session)
            stand.go.set()
            runs = [await stage.workspace.ended(run_id) for run_id in (first, second)]
            messages = await stage.messages(session)
    assert ([(run.outcome, run.text) for run in runs], note.used) == (
        [(Outcome.COMPLETED, ""), (Outcome.COMPLETED, "fine")],
        [],
    )
    assert results(messages) == [("c1", "no"), ("c2", "The turn ended before this tool was used")]
