"""Servers that almost speak a dialect: what they say oddly is heard if it can be, else it is a cut, never a crash."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import anyio
import httpx2
import pytest

from tests.models.scenes import DIALECTS, answer, ask, model_at
from turnkeeper.models.model import (
    Chunk,
    Finished,
    ModelTrouble,
    ReasoningDone,
    ReasoningSaid,
    TextSaid,
    ToolCallDone,
    Trouble,
)
from turnkeeper.models.scripted import Say
from turnkeeper.models.troubles import retry_after
from turnkeeper.protocol.ids import ToolCallId
from turnkeeper.protocol.messages import FinishReason
from turnkeeper.testing.fake_provider import FakeProvider, Garbage, fake_provider

pytestmark = pytest.mark.anyio


@pytest.fixture
async def fake() -> AsyncGenerator[FakeProvider, None]:
    with anyio.fail_after(20):
        async with fake_provider() as provider:
            yield provider


async def heard(fake: FakeProvider, dialect: str, odd: str, name: str = "") -> tuple[list[Chunk], Trouble | None]:
    """What is heard of an answer with this event in its middle, and what ended it if its end did not."""
    event = f"event: {name}\n" if name else ""
    fake.answer(Say("before "), Garbage(f"{event}data: {odd}\n\n".encode()), Say("after"))
    chunks: list[Chunk] = []
    async with httpx2.AsyncClient(trust_env=False) as http:
        try:
            async for chunk in model_at(dialect, fake.base_url(dialect), http).stream(ask()):
                chunks.append(chunk)  # noqa: PERF401 - what was heard before a trouble is kept
        except ModelTrouble as trouble:
            return chunks, trouble.trouble
    return chunks, None


def text_of(chunks: list[Chunk]) -> str:
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, TextSaid))


@pytest.mark.parametrize(
    ("dialect", "odd"),
    [
        ("chat", "null"),
        ("chat", "[]"),
        ("chat", '"x"'),
        ("chat", '{"choices": null}'),
        ("chat", '{"choices": [{}]}'),
        ("chat", '{"choices": [{"index": 0, "delta": null}]}'),
        ("chat", '{"choices": [{"index": 0, "delta": {"content": 5}}]}'),
        ("chat", '{"choices": [{"index": 0, "delta": {"tool_calls": [{"index": null, "function": null}]}}]}'),
        ("chat", '{"choices": [{"index": 0, "delta": {"reasoning": {"text": "x"}}}]}'),
        ("chat", '{"choices": [{"index": 0, "delta": {}, "finish_reason": ""}], "usage": "none"}'),
        ("responses", "{}"),
        ("responses", '{"type": 5}'),
        ("responses", '{"type": "response.output_text.delta", "delta": null, "output_index": 0}'),
        ("responses", '{"type": "response.of.the.future", "x": 1}'),
        ("anthropic", '{"type": "ping"}'),
        ("anthropic", '{"type": "content_block_stop", "index": 9}'),
        ("google", "null"),
        ("google", '{"candidates": null}'),
        ("google", '{"candidates": [{"content": {"parts": null}}]}'),
        ("google", '{"candidates": [{"content": {"parts": [{}]}}]}'),
    ],
)
async def test_what_says_nothing_is_passed_over(fake: FakeProvider, dialect: str, odd: str) -> None:
    chunks, trouble = await heard(fake, dialect, odd, name="ping" if dialect == "anthropic" else "")
    assert (text_of(chunks), trouble) == ("before after", None)
    assert isinstance(chunks[-1], Finished)


@pytest.mark.parametrize(
    ("dialect", "name", "odd"),
    [
        ("chat", "", '{"choices": [null]}'),
        ("chat", "", '{"choices": [{"index": 0, "delta": {"reasoning_details": ["x"]}}]}'),
        ("chat", "", '{"choices": '),
        ("responses", "", "null"),
        ("responses", "", '{"type": "response.completed", "response": null}'),
        ("responses", "", '{"type": "response.output_item.added", "item": null, "output_index": 0}'),
        ("anthropic", "content_block_delta", "[]"),
        ("anthropic", "message_start", '{"type": "message_start"}'),
        ("anthropic", "content_block_start", '{"type": "content_block_start", "index": 0}'),
        ("anthropic", "message_delta", '{"type": "message_delta", "delta": null}'),
        ("google", "", '{"candidates": [{"content": {"parts": [{"text": 5}]}}]}'),
    ],
)
async def test_what_cannot_be_read_is_a_cut_after_what_was_heard(
    fake: FakeProvider, dialect: str, name: str, odd: str
) -> None:
    chunks, trouble = await heard(fake, dialect, odd, name)
    assert (text_of(chunks), trouble) == ("before ", Trouble.CUT)


async def test_text_and_thinking_in_a_list_are_heard_in_their_order(fake: FakeProvider) -> None:
    thought = '{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}'
    odd = f'{{"choices": [{{"index": 0, "delta": {{"content": [{thought}, {{"type": "text", "text": "so "}}]}}}}]}}'
    chunks, trouble = await heard(fake, "chat", odd)
    assert trouble is None
    spoken = [chunk for chunk in chunks if isinstance(chunk, TextSaid | ReasoningSaid | ReasoningDone)]
    expected = [TextSaid("before "), ReasoningSaid("hm"), ReasoningDone(), TextSaid("so "), TextSaid("after")]
    assert spoken == expected


async def test_arguments_that_come_as_an_object_are_an_object(fake: FakeProvider) -> None:
    call = '{"index": 0, "id": "call-1", "function": {"name": "ls", "arguments": {"path": "ü"}}}'
    odd = f'{{"choices": [{{"index": 0, "delta": {{"tool_calls": [{call}]}}}}]}}'
    chunks, _ = await heard(fake, "chat", odd)
    assert ToolCallDone(ToolCallId("call-1"), "ls", '{"path": "ü"}') in chunks


@pytest.mark.parametrize(
    ("said", "trouble"),
    [
        ('"code": 400, "message": "This model\'s maximum context length is 8 tokens"', Trouble.CONTEXT_FULL),
        ('"code": 503, "message": "no worker left"', Trouble.BUSY),
        ('"code": null, "type": "server_error", "message": ""', Trouble.BUSY),
    ],
)
async def test_an_error_said_as_a_piece_of_the_answer_is_an_error(
    fake: FakeProvider, said: str, trouble: Trouble
) -> None:
    assert (await heard(fake, "chat", f'{{"object": "error", {said}}}'))[1] is trouble


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("kind", "content", "said"),
    [
        ("text/html; charset=utf-8", "<html><title>A chat for people</title></html>", "a web page"),
        ("application/json", '{"error": "Unexpected endpoint or method. (POST /chat/completions)"}', "a document"),
        ("application/json", "null", "a document"),
    ],
)
async def test_a_page_or_a_document_is_no_stream_and_asking_again_is_pointless(
    dialect: str, kind: str, content: str, said: str
) -> None:
    def page(_request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": kind}, content=content.encode())

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(page)) as http:
        with pytest.raises(ModelTrouble, match=f"{said} instead of a stream") as caught:
            await answer(model_at(dialect, "http://me:hush@web.example:8080/v1?key=hush", http))
    assert caught.value.trouble is Trouble.REFUSED
    assert "http://web.example:8080/v1" in caught.value.message
    assert "hush" not in caught.value.message


async def test_a_stream_that_calls_itself_a_document_is_heard_all_the_same() -> None:
    piece = '{"choices": [{"index": 0, "delta": {"content": "hi"}, "finish_reason": "stop"}]}'

    def streamed(_request: httpx2.Request) -> httpx2.Response:
        content = f"data: {piece}\n\ndata: [DONE]\n\n".encode()
        return httpx2.Response(200, headers={"content-type": "application/json"}, content=content)

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(streamed)) as http:
        assert await answer(model_at("chat", "http://h/v1", http)) == [TextSaid("hi"), Finished(FinishReason.END_TURN)]


def test_a_date_until_which_to_wait_is_so_many_seconds_from_now() -> None:
    soon = datetime.now(UTC) + timedelta(seconds=40)
    told = retry_after({"retry-after": format_datetime(soon, usegmt=True)})
    assert told is not None
    assert 30 < told <= 40
