"""How both OpenAI dialects reach their server: OpenAI itself, Azure, or anyone who speaks like them."""

import math
from typing import Any

import httpx2

from turnkeeper.models.connection import CONNECT_SECONDS, READ_SECONDS_MAX, WRITE_SECONDS, Connection, Voice
from turnkeeper.models.loading import library
from turnkeeper.models.model import ModelTrouble, Question, Trouble
from turnkeeper.models.quirks import Quirks
from turnkeeper.protocol.runs import Usage

TIMEOUT = httpx2.Timeout(READ_SECONDS_MAX, connect=CONNECT_SECONDS, write=WRITE_SECONDS, pool=CONNECT_SECONDS)
AZURE_API_VERSION = "2025-04-01-preview"


async def openai_client(connection: Connection, quirks: Quirks, http: httpx2.AsyncClient) -> Any:
    """The SDK's client over our own HTTP client, without retries of its own and without its environment variables."""
    openai = await library("openai")
    base_url = connection.base_url or quirks.base_url
    if not base_url:
        raise ModelTrouble(Trouble.REFUSED, f"provider {connection.provider} has no base_url", title="Not Configured")
    if connection.type == "azure":
        return openai.AsyncAzureOpenAI(
            base_url=f"{base_url.rstrip('/').removesuffix('/openai')}/openai",
            api_version=connection.environment.get("AZURE_OPENAI_API_VERSION") or AZURE_API_VERSION,
            api_key=connection.api_key or "none",
            organization="",
            timeout=TIMEOUT,
            max_retries=0,
            http_client=http,
        )
    client = openai.AsyncOpenAI(
        base_url=base_url,
        api_key=connection.bearer or connection.api_key or "none",
        timeout=TIMEOUT,
        max_retries=0,
        http_client=http,
    )
    # The environment's organisation is OpenAI's business; other servers are not told of it.
    if "api.openai.com" not in base_url:
        client.organization = client.project = None
    return client


async def request_headers(voice: Voice, question: Question) -> dict[str, Any]:
    """The headers of one request. A server that needs no key is not shown an invented one."""
    headers: dict[str, Any] = dict(voice.session_headers(question))
    if not voice.connection.api_key and "authorization" not in {name.lower() for name in headers}:
        headers["Authorization"] = (await library("openai")).Omit()
    return headers


def usage_of(usage: Any, *, input: str, output: str) -> Usage:
    """Tokens as we count them: what came from the cache is not counted as input again."""
    read = number(detail(usage, f"{input}_tokens_details", "cached_tokens"))
    read = read or number(getattr(usage, "prompt_cache_hit_tokens", 0))
    cost = getattr(usage, "cost", None)
    return Usage(
        input_tokens=max(0, number(getattr(usage, f"{input}_tokens", 0)) - read),
        output_tokens=number(getattr(usage, f"{output}_tokens", 0)),
        cache_read_tokens=read,
        reasoning_tokens=number(detail(usage, f"{output}_tokens_details", "reasoning_tokens")),
        cost=float(cost) if isinstance(cost, int | float) else 0.0,
    )


def detail(usage: Any, group: str, name: str) -> object:
    inner = getattr(usage, group, None)
    return inner.get(name) if isinstance(inner, dict) else getattr(inner, name, None)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]


def number(value: object) -> int:
    """A count; what is none, or less than none, counts nothing."""
    return max(0, int(value)) if isinstance(value, int | float) and math.isfinite(value) else 0
