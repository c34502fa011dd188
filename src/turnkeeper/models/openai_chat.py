"""OpenAI's chat completions, and everyone who speaks them: most of the world, each with an accent (`quirks.py`)."""

import json
from collections.abc import AsyncGenerator, Iterator
from typing import Any, cast
from uuid import uuid4

import httpx2

from turnkeeper.models.closing import closing
from turnkeeper.models.connection import Voice, merged
from turnkeeper.models.conversation import (
    Answered,
    Heard,
    Media,
    Spoken,
    ToolNames,
    Turn,
    arguments_text,
    fitting_id,
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
from turnkeeper.models.openai_client import openai_client, request_headers, usage_of
from turnkeeper.models.quirks import Quirks, reasoning_body
from turnkeeper.models.troubles import refusal, require_stream, spoken
from turnkeeper.protocol.ids import ToolCallId
from turnkeeper.protocol.messages import FinishReason, Reasoning, Text, ToolCall

CACHE_MARK = {"cache_control": {"type": "ephemeral"}}
MARKED_MESSAGES = 2

REASONS = {
    "stop": FinishReason.END_TURN,
    "length": FinishReason.MAX_TOKENS,
    "tool_calls": FinishReason.TOOL_USE,
    "function_call": FinishReason.TOOL_USE,
    "content_filter": FinishReason.CONTENT_FILTER,
}


class OpenAIChat:
    """A model behind `/chat/completions`."""

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
        client = await openai_client(self._voice.connection, self._quirks, self._http)
        names = ToolNames(question.tools)
        hearing = Hearing(names, self._voice, self._quirks)
        answer = await client.chat.completions.create(
            model=self._voice.info.id,
            messages=chat_messages(question, self._voice, self._quirks, names),
            stream=True,
            extra_headers=await request_headers(self._voice, question),
            extra_body=chat_body(question, self._voice, self._quirks, names),
        )
        async with closing(answer):
            async for chunk in answer:
                for heard in hearing.hear(chunk):
                    yield heard
        for heard in hearing.end():
            yield heard
        require_stream(answer.response, self._voice.connection)


class Hearing:
    """Owns what was heard of one answer so far; turns the dialect's chunks into ours, in their order."""

    def __init__(self, names: ToolNames, voice: Voice, quirks: Quirks) -> None:
        self._names = names
        self._voice = voice
        self._quirks = quirks
        self._calls: dict[int, Call] = {}
        self._called = 0
        self._reasoning = False
        self._details: list[dict[str, Any]] = []
        self._reason = ""
        self._usage: Any = None

    def hear(self, chunk: Any) -> Iterator[Chunk]:
        self._usage = getattr(chunk, "usage", None) or self._usage
        if getattr(chunk, "object", "") == "error":
            raise self._broken_off(chunk)
        for choice in getattr(chunk, "choices", None) or ():
            delta = choice.delta
            if delta is not None:
                yield from self._hear_delta(delta)
            self._reason = choice.finish_reason or self._reason

    def end(self) -> Iterator[Chunk]:
        """What is left to say when the stream is over; without a finish reason it was cut, and nothing is said."""
        if not self._reason:
            return
        if self._reason not in REASONS and self._reason == "error":
            raise refusal(self._voice.connection, status=0, kind="server_error", message="the provider broke off")
        yield from self._reasoning_over()
        yield from self._calls_over()
        if self._usage is not None:
            yield UsageSaid(usage_of(self._usage, input="prompt", output="completion"))
        yield Finished(self._finish())

    def _broken_off(self, chunk: Any) -> Exception:
        """An error that some servers say in the middle, as if it were a piece of the answer."""
        code, message = getattr(chunk, "code", 0), str(getattr(chunk, "message", "") or "the provider broke off")
        kind = f"{getattr(chunk, 'type', '')} {message}"
        return refusal(self._voice.connection, status=code if isinstance(code, int) else 0, kind=kind, message=message)

    def _finish(self) -> FinishReason:
        """Some servers say `stop` after a tool call, and some `tool_calls` without one; the calls are what counts."""
        reason = REASONS.get(self._reason, FinishReason.UNKNOWN)
        if self._called and reason in (FinishReason.END_TURN, FinishReason.UNKNOWN):
            return FinishReason.TOOL_USE
        return FinishReason.END_TURN if reason is FinishReason.TOOL_USE and not self._called else reason

    def _hear_delta(self, delta: Any) -> Iterator[Chunk]:
        for detail in getattr(delta, "reasoning_details", None) or ():
            self._reasoning = True
            self._details.append(dict(detail))
        thought = getattr(delta, "reasoning_content", None) or getattr(delta, "reasoning", None)
        if isinstance(thought, str) and thought:
            self._reasoning = True
            yield ReasoningSaid(thought)
        for part in parts_of(delta.content) or parts_of(getattr(delta, "refusal", None)):
            if isinstance(part, ReasoningSaid):
                self._reasoning = True
            else:
                yield from self._reasoning_over()
                yield from self._calls_over()
            yield part
        for piece in delta.tool_calls or ():
            yield from self._reasoning_over()
            yield from self._hear_call(piece)

    def _hear_call(self, piece: Any) -> Iterator[Chunk]:
        index = piece.index if isinstance(piece.index, int) else max(self._calls, default=0)
        call = self._calls.get(index)
        if call is not None and piece.id and piece.id != call.id and not (piece.id or "").startswith(call.id):
            # Some servers number every call 0 and tell them apart by their ids alone.
            yield from self._calls_over()
            call = None
        name = (piece.function and piece.function.name) or ""
        if call is None:
            call = self._calls[index] = Call(piece.id or f"call_{uuid4().hex[:16]}")
        call.name = call.name or self._names.ours(name)
        call.extra = getattr(piece, "extra_content", None) or call.extra
        if call.name and not call.begun:
            call.begun = True
            self._called += 1
            yield ToolCallBegun(ToolCallId(call.id), call.name)
        said = (piece.function and piece.function.arguments) or ""
        if isinstance(said, dict | list):
            # Some servers write the arguments as what they are, and not as text.
            said = json.dumps(said, ensure_ascii=False)
        if said:
            call.input += said
            yield ToolInputSaid(ToolCallId(call.id), said)

    def _calls_over(self) -> Iterator[Chunk]:
        for call in self._calls.values():
            if call.begun:
                extra = json.dumps(call.extra) if call.extra else ""
                yield ToolCallDone(ToolCallId(call.id), call.name, call.input, extra)
        self._calls.clear()

    def _reasoning_over(self) -> Iterator[Chunk]:
        if self._reasoning:
            yield ReasoningDone(provider_data=json.dumps(joined_details(self._details)) if self._details else "")
        self._reasoning = False
        self._details = []


def parts_of(content: object) -> list[TextSaid | ReasoningSaid]:
    """What was said: a text, or a list in which thinking has its place; other things say nothing."""
    if isinstance(content, str):
        return [TextSaid(content)] if content else []
    said: list[TextSaid | ReasoningSaid] = []
    for part in cast("list[object]", content) if isinstance(content, list) else []:
        fields = cast("dict[str, object]", part) if isinstance(part, dict) else {}
        thought, text = parts_of(fields.get("thinking")), parts_of(fields.get("text"))
        said += [ReasoningSaid(one.text) for one in thought] + text
    return said


class Call:
    """A tool call while it is being written."""

    def __init__(self, id: str) -> None:
        self.id = id
        self.name = ""
        self.input = ""
        self.begun = False
        self.extra: Any = None


def joined_details(details: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Reasoning details as they must be shown again: the fragments of one block joined."""
    joined: list[dict[str, Any]] = []
    for detail in details:
        last = joined[-1] if joined else None
        if last is None or any(last.get(key) != detail.get(key) for key in ("type", "index")):
            joined.append(dict(detail))
            continue
        for key, value in detail.items():
            grows = key in ("text", "summary", "data") and isinstance(value, str)
            last[key] = (last.get(key) or "") + value if grows else value if value is not None else last.get(key)
    return joined


def chat_body(question: Question, voice: Voice, quirks: Quirks, names: ToolNames) -> dict[str, Any]:
    """Everything of the request beside the messages. What is not set is not sent."""
    choice = voice.choice
    body: dict[str, Any] = {
        quirks.max_tokens_field: voice.max_tokens(question) or None,
        "temperature": choice.temperature,
        "top_p": choice.top_p,
        "top_k": choice.top_k,
        "frequency_penalty": choice.frequency_penalty,
        "presence_penalty": choice.presence_penalty,
        "tools": chat_tools(question, quirks, names) or None,
        "stream_options": {"include_usage": True} if quirks.stream_usage else None,
    }
    said = {key: value for key, value in body.items() if value is not None}
    return merged(
        said,
        reasoning_body(voice, quirks),
        dict(quirks.extra_body),
        voice.connection.extra_body,
        choice.provider_options,
    )


def chat_tools(question: Question, quirks: Quirks, names: ToolNames) -> list[dict[str, Any]]:
    tools: list[dict[str, Any]] = [
        {
            "type": "function",
            "function": {
                "name": names.theirs(tool.name),
                "description": tool.description,
                "parameters": dict(tool.parameters),
            },
        }
        for tool in question.tools
    ]
    if tools and quirks.cache_marks:
        tools[-1] |= CACHE_MARK
    return tools


def chat_messages(question: Question, voice: Voice, quirks: Quirks, names: ToolNames) -> list[dict[str, Any]]:
    """The conversation in this dialect. One system message, since many templates know only one."""
    system = "\n\n".join(voice.system(question))
    messages: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []
    for turn in turns(question, voice):
        messages.extend(messages_of(turn, quirks, names))
    if quirks.cache_marks:
        marked = [*messages[: 1 if system else 0], *messages[1:][-MARKED_MESSAGES:]]
        for message in marked:
            message.update(CACHE_MARK)
    return messages


def messages_of(turn: Turn, quirks: Quirks, names: ToolNames) -> Iterator[dict[str, Any]]:
    match turn:
        case Heard(texts=texts, media=()):
            yield {"role": "user", "content": "\n\n".join(texts)}
        case Heard(texts=texts, media=media):
            said: list[dict[str, Any]] = [{"type": "text", "text": text} for text in texts]
            yield {"role": "user", "content": said + [media_part(one) for one in media]}
        case Spoken():
            if message := assistant_message(turn, quirks, names):
                yield message
        case Answered(results=results):
            for result in results:
                content = f"Error: {result.content}" if result.is_error else result.content
                yield {"role": "tool", "tool_call_id": tool_id(result.id, quirks), "content": content}


def assistant_message(turn: Spoken, quirks: Quirks, names: ToolNames) -> dict[str, Any]:
    text = "".join(part.text for part in turn.parts if isinstance(part, Text)).strip()
    calls = [chat_call(part, turn.own, quirks, names) for part in turn.parts if isinstance(part, ToolCall)]
    if not text and not calls:
        return {}
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = calls
    thoughts = [part for part in turn.parts if isinstance(part, Reasoning)] if turn.own else []
    match quirks.replays_reasoning:
        case "reasoning_details":
            details = [detail for part in thoughts if part.provider_data for detail in json.loads(part.provider_data)]
            return message | ({"reasoning_details": details} if details else {})
        case "":
            return message
        case field:
            thinking = "".join(part.thinking for part in thoughts)
            return message | ({field: thinking} if thinking else {})


def chat_call(call: ToolCall, own: bool, quirks: Quirks, names: ToolNames) -> dict[str, Any]:
    function = {"name": names.theirs(call.name), "arguments": arguments_text(call.input)}
    told = {"id": tool_id(call.id, quirks), "type": "function", "function": function}
    return told | ({"extra_content": json.loads(call.provider_data)} if own and call.provider_data else {})


def tool_id(id: str, quirks: Quirks) -> str:
    return fitting_id(id, characters_max=quirks.tool_id_characters_max, plain=quirks.tool_id_plain)


def media_part(media: Media) -> dict[str, Any]:
    if media.mime_type == "application/pdf":
        return {"type": "file", "file": {"filename": media.name or "file.pdf", "file_data": media.data_url}}
    return {"type": "image_url", "image_url": {"url": media.data_url}}
