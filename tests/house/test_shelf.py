"""A server goes by the catalogue it was told to read, and by the one packed with it otherwise."""

import os
from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import httpx2
import msgspec
import pytest

from turnkeeper.house.shelf import CatalogUnavailable, Shelf, named_source
from turnkeeper.models.catalog import Catalog, embedded, packed_file, read
from turnkeeper.testing.house import house

SMALL = msgspec.json.encode([{"id": "mine", "models": [{"id": "m"}]}])
PROVIDERS = "/v2/providers"


@pytest.fixture
async def http() -> AsyncGenerator[httpx2.AsyncClient, None]:
    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, content=SMALL) if request.url.path == PROVIDERS else httpx2.Response(404)

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as client:
        yield client


async def recalled(cache_file: Path, http: httpx2.AsyncClient) -> Catalog:
    shelf = Shelf(cache_file, http)
    await shelf.recall()
    return shelf.catalog


async def test_a_catalogue_that_was_fetched_is_the_next_servers_too(http: httpx2.AsyncClient, tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "providers.json", http)
    assert shelf.catalog == embedded()
    assert await shelf.update("https://catalogue.example") == shelf.catalog == read(SMALL)
    assert await recalled(tmp_path / "providers.json", http) == read(SMALL)


async def test_a_catalogue_may_come_from_a_file_and_be_given_back(http: httpx2.AsyncClient, tmp_path: Path) -> None:
    mine = tmp_path / "mine.json"
    mine.write_bytes(SMALL)
    shelf = Shelf(tmp_path / "providers.json", http)
    assert await shelf.update(str(mine)) == read(SMALL)
    assert await recalled(tmp_path / "providers.json", http) == read(SMALL)
    assert await shelf.update("embedded") == embedded()
    assert await recalled(tmp_path / "providers.json", http) == embedded()


async def test_a_catalogue_older_than_the_packed_one_is_not_believed(http: httpx2.AsyncClient, tmp_path: Path) -> None:
    kept = tmp_path / "providers.json"
    kept.write_bytes(SMALL)
    packed = packed_file().stat().st_mtime
    os.utime(kept, (packed - 1, packed - 1))
    assert await recalled(kept, http) == embedded()


async def test_what_cannot_be_read_says_so_and_changes_nothing(http: httpx2.AsyncClient, tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "providers.json", http)
    odd = tmp_path / "odd.json"
    odd.write_text("<html>")
    for source in ("https://catalogue.example/elsewhere", str(tmp_path / "nowhere.json"), str(odd), "http://["):
        with pytest.raises(CatalogUnavailable, match="no catalogue of models could be read from"):
            await shelf.update(source)
    assert shelf.catalog == embedded()
    with anyio.fail_after(5):
        await shelf.update_at_start({"CATWALK_URL": "https://catalogue.example/elsewhere"})
    assert shelf.catalog == embedded()


def test_nothing_is_fetched_at_the_start_unless_the_environment_names_a_source() -> None:
    assert named_source({}) == ""
    assert named_source({"CATWALK_URL": "https://a.example", "TURNKEEPER_CATALOG_URL": "/b.json"}) == "/b.json"
    assert named_source({"CATWALK_URL": "https://a.example", "CRUSH_DISABLE_PROVIDER_AUTO_UPDATE": "1"}) == ""


async def test_a_client_has_the_catalogue_read_anew_and_its_models_can_be_chosen(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_bytes(SMALL)
    (tmp_path / "project").mkdir()
    env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    with anyio.fail_after(20):
        async with house(catalog_file=tmp_path / "providers.json") as door:
            client = await door.client(tmp_path / "project", env=env)
            update = client.path("/providers/update")
            assert (await door.http.post(update, {"source": str(tmp_path / "none.json")})).status == 502
            answered = await door.http.post(update, {"source": str(tmp_path / "mine.json")})
            assert [entry["id"] for entry in answered.json()] == ["mine"]
            assert (await door.http.get(client.path("/providers"))).json() == answered.json()
            assert len((await door.http.post(update, None)).json()) == len(embedded().providers)
