"""Strangers send halves of letters; whatever they send, runs end, and what can be read is kept."""

import logging
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from anyio import fail_after

from turnkeeper.engine.ending import UNTELLABLE
from turnkeeper.engine.letters import Letters
from turnkeeper.models.model import Chunk, Question, ReasoningSaid, TextSaid, Trouble
from turnkeeper.models.scripted import CallTool, Fail, Say, ScriptedModel, Think, Turn, turn
from turnkeeper.protocol.runs import Cause, Failure, Outcome, RunOptions
from turnkeeper.store.sqlite import open_store
from turnkeeper.testing.scene import PlainTool, scene
from turnkeeper.tools.tool import Call, Hands

HALF, OTHER = "\ud83d", "\ude00"


async def odd(call: Call, hands: Hands) -> str:
    hands.progress(f"seen {OTHER}")
    return f"a name {OTHER}"


def test_a_letter_cut_apart_between_two_chunks_is_put_together() -> None:
    letters = Letters()
    said = [TextSaid(f"a{HALF}"), TextSaid(f"{OTHER}b{HALF}"), ReasoningSaid("hm"), TextSaid(f"é{HALF}c")]
    assert [letters.heard(chunk) for chunk in said] == [
        TextSaid("a"),
        TextSaid("\N{GRINNING FACE}b"),
        ReasoningSaid("hm"),
        TextSaid("é\N{REPLACEMENT CHARACTER}c"),
    ]


@pytest.mark.parametrize(
    ("turns", "outcome", "text"),
    [
        ([turn(Say(f"so {HALF}{OTHER}!", characters=1))], Outcome.COMPLETED, "so \N{GRINNING FACE}!"),
        ([turn(Think(f"hm {HALF}"), Say(f"x{OTHER}y"))], Outcome.COMPLETED, "x\N{REPLACEMENT CHARACTER}y"),
        ([turn(CallTool("i", "odd", f'{{"a": "{HALF}"}}')), turn(Say("ok"))], Outcome.COMPLETED, "ok"),
        ([turn(CallTool(f"i{HALF}", f"o{HALF}")), turn(Say("ok"))], Outcome.COMPLETED, "ok"),
        ([turn(Fail(Trouble.REFUSED, f"no {HALF}", title=f"Bad {HALF}"))], Outcome.FAILED, ""),
    ],
)
async def test_whatever_a_model_or_a_tool_writes_the_run_ends_and_the_workspace_works_on(
    turns: list[Turn], outcome: Outcome, text: str, tmp_path: Path
) -> None:
    small = ScriptedModel([turn(Say(f"A title {HALF}"))], again=True)
    async with open_store(tmp_path) as store:
        with fail_after(10):
            async with scene(
                *turns, turn(Say("next")), tools=[PlainTool("odd", odd)], store=store, small=small
            ) as stage:
                session = await stage.session()
                run = await stage.run("go", session)
                assert (run.outcome, run.text) == (outcome, text)
                assert (await stage.run("again", session)).text == "next"


async def test_what_cannot_be_kept_at_all_is_left_out_and_the_run_ends(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    # What is logged of it holds the half letter, which the processes of a parallel test run cannot tell one another.
    caplog.set_level(logging.CRITICAL, "turnkeeper.engine.ending")

    class Strange(ScriptedModel):
        """Breaks off with words that cannot be kept."""

        async def stream(self, question: Question) -> AsyncGenerator[Chunk, None]:
            yield TextSaid("hello")
            raise RuntimeError(f"no {HALF}")

    strange = Strange()
    async with open_store(tmp_path) as store:
        with fail_after(10):
            async with scene(turn(Say("next")), store=store, named={"strange": strange}) as stage:
                session = await stage.session("named")
                run = await stage.run("go", session, options=RunOptions(large_model="strange"))
                assert run.outcome is Outcome.FAILED
                assert run.failure == Failure(Cause.SERVER, UNTELLABLE)
                assert (await stage.run("again", session)).text == "next"
                texts = [message.text for message in await stage.messages(session)]
                assert texts == ["go", "hello", "again", "next"]
