"""The voices of one workspace: from its configuration to a model that can be asked.

Who is configured is preferred; with nobody configured, a server found on this computer; without one, the offline model.
So there is always a voice, and it always says who it is.
"""

import logging
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.to_thread
import msgspec

from turnkeeper.models.adapters import adapter
from turnkeeper.models.catalog import Catalog, find, info_of, not_found
from turnkeeper.models.connection import Connection, Voice, merged
from turnkeeper.models.discover import discover, listed_models
from turnkeeper.models.model import Model, ModelTrouble, Trouble
from turnkeeper.models.offline import OFFLINE_NAMES, OfflineModel
from turnkeeper.models.quirks import Quirks, quirks_of
from turnkeeper.models.scripted import ScriptedModel, load_script
from turnkeeper.models.wires import Wires
from turnkeeper.protocol.config import Config, ModelEntry, ModelOptions, ModelType, ProviderConfig, SelectedModel

log = logging.getLogger(__name__)

REFRESH_SECONDS_MAX = 300.0
"""How long fresh credentials may take: a person may have to log in somewhere."""

LOOK_AGAIN_SECONDS = 10.0
"""How long it is believed who serves models on this computer: people start and stop such servers as they work."""

OWN_TYPES = {"offline", "scripted", "local"}

Resolve = Callable[[ProviderConfig], Awaitable[ProviderConfig]]
"""Works out what is a template in a provider's configuration, such as its key; raises `ModelTrouble` if it cannot."""

Refresh = Callable[[str], Awaitable[ProviderConfig | None]]
"""Asks for a provider's configuration anew, its key resolved again; None if there is nothing newer to be had."""


async def nothing_newer(_provider: str) -> ProviderConfig | None:
    return None


async def as_written(provider: ProviderConfig) -> ProviderConfig:
    return provider


async def nobody_at_home() -> ProviderConfig:
    raise ModelTrouble(Trouble.REFUSED, "no model of its own runs in this server", title="Not Configured")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the voices of a workspace use and do not own."""

    catalog: Catalog
    wires: Wires
    environment: Mapping[str, str]
    resolve: Resolve = as_written
    refresh: Refresh = nothing_newer
    finds_local: bool = True
    at_home: Callable[[], Awaitable[ProviderConfig]] = nobody_at_home
    """The small model this server runs itself, started when it is first asked for."""


class ConfiguredModels:
    """Owns what is known of the providers now: their keys, and what was found by looking."""

    def __init__(self, config: Config, surroundings: Surroundings) -> None:
        self._around = surroundings
        self._choices = dict(config.models)
        self._providers = {
            id: completed(id, provider) for id, provider in config.providers.items() if not provider.disable
        }
        self._known: dict[str, ProviderConfig] = {}
        """Providers that were asked, with their keys worked out."""
        self._resolving: dict[str, anyio.Lock] = {}
        self._scripts: dict[str, ScriptedModel] = {}
        self._refreshing: dict[str, anyio.Event] = {}
        self._listing: anyio.Event | None = None
        self._listed_at: dict[str, float] = {}
        self._looking: anyio.Event | None = None
        self._looked_at = -math.inf
        self._found: set[str] = set()
        """Providers nobody configured, as found by the last look around."""
        self._fresh_at: dict[str, float] = {}
        self._refused_at: dict[str, float] = {}

    async def choose(self, slot: str, override: str = "") -> Model:
        """The model in a slot, or the one that is named; raises `ModelTrouble` if there is no such model."""
        await self._list()
        await self._look_around(bool(override))
        if override.lower() in OFFLINE_NAMES:
            return OfflineModel()
        if override.lower() == "local" and "local" not in self._providers:
            return self._voice(*await self._at_home())
        if override:
            found = find(override, self._offer())
            return await self._model(msgspec.structs.replace(self._manner(found), **place(found)))
        selected = self.selected(ModelType(slot))
        return await self._model(selected) if selected else OfflineModel()

    def selected(self, slot: ModelType) -> SelectedModel | None:
        """Who speaks in this slot: the choice if it can be had, else what the provider suggests; None for nobody."""
        choice = self._choices.get(slot)
        if choice and self._entry(choice) is not None:
            return choice
        if slot is ModelType.SMALL:
            near = self.selected(ModelType.LARGE)
            return self._small_beside(near) if near else None
        ids = [id for id in (choice.provider if choice else "", *self._preferred()) if id in self._providers]
        return next((found for id in ids if (found := self._suggested(id, slot))), None)

    async def refresh(self, provider: str, *, since: float) -> bool:
        """Fresh credentials for a provider; those who ask at the same time share one answer.

        If whoever went to fetch them gives up on the way (a cancelled run), the next of those who wait goes.
        """
        while self._fresh_at.get(provider, -math.inf) < since:
            if going := self._refreshing.get(provider):
                await going.wait()
                if self._refused_at.get(provider, -math.inf) >= since:
                    return False
            elif not await self._fetch(provider):
                return False
        return True

    async def _fetch(self, provider: str) -> bool:
        done = self._refreshing[provider] = anyio.Event()
        try:
            fresh = None
            with anyio.move_on_after(REFRESH_SECONDS_MAX):
                try:
                    fresh = await self._around.refresh(provider)
                except ModelTrouble as trouble:
                    log.warning("no fresh credentials", extra={"provider": provider, "problem": trouble.message})
            (self._refused_at if fresh is None else self._fresh_at)[provider] = anyio.current_time()
            if fresh is not None:
                self._known[provider] = msgspec.structs.replace(fresh, id=fresh.id or provider)
            return fresh is not None
        finally:
            del self._refreshing[provider]
            done.set()

    async def _resolved(self, id: str) -> ProviderConfig:
        """The provider with its key worked out: when it is first asked, once for those who ask at the same time."""
        async with self._resolving.setdefault(id, anyio.Lock()):
            if id not in self._known:
                self._known[id] = await self._around.resolve(self._providers[id])
            return msgspec.structs.replace(self._known[id], models=self._providers[id].models)

    async def _list(self) -> None:
        """Providers that nobody described say what they have; those who ask at the same time share one answer.

        Whoever did not answer is asked again after a while; if who went to ask gives up, the next one goes.
        """
        while self._listing is not None:
            await self._listing.wait()
        before = anyio.current_time() - LOOK_AGAIN_SECONDS
        silent = [
            id
            for id, provider in self._providers.items()
            if wants_listing(provider, self._around.catalog) and self._listed_at.get(id, -math.inf) <= before
        ]
        if not silent:
            return
        self._listing = anyio.Event()
        try:
            async with anyio.create_task_group() as asking:
                for id in silent:
                    asking.start_soon(self._list_one, id)
        finally:
            self._listing.set()
            self._listing = None

    async def _list_one(self, id: str) -> None:
        models: tuple[ModelEntry, ...] = ()
        try:
            provider = await self._resolved(id)
        except ModelTrouble as trouble:
            log.info("not asked for its models", extra={"provider": id, "problem": trouble.message})
        else:
            url = provider.base_url
            headers = {"authorization": f"Bearer {provider.api_key}"} if provider.api_key else {}
            models = await listed_models(url, self._around.wires.to(url), headers | provider.extra_headers)
            self._providers[id] = with_models(self._providers[id], models)
        self._listed_at[id] = math.inf if models else anyio.current_time()

    async def _look_around(self, named: bool) -> None:
        """Who serves models on this computer now: looked for only if it matters, and not at every question."""
        while self._looking is not None:
            await self._looking.wait()
        if not self._around.finds_local or not (named or self._lacks_somebody()):
            return
        if anyio.current_time() - self._looked_at < LOOK_AGAIN_SECONDS:
            return
        self._looking = anyio.Event()
        try:
            found = {provider.id: provider for provider in await discover(self._around.wires.local)}
            for gone in self._found:
                self._providers.pop(gone, None)
            self._found = {id for id in found if id not in self._providers}
            self._providers |= {id: found[id] for id in self._found}
            self._looked_at = anyio.current_time()
        finally:
            self._looking.set()
            self._looking = None

    def _lacks_somebody(self) -> bool:
        """Whether nobody configured can be asked, or somebody was chosen who is not configured."""
        configured = self._providers.keys() - self._found
        chosen = {choice.provider for choice in self._choices.values()}
        return bool(chosen - configured) or not any(id in configured for id in self._offer())

    def _offer(self) -> dict[str, tuple[ModelEntry, ...]]:
        offer = {id: self._around.catalog.models_of(provider) for id, provider in self._providers.items()}
        return {id: models for id, models in offer.items() if models}

    def _preferred(self) -> list[str]:
        """Configured providers, those of the catalogue first and in its order."""
        known = [entry.id for entry in self._around.catalog.providers if entry.id in self._providers]
        return known + [id for id in self._providers if id not in known]

    def _small_beside(self, large: SelectedModel) -> SelectedModel:
        """The small model of the large one's provider; the large one itself, where its provider suggests none."""
        known = self._around.catalog.provider(large.provider)
        small = SelectedModel(provider=large.provider, model=known.default_small_model_id if known else "")
        return small if self._entry(small) else large

    def _suggested(self, provider: str, slot: ModelType) -> SelectedModel | None:
        known = self._providers.get(provider)
        id = self._around.catalog.default_of(known, slot) if known else ""
        return SelectedModel(provider=provider, model=id) if id else None

    def _entry(self, choice: SelectedModel) -> ModelEntry | None:
        provider = self._providers.get(choice.provider)
        models = self._around.catalog.models_of(provider) if provider else ()
        return next((model for model in models if model.id == choice.model), None)

    def _manner(self, found: SelectedModel) -> SelectedModel:
        """A model named for one run is asked as its owner asks it elsewhere, if they do."""
        same = (choice for choice in self._choices.values() if place(choice) == place(found))
        return next(same, found)

    async def _model(self, choice: SelectedModel) -> Model:
        provider, entry = self._providers[choice.provider], self._entry(choice)
        if entry is None:
            raise not_found(f"model {choice.provider}/{choice.model} not found")
        if provider.type == "local":
            return self._voice(*await self._at_home())
        if provider.type == "scripted":
            return await self._script(await self._resolved(choice.provider))
        return self._voice(await self._resolved(choice.provider), choice, entry)

    async def _at_home(self) -> tuple[ProviderConfig, SelectedModel, ModelEntry]:
        provider = await self._around.at_home()
        model = provider.models[0]
        return provider, SelectedModel(provider=provider.id, model=model.id), model

    def _voice(self, provider: ProviderConfig, choice: SelectedModel, entry: ModelEntry) -> Model:
        connection = connection_of(provider, self._around)
        quirks = quirks_of(connection)
        if quirks is None:
            raise ModelTrouble(
                Trouble.REFUSED, f"provider {provider.id} has an unknown type {provider.type!r}", title="Not Configured"
            )
        info = info_of(entry, provider, connection.type)
        voice = Voice(connection, info, asked_with(choice, entry.options, provider))
        return adapter(voice, quirks, self._around.wires.to(base_url_of(connection, quirks)))

    async def _script(self, provider: ProviderConfig) -> Model:
        """A script is played on from question to question, so it is opened once."""
        path = str(provider.provider_options.get("path") or provider.base_url)
        if path not in self._scripts:
            # A title may ask for it while it is being read for an answer; whoever comes second plays on with the first.
            self._scripts.setdefault(path, await anyio.to_thread.run_sync(load_script, Path(path)))
        return self._scripts[path]


def place(choice: SelectedModel) -> dict[str, str]:
    return {"provider": choice.provider, "model": choice.model}


def completed(id: str, provider: ProviderConfig) -> ProviderConfig:
    """A provider with its id, and with the one model that its type implies."""
    implied = (ModelEntry(id=provider.type, name=provider.type.capitalize()),) if provider.type in OWN_TYPES else ()
    return msgspec.structs.replace(provider, id=provider.id or id, models=provider.models or implied)


def wants_listing(provider: ProviderConfig, catalog: Catalog) -> bool:
    """A provider nobody described is asked what it has, unless its owner does not want that."""
    if provider.discover_models is False or not provider.base_url or provider.type in OWN_TYPES:
        return False
    described = bool(provider.models) or catalog.provider(provider.id) is not None
    return provider.discover_models is True or not described


def with_models(provider: ProviderConfig, models: tuple[ModelEntry, ...]) -> ProviderConfig:
    own = {model.id for model in provider.models}
    return msgspec.structs.replace(
        provider, models=(*provider.models, *(model for model in models if model.id not in own))
    )


def connection_of(provider: ProviderConfig, around: Surroundings) -> Connection:
    """A provider as it can be reached. What its owner left out the catalogue knows; a login's token serves as a key."""
    known = around.catalog.provider(provider.id)
    endpoint = known.api_endpoint if known and not known.api_endpoint.startswith("$") else ""
    return Connection(
        provider=provider.id,
        type=provider.type or (known.type if known else "") or "openai-compat",
        base_url=provider.base_url or endpoint,
        api_key=provider.api_key or (provider.oauth.access_token if provider.oauth else ""),
        headers=(known.default_headers if known else {}) | {k: v for k, v in provider.extra_headers.items() if v},
        extra_body=provider.extra_body,
        system_prompt_prefix=provider.system_prompt_prefix,
        environment=around.environment,
    )


def base_url_of(connection: Connection, quirks: Quirks) -> str:
    return connection.base_url or quirks.base_url


def asked_with(choice: SelectedModel, options: ModelOptions | None, provider: ProviderConfig) -> SelectedModel:
    """How the model is asked: what was chosen, over what the provider says, over what the catalogue says."""
    told = options or ModelOptions()
    names = ("temperature", "top_p", "top_k", "frequency_penalty", "presence_penalty")
    filled = {name: getattr(told, name) for name in names if getattr(choice, name) is None}
    both = merged(told.provider_options, provider.provider_options, choice.provider_options)
    return msgspec.structs.replace(choice, provider_options=both, **filled)
