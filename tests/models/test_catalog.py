"""A model is found by its name whatever its case, and never by guessing between two."""

from pathlib import Path

import httpx2
import pytest

from turnkeeper.models.catalog import Catalog, Offer, embedded, fetched, find, kept, parsed, read
from turnkeeper.models.model import ModelTrouble
from turnkeeper.models.quirks import TYPES
from turnkeeper.protocol.config import ModelEntry, ModelType, ProviderConfig, ProviderEntry, SelectedModel

OFFER: Offer = {
    "openai": (ModelEntry(id="gpt-4o"), ModelEntry(id="shared")),
    "openrouter": (ModelEntry(id="moonshot/Kimi-K2"), ModelEntry(id="shared")),
}
SMALL = b'[{"name": "A", "id": "a", "type": "openai", "models": [{"id": "m", "name": "M"}]}]'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gpt-4o", ("", "gpt-4o")),
        ("openai/gpt-4o", ("openai", "gpt-4o")),
        ("OpenAI/gpt-4o", ("openai", "gpt-4o")),
        ("moonshot/kimi-k2", ("", "moonshot/kimi-k2")),
        ("openrouter/moonshot/kimi-k2", ("openrouter", "moonshot/kimi-k2")),
        ("", ("", "")),
        ("openai/", ("openai", "")),
    ],
)
def test_a_model_string_is_taken_apart_only_at_a_provider_we_know(text: str, expected: tuple[str, str]) -> None:
    assert parsed(text, OFFER) == expected


@pytest.mark.parametrize(
    ("text", "provider", "model"),
    [
        ("gpt-4o", "openai", "gpt-4o"),
        ("GPT-4O", "openai", "gpt-4o"),
        ("moonshot/kimi-k2", "openrouter", "moonshot/Kimi-K2"),
        ("OPENROUTER/moonshot/kimi-k2", "openrouter", "moonshot/Kimi-K2"),
        ("openrouter/shared", "openrouter", "shared"),
    ],
)
def test_a_model_is_found_whatever_its_case(text: str, provider: str, model: str) -> None:
    assert find(text, OFFER) == SelectedModel(provider=provider, model=model)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nothing", "'nothing' not found"),
        ("unknown/gpt-4o", "'unknown/gpt-4o' not found; did you mean openai/gpt-4o?"),
        ("openai/kimi-k2", "not found at openai"),
        ("shared", "several providers; say which: openai/shared, openrouter/shared"),
        ("", "no model was named"),
        ("openai/", "no model was named"),
    ],
)
def test_a_name_that_is_not_one_model_says_why(text: str, said: str) -> None:
    with pytest.raises(ModelTrouble, match=said.replace("?", r"\?")):
        find(text, OFFER)


def test_the_packed_catalogue_is_sound() -> None:
    catalog = embedded()
    assert {"anthropic", "openai", "gemini", "openrouter"} <= {provider.id for provider in catalog.providers}
    for provider in catalog.providers:
        ids = [model.id for model in provider.models]
        assert len(set(ids)) == len(ids)
        assert {provider.default_large_model_id, provider.default_small_model_id} <= set(ids)
        assert provider.type in TYPES
        for model in provider.models:
            assert 8_000 <= model.context_window <= 3_000_000
            assert 0 < model.default_max_tokens < model.context_window
            assert 0 < model.cost_per_1m_in <= model.cost_per_1m_out
            assert model.cost_per_1m_out_cached <= model.cost_per_1m_in
            assert not model.reasoning_levels or model.default_reasoning_effort in model.reasoning_levels


def test_what_the_user_wrote_of_a_model_wins_over_the_catalogue() -> None:
    catalog = Catalog((ProviderEntry(id="a", models=(ModelEntry(id="m", name="theirs"), ModelEntry(id="n"))),))
    mine = ProviderConfig(id="a", models=(ModelEntry(id="m", name="mine"), ModelEntry(id="o")))
    assert [(model.id, model.name) for model in catalog.models_of(mine)] == [("m", "mine"), ("o", ""), ("n", "")]
    assert catalog.default_of(mine, ModelType.LARGE) == "m"


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'[{"id": 3}]', b"<html>"])
def test_what_is_no_catalogue_is_refused(content: bytes) -> None:
    with pytest.raises(ModelTrouble, match="catalogue"):
        read(content)


class Shelf:
    """A server of catalogues: answers with what it was given, and knows what it was asked."""

    def __init__(self, *answers: httpx2.Response) -> None:
        self.answers = list(answers)
        self.tags: list[str] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.tags.append(request.headers.get("if-none-match", ""))
        return self.answers.pop(0)


def client(shelf: Shelf) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=httpx2.MockTransport(shelf))


@pytest.mark.anyio
async def test_a_catalogue_is_fetched_again_only_if_it_changed(tmp_path: Path) -> None:
    shelf = Shelf(httpx2.Response(200, content=SMALL, headers={"etag": '"1"'}), httpx2.Response(304))
    file = tmp_path / "cache" / "providers.json"
    async with client(shelf) as http:
        first = await fetched("https://catalogue.example/", file, http)
        second = await fetched("https://catalogue.example/", file, http)
    assert first == second == read(SMALL)
    assert shelf.tags == ["", '"1"']


@pytest.mark.anyio
async def test_a_catalogue_that_cannot_be_fetched_leaves_what_was_kept(tmp_path: Path) -> None:
    shelf = Shelf(httpx2.Response(200, content=SMALL), httpx2.Response(500), httpx2.Response(200, content=b"<html>"))
    file = tmp_path / "providers.json"
    async with client(shelf) as http:
        await fetched("https://catalogue.example/", file, http)
        with pytest.raises(httpx2.HTTPStatusError):
            await fetched("https://catalogue.example/", file, http)
        with pytest.raises(ModelTrouble, match="no catalogue"):
            await fetched("https://catalogue.example/", file, http)
    assert await kept(file) == read(SMALL)
