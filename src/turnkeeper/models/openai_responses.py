"""OpenAI's Responses: what OpenAI and Azure speak best, because thinking survives from one question to the next.

Nothing is stored at the provider: its thinking comes back to us encrypted, and goes there again with the next question.
"""

import json
from collections.abc import AsyncGenerator, Iterator
from typing import Any

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
    arguments_text,
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
from turnkeeper.models.openai_client import openai_client, request_headers, usage_of
from turnkeeper.models.quirks import Quirks
from turnkeeper.models.troubles import refusal, require_stream, spoken
from turnkeeper.protocol.ids import ToolCallId
from turnkeeper.protocol.messages import FinishReason, Reasoning, Text, ToolCall

INCOMPLETE = {"max_output_tokens": FinishReason.MAX_TOKENS, "content_filter": FinishReason.CONTENT_FILTER}


class OpenAIResponses:
    """A model behind `/responses`."""

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
        hearing = Hearing(names, self._voice)
        answer = await client.responses.create(
            model=self._voice.info.id,
            input=[item for turn in turns(question, self._voice) for item in items_of(turn, self._quirks, names)],
            stream=True,
            store=False,
            extra_headers=await request_headers(self._voice, question),
            extra_body=responses_body(question, self._voice, names),
        )
        async with closing(answer):
            async for event in answer:
                for chunk in hearing.hear(event):
                    yield chunk
        require_stream(answer.response, self._voice.connection)


class Hearing:
    """Owns what was heard of one answer so far, by the place of each item in it."""

    def __init__(self, names: ToolNames, voice: Voice) -> None:
        self._names = names
        self._voice = voice
        self._calls: dict[int, ToolCallId] = {}
        self._summaries: set[tuple[int, int]] = set()

    def hear(self, event: Any) -> Iterator[Chunk]:
        match event.type:
            case "response.output_text.delta" | "response.refusal.delta" if isinstance(event.delta, str):
                yield TextSaid(event.delta)
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                yield from self._hear_thought(event)
            case "response.output_item.added" if event.item.type == "function_call":
                call = self._calls[event.output_index] = ToolCallId(event.item.call_id)
                yield ToolCallBegun(call, self._names.ours(event.item.name))
            case "response.function_call_arguments.delta" if event.output_index in self._calls:
                yield ToolInputSaid(self._calls[event.output_index], event.delta)
            case "response.output_item.done":
                yield from self._item_over(event)
            case "response.completed" | "response.incomplete":
                yield from self._over(event.response)
            case "response.failed":
                raise self._refusal(getattr(event.response, "error", None))
            case "error":
                raise self._refusal(event)
            case _:
                pass

    def _hear_thought(self, event: Any) -> Iterator[Chunk]:
        """A summary comes in paragraphs, each an entry of its own; between them we put an empty line."""
        paragraph = (event.output_index, getattr(event, "summary_index", 0))
        first = not any(index == event.output_index for index, _ in self._summaries)
        if paragraph not in self._summaries and not first:
            yield ReasoningSaid("\n\n")
        self._summaries.add(paragraph)
        yield ReasoningSaid(event.delta)

    def _item_over(self, event: Any) -> Iterator[Chunk]:
        item = event.item
        match item.type:
            case "function_call":
                call, name = ToolCallId(item.call_id), self._names.ours(item.name)
                if event.output_index not in self._calls:
                    self._calls[event.output_index] = call
                    yield ToolCallBegun(call, name)
                yield ToolCallDone(call, name, item.arguments or "")
            case "reasoning":
                kept = {"id": item.id, "encrypted_content": item.encrypted_content or ""}
                summary = [part.text for part in item.summary or ()]
                yield ReasoningDone(provider_data=json.dumps(kept | {"summary": summary}))
            case _:
                pass

    def _over(self, response: Any) -> Iterator[Chunk]:
        if response.usage is not None:
            yield UsageSaid(usage_of(response.usage, input="input", output="output"))
        why = getattr(response.incomplete_details, "reason", "") if response.incomplete_details else ""
        if response.status == "incomplete" or why:
            yield Finished(INCOMPLETE.get(why or "", FinishReason.UNKNOWN))
        else:
            yield Finished(FinishReason.TOOL_USE if self._calls else FinishReason.END_TURN)

    def _refusal(self, error: Any) -> Exception:
        code, message = getattr(error, "code", None) or "", getattr(error, "message", None) or "the answer failed"
        kind = f"{code} {message}"
        return refusal(self._voice.connection, status=0, kind=kind, message=message)


def responses_body(question: Question, voice: Voice, names: ToolNames) -> dict[str, Any]:
    """Everything of the request beside the conversation. What is not set is not sent."""
    choice, effort = voice.choice, voice.effort()
    body: dict[str, Any] = {
        "instructions": "\n\n".join(voice.system(question)) or None,
        "max_output_tokens": voice.max_tokens(question) or None,
        "temperature": choice.temperature,
        "top_p": choice.top_p,
        "tools": [response_tool(tool.name, tool.description, tool.parameters, names) for tool in question.tools]
        or None,
        "include": ["reasoning.encrypted_content"] if voice.info.can_reason else None,
        "reasoning": {"summary": "auto", **({"effort": effort} if effort else {})} if voice.info.can_reason else None,
        "prompt_cache_key": voice.session_headers(question).get("x-session-id"),
    }
    said = {key: value for key, value in body.items() if value is not None}
    return merged(said, voice.connection.extra_body, choice.provider_options)


def response_tool(name: str, description: str, parameters: Any, names: ToolNames) -> dict[str, Any]:
    return {
        "type": "function",
        "name": names.theirs(name),
        "description": description,
        "parameters": dict(parameters),
        "strict": False,
    }


def items_of(turn: Turn, quirks: Quirks, names: ToolNames) -> Iterator[dict[str, Any]]:
    match turn:
        case Heard(texts=texts, media=media):
            said: list[dict[str, Any]] = [{"type": "input_text", "text": text} for text in texts]
            yield {"role": "user", "content": said + [media_part(one) for one in media]}
        case Spoken(parts=parts, own=own):
            for part in parts:
                yield from spoken_items(part, own, quirks, names)
        case Answered(results=results):
            for result in results:
                call = fitting_id(result.id, characters_max=quirks.tool_id_characters_max)
                yield {"type": "function_call_output", "call_id": call, "output": output_of(result)}


def spoken_items(
    part: Text | Reasoning | ToolCall, own: bool, quirks: Quirks, names: ToolNames
) -> Iterator[dict[str, Any]]:
    match part:
        case Text(text=text):
            yield {"role": "assistant", "content": text.strip()}
        case Reasoning(provider_data=data):
            kept = kept_data(data) if own else {}
            if kept.get("encrypted_content"):
                summary = [{"type": "summary_text", "text": text} for text in kept["summary"]]
                yield {
                    "type": "reasoning",
                    "id": kept["id"],
                    "summary": summary,
                    "encrypted_content": kept["encrypted_content"],
                }
        case ToolCall():
            yield {
                "type": "function_call",
                "call_id": fitting_id(part.id, characters_max=quirks.tool_id_characters_max),
                "name": names.theirs(part.name),
                "arguments": arguments_text(part.input),
            }


def output_of(result: Result) -> str | list[dict[str, Any]]:
    text = f"Error: {result.content}" if result.is_error else result.content
    return [{"type": "input_text", "text": text}, media_part(result.media)] if result.media else text


def media_part(media: Media) -> dict[str, Any]:
    if media.mime_type == "application/pdf":
        return {"type": "input_file", "filename": media.name or "file.pdf", "file_data": media.data_url}
    return {"type": "input_image", "image_url": media.data_url, "detail": "auto"}
