"""Anthropic's messages: Claude at home, at Bedrock and at Vertex."""

import json
from collections.abc import AsyncGenerator, Iterator
from typing import Any

import httpx2

from turnkeeper.models.anthropic_client import anthropic_client
from turnkeeper.models.closing import closing
from turnkeeper.models.connection import Voice, merged
from turnkeeper.models.conversation import (
    Answered,
    Heard,
    Media,
    Result,
    Spoken,
    ToolNames,
    Turn,
    arguments,
    fitting_id,
    kept_data,
    turns,
)
from turnkeeper.models.model import (
    Chunk,
    Finished,
    ModelInfo,
    Question,
    ReasoningDone,
    ReasoningSaid,
    TextSaid,
    ToolCallBegun,
    ToolCallDone,
    ToolInputSaid,
    UsageSaid,
)
from turnkeeper.models.quirks import THINKING_BUDGET_TOKENS, Quirks
from turnkeeper.models.troubles import require_stream, spoken
from turnkeeper.protocol.ids import ToolCallId
from turnkeeper.protocol.messages import FinishReason, Reasoning, Text, ToolCall
from turnkeeper.protocol.runs import Usage

MAX_TOKENS_UNKNOWN = 4096
"""This dialect insists on a limit; where the catalogue knows none, this one fits every model it has had."""

INTERLEAVED = {"anthropic-beta": "interleaved-thinking-2025-05-14"}
CACHE_MARK = {"cache_control": {"type": "ephemeral"}}
CACHE_OFF = "CRUSH_DISABLE_ANTHROPIC_CACHE"
MARKED_MESSAGES = 2

REASONS = {
    "end_turn": FinishReason.END_TURN,
    "pause_turn": FinishReason.END_TURN,
    "max_tokens": FinishReason.MAX_TOKENS,
    "model_context_window_exceeded": FinishReason.MAX_TOKENS,
    "tool_use": FinishReason.TOOL_USE,
    "stop_sequence": FinishReason.STOP,
    "refusal": FinishReason.CONTENT_FILTER,
}


class Anthropic:
    """A model behind `/v1/messages`."""

    def __init__(self, voice: Voice, quirks: Quirks, http: httpx2.AsyncClient) -> None:
        self._voice = voice
        self._quirks = quirks
        self._http = http

    @property
    def info(self) -> ModelInfo:
        return self._voice.info

    def stream(self, question: Question) -> AsyncGenerator[Chunk, None]:
        return spoken(self._speak(question), self._voice.connection)

    async def _speak(self, question: Question) -> AsyncGenerator[Chunk, None]:
        voice, names = self._voice, ToolNames(question.tools)
        client = await anthropic_client(voice.connection, self._quirks, self._http)
        body = anthropic_body(question, voice, self._quirks, names)
        headers = (INTERLEAVED if "thinking" in body else {}) | voice.session_headers(question)
        hearing = Hearing(names)
        answer = await client.messages.create(
            model=voice.info.id,
            max_tokens=body.pop("max_tokens"),
            messages=body.pop("messages"),
            stream=True,
            extra_headers=headers,
            extra_body=body,
        )
        async with closing(answer):
            async for event in answer:
                for chunk in hearing.hear(event):
                    yield chunk
        require_stream(answer.response, voice.connection)


class Hearing:
    """Owns what was heard of one answer so far: the block being said, and what was used."""

    def __init__(self, names: ToolNames) -> None:
        self._names = names
        self._block: Any = None
        self._input = ""
        self._signature = ""
        self._reason = ""
        self._usage = Usage()

    def hear(self, event: Any) -> Iterator[Chunk]:
        match event.type:
            case "message_start":
                self._usage = usage_of(event.message.usage, self._usage)
            case "content_block_start":
                yield from self._begin(event.content_block)
            case "content_block_delta":
                yield from self._hear_delta(event.delta)
            case "content_block_stop":
                yield from self._block_over()
            case "message_delta":
                self._reason = event.delta.stop_reason or self._reason
                self._usage = usage_of(event.usage, self._usage)
            case "message_stop" if self._reason:
                yield UsageSaid(self._usage)
                yield Finished(REASONS.get(self._reason, FinishReason.UNKNOWN))
            case _:
                pass

    def _begin(self, block: Any) -> Iterator[Chunk]:
        self._block, self._input, self._signature = block, "", ""
        match block.type:
            case "tool_use":
                yield ToolCallBegun(ToolCallId(block.id), self._names.ours(block.name))
            case "text" if block.text:
                yield TextSaid(block.text)
            case "thinking" if block.thinking:
                yield ReasoningSaid(block.thinking)
            case _:
                pass

    def _hear_delta(self, delta: Any) -> Iterator[Chunk]:
        match delta.type:
            case "text_delta" if delta.text:
                yield TextSaid(delta.text)
            case "thinking_delta" if delta.thinking:
                yield ReasoningSaid(delta.thinking)
            case "signature_delta":
                self._signature += delta.signature
            case "input_json_delta" if delta.partial_json and self._block.type == "tool_use":
                self._input += delta.partial_json
                yield ToolInputSaid(ToolCallId(self._block.id), delta.partial_json)
            case _:
                pass

    def _block_over(self) -> Iterator[Chunk]:
        block = self._block
        match block and block.type:
            case "tool_use":
                said = self._input or (json.dumps(block.input) if block.input else "")
                yield ToolCallDone(ToolCallId(block.id), self._names.ours(block.name), said)
            case "thinking":
                yield ReasoningDone(self._signature or block.signature or "")
            case "redacted_thinking":
                yield ReasoningDone(provider_data=json.dumps({"redacted": block.data}))
            case _:
                pass
        self._block = None


def usage_of(usage: Any, before: Usage) -> Usage:
    """The counts so far. A later event may repeat, correct or leave out what an earlier one said."""

    def count(name: str, old: int) -> int:
        value = getattr(usage, name, None)
        return value if isinstance(value, int) else old

    return Usage(
        input_tokens=count("input_tokens", before.input_tokens),
        output_tokens=count("output_tokens", before.output_tokens),
        cache_read_tokens=count("cache_read_input_tokens", before.cache_read_tokens),
        cache_write_tokens=count("cache_creation_input_tokens", before.cache_write_tokens),
    )


def anthropic_body(question: Question, voice: Voice, quirks: Quirks, names: ToolNames) -> dict[str, Any]:
    choice = voice.choice
    limit = voice.max_tokens(question) or MAX_TOKENS_UNKNOWN
    thinking = thinking_body(voice, limit)
    # With thinking on, this dialect refuses every sampling value but its own default.
    sampling = {} if thinking else {"temperature": choice.temperature, "top_p": choice.top_p, "top_k": choice.top_k}
    body: dict[str, Any] = {
        "max_tokens": limit,
        "system": [{"type": "text", "text": text} for text in voice.system(question)] or None,
        "messages": anthropic_messages(question, voice, quirks, names),
        "tools": [
            {"name": names.theirs(tool.name), "description": tool.description, "input_schema": dict(tool.parameters)}
            for tool in question.tools
        ]
        or None,
        **sampling,
    }
    said = {key: value for key, value in body.items() if value is not None}
    if not voice.connection.environment.get(CACHE_OFF):
        mark_for_cache(said)
    return merged(said, thinking, voice.connection.extra_body, choice.provider_options)


def thinking_body(voice: Voice, limit: int) -> dict[str, Any]:
    """An effort where the model knows efforts, a budget where the user asked for thinking, else nothing."""
    if voice.choice.think and not voice.info.reasoning_levels and limit > THINKING_BUDGET_TOKENS:
        return {"thinking": {"type": "enabled", "budget_tokens": THINKING_BUDGET_TOKENS}}
    effort = voice.effort()
    return {"thinking": {"type": "adaptive"}, "output_config": {"effort": effort}} if effort else {}


def mark_for_cache(body: dict[str, Any]) -> None:
    """The last tool, the last system text and the last two messages: what stays the same until the next question."""
    for blocks in (body.get("tools"), body.get("system")):
        if blocks:
            blocks[-1] |= CACHE_MARK
    for message in body["messages"][-MARKED_MESSAGES:]:
        markable = [block for block in message["content"] if "thinking" not in block["type"]]
        if markable:
            markable[-1] |= CACHE_MARK


def anthropic_messages(question: Question, voice: Voice, quirks: Quirks, names: ToolNames) -> list[dict[str, Any]]:
    """Two roles that take turns: what the tools answered and what the user then said are one message."""
    messages: list[dict[str, Any]] = []
    for turn in turns(question, voice):
        role = "assistant" if isinstance(turn, Spoken) else "user"
        blocks = list(blocks_of(turn, quirks, names))
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += blocks
        elif blocks:
            messages.append({"role": role, "content": blocks})
    return messages


def blocks_of(turn: Turn, quirks: Quirks, names: ToolNames) -> Iterator[dict[str, Any]]:
    match turn:
        case Heard(texts=texts, media=media):
            yield from ({"type": "text", "text": text} for text in texts)
            yield from (media_block(one) for one in media)
        case Spoken(parts=parts, own=own):
            for part in parts:
                yield from spoken_blocks(part, own, quirks, names)
        case Answered(results=results):
            yield from (result_block(result, quirks) for result in results)


def spoken_blocks(
    part: Text | Reasoning | ToolCall, own: bool, quirks: Quirks, names: ToolNames
) -> Iterator[dict[str, Any]]:
    match part:
        case Text(text=text):
            yield {"type": "text", "text": text.strip()}
        case Reasoning() if own and part.signature:
            yield {"type": "thinking", "thinking": part.thinking, "signature": part.signature}
        case Reasoning() if own and "redacted" in kept_data(part.provider_data):
            yield {"type": "redacted_thinking", "data": kept_data(part.provider_data)["redacted"]}
        case ToolCall():
            id, name = fitting_id(part.id, characters_max=quirks.tool_id_characters_max), names.theirs(part.name)
            yield {"type": "tool_use", "id": id, "name": name, "input": arguments(part.input)}
        case _:
            pass


def result_block(result: Result, quirks: Quirks) -> dict[str, Any]:
    said: list[dict[str, Any]] = [{"type": "text", "text": result.content}]
    return {
        "type": "tool_result",
        "tool_use_id": fitting_id(result.id, characters_max=quirks.tool_id_characters_max),
        "content": [*said, media_block(result.media)] if result.media else said,
        "is_error": result.is_error,
    }


def media_block(media: Media) -> dict[str, Any]:
    kind = "document" if media.mime_type == "application/pdf" else "image"
    if media.url:
        return {"type": kind, "source": {"type": "url", "url": media.url}}
    return {"type": kind, "source": {"type": "base64", "media_type": media.mime_type, "data": media.base64}}
