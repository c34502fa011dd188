"""The catalogue: which providers there are, and what each of their models costs, holds and can do.

One is packed with us (`catalog.json`, written by `scripts/catalog`); a newer one may come from a file or a URL. What a
user wrote always wins over it. To find a model is a pure question about it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from pathlib import Path

import anyio
import anyio.to_thread
import httpx2
import msgspec

from turnkeeper.models.model import ModelInfo, ModelTrouble, Trouble
from turnkeeper.protocol.config import ModelEntry, ModelType, ProviderConfig, ProviderEntry, SelectedModel

REFRESH_SECONDS_MAX = 45.0
CATALOG_BYTES_MAX = 20 * 1024 * 1024
SUGGESTIONS_MAX = 5

MEDIA_TYPES = {"anthropic", "bedrock", "bedrock-europe", "vertex-anthropic", "openai", "azure", "scripted"}
"""Types of providers that take images inside tool results."""


@dataclass(frozen=True, slots=True)
class Catalog:
    """Providers in the order in which one is preferred when nobody chose."""

    providers: tuple[ProviderEntry, ...]

    def provider(self, id: str) -> ProviderEntry | None:
        return next((entry for entry in self.providers if entry.id == id), None)

    def models_of(self, provider: ProviderConfig) -> tuple[ModelEntry, ...]:
        """The user's own models first; of the catalogue's, those the user did not describe anew."""
        entry = self.provider(provider.id)
        known = entry.models if entry else ()
        own = {model.id for model in provider.models}
        return (*provider.models, *(model for model in known if model.id not in own))

    def default_of(self, provider: ProviderConfig, slot: ModelType) -> str:
        """The model this provider suggests for a slot; the first there is, where it suggests none."""
        entry, models = self.provider(provider.id), self.models_of(provider)
        large = (entry and entry.default_large_model_id) or next((model.id for model in models), "")
        small = (entry and entry.default_small_model_id) or large
        return small if slot is ModelType.SMALL else large


@cache
def embedded() -> Catalog:
    """The catalogue that was packed with this version."""
    return read(packed_file().read_bytes())


def packed_file() -> Path:
    return Path(__file__).with_name("catalog.json")


def read(content: bytes) -> Catalog:
    """A catalogue from its JSON; raises `ModelTrouble` for what is none."""
    try:
        providers = msgspec.json.decode(content, type=tuple[ProviderEntry, ...])
    except msgspec.MsgspecError as error:
        raise ModelTrouble(Trouble.REFUSED, f"this is no catalogue of models: {error}") from error
    if not providers:
        raise ModelTrouble(Trouble.REFUSED, "this catalogue of models is empty")
    return Catalog(providers)


async def fetched(url: str, cache_file: Path, http: httpx2.AsyncClient) -> Catalog:
    """The catalogue at this URL, fetched again only if it changed."""
    tag_file = anyio.Path(cache_file.with_suffix(".etag"))
    before = await kept(cache_file)
    tag = await tag_file.read_text() if before and await tag_file.exists() else ""
    response = await http.get(url, headers={"if-none-match": tag} if tag else {}, follow_redirects=True)
    if response.status_code == HTTPStatus.NOT_MODIFIED and before:
        return before
    response.raise_for_status()
    if len(response.content) > CATALOG_BYTES_MAX:
        raise ModelTrouble(Trouble.REFUSED, "this catalogue of models is too large")
    catalog = read(response.content)
    await anyio.to_thread.run_sync(keep, cache_file, response.content, response.headers.get("etag", ""))
    return catalog


def keep(cache_file: Path, content: bytes, tag: str) -> None:
    """Replace the kept copy as a whole, so that nobody reads half of one; the tag follows what it is a tag of."""
    cache_file.parent.mkdir(parents=True, exist_ok=True)
    cache_file.with_suffix(".etag").unlink(missing_ok=True)
    for path, data in ((cache_file, content), (cache_file.with_suffix(".etag"), tag.encode())):
        fresh = path.with_name(f"{path.name}.new")
        fresh.write_bytes(data)
        fresh.replace(path)


async def kept(cache_file: Path) -> Catalog | None:
    try:
        return read(await anyio.Path(cache_file).read_bytes())
    except (ModelTrouble, OSError):
        return None


def info_of(entry: ModelEntry, provider: ProviderConfig, type: str) -> ModelInfo:
    """What the engine needs to know of a model."""
    return ModelInfo(
        id=entry.id,
        provider=provider.id,
        name=entry.name or entry.id,
        context_window=entry.context_window,
        default_max_tokens=entry.default_max_tokens,
        cost_per_1m_in=float(entry.cost_per_1m_in),
        cost_per_1m_out=float(entry.cost_per_1m_out),
        cost_per_1m_in_cached=float(entry.cost_per_1m_in_cached),
        cost_per_1m_out_cached=float(entry.cost_per_1m_out_cached),
        can_reason=entry.can_reason,
        reasoning_levels=entry.reasoning_levels,
        default_reasoning_effort=entry.default_reasoning_effort,
        supports_images=entry.supports_attachments,
        media_in_tool_results=type in MEDIA_TYPES,
        flat_rate=provider.flat_rate,
    )


Offer = Mapping[str, Sequence[ModelEntry]]
"""The models that can be asked now, by provider."""


def parsed(text: str, providers: Iterable[str]) -> tuple[str, str]:
    """`provider/model` in its two parts; the provider is empty if the first segment names none we know."""
    first, slash, rest = text.partition("/")
    known = next((id for id in providers if id.lower() == first.lower()), "")
    return (known, rest) if slash and known else ("", text)


def find(text: str, offer: Offer) -> SelectedModel:
    """The one model that `model` or `provider/model` names, whatever its case; raises `ModelTrouble` if not one."""
    provider, name = parsed(text.strip(), offer)
    if not name:
        raise not_found("no model was named; say `model` or `provider/model`")
    places = {provider: offer[provider]} if provider else offer
    found = [(id, model.id) for id, models in places.items() for model in models if model.id.lower() == name.lower()]
    if len(found) == 1:
        return SelectedModel(provider=found[0][0], model=found[0][1])
    if not found:
        raise not_found(f"model {name!r} not found{f' at {provider}' if provider else ''}{like(name, places)}")
    several = ", ".join(f"{id}/{model}" for id, model in found)
    raise not_found(f"model {name!r} is offered by several providers; say which: {several}")


def like(name: str, offer: Offer) -> str:
    """Names that hold the one that was not found, as a hint."""
    words = name.lower().split("/")[-1]
    near = [f"{id}/{model.id}" for id, models in offer.items() for model in models if words in model.id.lower()]
    return f"; did you mean {', '.join(near[:SUGGESTIONS_MAX])}?" if near else ""


def not_found(message: str) -> ModelTrouble:
    return ModelTrouble(Trouble.REFUSED, message, title="Model Not Found")
