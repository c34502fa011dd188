"""A workspace's models as its settings are now: providers completed and their keys resolved, when they are needed."""

import math
import re
from collections.abc import Mapping
from pathlib import Path

import anyio
from msgspec.structs import replace

from turnkeeper.house.shelf import Shelf
from turnkeeper.models.local import AtHome
from turnkeeper.models.model import Model, ModelTrouble, Trouble
from turnkeeper.models.registry import ConfiguredModels, Surroundings
from turnkeeper.models.wires import Wires
from turnkeeper.protocol.config import Config, ModelEntry, ModelType, ProviderConfig, SelectedModel
from turnkeeper.protocol.problems import Problem
from turnkeeper.protocol.wire_overview import ProviderState
from turnkeeper.settings.expansion import expand
from turnkeeper.settings.load import Loaded
from turnkeeper.settings.masking import masked_text
from turnkeeper.settings.providers import Configured, configure, select

OFFLINE = ModelEntry(id="offline", name="Offline assistant", context_window=200_000, default_max_tokens=4_000)
OFFLINE_PROVIDER = ProviderConfig(id="offline", name="Offline", type="offline", models=(OFFLINE,))
PAGE = re.compile(r"https://[^\s\"'<>]+(?=[\s\"'<>])")


class Voices:
    """Owns the models of one workspace; built anew when its settings change."""

    def __init__(self, loaded: Loaded, *, shelf: Shelf, wires: Wires, at_home: AtHome) -> None:
        self._loaded = loaded
        self._shelf = shelf
        self._wires = wires
        self._at_home = at_home
        self._configured = configure(loaded.settings.config, shelf.catalog.providers, loaded.environment)
        self._models: ConfiguredModels | None = None
        self._news = anyio.Event()
        """Set and replaced at the next change of the settings, or when a page to sign in at is known."""
        self._pages: dict[str, str] = {}
        """Where a person signs in to a provider, as the command that waits for it has said."""
        self._signed_in_at: dict[str, float] = {}

    @property
    def configured(self) -> Configured:
        return self._configured

    def changed(self, loaded: Loaded) -> None:
        """New settings: whoever asks from now on is answered by them."""
        before = self._configured.providers
        self._loaded = loaded
        self._configured = configure(loaded.settings.config, self._shelf.catalog.providers, loaded.environment)
        self._models = None
        for id, provider in self._configured.providers.items():
            if id not in before or credentials(before[id]) != credentials(provider):
                self._signed_in_at[id] = anyio.current_time()
        self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._news = anyio.Event()

    def config(self) -> Config:
        """The configuration with its providers completed, and one that always works when there is no other."""
        config = self._loaded.settings.config
        providers = dict(self._configured.providers) or {"offline": OFFLINE_PROVIDER}
        return replace(config, providers=providers, models=self.selection(providers))

    def selection(self, providers: Mapping[str, ProviderConfig]) -> dict[str, SelectedModel]:
        chosen = select(self._loaded.settings.config, self._configured, self._shelf.catalog.providers).models
        if chosen or "offline" not in providers:
            return chosen
        offline = SelectedModel(model="offline", provider="offline")
        return {ModelType.LARGE: offline, ModelType.SMALL: offline}

    def states(self) -> list[ProviderState]:
        """Who can be asked and who cannot; of the catalogue only those that somebody mentioned."""
        said = self._loaded.settings.config.providers
        ready = [_state(provider) for provider in self._configured.providers.values()]
        return ready + [
            ProviderState(id, one.name or id, one.type, one.base_url, "unavailable", why, len(one.models), _key(one))
            for id, why in self._configured.skipped.items()
            if (one := said.get(id))
        ]

    async def choose(self, slot: str, override: str = "") -> Model:
        return await self._ready().choose(slot, override)

    async def refresh(self, provider: str, *, since: float) -> bool:
        if self._signed_in_at.get(provider, -math.inf) >= since:
            return True
        return await self._ready().refresh(provider, since=since)

    def can_sign_in(self, provider: str) -> bool:
        """A person can where a login is what lets us in; a key that was refused is a matter of the configuration."""
        known = self._configured.providers.get(provider)
        return known is not None and known.oauth is not None

    async def signed_in(self, provider: str, *, since: float) -> None:
        while self._signed_in_at.get(provider, -math.inf) < since:
            await self._news.wait()

    async def sign_in_page(self, provider: str) -> str:
        while provider not in self._pages:
            await self._news.wait()
        return self._pages[provider]

    def _ready(self) -> ConfiguredModels:
        if self._models is None:
            providers = self._configured.providers
            config = replace(self._loaded.settings.config, providers=providers, models=self.selection(providers))
            around = Surroundings(
                catalog=self._shelf.catalog,
                wires=self._wires,
                environment=self._loaded.environment,
                resolve=self._resolved,
                refresh=self._fresh,
                at_home=self._at_home,
            )
            self._models = ConfiguredModels(config, around)
        return self._models

    async def _fresh(self, provider: str) -> ProviderConfig | None:
        """By the user's own command, where there is one; then a key that is a template is resolved again.

        A key that is written out cannot be newer.
        """
        known = self._configured.providers.get(provider)
        if known is None or not (known.aws_auth_refresh or "$" in known.api_key):
            return None
        if known.aws_auth_refresh:
            await self._run(provider, known.aws_auth_refresh)
        return await self._resolved(known)

    async def _run(self, provider: str, command: str) -> None:
        def hears(said: bytes) -> None:
            if provider not in self._pages and (page := page_in(said.decode("utf-8", "replace"))):
                self._pages[provider] = page
                self._tell()

        env, workdir = self._loaded.environment, self._loaded.settings.workdir
        try:
            await expand(f"$({command})", env=env, workdir=workdir, hears=hears)
        except Problem as problem:
            raise ModelTrouble(Trouble.AUTH, problem.message, title="Not Configured") from problem
        finally:
            self._pages.pop(provider, None)

    async def _resolved(self, provider: ProviderConfig) -> ProviderConfig:
        try:
            return replace(
                provider,
                api_key=await self._expanded(provider.api_key),
                base_url=await self._expanded(provider.base_url),
                extra_headers={key: await self._expanded(text) for key, text in provider.extra_headers.items()},
            )
        except Problem as problem:
            raise ModelTrouble(Trouble.AUTH, problem.message, title="Not Configured") from problem

    async def _expanded(self, template: str) -> str:
        if "$" not in template:
            return template
        workdir: Path = self._loaded.settings.workdir
        return await expand(template, env=self._loaded.environment, workdir=workdir)


def page_in(said: str) -> str:
    """The first address that a command has said, once it has been said to its end; empty if there is none."""
    found = PAGE.search(said)
    return found[0] if found else ""


def credentials(provider: ProviderConfig) -> object:
    return provider.api_key, provider.oauth


def _state(provider: ProviderConfig) -> ProviderState:
    return ProviderState(
        id=provider.id,
        name=provider.name or provider.id,
        type=provider.type,
        base_url=masked_text(provider.base_url, Config(providers={provider.id: provider})),
        state="disabled" if provider.disable else "ready",
        models=len(provider.models),
        key=_key(provider),
    )


def _key(provider: ProviderConfig) -> str:
    """Where a key comes from, in words that hold none of it."""
    if provider.oauth:
        return "a login"
    if "$(" in provider.api_key:
        return "a command"
    if provider.api_key.startswith("$"):
        return provider.api_key
    return "written down" if provider.api_key else "none"
