"""The four dialects as a server speaks them: what it finds wrong with a question, and how it writes its answer."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from turnkeeper.models.scripted import CallTool, Say, Stop, Think, Use, pieces
from turnkeeper.protocol.messages import FinishReason
from turnkeeper.protocol.runs import Usage
from turnkeeper.testing.fake_rules import anthropic_wrongs, chat_wrongs, google_wrongs, responses_wrongs

Body = dict[str, Any]
Speech = Say | Think | CallTool | Use | Stop


def encoded(value: object) -> str:
    return msgspec.json.encode(value).decode()


def event(data: object, name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {encoded(data)}\n\n".encode()


class Events(ABC):
    """Owns one answer while it is written: what was said, in how many items, for what reason it will end."""

    def __init__(self, steps: Sequence[object]) -> None:
        self.steps = steps
        self.index = -1
        self.usage = Usage(input_tokens=10, output_tokens=5)
        self.reason = FinishReason.TOOL_USE if any(isinstance(s, CallTool) for s in steps) else FinishReason.END_TURN

    def said(self, step: Speech) -> bytes:
        match step:
            case Use(usage=usage):
                self.usage = usage
                return b""
            case Stop(reason=reason):
                self.reason = reason
                return b""
            case _:
                self.index += 1
                return b"".join(self.speech(step))

    def opening(self) -> bytes:
        return b""

    @abstractmethod
    def speech(self, step: Say | Think | CallTool) -> Iterator[bytes]: ...

    @abstractmethod
    def ending(self) -> bytes: ...


class Dialect:
    """One dialect at its path."""

    def __init__(self, name: str, prefix: str, path: str, key_header: str, events: type[Events], wrongs: Any) -> None:
        self.name = name
        self.prefix = prefix
        self.key_header = key_header
        self._path = re.compile(path)
        self._events = events
        self._wrongs = wrongs

    def is_at(self, path: str) -> bool:
        return self._path.search(path) is not None

    def key_in(self, headers: Mapping[str, str]) -> str:
        return headers.get(self.key_header, "").removeprefix("Bearer ")

    def wrong(self, path: str, headers: Mapping[str, str], body: Body) -> list[str]:
        return list(self._wrongs(path, headers, body))

    def begin(self, steps: Sequence[object]) -> Events:
        return self._events(steps)

    def refusal(self, status: int, kind: str, message: str) -> Body:
        if self.name == "google":
            return {"error": {"code": status, "message": message, "status": kind or "FAILED"}}
        inner = {"type": kind or "error", "message": message, "code": kind or None}
        return {"type": "error", "error": inner}

    def error_event(self, kind: str, message: str) -> bytes:
        match self.name:
            case "google":
                return event({"error": {"code": 503, "message": message, "status": "UNAVAILABLE"}})
            case "responses":
                inner = {"type": "error", "code": kind, "message": message, "param": None, "sequence_number": 9}
                return event(inner, "error")
            case "anthropic":
                return event({"type": "error", "error": {"type": kind, "message": message}}, "error")
            case _:
                return event({"error": {"type": kind, "message": message, "code": None}})


CHAT_REASONS = {
    FinishReason.END_TURN: "stop",
    FinishReason.TOOL_USE: "tool_calls",
    FinishReason.MAX_TOKENS: "length",
    FinishReason.CONTENT_FILTER: "content_filter",
}
GOOGLE_REASONS = {
    FinishReason.END_TURN: "STOP",
    FinishReason.TOOL_USE: "STOP",
    FinishReason.MAX_TOKENS: "MAX_TOKENS",
    FinishReason.CONTENT_FILTER: "SAFETY",
}


class ChatEvents(Events):
    def __init__(self, steps: Sequence[object]) -> None:
        super().__init__(steps)
        self.calls = -1

    def chunk(self, delta: Body, finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return event({"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]})

    def opening(self) -> bytes:
        return self.chunk({"role": "assistant", "content": ""})

    def speech(self, step: Say | Think | CallTool) -> Iterator[bytes]:
        match step:
            case Say(text=text, characters=size):
                yield from (self.chunk({"content": piece}) for piece in pieces(text, size))
            case Think(text=text, characters=size):
                yield from (self.chunk({"reasoning_content": piece}) for piece in pieces(text, size))
            case CallTool(id=id, name=name):
                self.calls += 1
                begun = {"index": self.calls, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}
                yield self.chunk({"tool_calls": [begun]})
                for piece in pieces(step.text, step.characters):
                    yield self.chunk({"tool_calls": [{"index": self.calls, "function": {"arguments": piece}}]})

    def ending(self) -> bytes:
        usage = self.usage
        told = {
            "prompt_tokens": usage.input_tokens + usage.cache_read_tokens,
            "completion_tokens": usage.output_tokens,
            "total_tokens": usage.input_tokens + usage.cache_read_tokens + usage.output_tokens,
            "prompt_tokens_details": {"cached_tokens": usage.cache_read_tokens},
        }
        last: Body = {
            "id": "c1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "m",
            "choices": [],
            "usage": told,
        }
        return self.chunk({}, CHAT_REASONS[self.reason]) + event(last) + b"data: [DONE]\n\n"


class ResponsesEvents(Events):
    def __init__(self, steps: Sequence[object]) -> None:
        super().__init__(steps)
        self.number = 0

    def event(self, kind: str, **fields: Any) -> bytes:
        self.number += 1
        return event({"type": kind, "sequence_number": self.number, **fields}, kind)

    def response(self, status: str, **fields: Any) -> Body:
        head: Body = {"id": "r1", "object": "response", "created_at": 1, "model": "m", "output": []}
        return head | {"status": status} | fields

    def opening(self) -> bytes:
        return self.event("response.created", response=self.response("in_progress"))

    def speech(self, step: Say | Think | CallTool) -> Iterator[bytes]:
        match step:
            case Say():
                item: Body = {
                    "id": f"msg_{self.index}",
                    "type": "message",
                    "role": "assistant",
                    "status": "in_progress",
                }
                yield self.item("added", item | {"content": []})
                for piece in pieces(step.text, step.characters):
                    yield self.part("response.output_text.delta", item["id"], content_index=0, delta=piece, logprobs=[])
                text: Body = {"type": "output_text", "text": step.text, "annotations": []}
                yield self.item("done", item | {"status": "completed", "content": [text]})
            case Think():
                item = {"id": f"rs_{self.index}", "type": "reasoning", "summary": []}
                yield self.item("added", item)
                for piece in pieces(step.text, step.characters):
                    kind = "response.reasoning_summary_text.delta"
                    yield self.part(kind, item["id"], summary_index=0, delta=piece)
                summary = [{"type": "summary_text", "text": step.text}]
                yield self.item("done", item | {"summary": summary, "encrypted_content": step.signature or "sealed"})
            case CallTool():
                item = {"id": f"fc_{self.index}", "type": "function_call", "call_id": step.id, "name": step.name}
                yield self.item("added", item | {"arguments": "", "status": "in_progress"})
                for piece in pieces(step.text, step.characters):
                    yield self.part("response.function_call_arguments.delta", item["id"], delta=piece)
                yield self.item("done", item | {"arguments": step.text, "status": "completed"})

    def item(self, moment: str, item: Body) -> bytes:
        return self.event(f"response.output_item.{moment}", output_index=self.index, item=item)

    def part(self, kind: str, item_id: str, **fields: Any) -> bytes:
        return self.event(kind, item_id=item_id, output_index=self.index, **fields)

    def ending(self) -> bytes:
        usage = self.usage
        told = {
            "input_tokens": usage.input_tokens + usage.cache_read_tokens,
            "input_tokens_details": {"cached_tokens": usage.cache_read_tokens},
            "output_tokens": usage.output_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": usage.input_tokens + usage.cache_read_tokens + usage.output_tokens,
        }
        reasons = {FinishReason.MAX_TOKENS: "max_output_tokens", FinishReason.CONTENT_FILTER: "content_filter"}
        if self.reason in reasons:
            response = self.response("incomplete", incomplete_details={"reason": reasons[self.reason]}, usage=told)
            return self.event("response.incomplete", response=response)
        return self.event("response.completed", response=self.response("completed", usage=told))


class AnthropicEvents(Events):
    def opening(self) -> bytes:
        usage = next((step.usage for step in self.steps if isinstance(step, Use)), self.usage)
        message: Body = {
            "id": "m1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {
                "input_tokens": usage.input_tokens,
                "output_tokens": 0,
                "cache_read_input_tokens": usage.cache_read_tokens,
                "cache_creation_input_tokens": usage.cache_write_tokens,
            },
        }
        return event({"type": "message_start", "message": message}, "message_start") + event({"type": "ping"}, "ping")

    def speech(self, step: Say | Think | CallTool) -> Iterator[bytes]:
        match step:
            case Say():
                yield self.begun({"type": "text", "text": ""})
                for piece in pieces(step.text, step.characters):
                    yield self.delta({"type": "text_delta", "text": piece})
            case Think():
                yield self.begun({"type": "thinking", "thinking": "", "signature": ""})
                for piece in pieces(step.text, step.characters):
                    yield self.delta({"type": "thinking_delta", "thinking": piece})
                yield self.delta({"type": "signature_delta", "signature": step.signature or "sealed"})
            case CallTool():
                yield self.begun({"type": "tool_use", "id": step.id, "name": step.name, "input": {}})
                for piece in pieces(step.text, step.characters):
                    yield self.delta({"type": "input_json_delta", "partial_json": piece})
        yield event({"type": "content_block_stop", "index": self.index}, "content_block_stop")

    def begun(self, block: Body) -> bytes:
        told = {"type": "content_block_start", "index": self.index, "content_block": block}
        return event(told, "content_block_start")

    def delta(self, delta: Body) -> bytes:
        return event({"type": "content_block_delta", "index": self.index, "delta": delta}, "content_block_delta")

    def ending(self) -> bytes:
        reasons = {FinishReason.CONTENT_FILTER: "refusal", FinishReason.STOP: "stop_sequence"}
        delta = {"stop_reason": reasons.get(self.reason, self.reason.value), "stop_sequence": None}
        usage = {"output_tokens": self.usage.output_tokens}
        told = event({"type": "message_delta", "delta": delta, "usage": usage}, "message_delta")
        return told + event({"type": "message_stop"}, "message_stop")


class GoogleEvents(Events):
    def chunk(self, parts: list[Body], **fields: Any) -> bytes:
        candidate = {"index": 0, "content": {"role": "model", "parts": parts}} | fields.pop("candidate", {})
        return event({"candidates": [candidate], "modelVersion": "m", "responseId": "g1", **fields})

    def speech(self, step: Say | Think | CallTool) -> Iterator[bytes]:
        match step:
            case Say():
                yield from (self.chunk([{"text": piece}]) for piece in pieces(step.text, step.characters))
            case Think():
                for piece in pieces(step.text, step.characters):
                    yield self.chunk([{"text": piece, "thought": True}])
                yield self.chunk([{"text": "", "thought": True, "thoughtSignature": step.signature or "c2VhbGVk"}])
            case CallTool():
                args = msgspec.json.decode(step.text or "{}")
                call = {"functionCall": {"id": step.id, "name": step.name, "args": args}}
                yield self.chunk([call | {"thoughtSignature": "c2VhbGVk"}])

    def ending(self) -> bytes:
        usage = self.usage
        told = {
            "promptTokenCount": usage.input_tokens + usage.cache_read_tokens,
            "cachedContentTokenCount": usage.cache_read_tokens,
            "candidatesTokenCount": usage.output_tokens,
            "totalTokenCount": usage.input_tokens + usage.cache_read_tokens + usage.output_tokens,
        }
        return self.chunk([], candidate={"finishReason": GOOGLE_REASONS[self.reason]}, usageMetadata=told)


DIALECTS = {
    "chat": Dialect("chat", "/v1", r"/chat/completions$", "authorization", ChatEvents, chat_wrongs),
    "responses": Dialect("responses", "/v1", r"/responses$", "authorization", ResponsesEvents, responses_wrongs),
    "anthropic": Dialect("anthropic", "", r"^/v1/messages", "x-api-key", AnthropicEvents, anthropic_wrongs),
    "google": Dialect("google", "", r":streamGenerateContent", "x-goog-api-key", GoogleEvents, google_wrongs),
}
