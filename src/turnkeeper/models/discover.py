"""Model servers on this computer, found by themselves: no configuration, only the loopback, and never a long wait."""

import re
from collections.abc import Mapping, Sequence
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
AT_ONCE_MAX = 5


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
    match place.id:
        case "ollama":
            listed = await asked(f"{place.url}/api/tags", http)
            names = [model["name"] for model in entries(listed, "models") if isinstance(model.get("name"), str)]
            return await described(place.url, names, http)
        case "lmstudio":
            # Its own list says how much of each model's window is in use; its OpenAI-like one says names.
            return await listed_models(f"{place.url}/api/v0", http) or await listed_models(f"{place.url}/v1", http)
        case _:
            return await listed_models(f"{place.url}/v1", http)


async def described(url: str, names: Sequence[str], http: httpx2.AsyncClient) -> tuple[ModelEntry, ...]:
    """Ollama's models, each with its window if that can be had at once; a window that is not known is 0."""
    windows: dict[str, int] = {}
    limit = anyio.CapacityLimiter(AT_ONCE_MAX)

    async def look(name: str) -> None:
        async with limit:
            windows[name] = ollama_window(await asked(f"{url}/api/show", http, body={"model": name}))

    with anyio.move_on_after(LOOK_SECONDS_MAX / 2):
        async with anyio.create_task_group() as tasks:
            for name in names:
                tasks.start_soon(look, name)
    return tuple(entry_of({"id": name, "context_length": windows.get(name, 0)}) for name in names if is_chat(name))


def ollama_window(shown: object) -> int:
    """As its owner set it, else as the model was made."""
    if not isinstance(shown, dict):
        return 0
    fields = cast("dict[str, object]", shown)
    chosen = re.search(r"^\s*num_ctx\s+(\d+)", str(fields.get("parameters") or ""), re.MULTILINE)
    if chosen:
        return int(chosen[1])
    about = fields.get("model_info")
    made = cast("dict[str, object]", about) if isinstance(about, dict) else {}
    found = (value for name, value in made.items() if name.endswith(".context_length"))
    return next((value for value in found if isinstance(value, int) and value > 0), 0)


async def listed_models(
    base_url: str, http: httpx2.AsyncClient, headers: Mapping[str, str] | None = None
) -> tuple[ModelEntry, ...]:
    """What a server that speaks like OpenAI lists at `/models`; nothing if it does not, or not in time."""
    listed = await asked(f"{base_url.rstrip('/')}/models", http, headers)
    models = [model for model in entries(listed, "data") if isinstance(model.get("id"), str)]
    return tuple(entry_of(model) for model in models if is_for_talking(model))


async def asked(
    url: str, http: httpx2.AsyncClient, headers: Mapping[str, str] | None = None, *, body: object = None
) -> object:
    """The JSON there, or None: whoever listens on a usual port may be anybody, and may answer anything."""
    with anyio.move_on_after(LIST_SECONDS_MAX):
        try:
            method = "GET" if body is None else "POST"
            async with http.stream(
                method, url, headers=dict(headers or {}), json=body, follow_redirects=False
            ) as response:
                if response.status_code != HTTPStatus.OK:
                    return None
                content = bytearray()
                async for piece in response.aiter_bytes():
                    content += piece
                    if len(content) > BODY_BYTES_MAX:
                        return None
                return httpx2.Response(HTTPStatus.OK, content=bytes(content)).json()
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
        model.get("loaded_context_length"),
        model.get("context_length"),
        model.get("max_context_length"),
        model.get("max_model_len"),
        inner.get("n_ctx"),
        inner.get("n_ctx_train"),
    )
    return next((value for value in told if isinstance(value, int) and value > 0), 0)


def is_for_talking(model: dict[str, Any]) -> bool:
    return is_chat(f"{model['id']} {model.get('type', '')}")


def is_chat(words: str) -> bool:
    return "embed" not in words.lower()
