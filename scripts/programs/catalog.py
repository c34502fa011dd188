"""Write the catalogue that is packed with Turnkeeper: which providers there are, and what their models cost and can do.

Which models are in it is chosen here, by hand. Their prices, windows and abilities are not: they are read from the
packages `genai-prices` and `pydantic-ai-slim`, so install both first (`uv pip install genai-prices pydantic-ai-slim`).
Run it as `scripts/catalog` and look at the difference before committing it.
"""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from genai_prices.data_snapshot import get_snapshot
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.profiles.anthropic import anthropic_model_profile
from pydantic_ai.profiles.deepseek import deepseek_model_profile
from pydantic_ai.profiles.google import google_model_profile
from pydantic_ai.profiles.grok import grok_model_profile
from pydantic_ai.profiles.openai import openai_model_profile

TARGET = Path(__file__).parents[2] / "src" / "turnkeeper" / "models" / "catalog.json"

ANSWER_TOKENS_MAX = 32_000
ANSWER_SHARE_OF_WINDOW = 4
WINDOWS = {"gemini-2.5-pro": 1_048_576, "llama-3.3-70b-versatile": 131_072}
"""Where the package does not know, from the makers' own pages."""

ANSWERS = {"gpt-4o": 16_384, "gpt-4o-mini": 16_384}
"""Models that refuse to be asked for a longer answer than this."""

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")

CLAUDE = [
    "claude-opus-5-5",
    "claude-sonnet-5-5",
    "claude-haiku-5-5",
    "claude-fable-5-2",
    "claude-opus-5",
    "claude-sonnet-5",
    "claude-opus-4-8",
    "claude-opus-4-7",
    "claude-opus-4-6",
    "claude-sonnet-4-6",
    "claude-opus-4-5",
    "claude-sonnet-4-5",
    "claude-haiku-4-5",
]
GPT = [
    "gpt-6.1-sol",
    "gpt-6.1-terra",
    "gpt-6-astra",
    "gpt-6-sol",
    "gpt-6-luna",
    "gpt-5.6-sol",
    "gpt-5.6-terra",
    "gpt-5.6-luna",
    "gpt-5.5",
    "gpt-5.4",
    "gpt-5.4-mini",
    "gpt-5.4-nano",
    "gpt-5.3-codex",
    "gpt-5.2",
    "gpt-5.1",
    "gpt-5",
    "gpt-5-mini",
    "gpt-5-nano",
    "gpt-4.1",
    "gpt-4.1-mini",
    "gpt-4o",
    "gpt-4o-mini",
    "o3",
    "o4-mini",
]
GEMINI = [
    "gemini-4-argon",
    "gemini-3.8-flash",
    "gemini-3.7-flash",
    "gemini-3.5-flash-lite",
    "gemini-2.5-pro",
    "gemini-2.5-flash",
]


def plain(*, images: bool = False, thinks: bool = False) -> Callable[[str], Mapping[str, Any]]:
    """Abilities of a family no package describes; what we do not know is not claimed."""
    return lambda id: {"supports_attachments": images, "can_reason": thinks}


def claude(id: str) -> Mapping[str, Any]:
    profile: Any = (
        anthropic_model_profile(id.rsplit("anthropic.", maxsplit=1)[-1].rsplit("/", maxsplit=1)[-1].replace(".", "-"))
        or {}
    )
    levels = ["low", "medium", "high"] if profile.get("anthropic_supports_adaptive_thinking") else []
    levels += ["xhigh"] if levels and profile.get("anthropic_supports_xhigh_effort") else []
    levels += ["max"] if levels and profile.get("anthropic_supports_max_effort") else []
    return thinking(profile, levels, "medium") | {"supports_attachments": True}


def gpt(id: str) -> Mapping[str, Any]:
    profile: Any = openai_model_profile(id.rsplit("/", maxsplit=1)[-1]) or {}
    known = profile.get("openai_reasoning_efforts") or {"low", "medium", "high"}
    levels = [effort for effort in EFFORTS if effort in known] if profile.get("supports_thinking") else []
    return thinking(profile, levels, "medium") | {"supports_attachments": True}


def gemini(id: str) -> Mapping[str, Any]:
    profile: Any = google_model_profile(id.rsplit("/", maxsplit=1)[-1]) or {}
    known = profile.get("google_thinking_levels") if profile.get("google_supports_thinking_level") else ()
    levels = [effort for effort in EFFORTS if effort.upper() in (known or ())]
    return thinking(profile, levels, "medium") | {"supports_attachments": True}


def grok(id: str) -> Mapping[str, Any]:
    profile: Any = grok_model_profile(id.rsplit("/", maxsplit=1)[-1]) or {}
    levels = [effort for effort in EFFORTS if effort in profile.get("grok_reasoning_efforts", ())]
    return thinking(profile, levels, "medium") | {"supports_attachments": id != "grok-code-fast-1"}


def deepseek(id: str) -> Mapping[str, Any]:
    return thinking(deepseek_model_profile(id) or {}, [], "") | {"supports_attachments": False}


def thinking(profile: ModelProfile | Mapping[str, Any], levels: list[str], default: str) -> dict[str, Any]:
    found: dict[str, Any] = {"can_reason": bool(profile.get("supports_thinking"))}
    if levels:
        preferred = default if default in levels else levels[0]
        found |= {"reasoning_levels": levels, "default_reasoning_effort": preferred}
    if most := profile.get("anthropic_max_output_tokens"):
        found["output_tokens_max"] = most
    return found


def provider(
    id: str,
    name: str,
    type: str,
    key: str,
    endpoint: str,
    large: str,
    small: str,
    *families: tuple[str, Callable[[str], Mapping[str, Any]], list[str]],
) -> dict[str, Any]:
    """A provider; each family is where its prices are, what it can do, and its ids."""
    models = [model(source, id, can) for source, can, ids in families for id in ids]
    assert {large, small} <= {one["id"] for one in models}, f"{id}: its default models are not in it"
    return {
        "name": name,
        "id": id,
        **({"api_key": key} if key else {}),
        **({"api_endpoint": endpoint} if endpoint else {}),
        "type": type,
        "default_large_model_id": large,
        "default_small_model_id": small,
        "models": models,
    }


def model(source: str, id: str, can: Callable[[str], Mapping[str, Any]]) -> dict[str, Any]:
    known = next(one for one in get_snapshot().providers if one.id == source).find_model(id)
    assert known is not None, f"{source} has no {id}"
    prices: Any = known.get_prices(datetime.now(UTC))
    abilities = dict(can(id))
    window = known.context_window or WINDOWS.get(id, 0)
    most = abilities.pop("output_tokens_max", ANSWERS.get(id, ANSWER_TOKENS_MAX))
    assert window, f"{source}: nobody knows the window of {id}"
    return {
        "id": id,
        "name": known.name or id,
        "cost_per_1m_in": money(prices.input_mtok),
        "cost_per_1m_out": money(prices.output_mtok),
        "cost_per_1m_in_cached": money(prices.cache_write_mtok),
        "cost_per_1m_out_cached": money(prices.cache_read_mtok),
        "context_window": window,
        "default_max_tokens": min(ANSWER_TOKENS_MAX, most, window // ANSWER_SHARE_OF_WINDOW),
        **abilities,
    }


def money(price: Any) -> float:
    """The price of the first tier; whole dollars stay whole."""
    value = float(getattr(price, "base", price) or 0)
    return int(value) if value.is_integer() else value


def catalogue() -> list[dict[str, Any]]:
    bedrock = [f"global.anthropic.{id}" for id in ("claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5")]
    europe = [f"eu.anthropic.{id}" for id in ("claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5")]
    router_claude = [f"anthropic/claude-{id}" for id in ("opus-5.5", "sonnet-5.5", "haiku-5.5", "opus-5")]
    router_gpt = [f"openai/gpt-{id}" for id in ("6.1-sol", "6.1-terra", "6-luna", "5.4", "5.4-mini")]
    router_grok = [f"x-ai/grok-{id}" for id in ("4.7", "4.3")]
    router_glm = ["z-ai/glm-5.3"]
    return [
        provider(
            "anthropic",
            "Anthropic",
            "anthropic",
            "$ANTHROPIC_API_KEY",
            "$ANTHROPIC_API_ENDPOINT",
            "claude-sonnet-5-5",
            "claude-haiku-5-5",
            ("anthropic", claude, CLAUDE),
        ),
        provider(
            "openai",
            "OpenAI",
            "openai",
            "$OPENAI_API_KEY",
            "$OPENAI_API_ENDPOINT",
            "gpt-6.1-sol",
            "gpt-6-luna",
            ("openai", gpt, GPT),
        ),
        provider(
            "gemini",
            "Google Gemini",
            "google",
            "$GEMINI_API_KEY",
            "$GEMINI_API_ENDPOINT",
            "gemini-4-argon",
            "gemini-3.8-flash",
            ("google", gemini, GEMINI),
        ),
        provider(
            "azure",
            "Azure OpenAI",
            "azure",
            "$AZURE_OPENAI_API_KEY",
            "$AZURE_OPENAI_API_ENDPOINT",
            "gpt-5.4",
            "gpt-5.4-mini",
            ("openai", gpt, [id for id in GPT if id.startswith(("gpt-5", "gpt-4.1"))]),
        ),
        provider("bedrock", "AWS Bedrock", "bedrock", "", "", bedrock[1], bedrock[2], ("aws", claude, bedrock)),
        provider(
            "bedrock-europe",
            "AWS Bedrock (Europe)",
            "bedrock-europe",
            "",
            "",
            europe[1],
            europe[2],
            ("aws", claude, europe),
        ),
        provider(
            "vertexai",
            "Google Vertex AI",
            "google-vertex",
            "",
            "",
            "gemini-4-argon",
            "gemini-3.8-flash",
            ("google", gemini, GEMINI),
        ),
        provider(
            "openrouter",
            "OpenRouter",
            "openrouter",
            "$OPENROUTER_API_KEY",
            "https://openrouter.ai/api/v1",
            "anthropic/claude-sonnet-5.5",
            "anthropic/claude-haiku-5.5",
            ("openrouter", claude, router_claude),
            ("openrouter", gpt, router_gpt),
            ("openrouter", grok, router_grok),
            ("openrouter", plain(thinks=True), router_glm),
        ),
        provider(
            "xai",
            "xAI",
            "openai-compat",
            "$XAI_API_KEY",
            "https://api.x.ai/v1",
            "grok-4.7",
            "grok-code-fast-1",
            ("x-ai", grok, ["grok-4.7", "grok-4.6", "grok-4.5", "grok-4.3", "grok-code-fast-1"]),
        ),
        provider(
            "deepseek",
            "DeepSeek",
            "openai-compat",
            "$DEEPSEEK_API_KEY",
            "https://api.deepseek.com",
            "deepseek-v4-pro",
            "deepseek-v4-flash",
            ("deepseek", deepseek, ["deepseek-v4-pro", "deepseek-v4-flash"]),
        ),
        provider(
            "mistral",
            "Mistral",
            "openai-compat",
            "$MISTRAL_API_KEY",
            "https://api.mistral.ai/v1",
            "mistral-large-4",
            "mistral-small-2603",
            (
                "mistral",
                plain(images=True),
                ["mistral-large-4", "mistral-large-2512", "mistral-medium-3-5", "mistral-small-2603"],
            ),
            ("mistral", plain(), ["codestral-2508"]),
        ),
        provider(
            "groq",
            "Groq",
            "openai-compat",
            "$GROQ_API_KEY",
            "https://api.groq.com/openai/v1",
            "openai/gpt-oss-120b",
            "openai/gpt-oss-20b",
            ("groq", gpt_oss, ["openai/gpt-oss-120b", "openai/gpt-oss-20b"]),
            ("groq", plain(), ["llama-3.3-70b-versatile", "qwen/qwen3-32b"]),
        ),
        provider(
            "cerebras",
            "Cerebras",
            "openai-compat",
            "$CEREBRAS_API_KEY",
            "https://api.cerebras.ai/v1",
            "gpt-oss-120b",
            "gpt-oss-120b",
            ("cerebras", gpt_oss, ["gpt-oss-120b"]),
            ("cerebras", plain(), ["qwen-3.8-27b"]),
        ),
        provider(
            "moonshot",
            "Moonshot",
            "openai-compat",
            "$MOONSHOT_API_KEY",
            "https://api.moonshot.ai/v1",
            "kimi-k3.1-pro",
            "kimi-k2.6",
            ("moonshotai", plain(images=True), ["kimi-k3.1-pro", "kimi-k3", "kimi-k2.7-code", "kimi-k2.6"]),
        ),
        provider(
            "zai",
            "Z.AI",
            "openai-compat",
            "$ZAI_API_KEY",
            "https://api.z.ai/api/paas/v4",
            "GLM-5.3",
            "GLM-5.3-Flash",
            ("zai", plain(thinks=True), ["GLM-5.3", "GLM-5.3-Flash", "GLM-5.2"]),
        ),
    ]


def gpt_oss(_id: str) -> Mapping[str, Any]:
    levels = ["low", "medium", "high"]
    thinks = {"can_reason": True, "reasoning_levels": levels, "default_reasoning_effort": "medium"}
    return thinks | {"supports_attachments": False}


if __name__ == "__main__":
    TARGET.write_text(json.dumps(catalogue(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"wrote {TARGET.name}")
