"""What the tests of the voices share: each adapter pointed at a fake, and a conversation to ask about."""

import httpx2

from turnkeeper.models.anthropic import Anthropic
from turnkeeper.models.connection import Connection, Voice
from turnkeeper.models.google import Google
from turnkeeper.models.model import Chunk, Model, ModelInfo, Question, ToolSpec
from turnkeeper.models.openai_chat import OpenAIChat
from turnkeeper.models.openai_responses import OpenAIResponses
from turnkeeper.models.quirks import Quirks, quirks_of
from turnkeeper.protocol.config import SelectedModel
from turnkeeper.protocol.ids import MessageId, SessionId, ToolCallId
from turnkeeper.protocol.messages import Message, Part, Reasoning, Role, Text, ToolCall, ToolResult
from turnkeeper.testing.fake_provider import KEY

TYPES = {"chat": "openai-compat", "responses": "openai", "anthropic": "anthropic", "google": "google"}
DIALECTS = tuple(TYPES)

INFO = ModelInfo(
    id="fake-model",
    provider="fake",
    context_window=100_000,
    default_max_tokens=4_000,
    can_reason=True,
    reasoning_levels=("low", "high"),
    supports_images=True,
)
LIST = ToolSpec("ls", "List a directory", {"type": "object", "properties": {"path": {"type": "string"}}})


def model_at(
    dialect: str,
    base_url: str,
    http: httpx2.AsyncClient,
    *,
    key: str = KEY,
    info: ModelInfo = INFO,
    choice: SelectedModel | None = None,
) -> Model:
    connection = Connection(provider="fake", type=TYPES[dialect], base_url=base_url, api_key=key)
    voice = Voice(connection, info, choice or SelectedModel())
    quirks = quirks_of(connection)
    assert quirks is not None
    return adapter(dialect, voice, quirks, http)


def adapter(dialect: str, voice: Voice, quirks: Quirks, http: httpx2.AsyncClient) -> Model:
    match dialect:
        case "chat":
            return OpenAIChat(voice, quirks, http)
        case "responses":
            return OpenAIResponses(voice, quirks, http)
        case "anthropic":
            return Anthropic(voice, quirks, http)
        case _:
            return Google(voice, quirks, http)


def message(role: Role, *parts: Part, provider: str = "fake", model: str = "fake-model") -> Message:
    return Message(MessageId("m"), SessionId("s"), role, parts, model=model, provider=provider)


def user(text: str) -> Message:
    return message(Role.USER, Text(text))


def call(id: str, input: str = '{"path": "."}', name: str = "ls", provider_data: str = "") -> ToolCall:
    return ToolCall(ToolCallId(id), name, input, finished=True, provider_data=provider_data)


def result(id: str, content: str = "a.py", data: str = "", mime_type: str = "") -> ToolResult:
    return ToolResult(ToolCallId(id), "ls", content, data=data, mime_type=mime_type)


def thought(text: str, signature: str = "", provider_data: str = "") -> Reasoning:
    return Reasoning(text, signature=signature, provider_data=provider_data)


def ask(*messages: Message, tools: tuple[ToolSpec, ...] = (LIST,)) -> Question:
    return Question(("You are brief.",), messages or (user("hello"),), tools, session_id="session-1")


async def answer(model: Model, question: Question | None = None) -> list[Chunk]:
    return [chunk async for chunk in model.stream(question or ask())]
