"""A workspace's configuration: read, changed, and told to everybody when it changed."""

from collections.abc import Awaitable

from turnkeeper.engine import configuring
from turnkeeper.engine.room import Room
from turnkeeper.protocol.config import Config, ProviderEntry
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
    provider_key,
)
from turnkeeper.server.routing import Route
from turnkeeper.server.visit import EMPTY, Reply, Visit, json


async def show(visit: Visit) -> Reply:
    return json((await visit.room()).desk.config(masked=not visit.is_owner))


async def providers(visit: Visit) -> Reply:
    return json(list((await visit.room()).desk.providers()) or None)


async def state(visit: Visit) -> Reply:
    """Looked at anew, so that whoever has just mended a file sees that it is mended."""
    room = await visit.room()
    await configuring.refreshed(room.workspace, room.desk)
    return json(room.desk.config_state())


async def trust(visit: Visit) -> Reply:
    said = await visit.read(ConfigTrust)
    room = await visit.room()
    await configuring.changed(room.workspace, room.desk.trust(said))
    return json(room.desk.config_state())


async def update_providers(visit: Visit) -> Reply:
    said = await visit.read(CatalogSource, required=False)
    return json(list(await (await visit.room()).desk.update_providers(said.source)))


async def changed(room: Room, change: Awaitable[None]) -> Reply:
    await configuring.changed(room.workspace, change)
    return EMPTY


async def set_field(visit: Visit) -> Reply:
    said = await visit.read(ConfigSet)
    room = await visit.room()
    return await changed(room, room.desk.set_field(said.file, said.key, said.value))


async def remove_field(visit: Visit) -> Reply:
    said = await visit.read(ConfigRemove)
    room = await visit.room()
    return await changed(room, room.desk.remove_field(said.file, said.key))


async def set_model(visit: Visit) -> Reply:
    said = await visit.read(ConfigModel)
    room = await visit.room()
    return await changed(room, room.desk.set_model(said.file, said.model_type, said.model))


async def set_compact(visit: Visit) -> Reply:
    said = await visit.read(ConfigCompact)
    room = await visit.room()
    return await changed(room, room.desk.set_field(said.file, "options.tui.compact_mode", said.enabled))


async def set_key(visit: Visit) -> Reply:
    said = provider_key(await visit.body())
    room = await visit.room()
    return await changed(room, room.desk.set_provider_key(said.file, said.provider_id, said.api_key))


async def import_copilot(visit: Visit) -> Reply:
    """There is nothing to import from: no such login is read from this computer."""
    await visit.room()
    return json(ImportedCopilot())


async def refresh_oauth(visit: Visit) -> Reply:
    said = await visit.read(RefreshOAuth)
    room = await visit.room()
    return await changed(room, room.desk.refresh_oauth(said.file, said.provider_id))


async def needs_init(visit: Visit) -> Reply:
    return json(NeedsInit((await visit.room()).desk.needs_init()))


async def initialized(visit: Visit) -> Reply:
    room = await visit.room()
    return await changed(room, room.desk.mark_initialized())


async def init_prompt(visit: Visit) -> Reply:
    return json(InitPrompt((await visit.room()).desk.init_prompt()))


_CONFIG = "/v1/workspaces/{id}/config"
_PROJECT = "/v1/workspaces/{id}/project"
ROUTES = (
    Route("GET", _CONFIG, show, "The effective configuration.", gives=Config),
    Route("GET", f"{_CONFIG}/state", state, "What is wrong with it, and what waits.", gives=ConfigState, own=True),
    Route(
        "POST",
        f"{_CONFIG}/trust",
        trust,
        "Trust what a file of the project would run.",
        body=ConfigTrust,
        gives=ConfigState,
        refuses=(409,),
        own=True,
    ),
    Route(
        "GET", "/v1/workspaces/{id}/providers", providers, "The catalogue, or null.", gives=list[ProviderEntry] | None
    ),
    Route(
        "POST",
        "/v1/workspaces/{id}/providers/update",
        update_providers,
        "Read the catalogue anew.",
        body=CatalogSource,
        body_required=False,
        gives=list[ProviderEntry],
        refuses=(502,),
        own=True,
    ),
    Route("POST", f"{_CONFIG}/set", set_field, "Set one key.", body=ConfigSet),
    Route("POST", f"{_CONFIG}/remove", remove_field, "Remove one key.", body=ConfigRemove),
    Route("POST", f"{_CONFIG}/model", set_model, "Choose a model.", body=ConfigModel),
    Route("POST", f"{_CONFIG}/compact", set_compact, "Choose the compact screen.", body=ConfigCompact),
    Route("POST", f"{_CONFIG}/provider-key", set_key, "Keep a credential.", body=ProviderKey),
    Route(
        "POST", f"{_CONFIG}/import-copilot", import_copilot, "Import a login, if there is one.", gives=ImportedCopilot
    ),
    Route("POST", f"{_CONFIG}/refresh-oauth", refresh_oauth, "Refresh a login.", body=RefreshOAuth, refuses=(404,)),
    Route(
        "GET", f"{_PROJECT}/needs-init", needs_init, "Whether nobody has described this project yet.", gives=NeedsInit
    ),
    Route("POST", f"{_PROJECT}/init", initialized, "Say that somebody has."),
    Route("GET", f"{_PROJECT}/init-prompt", init_prompt, "What to ask the agent for it.", gives=InitPrompt),
)
