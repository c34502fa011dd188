"""Model servers on this computer, found by themselves: no configuration, only the loopback, and never a long wait."""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, cast

import anyio
import httpx2

from turnkeeper.models.wires import is_loopback
from turnkeeper.protocol.config import ModelEntry, ProviderConfig

LOOK_SECONDS_MAX = 0.3
"""For all places together: a person waits behind this."""

LIST_SECONDS_MAX = 3.0
MODELS_MAX = 200
BODY_BYTES_MAX = 4 * 1024 * 1024
ANSWER_TOKENS = 4_000


@dataclass(frozen=True, slots=True)
class Place:
    """Where a kind of server usually listens."""

    id: str
    name: str
    url: str


PLACES = (
    Place("ollama", "Ollama", "http://127.0.0.1:11434"),
    Place("lmstudio", "LM Studio", "http://127.0.0.1:1234"),
    Place("llamacpp", "llama.cpp", "http://127.0.0.1:8080"),
    Place("vllm", "vLLM", "http://127.0.0.1:8000"),
)


async def discover(http: httpx2.AsyncClient, places: tuple[Place, ...] = PLACES) -> tuple[ProviderConfig, ...]:
    """Every server that answered in time with at least one model, in the order of the places.

    `http` must not use a proxy: the loopback of a proxy is another computer's.
    """
    found: dict[str, ProviderConfig] = {}

    async def look(place: Place) -> None:
        models = await models_at(place, http)
        if models:
            found[place.id] = ProviderConfig(
                id=place.id, name=place.name, type=place.id, base_url=f"{place.url}/v1", models=models
            )

    with anyio.move_on_after(LOOK_SECONDS_MAX):
        async with anyio.create_task_group() as tasks:
            for place in places:
                if is_loopback(place.url):
                    tasks.start_soon(look, place)
    return tuple(found[place.id] for place in places if place.id in found)


async def models_at(place: Place, http: httpx2.AsyncClient) -> tuple[ModelEntry, ...]:
    if place.id == "ollama":
        listed = await asked(f"{place.url}/api/tags", http)
        names = [model for model in entries(listed, "models") if isinstance(model.get("name"), str)]
        return tuple(
            ModelEntry(id=model["name"], name=model["name"], default_max_tokens=ANSWER_TOKENS) for model in names
        )
    return await listed_models(f"{place.url}/v1", http)


async def listed_models(
    base_url: str, http: httpx2.AsyncClient, headers: Mapping[str, str] | None = None
) -> tuple[ModelEntry, ...]:
    """What a server that speaks like OpenAI lists at `/models`; nothing if it does not, or not in time."""
    listed = await asked(f"{base_url.rstrip('/')}/models", http, headers)
    models = [model for model in entries(listed, "data") if isinstance(model.get("id"), str)]
    return tuple(entry_of(model) for model in models if is_for_talking(model))


async def asked(url: str, http: httpx2.AsyncClient, headers: Mapping[str, str] | None = None) -> object:
    """The JSON there, or None: whoever listens on a usual port may be anybody, and may answer anything."""
    with anyio.move_on_after(LIST_SECONDS_MAX):
        try:
            async with http.stream("GET", url, headers=dict(headers or {}), follow_redirects=False) as response:
                if response.status_code != HTTPStatus.OK:
                    return None
                body = bytearray()
                async for piece in response.aiter_bytes():
                    body += piece
                    if len(body) > BODY_BYTES_MAX:
                        return None
                return httpx2.Response(HTTPStatus.OK, content=bytes(body)).json()
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError):
            return None
    return None


def entries(listed: object, field: str) -> list[dict[str, Any]]:
    if not isinstance(listed, dict):
        return []
    value = cast("dict[str, object]", listed).get(field)
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)][:MODELS_MAX]


def entry_of(model: dict[str, Any]) -> ModelEntry:
    window = window_of(model)
    return ModelEntry(
        id=model["id"],
        name=str(model.get("name") or model["id"]),
        context_window=window,
        default_max_tokens=min(ANSWER_TOKENS, window // 4) if window else ANSWER_TOKENS,
    )


def window_of(model: dict[str, Any]) -> int:
    """The context window, by the names the servers have for it; 0 where none is told."""
    meta: object = model.get("meta")
    inner = cast("dict[str, Any]", meta) if isinstance(meta, dict) else {}
    told = (
        model.get("context_length"),
        model.get("max_context_length"),
        model.get("max_model_len"),
        inner.get("n_ctx"),
        inner.get("n_ctx_train"),
    )
    return next((value for value in told if isinstance(value, int) and value > 0), 0)


def is_for_talking(model: dict[str, Any]) -> bool:
    return "embed" not in f"{model['id']} {model.get('type', '')}".lower()
