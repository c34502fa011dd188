"""Where providers differ that claim to speak the same dialect. A table, so that a new one is a line, not a branch."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from turnkeeper.models.connection import Connection, Voice

THINKING_BUDGET_TOKENS = 2000


class Dialect(StrEnum):
    CHAT = "chat"
    RESPONSES = "responses"
    ANTHROPIC = "anthropic"
    GOOGLE = "google"
    SCRIPTED = "scripted"
    OFFLINE = "offline"


class Reasoning(StrEnum):
    """How a provider is told to think."""

    EFFORT = "reasoning_effort"
    OBJECT = "reasoning: {enabled, effort}"
    OBJECT_EFFORT = "reasoning: {effort}"
    THINKING_TYPE = "thinking: {type}"
    ENABLE_THINKING = "enable_thinking"
    TEMPLATE = "chat_template_args: {enable_thinking}"
    NOTHING = ""


@dataclass(frozen=True, slots=True)
class Quirks:
    """How one provider departs from the rest; the defaults are what most do."""

    base_url: str = ""
    dialect: Dialect = Dialect.CHAT
    reasoning: Reasoning = Reasoning.EFFORT
    replays_reasoning: str = ""
    """The field in which it wants to see its own reasoning again."""
    max_tokens_field: str = "max_tokens"
    stream_usage: bool = True
    """Whether it knows `stream_options`."""
    cache_marks: bool = False
    """Whether it takes Anthropic's cache marks in chat messages."""
    tool_id_characters_max: int = 40
    tool_id_plain: bool = False
    """Whether ids of tool calls are letters and digits only, of exactly that length."""
    extra_body: tuple[tuple[str, Any], ...] = ()


LOCAL = Quirks(reasoning=Reasoning.NOTHING)

TYPES: dict[str, Quirks] = {
    "openai": Quirks("https://api.openai.com/v1", Dialect.RESPONSES, tool_id_characters_max=64),
    "azure": Quirks("", Dialect.RESPONSES, tool_id_characters_max=64),
    "anthropic": Quirks("https://api.anthropic.com", Dialect.ANTHROPIC, tool_id_characters_max=64),
    "bedrock": Quirks("", Dialect.ANTHROPIC, tool_id_characters_max=64),
    "bedrock-europe": Quirks("", Dialect.ANTHROPIC, tool_id_characters_max=64),
    "vertex-anthropic": Quirks("", Dialect.ANTHROPIC, tool_id_characters_max=64),
    "google": Quirks("", Dialect.GOOGLE),
    "google-vertex": Quirks("", Dialect.GOOGLE),
    "openrouter": Quirks(
        "https://openrouter.ai/api/v1",
        reasoning=Reasoning.OBJECT,
        replays_reasoning="reasoning_details",
        extra_body=(("usage", {"include": True}),),
    ),
    "vercel": Quirks(
        "https://ai-gateway.vercel.sh/v1",
        reasoning=Reasoning.OBJECT,
        replays_reasoning="reasoning_details",
        cache_marks=True,
    ),
    "openai-compat": Quirks(),
    "openai-chat": Quirks("https://api.openai.com/v1", max_tokens_field="max_completion_tokens"),
    "openai-responses": Quirks("https://api.openai.com/v1", Dialect.RESPONSES, tool_id_characters_max=64),
    "hyper": Quirks("https://hyper.charm.land/v1"),
    "litellm": Quirks(),
    "ollama": Quirks("http://127.0.0.1:11434/v1"),
    "lmstudio": Quirks("http://127.0.0.1:1234/v1", reasoning=Reasoning.NOTHING),
    "llamacpp": Quirks("http://127.0.0.1:8080/v1", reasoning=Reasoning.NOTHING),
    "vllm": Quirks("http://127.0.0.1:8000/v1", reasoning=Reasoning.NOTHING),
    "omlx": Quirks("http://127.0.0.1:8000/v1", reasoning=Reasoning.NOTHING),
    "scripted": Quirks(dialect=Dialect.SCRIPTED),
    "offline": Quirks(dialect=Dialect.OFFLINE),
}
"""By the `type` of a provider's configuration."""

PROVIDERS: dict[str, Quirks] = {
    "alibaba": Quirks("https://dashscope-intl.aliyuncs.com/compatible-mode/v1", reasoning=Reasoning.ENABLE_THINKING),
    "baseten": Quirks("https://inference.baseten.co/v1", reasoning=Reasoning.TEMPLATE),
    "cerebras": Quirks("https://api.cerebras.ai/v1", max_tokens_field="max_completion_tokens"),
    "deepseek": Quirks(
        "https://api.deepseek.com",
        reasoning=Reasoning.THINKING_TYPE,
        replays_reasoning="reasoning_content",
    ),
    "groq": Quirks("https://api.groq.com/openai/v1", max_tokens_field="max_completion_tokens"),
    "huggingface": Quirks("https://router.huggingface.co/v1"),
    "ionet": Quirks("https://api.intelligence.io.solutions/api/v1", reasoning=Reasoning.OBJECT_EFFORT),
    "mistral": Quirks(
        "https://api.mistral.ai/v1",
        reasoning=Reasoning.NOTHING,
        stream_usage=False,
        tool_id_characters_max=9,
        tool_id_plain=True,
    ),
    "moonshot": Quirks(
        "https://api.moonshot.ai/v1",
        reasoning=Reasoning.NOTHING,
        replays_reasoning="reasoning_content",
    ),
    "xai": Quirks("https://api.x.ai/v1", max_tokens_field="max_completion_tokens"),
    "zai": Quirks(
        "https://api.z.ai/api/paas/v4",
        reasoning=Reasoning.THINKING_TYPE,
        replays_reasoning="reasoning_content",
        extra_body=(("tool_stream", True),),
    ),
}
"""By the provider's id, for those whose type is only `openai-compat`."""

ALIASES = {
    "alibaba-singapore": "alibaba",
    "alibaba-us": "alibaba",
    "moonshotai": "moonshot",
    "x-ai": "xai",
    "z-ai": "zai",
    "zhipu": "zai",
}

COMPATIBLE_TYPES = {"", "openai-compat"}


def quirks_of(connection: Connection) -> Quirks | None:
    """What is special about this provider; nothing for a type that nobody speaks."""
    provider = connection.provider.lower()
    if connection.type in COMPATIBLE_TYPES:
        known = PROVIDERS.get(ALIASES.get(provider, provider))
        if known is not None:
            return known
    return TYPES.get(connection.type or "openai-compat")


def reasoning_body(voice: Voice, quirks: Quirks) -> dict[str, Any]:
    """The part of a chat request that asks for thinking."""
    effort, think = voice.effort(), voice.choice.think
    if not voice.info.can_reason:
        return {}
    match quirks.reasoning:
        case Reasoning.EFFORT:
            return {"reasoning_effort": effort} if effort else {}
        case Reasoning.OBJECT:
            return {"reasoning": {"enabled": True, **({"effort": effort} if effort else {})}} if effort or think else {}
        case Reasoning.OBJECT_EFFORT:
            return {"reasoning": {"effort": "medium" if think else "none"}}
        case Reasoning.THINKING_TYPE:
            return {"thinking": {"type": "enabled" if think or effort else "disabled"}}
        case Reasoning.ENABLE_THINKING:
            return {"enable_thinking": think or bool(effort)}
        case Reasoning.TEMPLATE:
            return {"chat_template_args": {"enable_thinking": think or bool(effort)}}
        case Reasoning.NOTHING:
            return {}
