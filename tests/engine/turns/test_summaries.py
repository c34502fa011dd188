"""Summaries: when a context is full, by our count or by the provider's word, and what goes on afterwards."""

import pytest
from anyio import fail_after

from tests.engine.turns.scenes import PATIENT, Noted, finishes, told
from turnkeeper.engine.means import Knobs
from turnkeeper.engine.submitting import Submission, submit, summarise
from turnkeeper.models.model import ModelInfo, Question, Trouble
from turnkeeper.models.scripted import CallTool, Fail, Hold, Say, ScriptedModel, Turn, Use, turn
from turnkeeper.protocol import events as e
from turnkeeper.protocol.messages import Binary, Role
from turnkeeper.protocol.problems import SessionBusy
from turnkeeper.protocol.runs import Attachment, Cause, Outcome, Prompt, Usage
from turnkeeper.protocol.sessions import Todo, TodoStatus
from turnkeeper.testing.scene import scene

SUMMARY = "Write the summary"
FULL = turn(Fail(Trouble.CONTEXT_FULL, "prompt is too long", status=400))


def window(tokens: int) -> ModelInfo:
    return ModelInfo(id="m", provider="p", context_window=tokens, supports_images=True)


def used(tokens: int) -> Use:
    return Use(Usage(input_tokens=tokens - 10, output_tokens=10))


def is_summary(question: Question) -> bool:
    return question.system == ("You are the summary.",)


@pytest.mark.parametrize(
    ("size", "tokens", "summarised"),
    [
        (100_000, 79_999, False),
        (100_000, 80_000, True),
        (200_000, 159_999, False),
        (200_000, 160_000, True),
        (300_000, 279_999, False),
        (300_000, 280_000, True),
        (0, 10_000_000, False),
    ],
)
async def test_a_context_is_summarised_when_too_little_of_it_is_left(size: int, tokens: int, summarised: bool) -> None:
    note = Noted()
    model = ScriptedModel(
        [turn(Say("sum"), when=SUMMARY), turn(CallTool("c1", "note"), used(tokens)), turn(Say("done"))],
        info=window(size),
    )
    with fail_after(60):
        async with scene(large=model, tools=[note.tool]) as stage:
            run = await stage.run("go", await stage.session("named"))
    assert (run.text, note.used) == ("done", ["c1"])
    assert any(map(is_summary, model.questions)) is summarised


async def test_what_was_written_to_the_cache_fills_the_context_too() -> None:
    fresh = Use(Usage(input_tokens=10, cache_write_tokens=80_000, output_tokens=10))
    model = ScriptedModel(
        [turn(Say("sum"), when=SUMMARY), turn(CallTool("c1", "note"), fresh), turn(Say("done"))], info=window(100_000)
    )
    with fail_after(60):
        async with scene(large=model, tools=[Noted().tool]) as stage:
            await stage.run("go", await stage.session("named"))
    assert any(map(is_summary, model.questions))


async def test_the_run_goes_on_from_the_summary_with_its_task_its_files_and_what_was_added() -> None:
    note = Noted()
    model = ScriptedModel(
        [
            turn(Say("what was done"), when=SUMMARY),
            turn(Hold("here"), CallTool("c1", "note")),
            turn(CallTool("c2", "note"), used(90_000)),
            turn(Say("done")),
        ],
        info=window(100_000),
    )
    with fail_after(60):
        async with scene(large=model, tools=[note.tool]) as stage:
            session = await stage.session("named")
            picture = Attachment("a.png", "a.png", "image/png", b"png")
            run_id = await submit(stage.workspace, Submission(session, Prompt("mend the tests", (picture,))))
            await model.reached("here")
            await stage.submit("and the docs", session)
            model.release("here")
            run = await stage.workspace.ended(run_id)
            info = await stage.store.session(session)
            messages = await stage.messages(session)
    shown = model.questions[-1].messages
    assert (run.outcome, run.text, run.steps, note.used) == (Outcome.COMPLETED, "done", 4, ["c1", "c2"])
    assert [message.role for message in shown] == [Role.USER, Role.USER]
    assert shown[0].text == "what was done"
    assert shown[1].text.endswith("mend the tests\n\nAdded while it was worked on:\n\nand the docs")
    assert [part.path for part in shown[1].parts if isinstance(part, Binary)] == ["a.png"]
    assert info is not None
    assert info.summary_message_id == next(m.id for m in messages if m.is_summary)
    assert finishes(messages) == ["tool_use", "tool_use", "end_turn", "end_turn"]


async def test_the_summary_is_asked_for_without_tools_and_with_the_todo_list() -> None:
    model = ScriptedModel(
        [turn(Say("sum"), when=SUMMARY), turn(CallTool("c1", "note"), used(90_000)), turn(Say("done"))],
        info=window(100_000),
    )
    with fail_after(60):
        async with scene(large=model, tools=[Noted().tool]) as stage:
            session = await stage.session("named")
            await stage.workspace.note(session, e.TodosSet((Todo("mend", TodoStatus.IN_PROGRESS),)))
            await stage.run("go", session)
    asked = next(filter(is_summary, model.questions))
    assert asked.tools == ()
    assert "- [in_progress] mend" in asked.messages[-1].text


async def test_a_provider_that_says_the_context_is_full_is_believed() -> None:
    with fail_after(60):
        async with scene(FULL, turn(Say("sum")), turn(Say("done"))) as stage:
            session = await stage.session("named")
            run = await stage.run("go", session)
            messages = await stage.messages(session)
    assert (run.outcome, run.text, [is_summary(q) for q in stage.model.questions]) == (
        Outcome.COMPLETED,
        "done",
        [False, True, False],
    )
    assert [(m.role, m.is_summary) for m in messages] == [
        (Role.USER, False),
        (Role.ASSISTANT, True),
        (Role.USER, False),
        (Role.ASSISTANT, False),
    ]


async def test_summaries_without_progress_come_to_an_end_after_two() -> None:
    summary = turn(Say("sum"), when=SUMMARY)
    with fail_after(60):
        async with scene(FULL, summary, FULL, summary, FULL, summary) as stage:
            run = await stage.run("go", await stage.session("named"))
    assert (run.outcome, sum(map(is_summary, stage.model.questions))) == (Outcome.FAILED, 2)
    assert run.failure is not None
    assert run.failure.cause is Cause.LIMIT
    assert "was summarised 2 times in a row and still does not fit" in run.failure.message


async def test_summaries_that_gain_no_more_than_a_step_come_to_an_end_too() -> None:
    """As with a small window that the tools alone nearly fill: otherwise every step would cost a summary."""
    steps = [turn(CallTool(f"c{number}", "note"), used(90_000)) for number in range(20)]
    summaries = [turn(Say("sum"), when=SUMMARY)] * 20
    model = ScriptedModel([*summaries, *steps], info=window(100_000))
    with fail_after(60):
        async with scene(large=model, tools=[Noted().tool]) as stage:
            run = await stage.run("go", await stage.session("named"))
    assert (run.outcome, sum(map(is_summary, model.questions))) == (Outcome.FAILED, 2)


async def test_summaries_that_make_room_may_come_as_often_as_they_are_needed() -> None:
    rounds = 5
    step = [turn(CallTool("c", "note"), used(1_000)), turn(CallTool("c", "note", {"a": 1}), used(90_000))]
    model = ScriptedModel(
        [*[turn(Say("sum"), when=SUMMARY)] * rounds, *step * rounds, turn(Say("done"))], info=window(100_000)
    )
    with fail_after(60):
        async with scene(large=model, tools=[Noted().tool]) as stage:
            run = await stage.run("go", await stage.session("named"))
    assert (run.text, sum(map(is_summary, model.questions))) == ("done", rounds)
    tasks = [q.messages[-1].text.count("go") for q in model.questions if "was summarised above" in q.messages[-1].text]
    assert set(tasks) == {1 + "Go on with the work".count("go")}, "however often, the task is in it once"


async def test_where_it_is_switched_off_a_full_context_is_told_and_not_summarised() -> None:
    with fail_after(60):
        async with scene(FULL, turn(Say("sum")), knobs=Knobs(auto_summarize=False)) as stage:
            run = await stage.run("go", await stage.session("named"))
    assert (run.outcome, len(stage.model.questions)) == (Outcome.FAILED, 1)
    assert run.failure is not None
    assert (run.failure.cause, "is not summarised by itself" in run.failure.message) == (Cause.LIMIT, True)


async def test_a_conversation_too_long_even_to_be_summarised_is_summarised_from_its_later_part() -> None:
    talk: list[Turn] = [turn(Say(f"answer {number}")) for number in range(8)]
    with fail_after(60):
        async with scene(*talk, FULL, FULL, turn(Say("sum"))) as stage:
            session = await stage.session("named")
            for number in range(8):
                await stage.run(f"question {number}", session)
            run = await stage.workspace.ended(await summarise(stage.workspace, session))
            info = await stage.store.session(session)
    assert (run.outcome, run.text) == (Outcome.COMPLETED, "sum")
    assert info is not None
    assert info.summary_message_id == run.message_id
    lengths = [len(question.messages) for question in stage.model.questions[-3:]]
    assert lengths == [17, 9, 5]
    assert stage.model.questions[-1].messages[0].text == "question 6"


async def test_a_summary_that_fails_says_so_and_changes_nothing() -> None:
    with fail_after(60):
        async with scene(turn(Say("hello")), turn(Say("su"), Fail(Trouble.REFUSED, "no"))) as stage:
            session = await stage.session("named")
            await stage.run("hi", session)
            run = await stage.workspace.ended(await summarise(stage.workspace, session))
            info = await stage.store.session(session)
            messages = await stage.messages(session)
    assert run.outcome is Outcome.FAILED
    assert finishes(messages) == ["end_turn", "error Summarization Error"]
    assert info is not None
    assert info.summary_message_id == ""


async def test_a_summary_a_person_asks_for_shortens_the_next_question() -> None:
    with fail_after(60):
        async with scene(turn(Say("hello"), used(500)), turn(Say("sum"), used(400)), turn(Say("on we go"))) as stage:
            session = await stage.session("named")
            await stage.run("hi", session)
            run = await stage.workspace.ended(await summarise(stage.workspace, session))
            info = await stage.store.session(session)
            await stage.run("next", session)
    assert (run.outcome, run.text) == (Outcome.COMPLETED, "sum")
    assert [m.text for m in stage.model.questions[2].messages] == ["sum", "next"]
    assert info is not None
    assert (info.prompt_tokens, info.completion_tokens, info.cost > 0) == (0, 10, True)


async def test_an_empty_session_is_summarised_by_nobody() -> None:
    with fail_after(60):
        async with scene() as stage:
            session = await stage.session("named")
            run = await stage.workspace.ended(await summarise(stage.workspace, session))
    assert (run.outcome, stage.model.questions) == (Outcome.COMPLETED, [])


async def test_a_busy_session_is_not_summarised_and_what_comes_meanwhile_waits_its_turn() -> None:
    with fail_after(60):
        async with scene(turn(Say("hello")), turn(Hold("here"), Say("sum")), turn(Say("next")), knobs=PATIENT) as stage:
            session = await stage.session("named")
            await stage.run("hi", session)
            run_id = await summarise(stage.workspace, session)
            await stage.model.reached("here")
            with pytest.raises(SessionBusy):
                await summarise(stage.workspace, session)
            waiting = await stage.submit("meanwhile", session, "r2")
            stage.model.release("here")
            runs = [await stage.workspace.ended(one) for one in (run_id, waiting)]
            endings = await told(stage.store, e.RunComplete)
    assert [(run.outcome, run.text) for run in runs] == [(Outcome.COMPLETED, "sum"), (Outcome.COMPLETED, "next")]
    assert len(endings) == 3
