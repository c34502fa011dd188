"""There is always a voice: the one that was chosen, else one that can be had, and it says who it is."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path

import anyio
import httpx2
import msgspec
import pytest

from tests.models.scenes import answer, ask, user
from turnkeeper.models import registry
from turnkeeper.models.catalog import Catalog, read
from turnkeeper.models.discover import Place, discover
from turnkeeper.models.model import ModelInfo, ModelTrouble, TextSaid, Trouble
from turnkeeper.models.registry import ConfiguredModels, Surroundings
from turnkeeper.models.scripted import Say
from turnkeeper.models.wires import Wires, is_loopback
from turnkeeper.protocol.config import Config, ModelEntry, ProviderConfig, SelectedModel
from turnkeeper.testing.fake_provider import KEY, FakeProvider, fake_provider

pytestmark = pytest.mark.anyio

CATALOG = read(
    msgspec.json.encode(
        [
            {
                "id": "first",
                "type": "openai-compat",
                "api_endpoint": "https://first.example/v1",
                "default_large_model_id": "big",
                "default_small_model_id": "little",
                "models": [{"id": "big", "cost_per_1m_in": 3}, {"id": "little"}, {"id": "other", "can_reason": True}],
            },
            {"id": "second", "type": "anthropic", "default_large_model_id": "lone", "models": [{"id": "lone"}]},
        ]
    )
)


@pytest.fixture
async def wires() -> AsyncGenerator[Wires, None]:
    async with httpx2.AsyncClient(trust_env=False) as http:
        yield Wires(http, http)


@pytest.fixture
async def fake() -> AsyncGenerator[FakeProvider, None]:
    with anyio.fail_after(20):
        async with fake_provider() as provider:
            yield provider


Voices = Callable[..., ConfiguredModels]


@pytest.fixture
def voices(wires: Wires) -> Voices:
    def make(
        *providers: ProviderConfig,
        catalog: Catalog = CATALOG,
        refresh: Callable[[str], Awaitable[ProviderConfig | None]] | None = None,
        **models: SelectedModel,
    ) -> ConfiguredModels:
        around = Surroundings(catalog, wires, environment={}, finds_local=False)
        if refresh is not None:
            around = Surroundings(catalog, wires, environment={}, refresh=refresh, finds_local=False)
        return ConfiguredModels(Config(models=models, providers={one.id: one for one in providers}), around)

    return make


def provider(id: str, **fields: object) -> ProviderConfig:
    return msgspec.convert({"id": id, **fields}, ProviderConfig)


def named(info: ModelInfo) -> str:
    return f"{info.provider}/{info.id}"


async def test_without_any_provider_the_offline_model_answers(voices: Voices) -> None:
    assert named((await voices().choose("large")).info) == "offline/offline"
    assert named((await voices(provider("first")).choose("small", "offline")).info) == "offline/offline"


async def test_nobody_having_chosen_the_first_of_the_catalogue_is_asked(voices: Voices) -> None:
    models = voices(provider("second"), provider("first"))
    assert named((await models.choose("large")).info) == "first/big"
    assert named((await models.choose("small")).info) == "first/little"


async def test_a_choice_is_kept_and_its_provider_s_small_model_goes_with_it(voices: Voices) -> None:
    models = voices(provider("first"), provider("second"), large=SelectedModel("lone", "second"))
    assert named((await models.choose("large")).info) == "second/lone"
    # This provider suggests no small model, so the large one does both.
    assert named((await models.choose("small")).info) == "second/lone"


async def test_a_choice_that_cannot_be_had_falls_back_to_its_provider_s_default(voices: Voices) -> None:
    models = voices(provider("first"), provider("second"), large=SelectedModel("gone", "second"))
    assert named((await models.choose("large")).info) == "second/lone"
    models = voices(provider("first"), large=SelectedModel("lone", "second"), small=SelectedModel("gone", "first"))
    assert named((await models.choose("large")).info) == "first/big"
    assert named((await models.choose("small")).info) == "first/little"


async def test_a_disabled_provider_is_not_there(voices: Voices) -> None:
    models = voices(provider("first", disable=True), provider("second"))
    assert named((await models.choose("large")).info) == "second/lone"
    with pytest.raises(ModelTrouble, match="'big' not found"):
        await models.choose("large", "big")


async def test_a_named_model_is_found_whatever_its_case(voices: Voices) -> None:
    models = voices(provider("first"), provider("second"))
    assert named((await models.choose("large", "SECOND/Lone")).info) == "second/lone"
    assert named((await models.choose("small", "other")).info) == "first/other"
    with pytest.raises(ModelTrouble, match="not found"):
        await models.choose("large", "first/lone")


async def test_what_the_catalogue_knows_of_a_model_is_known_of_the_voice(voices: Voices) -> None:
    info = (await voices(provider("first", flat_rate=True)).choose("large")).info
    assert (info.cost_per_1m_in, info.flat_rate, info.media_in_tool_results) == (3.0, True, False)
    assert (await voices(provider("second")).choose("large")).info.media_in_tool_results


async def test_a_provider_of_an_unknown_type_is_refused_by_name(voices: Voices) -> None:
    odd = provider("odd", type="telepathy", models=[{"id": "m"}])
    with pytest.raises(ModelTrouble, match="provider odd has an unknown type 'telepathy'"):
        await voices(odd).choose("large")


async def test_a_configured_provider_is_really_asked_in_its_own_manner(voices: Voices, fake: FakeProvider) -> None:
    mine = provider(
        "mine",
        base_url=fake.base_url("chat"),
        api_key=KEY,
        extra_headers={"x-team": "blue", "x-empty": ""},
        extra_body={"top_k": 7},
        system_prompt_prefix="Be kind.",
        models=[{"id": "m", "default_max_tokens": 99, "options": {"temperature": 0.5, "top_p": 0.1}}],
    )
    fake.answer(Say("hi"))
    model = await voices(mine, large=SelectedModel("m", "mine", temperature=0.25)).choose("large")
    assert (await answer(model))[0] == TextSaid("hi")
    asked = fake.asked[0]
    assert {name: asked.body[name] for name in ("model", "max_tokens", "temperature", "top_p", "top_k")} == {
        "model": "m",
        "max_tokens": 99,
        "temperature": 0.25,
        "top_p": 0.1,
        "top_k": 7,
    }
    assert asked.body["messages"][0]["content"] == "Be kind.\n\nYou are brief."
    assert (asked.headers.get("x-team"), asked.headers.get("x-empty")) == ("blue", None)


async def test_a_provider_nobody_described_is_asked_what_it_has(voices: Voices, fake: FakeProvider) -> None:
    fake.catalogue = ["alpha", "text-embed-1"]
    mine = provider("mine", base_url=fake.base_url("chat"), api_key=KEY)
    assert named((await voices(mine).choose("large")).info) == "mine/alpha"
    quiet = provider("mine", base_url=fake.base_url("chat"), api_key=KEY, discover_models=False)
    assert named((await voices(quiet).choose("large")).info) == "offline/offline"


async def test_a_provider_that_did_not_tell_what_it_has_is_asked_again(
    voices: Voices, fake: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = provider("mine", base_url=fake.base_url("chat"), api_key=KEY)
    fake.catalogue = []
    models = voices(mine)
    assert named((await models.choose("large")).info) == "offline/offline"
    fake.catalogue = ["alpha"]
    assert named((await models.choose("large")).info) == "offline/offline", "not at every question"
    monkeypatch.setattr(registry, "LOOK_AGAIN_SECONDS", 0.0)
    assert named((await models.choose("large")).info) == "mine/alpha"


async def test_who_gives_up_looking_leaves_it_to_the_next(
    wires: Wires, fake: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, looks = anyio.Event(), 0

    async def look(http: httpx2.AsyncClient) -> tuple[ProviderConfig, ...]:
        nonlocal looks
        looks += 1
        if looks == 1:
            begun.set()
            await anyio.sleep_forever()
        return await discover(http, (Place("vllm", "vLLM", fake.url),))

    async def listed(*_: object) -> tuple[ModelEntry, ...]:
        nonlocal looks
        looks += 1
        if looks == 1:
            begun.set()
            await anyio.sleep_forever()
        return (ModelEntry(id="alpha"),)

    monkeypatch.setattr(registry, "discover", look)
    monkeypatch.setattr(registry, "listed_models", listed)
    fake.catalogue = ["llama"]
    mine = provider("mine", base_url=fake.base_url("chat"), api_key=KEY)
    for config, expected in ((Config(), "vllm/llama"), (Config(providers={"mine": mine}), "mine/alpha")):
        begun, looks = anyio.Event(), 0
        models = ConfiguredModels(config, Surroundings(CATALOG, wires, environment={}))
        chosen: list[str] = []

        async def choose(models: ConfiguredModels = models, chosen: list[str] = chosen) -> None:
            chosen.append(named((await models.choose("large")).info))

        with anyio.fail_after(5):
            async with anyio.create_task_group() as next_one, anyio.create_task_group() as first:
                first.start_soon(choose)
                await begun.wait()
                next_one.start_soon(choose)
                await anyio.wait_all_tasks_blocked()
                first.cancel_scope.cancel()
        assert chosen == [expected]


async def test_a_key_that_cannot_be_worked_out_concerns_only_who_asks_for_it(wires: Wires) -> None:
    asked: list[str] = []

    async def resolve(provider: ProviderConfig) -> ProviderConfig:
        asked.append(provider.id)
        if provider.id == "second":
            raise ModelTrouble(Trouble.AUTH, "the vault is closed")
        return msgspec.structs.replace(provider, api_key=KEY)

    providers = {id: provider(id, api_key="$(vault)") for id in ("first", "second")}
    around = Surroundings(CATALOG, wires, environment={}, resolve=resolve, finds_local=False)
    models = ConfiguredModels(Config(providers=providers), around)
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(models.choose, "large")
    assert asked == ["first"], "once, and nobody else"
    with pytest.raises(ModelTrouble, match="the vault is closed"):
        await models.choose("large", "second/lone")


async def test_a_script_is_a_provider_and_is_played_on(voices: Voices, tmp_path: Path) -> None:
    script = tmp_path / "talk.json"
    script.write_text('{"turns": [{"steps": [{"kind":"say","text":"one"}]}, {"steps": [{"kind":"say","text":"two"}]}]}')
    models = voices(provider("mine", type="scripted", provider_options={"path": str(script)}))
    said = [(await answer(await models.choose("large")))[0] for _ in range(2)]
    assert said == [TextSaid("one"), TextSaid("two")]


async def test_fresh_credentials_are_used_by_the_next_voice(voices: Voices, fake: FakeProvider) -> None:
    stale = provider("mine", base_url=fake.base_url("chat"), api_key="sk-old-and-stale", models=[{"id": "m"}])

    async def refresh(_provider: str) -> ProviderConfig | None:
        return msgspec.structs.replace(stale, api_key=KEY)

    models = voices(stale, refresh=refresh)
    with pytest.raises(ModelTrouble):
        await answer(await models.choose("large"))
    assert await models.refresh("mine", since=0.0)
    fake.answer(Say("hi"))
    assert (await answer(await models.choose("large"), ask(user("again"))))[0] == TextSaid("hi")


async def test_those_who_refresh_at_the_same_time_share_one_answer(voices: Voices) -> None:
    asked: list[str] = []
    begun, ready = anyio.Event(), anyio.Event()

    async def refresh(id: str) -> ProviderConfig | None:
        asked.append(id)
        begun.set()
        await ready.wait()
        return provider(id, models=[{"id": "m"}])

    models = voices(provider("mine", models=[{"id": "m"}], discover_models=False), refresh=refresh)
    answers: list[bool] = []

    async def one() -> None:
        answers.append(await models.refresh("mine", since=0.0))

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one)
            await begun.wait()
            tasks.start_soon(one)
            await anyio.wait_all_tasks_blocked()
            ready.set()
    assert (asked, answers) == (["mine"], [True, True])


async def test_credentials_that_cannot_be_fetched_are_no_fresh_credentials(voices: Voices) -> None:
    async def refresh(_provider: str) -> ProviderConfig | None:
        raise ModelTrouble(Trouble.AUTH, "the vault is closed")

    assert not await voices(provider("first"), refresh=refresh).refresh("first", since=0.0)


async def test_nothing_newer_means_asking_again_is_pointless(voices: Voices) -> None:
    assert not await voices(provider("first")).refresh("first", since=0.0)


def test_a_key_is_never_printed_with_its_provider() -> None:
    secret = ProviderConfig(id="mine", api_key=KEY, models=(ModelEntry(id="m"),))
    assert KEY not in repr(secret)


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:1234/v1", True),
        ("http://localhost/v1", True),
        ("http://[::1]:80", True),
        ("https://api.openai.com/v1", False),
        ("http://10.0.0.1/v1", False),
        ("http://localhost.example.com", False),
    ],
)
def test_only_the_loopback_is_this_computer(url: str, local: bool) -> None:
    assert is_loopback(url) is local


async def test_a_server_on_this_computer_is_found_when_it_is_there_and_forgotten_when_it_is_gone(
    wires: Wires, fake: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "LOOK_AGAIN_SECONDS", 0.0)
    places: list[Place] = []

    async def look(http: httpx2.AsyncClient) -> tuple[ProviderConfig, ...]:
        return await discover(http, tuple(places))

    monkeypatch.setattr(registry, "discover", look)
    fake.catalogue = ["llama"]
    models = ConfiguredModels(Config(), Surroundings(CATALOG, wires, environment={}))
    assert named((await models.choose("large")).info) == "offline/offline"
    places.append(Place("vllm", "vLLM", fake.url))
    assert named((await models.choose("large")).info) == "vllm/llama"
    places.clear()
    assert named((await models.choose("large")).info) == "offline/offline"


async def test_a_server_on_this_computer_that_was_chosen_is_looked_for_beside_what_is_configured(
    wires: Wires, fake: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def look(http: httpx2.AsyncClient) -> tuple[ProviderConfig, ...]:
        return await discover(http, (Place("vllm", "vLLM", fake.url),))

    monkeypatch.setattr(registry, "discover", look)
    fake.catalogue = ["llama"]
    chosen = {"large": SelectedModel("llama", "vllm")}
    models = ConfiguredModels(
        Config(models=chosen, providers={"first": provider("first")}), Surroundings(CATALOG, wires, environment={})
    )
    assert named((await models.choose("large")).info) == "vllm/llama"


async def test_the_model_at_home_speaks_when_it_is_named_or_configured(wires: Wires, fake: FakeProvider) -> None:
    async def at_home() -> ProviderConfig:
        return provider("local", type="llamacpp", base_url=fake.base_url("chat"), api_key=KEY, models=[{"id": "tiny"}])

    around = Surroundings(CATALOG, wires, environment={}, finds_local=False, at_home=at_home)
    named_only = ConfiguredModels(Config(), around)
    configured = ConfiguredModels(Config(providers={"local": provider("local", type="local")}), around)
    for models, override in ((named_only, "local"), (configured, ""), (configured, "local/local")):
        fake.answer(Say("hi"))
        model = await models.choose("large", override)
        assert named(model.info) == "local/tiny"
        assert (await answer(model))[0] == TextSaid("hi")


async def test_without_a_model_at_home_naming_it_says_so(voices: Voices) -> None:
    with pytest.raises(ModelTrouble, match="no model of its own"):
        await voices().choose("large", "local")
