"""Asking again: where it can help, after which pause, and what everybody sees of it."""

from typing import Any

import anyio
import pytest
from anyio import fail_after

from tests.engine.turns.scenes import PATIENT, finishes, told
from turnkeeper.engine.means import Knobs
from turnkeeper.engine.submitting import cancel
from turnkeeper.models.model import Trouble
from turnkeeper.models.scripted import CallTool, Cut, Fail, Say, Think, Turn, Use, turn
from turnkeeper.protocol import events as e
from turnkeeper.protocol.messages import Text
from turnkeeper.protocol.runs import Cause, Outcome, Usage
from turnkeeper.testing.scene import Stage, scene

BUSY = turn(Fail(Trouble.BUSY, "overloaded", status=529))
CUT = turn(Cut())


async def took(stage: Stage, **more: Any) -> tuple[Any, float]:
    began = anyio.current_time()
    run = await stage.run("go", await stage.session("named"), **more)
    return run, anyio.current_time() - began


@pytest.mark.parametrize(
    ("troubles", "seconds"),
    [
        ((BUSY,), 5),
        ((BUSY, BUSY), 15),
        ((BUSY, CUT, BUSY), 35),
        ((turn(Cut(quietly=True)),), 5),
        ((turn(Fail(Trouble.BUSY, retry_after_seconds=12)),), 12),
        ((turn(Fail(Trouble.BUSY, retry_after_seconds=0)),), 5),
        ((turn(Fail(Trouble.BUSY, retry_after_seconds=3600)),), 5),
        ((turn(Fail(Trouble.SILENT)),), 0),
    ],
)
async def test_what_may_pass_is_asked_again_after_a_pause(troubles: tuple[Turn, ...], seconds: float) -> None:
    with fail_after(600):
        async with scene(*troubles, turn(Say("hello")), knobs=PATIENT) as stage:
            run, waited = await took(stage)
    assert (run.outcome, run.text, waited) == (Outcome.COMPLETED, "hello", seconds)
    assert len(stage.model.questions) == len(troubles) + 1


@pytest.mark.parametrize(
    ("trouble", "times"),
    [(Trouble.BUSY, 4), (Trouble.CUT, 4), (Trouble.SILENT, 2), (Trouble.REFUSED, 1), (Trouble.AUTH, 1)],
)
async def test_what_does_not_pass_is_given_up_on(trouble: Trouble, times: int) -> None:
    with fail_after(600):
        async with scene(*[turn(Fail(trouble, "no"))] * 9, knobs=PATIENT) as stage:
            run, _ = await took(stage)
    assert (run.outcome, len(stage.model.questions)) == (Outcome.FAILED, times)


@pytest.mark.parametrize("status", [400, 403, 404, 422])
async def test_a_request_that_was_refused_is_not_made_again(status: int) -> None:
    with fail_after(600):
        async with scene(turn(Fail(Trouble.REFUSED, "no", status=status)), turn(Say("?")), knobs=PATIENT) as stage:
            run, waited = await took(stage)
    assert (run.outcome, waited, len(stage.model.questions)) == (Outcome.FAILED, 0, 1)
    assert run.failure is not None
    assert (run.failure.cause, run.failure.retryable) == (Cause.PROVIDER, False)


async def test_all_attempts_together_take_only_so_long() -> None:
    with fail_after(600):
        async with scene(*[BUSY] * 9, knobs=Knobs(retry_total_seconds=20)) as stage:
            run, waited = await took(stage)
    assert (run.outcome, waited, len(stage.model.questions)) == (Outcome.FAILED, 15, 3)


async def test_nobody_listening_is_known_within_ten_seconds() -> None:
    refused = turn(Fail(Trouble.UNREACHABLE, "connection refused"))
    with fail_after(600):
        async with scene(*[refused] * 99, knobs=PATIENT) as stage:
            run, waited = await took(stage)
    assert run.outcome is Outcome.FAILED
    assert waited <= 10
    assert run.failure is not None
    assert run.failure.retryable
    assert "the server behind it runs" in run.failure.message


async def test_a_server_that_is_started_meanwhile_answers() -> None:
    refused = turn(Fail(Trouble.UNREACHABLE, "connection refused"))
    with fail_after(600):
        async with scene(refused, refused, turn(Say("here")), knobs=PATIENT) as stage:
            run, waited = await took(stage)
    assert (run.text, waited) == ("here", 1.5)


async def test_what_was_heard_before_the_break_is_void_and_said_to_be() -> None:
    half = turn(Think("so"), Say("Hel"), CallTool("c1", "note"), Cut())
    with fail_after(600):
        async with scene(half, turn(Say("Hello")), knobs=PATIENT) as stage:
            session = await stage.session("named")
            run = await stage.run("go", session)
            messages = await stage.messages(session)
            log = await told(stage.store, e.MessageReset, e.RunWaiting, e.RunComplete)
    assert [message.text for message in messages] == ["go", "Hello"]
    assert [part for part in messages[1].parts if isinstance(part, Text)] == [Text("Hello")]
    assert messages[1].tool_calls == ()
    lost = "the connection was lost in the middle of the answer"
    assert log[:2] == [
        e.MessageReset(run.message_id),
        e.RunWaiting(run.id, e.Delay.RETRY, 5.0, lost, "scripted"),
    ]
    assert len(log) == 3


async def test_what_was_heard_is_kept_when_nothing_comes_after_it() -> None:
    with fail_after(600):
        async with scene(turn(Say("Hel"), Fail(Trouble.REFUSED, "no")), knobs=PATIENT) as stage:
            session = await stage.session("named")
            run = await stage.run("go", session)
            messages = await stage.messages(session)
    assert (run.text, messages[1].text, finishes(messages)) == ("Hel", "Hel", ["error Provider Error"])


async def test_an_attempt_that_broke_off_is_paid_for() -> None:
    million = Usage(input_tokens=1_000_000)
    broken = turn(Use(million), Say("Hel"), Cut())
    whole = turn(Say("Hello"), Use(Usage(input_tokens=1_000_000, output_tokens=500_000)))
    with fail_after(600):
        async with scene(broken, whole, knobs=PATIENT) as stage:
            session = await stage.session("named")
            run = await stage.run("go", session)
            info = await stage.store.session(session)
    assert run.usage == Usage(input_tokens=2_000_000, output_tokens=500_000, cost=3.0)
    assert info is not None
    assert (info.cost, info.prompt_tokens, info.completion_tokens) == (3.0, 1_000_000, 500_000)


async def test_the_pause_ends_at_once_when_the_run_is_cancelled() -> None:
    with fail_after(600):
        async with scene(turn(Say("Hel"), Cut()), knobs=PATIENT) as stage:
            session = await stage.session("named")
            run_id = await stage.submit("go", session)
            await anyio.sleep(1)
            began = anyio.current_time()
            stopped = await cancel(stage.workspace, session)
            messages = await stage.messages(session)
            ended = anyio.current_time()
    assert ended - began < 0.1
    assert [(run.id, run.outcome) for run in stopped] == [(run_id, Outcome.CANCELLED)]
    assert finishes(messages) == ["canceled User canceled request"]
    assert len(stage.model.questions) == 1
