"""Google's generateContent: Gemini with a key, and Gemini at Vertex."""

import base64
import json
from collections.abc import AsyncGenerator, Iterator
from typing import Any
from uuid import uuid4

import httpx2

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
from turnkeeper.models.google_client import Line, google_client
from turnkeeper.models.model import (
    Chunk,
    Finished,
    ModelInfo,
    ModelTrouble,
    Question,
    ReasoningDone,
    ReasoningSaid,
    TextSaid,
    ToolCallBegun,
    ToolCallDone,
    ToolInputSaid,
    Trouble,
    UsageSaid,
)
from turnkeeper.models.quirks import THINKING_BUDGET_TOKENS, Quirks
from turnkeeper.models.troubles import spoken
from turnkeeper.protocol.ids import ToolCallId
from turnkeeper.protocol.messages import FinishReason, Reasoning, Text, ToolCall
from turnkeeper.protocol.runs import Usage

UNSIGNED = base64.b64encode(b"skip_thought_signature_validator").decode()
"""What Google tells us to send with a call that another model made, where it insists on a signature."""

REASONS = {
    "STOP": FinishReason.END_TURN,
    "MAX_TOKENS": FinishReason.MAX_TOKENS,
    "SAFETY": FinishReason.CONTENT_FILTER,
    "RECITATION": FinishReason.CONTENT_FILTER,
    "BLOCKLIST": FinishReason.CONTENT_FILTER,
    "PROHIBITED_CONTENT": FinishReason.CONTENT_FILTER,
    "SPII": FinishReason.CONTENT_FILTER,
    "IMAGE_SAFETY": FinishReason.CONTENT_FILTER,
}
BROKEN_CALLS = {"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"}


class Google:
    """A model behind `:streamGenerateContent`."""

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
        hearing, line = Hearing(names), Line(self._http)
        async with closing(line):
            client = await google_client(voice, question, line)
            answer = await client.aio.models.generate_content_stream(
                model=voice.info.id,
                contents=google_contents(question, voice, names),
                config=google_config(question, voice, names),
            )
            try:
                async for response in answer:
                    for chunk in hearing.hear(response):
                        yield chunk
            except Exception:  # whatever the SDK stumbled over, it may have been no stream at all
                line.require_stream(voice.connection)
                raise
        for chunk in hearing.end():
            yield chunk
        line.require_stream(voice.connection)


class Hearing:
    """Owns what was heard of one answer so far. Calls come whole here, and thinking is a mark on a text."""

    def __init__(self, names: ToolNames) -> None:
        self._names = names
        self._thinking = False
        self._signature = ""
        self._called = False
        self._reason = ""
        self._usage: Any = None

    def hear(self, response: Any) -> Iterator[Chunk]:
        self._usage = response.usage_metadata or self._usage
        blocked = response.prompt_feedback and response.prompt_feedback.block_reason
        if blocked:
            self._reason = "SAFETY"
        for candidate in (response.candidates or ())[:1]:
            for part in (candidate.content and candidate.content.parts) or ():
                yield from self._hear_part(part)
            self._reason = name_of(candidate.finish_reason) or self._reason

    def end(self) -> Iterator[Chunk]:
        if not self._reason or self._reason == "FINISH_REASON_UNSPECIFIED":
            return
        if self._reason in BROKEN_CALLS:
            raise ModelTrouble(Trouble.CUT, "the model wrote a tool call that its provider could not read")
        yield from self._thinking_over()
        if self._usage is not None:
            yield UsageSaid(usage_of(self._usage))
        reason = REASONS.get(self._reason, FinishReason.UNKNOWN)
        waits = self._called and reason in (FinishReason.END_TURN, FinishReason.UNKNOWN)
        yield Finished(FinishReason.TOOL_USE if waits else reason)

    def _hear_part(self, part: Any) -> Iterator[Chunk]:
        signature = base64.b64encode(part.thought_signature).decode() if part.thought_signature else ""
        if part.thought:
            self._thinking = True
            self._signature = signature or self._signature
            if part.text:
                yield ReasoningSaid(part.text)
            return
        if part.function_call:
            yield from self._thinking_over()
            yield from self._hear_call(part.function_call, signature)
        elif part.text:
            yield from self._thinking_over()
            yield TextSaid(part.text)

    def _hear_call(self, call: Any, signature: str) -> Iterator[Chunk]:
        self._called = True
        id, name = ToolCallId(call.id or f"call_{uuid4().hex[:16]}"), self._names.ours(call.name)
        said = json.dumps(call.args or {}, ensure_ascii=False)
        data = json.dumps({"thought_signature": signature}) if signature else ""
        yield ToolCallBegun(id, name)
        yield ToolInputSaid(id, said)
        yield ToolCallDone(id, name, said, data)

    def _thinking_over(self) -> Iterator[Chunk]:
        if self._thinking:
            yield ReasoningDone(self._signature)
        self._thinking, self._signature = False, ""


def name_of(value: Any) -> str:
    return str(getattr(value, "value", value) or "")


def usage_of(usage: Any) -> Usage:
    """Tokens as we count them: cached ones are not input again, and thinking is output."""
    read, thoughts = usage.cached_content_token_count or 0, usage.thoughts_token_count or 0
    prompt = (usage.prompt_token_count or 0) + (usage.tool_use_prompt_token_count or 0)
    return Usage(
        input_tokens=max(0, prompt - read),
        output_tokens=(usage.candidates_token_count or 0) + thoughts,
        cache_read_tokens=read,
        reasoning_tokens=thoughts,
    )


def google_config(question: Question, voice: Voice, names: ToolNames) -> dict[str, Any]:
    choice = voice.choice
    declarations = [
        {
            "name": names.theirs(tool.name),
            "description": tool.description,
            "parameters_json_schema": dict(tool.parameters),
        }
        for tool in question.tools
    ]
    config: dict[str, Any] = {
        "system_instruction": "\n\n".join(voice.system(question)) or None,
        "max_output_tokens": voice.max_tokens(question) or None,
        "temperature": choice.temperature,
        "top_p": choice.top_p,
        "top_k": choice.top_k,
        "frequency_penalty": choice.frequency_penalty,
        "presence_penalty": choice.presence_penalty,
        "tools": [{"function_declarations": declarations}] if declarations else None,
        "automatic_function_calling": {"disable": True},
        "thinking_config": thinking_config(voice),
    }
    return merged({key: value for key, value in config.items() if value is not None}, choice.provider_options)


def thinking_config(voice: Voice) -> dict[str, Any] | None:
    """A budget for Gemini 2, a level for its successors."""
    if not voice.info.can_reason:
        return None
    if voice.info.id.removeprefix("models/").startswith("gemini-2"):
        return {"include_thoughts": True, "thinking_budget": THINKING_BUDGET_TOKENS}
    effort = voice.effort()
    return {"include_thoughts": True, **({"thinking_level": effort.upper()} if effort else {})}


def google_contents(question: Question, voice: Voice, names: ToolNames) -> list[dict[str, Any]]:
    """Two roles that take turns; tools answer as the user."""
    contents: list[dict[str, Any]] = []
    for turn in turns(question, voice):
        role = "model" if isinstance(turn, Spoken) else "user"
        parts = list(parts_of(turn, names))
        if contents and contents[-1]["role"] == role:
            contents[-1]["parts"] += parts
        elif parts:
            contents.append({"role": role, "parts": parts})
    return contents


def parts_of(turn: Turn, names: ToolNames) -> Iterator[dict[str, Any]]:
    match turn:
        case Heard(texts=texts, media=media):
            yield from ({"text": text} for text in texts)
            yield from (media_part(one) for one in media)
        case Spoken(parts=parts, own=own):
            for part in parts:
                yield from spoken_parts(part, own, names)
        case Answered(results=results):
            for result in results:
                yield from result_parts(result, names)


def spoken_parts(part: Text | Reasoning | ToolCall, own: bool, names: ToolNames) -> Iterator[dict[str, Any]]:
    match part:
        case Text(text=text):
            yield {"text": text.strip()}
        case Reasoning() if own and part.signature:
            yield {"text": part.thinking, "thought": True, "thought_signature": part.signature}
        case ToolCall():
            id = fitting_id(part.id, characters_max=64)
            call = {"id": id, "name": names.theirs(part.name), "args": arguments(part.input)}
            if own:
                signature = kept_data(part.provider_data).get("thought_signature", "")
                yield {"function_call": call, **({"thought_signature": signature} if signature else {})}
            else:
                yield {"function_call": call, "thought_signature": UNSIGNED}
        case _:
            pass


def result_parts(result: Result, names: ToolNames) -> Iterator[dict[str, Any]]:
    said = {"error" if result.is_error else "output": result.content}
    id = fitting_id(result.id, characters_max=64)
    yield {"function_response": {"id": id, "name": names.theirs(result.name), "response": said}}
    if result.media:
        yield media_part(result.media)


def media_part(media: Media) -> dict[str, Any]:
    if media.url:
        return {"file_data": {"file_uri": media.url, "mime_type": media.mime_type}}
    return {"inline_data": {"data": media.base64, "mime_type": media.mime_type}}
