"""Servers on this computer are found without configuration, and whoever is slow or odd is left out."""

import json
from collections.abc import AsyncGenerator

import anyio
import anyio.abc
import httpx2
import pytest

from turnkeeper.models.discover import Place, discover, listed_models
from turnkeeper.protocol.config import ModelEntry
from turnkeeper.testing.fake_provider import FakeProvider, fake_provider

pytestmark = pytest.mark.anyio


@pytest.fixture
async def http() -> AsyncGenerator[httpx2.AsyncClient, None]:
    async with httpx2.AsyncClient(trust_env=False) as client:
        yield client


@pytest.fixture
async def fake() -> AsyncGenerator[FakeProvider, None]:
    with anyio.fail_after(20):
        async with fake_provider() as provider:
            yield provider


async def test_a_server_with_models_becomes_a_provider(fake: FakeProvider, http: httpx2.AsyncClient) -> None:
    fake.catalogue = ["llama", "nomic-embed-text"]
    (found,) = await discover(http, (Place("vllm", "vLLM", fake.url),))
    assert (found.id, found.type, found.base_url) == ("vllm", "vllm", f"{fake.url}/v1")
    assert [model.id for model in found.models] == ["llama"]


async def test_the_order_is_that_of_the_places(fake: FakeProvider, http: httpx2.AsyncClient) -> None:
    places = (Place("b", "B", fake.url), Place("a", "A", fake.url), Place("none", "None", "http://127.0.0.1:9"))
    assert [provider.id for provider in await discover(http, places)] == ["b", "a"]


async def test_a_silent_server_is_not_waited_for_and_spoils_nothing(
    fake: FakeProvider, http: httpx2.AsyncClient
) -> None:
    async def say_nothing(stream: anyio.abc.SocketStream) -> None:
        async with stream:
            await anyio.sleep_forever()

    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as silent, anyio.create_task_group() as tasks:
        port = silent.extra(anyio.abc.SocketAttribute.local_port)
        tasks.start_soon(silent.serve, say_nothing)
        with anyio.fail_after(5):
            places = (Place("silent", "Silent", f"http://127.0.0.1:{port}"), Place("vllm", "vLLM", fake.url))
            assert [provider.id for provider in await discover(http, places)] == ["vllm"]
        tasks.cancel_scope.cancel()


async def test_nobody_is_looked_for_beyond_the_loopback() -> None:
    asked: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(str(request.url))
        return httpx2.Response(200, json={"data": [{"id": "m"}]})

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as http:
        assert await discover(http, (Place("far", "Far", "http://192.0.2.1:8000"),)) == ()
    assert asked == []


SHOWN = {
    "qwen3:4b": {"model_info": {"qwen3.context_length": 40_960, "qwen3.block_count": 36}},
    "set:1b": {"parameters": "stop x\nnum_ctx    8192", "model_info": {"llama.context_length": 131_072}},
    "silent": None,
    "odd": ["what"],
}


async def test_ollama_is_asked_in_its_own_way_and_how_much_each_model_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turnkeeper.models.discover.LOOK_SECONDS_MAX", 2.0)

    async def answer(request: httpx2.Request) -> httpx2.Response:
        if request.url.path == "/api/tags":
            names = [{"name": name} for name in (*SHOWN, "nomic-embed-text")]
            return httpx2.Response(200, json={"models": [*names, {"odd": 1}]})
        assert (request.method, request.url.path) == ("POST", "/api/show")
        shown = SHOWN.get(json.loads(request.content)["model"])
        if shown is None:
            await anyio.sleep_forever()
        return httpx2.Response(200, json=shown)

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as http:
        with anyio.fail_after(5):
            (found,) = await discover(http, (Place("ollama", "Ollama", "http://127.0.0.1:11434"),))
    windows = {model.id: model.context_window for model in found.models}
    assert windows == {"qwen3:4b": 40_960, "set:1b": 8192, "silent": 0, "odd": 0}


@pytest.mark.parametrize("knows_its_own_list", [True, False])
async def test_lm_studio_is_asked_for_its_own_list_first(knows_its_own_list: bool) -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        if request.url.path == "/v1/models":
            return httpx2.Response(200, json={"data": [{"id": "m"}]})
        assert request.url.path == "/api/v0/models"
        listed = [
            {"id": "m", "type": "llm", "loaded_context_length": 4096, "max_context_length": 32_768},
            {"id": "e", "type": "embeddings"},
        ]
        return httpx2.Response(200, json={"data": listed} if knows_its_own_list else {"error": "Unexpected endpoint"})

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as http:
        (found,) = await discover(http, (Place("lmstudio", "LM Studio", "http://127.0.0.1:1234"),))
    assert found.base_url == "http://127.0.0.1:1234/v1"
    assert [(model.id, model.context_window) for model in found.models] == [("m", 4096 if knows_its_own_list else 0)]


@pytest.mark.parametrize(
    ("listed", "window"),
    [
        ({"id": "m", "context_length": 5000}, 5000),
        ({"id": "m", "max_model_len": 6000}, 6000),
        ({"id": "m", "meta": {"n_ctx_train": 7000}}, 7000),
        ({"id": "m", "context_length": "many"}, 0),
    ],
)
async def test_a_window_is_taken_where_the_server_tells_it(listed: dict[str, object], window: int) -> None:
    transport = httpx2.MockTransport(lambda _request: httpx2.Response(200, json={"data": [listed]}))
    async with httpx2.AsyncClient(transport=transport) as http:
        (found,) = await listed_models("http://127.0.0.1/v1", http)
    assert found == ModelEntry(
        id="m", name="m", context_window=window, default_max_tokens=min(4000, window // 4) if window else 4000
    )


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b'{"data": {}}', b'{"data": [1, {"id": 2}]}', b"x" * 5_000_000]
)
async def test_what_is_no_list_of_models_is_no_model(body: bytes) -> None:
    transport = httpx2.MockTransport(lambda _request: httpx2.Response(200, content=body))
    async with httpx2.AsyncClient(transport=transport) as http:
        assert await listed_models("http://127.0.0.1/v1", http) == ()
