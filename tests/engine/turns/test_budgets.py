"""Budgets: steps, tokens, money and time of a run and of a session. They hold before a question is asked."""

import anyio
import pytest
from anyio import fail_after

from tests.engine.turns.scenes import PATIENT, ROOMY, Noted, Standing, finishes, results
from turnkeeper.engine.means import Knobs
from turnkeeper.models.scripted import CallTool, Hold, Say, ScriptedModel, Turn, Use, turn
from turnkeeper.protocol.runs import Cause, Outcome, Run, RunOptions, Usage
from turnkeeper.testing.scene import PlainTool, Stage, scene
from turnkeeper.tools.tool import Call, Hands

DOLLAR = Use(Usage(input_tokens=1_000_000))
"""The scripted model's price: a dollar for a million tokens read, two for a million written."""
CHEAP = Use(Usage(input_tokens=900, output_tokens=50))


def working(*uses: Use) -> list[Turn]:
    return [turn(CallTool(f"c{number}", "note", {"n": number}), use) for number, use in enumerate(uses)]


async def run_with(*turns: Turn, options: RunOptions | None = None, knobs: Knobs = PATIENT) -> tuple[Run, Stage, Noted]:
    note = Noted()
    with fail_after(600):
        async with scene(*turns, turn(Say("done"), CHEAP), tools=[note.tool], knobs=knobs) as stage:
            run = await stage.run("go", await stage.session("named"), options=options or RunOptions())
    return run, stage, note


@pytest.mark.parametrize(
    ("limits", "questions", "sentence"),
    [
        ({"steps_max": 2}, 2, "The run reached its limit of 2 steps."),
        ({"steps_max": 0}, 0, "The run reached its limit of 0 steps."),
        # The next question would take at least what the context holds now.
        ({"tokens_max": 2_000}, 2, "The run reached its limit of tokens: 1900 tokens of 2000 are used."),
        ({"tokens_max": 1_899}, 1, "The run reached its limit of tokens: 950 tokens of 1899 are used."),
        ({"cost_max": 0.0019}, 2, "The run reached its limit of money: 0.0020 of 0.0019 US dollars are spent."),
    ],
)
async def test_a_limit_of_a_run_holds_before_the_question_that_would_cross_it(
    limits: dict[str, float], questions: int, sentence: str
) -> None:
    run, stage, note = await run_with(*working(CHEAP, CHEAP, CHEAP), options=RunOptions(**limits))  # type: ignore[arg-type]
    assert (run.outcome, len(stage.model.questions), len(note.used)) == (Outcome.FAILED, questions, questions)
    assert run.failure is not None
    assert (run.failure.cause, run.failure.message, run.failure.retryable) == (Cause.LIMIT, sentence, False)


async def test_what_is_reached_exactly_is_allowed_and_within_its_limits_a_run_ends_by_itself() -> None:
    run, _, note = await run_with(*working(CHEAP, CHEAP), options=RunOptions(steps_max=3, cost_max=1, tokens_max=9_999))
    assert (run.outcome, run.text, run.steps, len(note.used)) == (Outcome.COMPLETED, "done", 3, 2)


async def test_the_workspace_limits_every_run_and_a_run_may_ask_for_less_only() -> None:
    knobs = Knobs(steps_max=2)
    for asked, questions in ((None, 2), (1, 1), (9, 2)):
        run, stage, _ = await run_with(*working(CHEAP, CHEAP, CHEAP), options=RunOptions(steps_max=asked), knobs=knobs)
        assert (run.outcome, len(stage.model.questions)) == (Outcome.FAILED, questions)


@pytest.mark.parametrize(
    ("knobs", "sentence"),
    [
        (Knobs(session_cost_max=2.0), "money: 2.0000 of 2.0000 US dollars are spent."),
        (
            Knobs(session_tokens_max=2_500_000),
            "tokens: 2000000 tokens of 2500000 are used.",
        ),
    ],
)
async def test_all_runs_of_a_session_share_its_limits(knobs: Knobs, sentence: str) -> None:
    with fail_after(600):
        async with scene(large=ScriptedModel([turn(Say("yes"), DOLLAR)] * 9, info=ROOMY), knobs=knobs) as stage:
            session = await stage.session("named")
            runs = [await stage.run(f"question {number}", session) for number in range(3)]
            elsewhere = await stage.run("question", await stage.session("another"))
    assert [run.outcome for run in (*runs, elsewhere)] == [
        Outcome.COMPLETED,
        Outcome.COMPLETED,
        Outcome.FAILED,
        Outcome.COMPLETED,
    ]
    failure = runs[2].failure
    assert failure is not None
    assert (failure.cause, failure.message) == (Cause.LIMIT, f"The session reached its limit of {sentence}")


async def test_time_that_is_up_ends_whatever_goes_on_and_says_so() -> None:
    stand = Standing()
    for script in (turn(Say("half"), Hold("here")), turn(Say("half"), CallTool("c1", "stand"))):
        with fail_after(600):
            async with scene(script, tools=[stand.tool], knobs=PATIENT) as stage:
                session = await stage.session("named")
                began = anyio.current_time()
                run = await stage.run("go", session, options=RunOptions(seconds_max=20))
                took = anyio.current_time() - began
                messages = await stage.messages(session)
        assert (run.outcome, took, run.text) == (Outcome.FAILED, pytest.approx(20), "half")
        assert run.failure is not None
        assert run.failure.message == "The run reached its limit of 20 seconds."
        assert finishes(messages) == ["error Limit Reached"]
        assert [content for _, content in results(messages)] in (
            [],
            ["There was an error while executing the tool"],
        )
    assert stand.cancelled == 1


async def test_a_loop_ends_a_run_and_says_what_went_in_circles() -> None:
    """In the original nothing says so, and the last message still waits for its tools."""
    circling = [turn(CallTool(f"c{number}", "note", {"same": True})) for number in range(30)]
    with fail_after(600):
        same = PlainTool("note", lambda call, hands: same_answer(call, hands))
        async with scene(*circling, tools=[same]) as stage:
            session = await stage.session("named")
            run = await stage.run("go", session)
            messages = await stage.messages(session)
    assert (run.outcome, run.steps) == (Outcome.FAILED, 10)
    assert run.failure is not None
    assert run.failure.cause is Cause.LIMIT
    assert "it went in circles: the same tool calls (note) with the same results" in run.failure.message
    assert finishes(messages)[-1] == "error Limit Reached"


async def same_answer(call: Call, hands: Hands) -> str:
    return "the same"


async def test_a_run_that_was_stopped_by_a_limit_is_no_reason_for_the_next_one_to_stop() -> None:
    with fail_after(600):
        async with scene(*working(CHEAP, CHEAP), turn(Say("second")), tools=[Noted().tool]) as stage:
            session = await stage.session("named")
            first = await stage.run("go", session, options=RunOptions(steps_max=2))
            second = await stage.run("go on", session, options=RunOptions(steps_max=2))
    assert (first.outcome, second.outcome, second.text) == (Outcome.FAILED, Outcome.COMPLETED, "second")
