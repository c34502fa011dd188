"""Patience with a model that says nothing: measured by what it means, not by what it sends."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field

import anyio
import pytest
from anyio import fail_after

from tests.engine.turns.scenes import PATIENT, finishes
from turnkeeper.engine.means import Knobs
from turnkeeper.models.model import (
    Chunk,
    Finished,
    ModelInfo,
    Question,
    ReasoningDone,
    ReasoningSaid,
    TextSaid,
    ToolCallBegun,
    ToolInputSaid,
    UsageSaid,
)
from turnkeeper.models.scripted import SCRIPTED, Say, ScriptedModel, turn
from turnkeeper.protocol.ids import ToolCallId
from turnkeeper.protocol.messages import FinishReason
from turnkeeper.protocol.runs import Cause, Outcome, Run, Usage
from turnkeeper.testing.scene import scene

END = Finished(FinishReason.END_TURN)
NEVER = float("inf")


@dataclass
class Paced(ScriptedModel):
    """Says each thing after so many seconds; one answer a question, the last again and again."""

    answers: Sequence[Sequence[tuple[float, Chunk]]]
    asked: int = 0
    closed: list[float] = field(default_factory=list[float])

    def __post_init__(self) -> None:
        super().__init__()

    @property
    def info(self) -> ModelInfo:
        return SCRIPTED

    async def stream(self, question: Question) -> AsyncGenerator[Chunk, None]:
        answer = self.answers[min(self.asked, len(self.answers) - 1)]
        self.asked += 1
        try:
            for seconds, chunk in answer:
                await anyio.sleep(seconds)
                yield chunk
        finally:
            self.closed.append(anyio.current_time())


async def run_by(model: Paced, knobs: Knobs = PATIENT) -> tuple[Run, float]:
    with fail_after(100_000):
        async with scene(large=model, knobs=knobs) as stage:
            session = await stage.session("named")
            began = anyio.current_time()
            run = await stage.run("go", session)
            return run, anyio.current_time() - began


TEXT, THOUGHT, CALL = TextSaid("a"), ReasoningSaid("hm"), ToolCallBegun(ToolCallId("c"), "x")


@pytest.mark.parametrize(
    ("answer", "seconds"),
    [
        ([(60.1, TEXT)], 60),
        ([(1, TEXT), (90.1, TEXT)], 91),
        ([(1, THOUGHT), (180.1, TEXT)], 181),
        ([(1, THOUGHT), (1, ReasoningDone()), (90.1, TEXT)], 92),
        ([(1, CALL), (90.1, ToolInputSaid(ToolCallId("c"), "{"))], 91),
        # Bytes without meaning are no sign of life.
        ([(30, UsageSaid(Usage(input_tokens=1))), (30, TextSaid("")), (0.1, TEXT)], 60),
        ([(1, TEXT), *[(30, TextSaid(""))] * 3, (0.1, TEXT)], 91),
    ],
)
async def test_a_model_that_stops_saying_anything_is_asked_once_more_and_then_given_up_on(
    answer: list[tuple[float, Chunk]], seconds: float
) -> None:
    model = Paced([answer])
    run, waited = await run_by(model)
    assert (run.outcome, model.asked) == (Outcome.FAILED, 2)
    assert waited == pytest.approx(2 * seconds)
    assert model.closed[-1] - model.closed[0] == pytest.approx(seconds), "the stream is closed when patience ends"


@pytest.mark.parametrize(
    "answer",
    [
        [(59.9, TEXT), END],
        [(59.9, TEXT), (89.9, TEXT)],
        [(59.9, THOUGHT), (179.9, THOUGHT), (179.9, ReasoningDone()), (89.9, TEXT)],
        [(50, TEXT), *[(80, TEXT)] * 100],
    ],
)
async def test_a_slow_model_that_goes_on_is_heard_to_its_end(answer: list[tuple[float, Chunk]]) -> None:
    model = Paced([[step for step in answer if step is not END] + [(1, END)]])
    run, _ = await run_by(model)
    assert (run.outcome, model.asked) == (Outcome.COMPLETED, 1)


async def test_a_model_that_speaks_at_the_second_asking_answers() -> None:
    run, waited = await run_by(Paced([[(5, TEXT), (NEVER, TEXT)], [(1, TextSaid("well")), (0, END)]]))
    assert (run.outcome, run.text, waited) == (Outcome.COMPLETED, "well", pytest.approx(5 + 90 + 1))


async def test_the_reason_is_clear_and_names_the_patience_that_ran_out() -> None:
    run, _ = await run_by(Paced([[(NEVER, TEXT)]]), Knobs(first_token_seconds=7))
    assert run.failure is not None
    assert (run.failure.cause, run.failure.retryable) == (Cause.PROVIDER, True)
    assert run.failure.message == (
        "scripted said nothing for 7 seconds. Try again, choose another model, or allow it more time "
        "(the settings under `waits`)."
    )


async def test_how_long_anybody_is_patient_can_be_set() -> None:
    knobs = Knobs(first_token_seconds=1, between_events_seconds=2, reasoning_seconds=4)
    for answer, seconds in (
        ([(1.1, TEXT)], 1),
        ([(0.5, TEXT), (2.1, TEXT)], 2.5),
        ([(0.5, THOUGHT), (4.1, TEXT)], 4.5),
    ):
        run, waited = await run_by(Paced([answer]), knobs)
        assert (run.outcome, waited) == (Outcome.FAILED, pytest.approx(2 * seconds))


async def test_what_was_heard_before_the_silence_is_kept() -> None:
    with fail_after(100_000):
        async with scene(large=Paced([[(1, TextSaid("half")), (NEVER, TEXT)]]), knobs=PATIENT) as stage:
            session = await stage.session("named")
            run = await stage.run("go", session)
            messages = await stage.messages(session)
    assert (run.text, finishes(messages)) == ("half", ["error Provider Error"])


async def test_after_a_silence_the_next_prompt_is_answered() -> None:
    with fail_after(100_000):
        model = Paced([[(NEVER, TEXT)], [(NEVER, TEXT)], [(1, TextSaid("back")), (0, END)]])
        async with scene(turn(Say("x")), large=model, knobs=PATIENT) as stage:
            session = await stage.session("named")
            await stage.run("go", session)
            assert (await stage.run("go", session)).text == "back"
