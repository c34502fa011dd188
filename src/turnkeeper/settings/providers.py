"""Which providers can be asked, and which models speak, given the configuration, the catalogue and the environment.

Pure: nothing is fetched and no command is run here. A key that is a command counts as there until it is used.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from turnkeeper.protocol.config import (
    RECENT_MODELS_MAX,
    Config,
    ModelEntry,
    ModelType,
    ProviderConfig,
    ProviderEntry,
    SelectedModel,
)
from turnkeeper.protocol.problems import BadRequest
from turnkeeper.settings.environment import for_providers
from turnkeeper.settings.expansion import CommandWanted, ExpansionFailed, expand_without_commands
from turnkeeper.settings.known import AWS_HINTS, LOCAL_TYPES, OWN_TYPES, PROVIDER_TYPES

Value = Callable[[str], str]


class Configured(msgspec.Struct, frozen=True):
    """The providers of a workspace by id, in the catalogue's order, and why others are missing."""

    providers: dict[str, ProviderConfig] = {}
    skipped: dict[str, str] = {}
    warnings: tuple[str, ...] = ()


class ModelChoiceProblem(BadRequest):
    """No such model."""


def configure(config: Config, catalogue: Sequence[ProviderEntry], env: Mapping[str, str]) -> Configured:
    """Complete what the user said of each provider from the catalogue, and leave out what cannot work.

    Keys stay the templates they are. A provider that is disabled stays, marked: it is known and not asked.
    """
    env = for_providers(env)
    known = () if config.options.disable_default_providers else catalogue
    entries = {entry.id: entry for entry in known}
    providers: dict[str, ProviderConfig] = {}
    skipped: dict[str, str] = {}
    warnings: list[str] = []
    for name in dict.fromkeys([*entries, *config.providers]):
        said = config.providers.get(name, ProviderConfig())
        entry = entries.get(name)
        provider = completed(name, said, entry)
        why = "" if said.disable else why_not(provider, env, is_known=entry is not None)
        if why:
            skipped[name] = why
            continue
        providers[name] = provider
        nobody_knows = entry is None and provider.type not in OWN_TYPES
        if nobody_knows and not said.disable and not _has_key(provider, env):
            warnings.append(f"provider {name} has no key; it is asked without one")
    return Configured(providers=providers, skipped=skipped, warnings=tuple(warnings))


def completed(name: str, said: ProviderConfig, entry: ProviderEntry | None) -> ProviderConfig:
    """What the user said, over what the catalogue says. The user's models come first."""
    entry = entry or ProviderEntry(id=name, name=name, type="openai-compat")
    if said.type in OWN_TYPES and not said.models:
        said = msgspec.structs.replace(said, models=(ModelEntry(id=said.type, name=said.type.capitalize()),))
    own = {model.id for model in said.models}
    return msgspec.structs.replace(
        said,
        id=name,
        name=said.name or entry.name or name,
        type=said.type or entry.type or "openai-compat",
        base_url=said.base_url or entry.api_endpoint,
        api_key=said.api_key or entry.api_key,
        extra_headers={key: value for key, value in {**entry.default_headers, **said.extra_headers}.items() if value},
        models=(*said.models, *(model for model in entry.models if model.id not in own)),
    )


def why_not(provider: ProviderConfig, env: Mapping[str, str], *, is_known: bool) -> str:
    """Why a provider cannot be asked; empty when it can."""
    if provider.type not in PROVIDER_TYPES:
        return f"type {provider.type} is not known"
    for name, template in provider.extra_headers.items():
        if problem := _problem(template, env):
            return f"header {name}: {problem}"
    match provider.type:
        case "bedrock":
            there = _has_aws(env) or (provider.api_key and _has_key(provider, env))
            return "" if there else "no AWS credentials were found"
        case "google-vertex":
            there = env.get("VERTEXAI_PROJECT") and env.get("VERTEXAI_LOCATION")
            return "" if there else "VERTEXAI_PROJECT and VERTEXAI_LOCATION are not both set"
        case "azure" if not _value(provider.base_url, env):
            return "no endpoint: AZURE_OPENAI_API_ENDPOINT is not set"
        case _ if is_known:
            return "" if _has_key(provider, env) else _problem(provider.api_key, env) or "no key was found"
        case _:
            return _why_not_custom(provider, env)


def _why_not_custom(provider: ProviderConfig, env: Mapping[str, str]) -> str:
    if provider.type in OWN_TYPES:
        return ""
    if not _value(provider.base_url, env):
        return _problem(provider.base_url, env) or "base_url is missing"
    if not provider.models and provider.discover_models is False and provider.type not in LOCAL_TYPES:
        return "it has no models, and discover_models is false"
    return _problem(provider.api_key, env)


def _has_key(provider: ProviderConfig, env: Mapping[str, str]) -> bool:
    return provider.oauth is not None or bool(_value(provider.api_key, env))


def _has_aws(env: Mapping[str, str]) -> bool:
    return any(env.get(name) for name in AWS_HINTS)


def _value(template: str, env: Mapping[str, str]) -> str:
    """The value as far as it is known without running anything; empty when it cannot be had."""
    try:
        return expand_without_commands(template, env)
    except CommandWanted:
        return template
    except ExpansionFailed:
        return ""


def _problem(template: str, env: Mapping[str, str]) -> str:
    try:
        expand_without_commands(template, env)
    except CommandWanted:
        return ""
    except ExpansionFailed as problem:
        return problem.message
    return ""


class Selection(msgspec.Struct, frozen=True):
    """Who speaks. `corrected` are the slots whose choice was not possible or not made."""

    models: dict[str, SelectedModel] = {}
    corrected: tuple[str, ...] = ()


def select(config: Config, configured: Configured, catalogue: Sequence[ProviderEntry]) -> Selection:
    """The chosen models if they can be asked, else the first enabled provider's defaults; small falls back to large."""
    chosen: dict[str, SelectedModel] = {}
    corrected: list[str] = []
    entries = {entry.id: entry for entry in catalogue}
    for slot in ModelType:
        said = config.models.get(slot)
        if said and is_available(configured, said.provider, said.model):
            chosen[slot] = said
            continue
        if found := _default(slot, configured, entries, preferred=chosen.get(ModelType.LARGE)):
            chosen[slot] = found
            corrected.append(slot)
    return Selection(models=chosen, corrected=tuple(corrected))


def is_available(configured: Configured, provider: str, model: str) -> bool:
    """Whether this model can be asked. A provider that is to be asked for its models may have any."""
    found = configured.providers.get(provider)
    if found is None or found.disable or not model:
        return False
    return any(entry.id == model for entry in found.models) or (not found.models and found.discover_models is not False)


def _default(
    slot: ModelType,
    configured: Configured,
    entries: Mapping[str, ProviderEntry],
    *,
    preferred: SelectedModel | None,
) -> SelectedModel | None:
    if slot is ModelType.SMALL and preferred:
        small = entries.get(preferred.provider, ProviderEntry()).default_small_model_id
        found = is_available(configured, preferred.provider, small)
        return SelectedModel(model=small, provider=preferred.provider) if found else preferred
    for name, provider in configured.providers.items():
        usual = entries.get(name, ProviderEntry()).default_large_model_id
        for model in (usual, *(entry.id for entry in provider.models)):
            if is_available(configured, name, model):
                return SelectedModel(model=model, provider=name)
    return None


def named(configured: Configured, text: str) -> SelectedModel:
    """The model meant by `model` or `provider/model`, in whatever case; raises when it is none or several."""
    matches = [
        SelectedModel(model=model.id, provider=name)
        for name, provider in configured.providers.items()
        if not provider.disable
        for model in provider.models
        if text.lower() in (model.id.lower(), f"{name}/{model.id}".lower())
    ]
    if len(matches) == 1:
        return matches[0]
    shown = ", ".join(f"{match.provider}/{match.model}" for match in matches)
    raise ModelChoiceProblem(f"{text} may be {shown}; say which" if matches else f"no model is called {text}")


def recent(before: Iterable[SelectedModel], chosen: SelectedModel) -> tuple[SelectedModel, ...]:
    """The models chosen lately, newest first, each once; how they were asked is not remembered."""
    entry = SelectedModel(model=chosen.model, provider=chosen.provider)
    others = [one for one in before if (one.provider, one.model) != (entry.provider, entry.model)]
    return (entry, *others)[:RECENT_MODELS_MAX]


def model_fields(config: Config, slot: str, chosen: SelectedModel) -> dict[str, object]:
    """What to write down when a model was chosen: the model, and the list of recent ones."""
    lately = recent(config.recent_models.get(slot, ()), chosen)
    return {f"models.{slot}": msgspec.to_builtins(chosen), f"recent_models.{slot}": msgspec.to_builtins(list(lately))}
