"""Which providers can be asked, and who speaks."""

from typing import Any

import msgspec
import pytest

from turnkeeper.protocol.config import Config, ModelEntry, ProviderEntry, SelectedModel
from turnkeeper.settings.providers import (
    Configured,
    ModelChoiceProblem,
    configure,
    is_available,
    model_fields,
    named,
    recent,
    select,
)


def entry(
    name: str, kind: str = "openai-compat", key: str = "", endpoint: str = "https://api", **more: Any
) -> ProviderEntry:
    models = (ModelEntry(id=f"{name}-big", name="Big"), ModelEntry(id=f"{name}-little", name="Little"))
    return ProviderEntry(
        id=name,
        name=name.title(),
        type=kind,
        api_key=key or f"${name.upper()}_API_KEY",
        api_endpoint=endpoint,
        default_large_model_id=f"{name}-big",
        default_small_model_id=more.pop("small", f"{name}-little"),
        models=models,
        **more,
    )


OPENAI = entry("openai", "openai", default_headers={"X-From": "us"})
ANTHROPIC = entry("anthropic", "anthropic")
BEDROCK = entry("bedrock", "bedrock", key="$AWS_BEARER_TOKEN_BEDROCK")
VERTEX = entry("vertexai", "google-vertex", key="$NONE")
AZURE = entry("azure", "azure", key="$AZURE_OPENAI_API_KEY", endpoint="$AZURE_OPENAI_API_ENDPOINT")
CATALOGUE = (OPENAI, ANTHROPIC, BEDROCK, VERTEX, AZURE)
LOCAL = {"providers": {"box": {"base_url": "http://localhost", "models": [{"id": "m"}]}}}


def configured(env: dict[str, str], tree: Any = None) -> Configured:
    return configure(msgspec.convert(tree or {}, Config), CATALOGUE, env)


def test_a_provider_is_enabled_by_the_variable_that_holds_its_key() -> None:
    found = configured({"OPENAI_API_KEY": "k"})
    assert list(found.providers) == ["openai"]
    assert found.providers["openai"].api_key == "$OPENAI_API_KEY"
    assert found.providers["openai"].base_url == "https://api"
    assert found.skipped["anthropic"] == "no key was found"
    assert list(configured({"OPENAI_API_KEY": ""}).providers) == []


@pytest.mark.parametrize("variable", ["CRUSH_OPENAI_API_KEY", "TURNKEEPER_OPENAI_API_KEY"])
def test_a_key_may_be_meant_for_us_alone(variable: str) -> None:
    assert list(configured({variable: "k"}).providers) == ["openai"]


@pytest.mark.parametrize(
    ("env", "name"),
    [
        ({"AWS_ACCESS_KEY_ID": "a"}, "bedrock"),
        ({"AWS_PROFILE": "a"}, "bedrock"),
        ({"AWS_REGION": "eu-west-1"}, "bedrock"),
        ({"AWS_BEARER_TOKEN_BEDROCK": "a"}, "bedrock"),
        ({"AWS_CONTAINER_CREDENTIALS_FULL_URI": "a"}, "bedrock"),
        ({"VERTEXAI_PROJECT": "a", "VERTEXAI_LOCATION": "b"}, "vertexai"),
        ({"AZURE_OPENAI_API_ENDPOINT": "https://a", "AZURE_OPENAI_API_KEY": "k"}, "azure"),
    ],
)
def test_the_three_with_credentials_of_their_own_are_found_by_them(env: dict[str, str], name: str) -> None:
    assert list(configured(env).providers) == [name]
    assert name in configured({"VERTEXAI_PROJECT": "only", "AZURE_OPENAI_API_KEY": "only"}).skipped


def test_what_the_user_said_stands_over_the_catalogue_and_their_models_come_first() -> None:
    own = {"id": "openai-big", "name": "Mine"}
    said = {
        "base_url": "http://proxy",
        "api_key": "$K",
        "models": [own, {"id": "extra"}],
        "extra_headers": {"X-From": ""},
    }
    provider = configured({"K": "k"}, {"providers": {"openai": said}}).providers["openai"]
    assert (provider.base_url, provider.api_key, provider.name) == ("http://proxy", "$K", "Openai")
    assert [(model.id, model.name) for model in provider.models] == [
        ("openai-big", "Mine"),
        ("extra", ""),
        ("openai-little", "Little"),
    ]
    assert provider.extra_headers == {}


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"models": [{"id": "m"}]}, "base_url is missing"),
        ({"base_url": "$UNSET", "models": [{"id": "m"}]}, "base_url is missing"),
        ({"base_url": "http://x", "discover_models": False}, "it has no models, and discover_models is false"),
        ({"base_url": "http://x", "type": "telepathy"}, "type telepathy is not known"),
        ({"base_url": "http://x", "api_key": "${K:?no}"}, "cannot expand '${K:?no}': K: no"),
        ({"base_url": "http://x", "extra_headers": {"A": "$"}}, "header A: cannot expand"),
    ],
)
def test_a_provider_of_ones_own_that_cannot_work_is_left_out_with_the_reason(said: Any, why: str) -> None:
    found = configured({}, {"providers": {"box": said}})
    assert found.providers == {}
    assert found.skipped["box"].startswith(why)


def test_a_provider_of_ones_own_may_be_asked_without_a_key_and_this_is_told() -> None:
    found = configured({}, LOCAL)
    assert (found.providers["box"].type, found.providers["box"].id) == ("openai-compat", "box")
    assert found.warnings == ("provider box has no key; it is asked without one",)


def test_a_key_that_is_a_command_counts_until_it_is_used() -> None:
    said = {"providers": {"openai": {"api_key": "$(secret-tool lookup openai)"}}}
    assert configured({}, said).providers["openai"].api_key == "$(secret-tool lookup openai)"


def test_a_login_counts_as_a_key() -> None:
    assert list(configured({}, {"providers": {"openai": {"oauth": {"access_token": "t"}}}}).providers) == ["openai"]


def test_a_disabled_provider_is_known_and_not_asked() -> None:
    found = configured({"OPENAI_API_KEY": "k"}, {"providers": {"openai": {"disable": True}}})
    assert found.providers["openai"].disable
    assert not is_available(found, "openai", "openai-big")
    assert select(Config(), found, CATALOGUE).models == {}


def test_the_catalogue_can_be_left_aside() -> None:
    tree = {**LOCAL, "options": {"disable_default_providers": True}}
    assert list(configured({"OPENAI_API_KEY": "k"}, tree).providers) == ["box"]


def test_the_models_that_were_chosen_speak() -> None:
    tree = {"models": {"large": {"provider": "anthropic", "model": "anthropic-big", "think": True}}}
    config = msgspec.convert(tree, Config)
    found = configure(config, CATALOGUE, {"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"})
    chosen = select(config, found, CATALOGUE)
    assert chosen.models["large"] == config.models["large"]
    assert chosen.models["small"] == SelectedModel(provider="anthropic", model="anthropic-little")
    assert chosen.corrected == ("small",)


@pytest.mark.parametrize("wrong", [{}, {"provider": "nowhere", "model": "m"}, {"provider": "openai", "model": "gone"}])
def test_a_choice_that_is_not_possible_is_corrected_to_the_default(wrong: dict[str, str]) -> None:
    config = msgspec.convert({"models": {"large": wrong} if wrong else {}}, Config)
    chosen = select(config, configured({"OPENAI_API_KEY": "k"}), CATALOGUE)
    assert chosen.models == {
        "large": SelectedModel(provider="openai", model="openai-big"),
        "small": SelectedModel(provider="openai", model="openai-little"),
    }
    assert chosen.corrected == ("large", "small")


def test_small_is_the_large_one_where_a_provider_has_no_small_one() -> None:
    config = msgspec.convert({**LOCAL, "models": {"large": {"provider": "box", "model": "m", "think": True}}}, Config)
    chosen = select(config, configure(config, CATALOGUE, {}), CATALOGUE)
    assert chosen.models["small"] == chosen.models["large"] == config.models["large"]


def test_a_model_is_found_by_its_name_in_any_case_and_with_its_provider() -> None:
    found = configured({"OPENAI_API_KEY": "k"}, LOCAL)
    assert named(found, "OpenAI-Big") == SelectedModel(provider="openai", model="openai-big")
    assert named(found, "box/M") == SelectedModel(provider="box", model="m")
    with pytest.raises(ModelChoiceProblem, match="no model is called nothing"):
        named(found, "nothing")


def test_a_name_that_two_models_have_must_be_said_with_its_provider() -> None:
    both = dict.fromkeys(("a", "b"), LOCAL["providers"]["box"])
    found = configured({}, {"providers": both})
    with pytest.raises(ModelChoiceProblem, match="m may be a/m, b/m; say which"):
        named(found, "m")
    assert named(found, "b/m") == SelectedModel(provider="b", model="m")


def test_recent_models_are_newest_first_each_once_and_five_at_most() -> None:
    lately: tuple[SelectedModel, ...] = ()
    for name in ["a", "b", "c", "a", "d", "e", "f"]:
        lately = recent(lately, SelectedModel(provider="p", model=name, think=True))
    assert [model.model for model in lately] == ["f", "e", "d", "a", "c"]
    assert lately[0] == SelectedModel(provider="p", model="f")


def test_choosing_a_model_is_written_down_with_the_recent_ones_of_its_slot() -> None:
    config = msgspec.convert({"recent_models": {"large": [{"provider": "p", "model": "a"}]}}, Config)
    chosen = SelectedModel(provider="p", model="b", think=True)
    assert model_fields(config, "large", chosen) == {
        "models.large": {"model": "b", "provider": "p", "think": True},
        "recent_models.large": [{"model": "b", "provider": "p"}, {"model": "a", "provider": "p"}],
    }
