"""Every adapter keeps the promises of the port, against a strict provider on a real socket."""

import json
from collections.abc import AsyncGenerator, Sequence

import anyio
import anyio.abc
import httpx2
import pytest

from tests.models.scenes import DIALECTS, answer, ask, call, message, model_at, result, thought, user
from turnkeeper.models.model import (
    Chunk,
    Finished,
    Model,
    ModelTrouble,
    ReasoningDone,
    ReasoningSaid,
    TextSaid,
    ToolCallBegun,
    ToolCallDone,
    ToolInputSaid,
    Trouble,
    UsageSaid,
)
from turnkeeper.models.scripted import CallTool, Cut, Hold, Say, Stop, Think, Use
from turnkeeper.protocol.ids import ToolCallId
from turnkeeper.protocol.messages import FinishReason, Role, Text
from turnkeeper.protocol.runs import Usage
from turnkeeper.testing.fake_provider import Drip, ErrorEvent, FakeProvider, Garbage, Refuse, Step, fake_provider

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("dialect", DIALECTS)]

CLOSE_SECONDS = 0.1


@pytest.fixture
async def fake() -> AsyncGenerator[FakeProvider, None]:
    with anyio.fail_after(20):
        async with fake_provider() as provider:
            yield provider


@pytest.fixture
async def http() -> AsyncGenerator[httpx2.AsyncClient, None]:
    async with httpx2.AsyncClient(trust_env=False) as client:
        yield client


@pytest.fixture
def model(dialect: str, fake: FakeProvider, http: httpx2.AsyncClient) -> Model:
    return model_at(dialect, fake.base_url(dialect), http)


def kept(chunks: Sequence[Chunk]) -> list[Chunk]:
    """The chunks, with neighbouring fragments joined and what only the provider understands left out."""
    joined: list[Chunk] = []
    for chunk in chunks:
        match joined[-1] if joined else None, chunk:
            case TextSaid(text=before), TextSaid(text=text):
                joined[-1] = TextSaid(before + text)
            case ReasoningSaid(text=before), ReasoningSaid(text=text):
                joined[-1] = ReasoningSaid(before + text)
            case ToolInputSaid(id=id, text=before), ToolInputSaid(text=text):
                joined[-1] = ToolInputSaid(id, before + text)
            case _, ReasoningDone():
                joined.append(ReasoningDone())
            case _, ToolCallDone(id=id, name=name, input=input):
                joined.append(ToolCallDone(id, name, input))
            case _:
                joined.append(chunk)
    return joined


async def test_an_answer_arrives_in_pieces_in_its_order_and_ends_once(model: Model, fake: FakeProvider) -> None:
    fake.answer(
        Think("let me see", characters=4),
        Say("I look.", characters=2),
        CallTool("call-1", "ls", '{"path": "."}', characters=5),
        CallTool("call-2", "ls", '{"path": "b"}'),
        Use(Usage(input_tokens=7, output_tokens=3, cache_read_tokens=2)),
    )
    first, second = ToolCallId("call-1"), ToolCallId("call-2")
    heard = kept(await answer(model))
    done = [chunk for chunk in heard if isinstance(chunk, ToolCallDone)]
    # Calls may be written side by side, so the ends of both may come after both began.
    assert done == [ToolCallDone(first, "ls", '{"path": "."}'), ToolCallDone(second, "ls", '{"path": "b"}')]
    assert [chunk for chunk in heard if chunk not in done] == [
        ReasoningSaid("let me see"),
        ReasoningDone(),
        TextSaid("I look."),
        ToolCallBegun(first, "ls"),
        ToolInputSaid(first, '{"path": "."}'),
        ToolCallBegun(second, "ls"),
        ToolInputSaid(second, '{"path": "b"}'),
        UsageSaid(Usage(input_tokens=7, output_tokens=3, cache_read_tokens=2)),
        Finished(FinishReason.TOOL_USE),
    ]
    assert fake.violations == []


async def test_nothing_is_heard_late_that_was_said_early(model: Model, fake: FakeProvider) -> None:
    fake.answer(Say("early"), Hold("middle"), Say(" late"))
    stream = model.stream(ask())
    assert await anext(stream) == TextSaid("early")
    fake.release("middle")
    assert kept([chunk async for chunk in stream])[0] == TextSaid(" late")


async def test_a_whole_conversation_is_asked_as_its_provider_wants_it(model: Model, fake: FakeProvider) -> None:
    conversation = (
        user("hello"),
        user("and a second thought"),
        message(Role.ASSISTANT, thought("hm", "c2VhbGVk"), Text(" I look. \n"), call("call-1"), call("call/2!", "")),
        message(Role.TOOL, result("call-1")),
        message(Role.TOOL, result("call/2!", "")),
        message(Role.ASSISTANT, Text("One file."), provider="other"),
        user("thanks"),
    )
    fake.answer(Say("welcome"))
    assert kept(await answer(model, ask(*conversation)))[0] == TextSaid("welcome")
    assert fake.violations == []


async def test_a_picture_in_a_tool_result_reaches_the_model_behind_all_results(
    model: Model, fake: FakeProvider
) -> None:
    conversation = (
        user("look"),
        message(Role.ASSISTANT, call("call-1"), call("call-2")),
        message(Role.TOOL, result("call-1", "", data="aGk=", mime_type="image/png")),
        message(Role.TOOL, result("call-2")),
    )
    fake.answer(Say("I see"))
    await answer(model, ask(*conversation))
    assert fake.violations == []
    sent = json.dumps(fake.asked[0].body)
    assert sent.count("aGk=") == 1
    assert sent.index("aGk=") > sent.rindex("a.py")


async def test_a_session_is_named_by_a_hash_and_never_by_its_id(model: Model, fake: FakeProvider) -> None:
    fake.answer(Say("hi"))
    await answer(model)
    assert len(fake.asked[0].headers["x-session-id"]) == 32
    assert fake.asked[0].headers["x-session-affinity"] == fake.asked[0].headers["x-session-id"]
    assert "session-1" not in str(fake.asked[0])


async def test_letters_cut_apart_on_the_way_arrive_whole(model: Model, fake: FakeProvider) -> None:
    fake.answer(Drip(3), Say("Grüße, 世界 🙂"))
    assert kept(await answer(model))[0] == TextSaid("Grüße, 世界 🙂")


@pytest.mark.parametrize(
    ("reason", "heard"),
    [
        (FinishReason.MAX_TOKENS, FinishReason.MAX_TOKENS),
        (FinishReason.CONTENT_FILTER, FinishReason.CONTENT_FILTER),
        (FinishReason.END_TURN, FinishReason.END_TURN),
    ],
)
async def test_the_reason_of_the_ending_is_told(
    model: Model, fake: FakeProvider, reason: FinishReason, heard: FinishReason
) -> None:
    fake.answer(Say("so"), Stop(reason))
    assert (await answer(model))[-1] == Finished(heard)


async def test_usage_of_nothing_is_told_as_it_is(model: Model, fake: FakeProvider) -> None:
    fake.answer(Say("so"), Use(Usage()))
    assert UsageSaid(Usage()) in await answer(model)


async def test_odd_tool_arguments_are_passed_on_raw(dialect: str, model: Model, fake: FakeProvider) -> None:
    # Where arguments are an object, what is in it may still be odd.
    odd = '{"path": [null, "ü", {}]}' if dialect == "google" else '{"path": "unfinished'
    fake.answer(CallTool("call-1", "ls", odd))
    assert ToolCallDone(ToolCallId("call-1"), "ls", odd) in kept(await answer(model))


@pytest.mark.parametrize(
    ("refuse", "trouble", "retry_after"),
    [
        (Refuse(403), Trouble.REFUSED, None),
        (Refuse(404), Trouble.REFUSED, None),
        (Refuse(422), Trouble.REFUSED, None),
        (Refuse(408), Trouble.BUSY, None),
        (Refuse(429, headers={"retry-after": "7"}), Trouble.BUSY, 7.0),
        (Refuse(429, headers={"retry-after-ms": "1500"}), Trouble.BUSY, 1.5),
        (Refuse(429, headers={"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}), Trouble.BUSY, 0.0),
        (Refuse(429, headers={"retry-after": "after tea"}), Trouble.BUSY, None),
        (Refuse(429, kind="insufficient_quota"), Trouble.REFUSED, None),
        (Refuse(500), Trouble.BUSY, None),
        (Refuse(529, kind="overloaded_error"), Trouble.BUSY, None),
        (Refuse(400, "prompt is too long: 9 tokens > 8 maximum"), Trouble.CONTEXT_FULL, None),
        (Refuse(400, "no such parameter"), Trouble.REFUSED, None),
        (Refuse(400, "try again", headers={"x-should-retry": "true"}), Trouble.BUSY, None),
    ],
)
async def test_a_refusal_tells_what_kind_it_is_and_is_not_retried(
    model: Model, fake: FakeProvider, refuse: Refuse, trouble: Trouble, retry_after: float | None
) -> None:
    fake.answer(refuse)
    with pytest.raises(ModelTrouble) as caught:
        await answer(model)
    found = caught.value
    assert (found.trouble, found.status, found.retry_after_seconds) == (trouble, refuse.status, retry_after)
    assert found.message == refuse.message
    assert len(fake.asked) == 1


async def test_a_wrong_key_is_trouble_with_the_key_and_does_not_tell_it(
    dialect: str, fake: FakeProvider, http: httpx2.AsyncClient
) -> None:
    with pytest.raises(ModelTrouble) as caught:
        await answer(model_at(dialect, fake.base_url(dialect), http, key="sk-very-secret"))
    assert (caught.value.trouble, caught.value.status) == (Trouble.AUTH, 401)
    assert caught.value.message == "bad key ***"


@pytest.mark.parametrize(
    ("fault", "trouble"),
    [
        ((ErrorEvent("overloaded_error", "Overloaded"),), Trouble.BUSY),
        ((Cut(),), Trouble.CUT),
        ((Cut(quietly=True),), Trouble.CUT),
        ((Garbage(),), Trouble.CUT),
    ],
)
async def test_what_breaks_in_the_middle_is_trouble_after_what_was_heard(
    model: Model, fake: FakeProvider, fault: tuple[Step, ...], trouble: Trouble
) -> None:
    fake.answer(Say("so far"), *fault)
    heard: list[Chunk] = []

    async def listen() -> None:
        async for chunk in model.stream(ask()):
            heard.append(chunk)  # noqa: PERF401 - what was heard before the break is kept

    with pytest.raises(ModelTrouble) as caught:
        await listen()
    assert caught.value.trouble is trouble
    assert caught.value.retryable
    assert heard[0] == TextSaid("so far")
    assert not any(isinstance(chunk, Finished) for chunk in heard)


async def test_nobody_there_is_unreachable(dialect: str, fake: FakeProvider, http: httpx2.AsyncClient) -> None:
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as closed:
        port = closed.extra(anyio.abc.SocketAttribute.local_port)
    with pytest.raises(ModelTrouble) as caught:
        await answer(model_at(dialect, f"http://me:secret@127.0.0.1:{port}/v1?key=secret", http))
    assert caught.value.trouble is Trouble.UNREACHABLE
    assert str(caught.value).startswith(f"fake at http://127.0.0.1:{port}/v1: ")
    assert "secret" not in str(caught.value)


async def test_a_cancelled_reader_closes_the_connection_at_once(model: Model, fake: FakeProvider) -> None:
    fake.answer(Say("so far"), Hold("never"))

    async def listen(started: anyio.Event) -> None:
        async for _ in model.stream(ask()):
            started.set()

    started = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listen, started)
        await started.wait()
        tasks.cancel_scope.cancel()
    with anyio.fail_after(CLOSE_SECONDS):
        await fake.asked[0].gone.wait()


async def test_a_closed_generator_closes_the_connection_at_once(model: Model, fake: FakeProvider) -> None:
    fake.answer(Say("so far"), Hold("never"))
    stream = model.stream(ask())
    await anext(stream)
    await stream.aclose()
    with anyio.fail_after(CLOSE_SECONDS):
        await fake.asked[0].gone.wait()


async def test_a_reader_cancelled_before_the_first_word_closes_the_connection_too(
    model: Model, fake: FakeProvider
) -> None:
    fake.answer(Hold("before"))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(answer, model)
        await fake.reached("before")
        tasks.cancel_scope.cancel()
    with anyio.fail_after(CLOSE_SECONDS):
        await fake.asked[0].gone.wait()
