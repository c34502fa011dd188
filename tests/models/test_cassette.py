"""What a provider said once can be heard again without it, and without the key it was said to."""

from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import httpx2
import pytest

from tests.models.scenes import DIALECTS, answer, ask, model_at, user
from turnkeeper.models.cassette import Player, Recorder
from turnkeeper.models.model import ModelTrouble, TextSaid, Trouble
from turnkeeper.models.scripted import CallTool, Say, Think
from turnkeeper.models.wires import open_wires
from turnkeeper.testing.fake_provider import KEY, FakeProvider, Refuse, fake_provider

pytestmark = pytest.mark.anyio


@pytest.fixture
async def fake() -> AsyncGenerator[FakeProvider, None]:
    with anyio.fail_after(20):
        async with fake_provider() as provider:
            yield provider


def recording(path: Path) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=Recorder(path, httpx2.AsyncHTTPTransport(), secrets=[KEY]))


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_recorded_answer_is_heard_again_without_its_provider(
    dialect: str, fake: FakeProvider, tmp_path: Path
) -> None:
    fake.answer(Think("hm"), Say("hello 🙂", characters=2), CallTool("call-1", "ls", '{"path": "."}'))
    async with recording(tmp_path / "talk.json") as http:
        live = await answer(model_at(dialect, fake.base_url(dialect), http))
    elsewhere = f"http://nowhere.invalid{'' if dialect in ('anthropic', 'google') else '/v1'}"
    async with httpx2.AsyncClient(transport=Player(tmp_path / "talk.json")) as http:
        assert await answer(model_at(dialect, elsewhere, http)) == live


async def test_no_key_is_kept_even_if_the_provider_says_it_back(fake: FakeProvider, tmp_path: Path) -> None:
    fake.answer(Say(f"your key is {KEY} or sk-proj-abcdefghijklmnop1234"))
    async with recording(tmp_path / "talk.json") as http:
        await answer(model_at("chat", fake.base_url("chat"), http))
    kept = (tmp_path / "talk.json").read_text()
    assert "your key is *** or ***" in kept
    assert KEY not in kept
    assert "authorization" not in kept.lower()


async def test_a_refusal_is_recorded_with_what_it_says_of_retrying(fake: FakeProvider, tmp_path: Path) -> None:
    fake.answer(Refuse(429, "slow down", headers={"retry-after": "3"}))
    async with recording(tmp_path / "talk.json") as http:
        with pytest.raises(ModelTrouble):
            await answer(model_at("chat", fake.base_url("chat"), http))
    async with httpx2.AsyncClient(transport=Player(tmp_path / "talk.json")) as http:
        with pytest.raises(ModelTrouble) as caught:
            await answer(model_at("chat", "http://nowhere.invalid/v1", http))
    assert (caught.value.trouble, caught.value.retry_after_seconds) == (Trouble.BUSY, 3.0)


async def test_a_question_that_was_not_recorded_is_refused(fake: FakeProvider, tmp_path: Path) -> None:
    fake.answer(Say("hello"))
    async with recording(tmp_path / "talk.json") as http:
        await answer(model_at("chat", fake.base_url("chat"), http))
    async with httpx2.AsyncClient(transport=Player(tmp_path / "talk.json")) as http:
        model = model_at("chat", "http://nowhere.invalid/v1", http)
        with pytest.raises(ModelTrouble, match="the cassette holds no answer"):
            await answer(model, ask(user("something else")))
        assert TextSaid("hello") in await answer(model)


@pytest.mark.parametrize("variable", ["TURNKEEPER_RECORD", "TURNKEEPER_REPLAY"])
async def test_a_file_that_is_no_cassette_is_named_to_whoever_asks(variable: str, tmp_path: Path) -> None:
    tape = tmp_path / "talk.json"
    tape.write_text("no cassette")
    async with open_wires({variable: str(tape)}) as wires:
        for http in (wires.remote, wires.local):
            with pytest.raises(ModelTrouble, match=r"talk\.json cannot be used"):
                await answer(model_at("chat", "http://nowhere.invalid/v1", http))
    assert tape.read_text() == "no cassette"


async def test_a_recording_goes_on_where_the_file_ended_and_knows_a_key_by_where_it_stands(
    fake: FakeProvider, tmp_path: Path
) -> None:
    tape = tmp_path / "talk.json"
    for said in ("one", f"your key is {KEY}"):
        fake.answer(Say(said))
        async with open_wires({"TURNKEEPER_RECORD": str(tape)}) as wires:
            await answer(model_at("chat", fake.base_url("chat"), wires.local))
    assert KEY not in tape.read_text()
    async with open_wires({"TURNKEEPER_REPLAY": str(tape)}) as wires:
        model = model_at("chat", "http://nowhere.invalid/v1", wires.remote)
        texts = [
            "".join(chunk.text for chunk in await answer(model, ask(user(f"ask {n}"))) if isinstance(chunk, TextSaid))
            for n in range(2)
        ]
    assert texts == ["one", "your key is ***"]
