"""A workspace's configuration, read and changed; changes are told to everybody who follows the workspace."""

from typing import Any

from turnkeeper.client.asking import value
from turnkeeper.client.place import Place
from turnkeeper.protocol.config import Config, OAuthToken, ProviderEntry, Scope, SelectedModel
from turnkeeper.protocol.problems import BadRequest
from turnkeeper.protocol.wire_config import ConfigState, ConfigTrust
from turnkeeper.protocol.wire_own import CatalogSource
from turnkeeper.protocol.wire_workspaces import (
    ConfigCompact,
    ConfigModel,
    ConfigRemove,
    ConfigSet,
    ImportedCopilot,
    InitPrompt,
    NeedsInit,
    ProviderKey,
    RefreshOAuth,
)

UPDATE_SECONDS = 60.0


class Configuration:
    def __init__(self, place: Place) -> None:
        self._place = place

    async def get(self) -> Config:
        """The effective configuration; keys are shown only on a socket of their owner's."""
        return await self._place.get("/config", Config)

    async def state(self) -> ConfigState:
        """What it was read from, what is wrong with it, and what waits for trust."""
        return await self._place.get("/config/state", ConfigState)

    async def trust(self, path: str, digest: str) -> ConfigState:
        """Trust what was set aside in a file of the project; without a digest, no longer trust it."""
        return await self._place.tell("/config/trust", ConfigTrust(path, digest), ConfigState)

    async def providers(self) -> list[ProviderEntry]:
        """The catalogue of what could be configured."""
        return await self._place.get_list("/providers", ProviderEntry)

    async def update_providers(self, source: str = "") -> list[ProviderEntry]:
        """Read the catalogue anew: from a URL or a file, or from where the server's environment says."""
        answer = await self._place.post("/providers/update", CatalogSource(source), seconds=UPDATE_SECONDS)
        return value(answer, list[ProviderEntry])

    async def set(self, scope: Scope, key: str, said: Any) -> None:
        """Set one key, a dotted path, in the file of a scope."""
        await self._place.post("/config/set", ConfigSet(scope.value, key, said), repeatable=True)

    async def remove(self, scope: Scope, key: str) -> None:
        await self._place.post("/config/remove", ConfigRemove(scope.value, key), repeatable=True)

    async def set_model(self, scope: Scope, slot: str, model: SelectedModel) -> None:
        """Choose the `large` or the `small` model."""
        await self._place.post("/config/model", ConfigModel(scope.value, slot, model), repeatable=True)

    async def set_compact(self, scope: Scope, enabled: bool) -> None:
        await self._place.post("/config/compact", ConfigCompact(scope.value, enabled), repeatable=True)

    async def set_provider_key(self, scope: Scope, provider_id: str, credential: str | OAuthToken) -> None:
        """Keep a key, or a login. What is neither is refused before anything is sent."""
        match credential:
            case str():
                kind = "string"
            case OAuthToken():
                kind = "oauth"
            case _:  # callers need not be type-checked
                raise BadRequest(f"a credential is a key or a login, not {type(credential).__name__}")
        said = ProviderKey(scope.value, provider_id, kind, credential)
        await self._place.post("/config/provider-key", said, repeatable=True)

    async def import_copilot(self) -> ImportedCopilot:
        return value(await self._place.post("/config/import-copilot"), ImportedCopilot)

    async def refresh_oauth(self, scope: Scope, provider_id: str) -> None:
        await self._place.post("/config/refresh-oauth", RefreshOAuth(scope.value, provider_id))

    async def needs_init(self) -> bool:
        """Whether nobody has described this project yet."""
        return (await self._place.get("/project/needs-init", NeedsInit)).needs_init

    async def mark_initialized(self) -> None:
        await self._place.post("/project/init", repeatable=True)

    async def init_prompt(self) -> str:
        """What to ask the agent so that it describes the project."""
        return (await self._place.get("/project/init-prompt", InitPrompt)).prompt
