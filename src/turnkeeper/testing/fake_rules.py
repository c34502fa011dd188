"""What each provider refuses: the rules a question has to keep, written from their documentation."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

Body = dict[str, Any]
Headers = Mapping[str, str]

TOOL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")
TOOL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
CACHE_MARKS_MAX = 4
CHAT_ID_CHARACTERS_MAX = 40

CHAT_FIELDS = {
    "model",
    "messages",
    "stream",
    "stream_options",
    "tools",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
    "top_k",
    "frequency_penalty",
    "presence_penalty",
    "reasoning_effort",
    "reasoning",
    "thinking",
}
RESPONSES_FIELDS = {
    "model",
    "input",
    "stream",
    "store",
    "instructions",
    "max_output_tokens",
    "temperature",
    "top_p",
    "tools",
    "include",
    "reasoning",
    "prompt_cache_key",
}
ANTHROPIC_FIELDS = {
    "model",
    "max_tokens",
    "messages",
    "stream",
    "system",
    "tools",
    "thinking",
    "output_config",
    "temperature",
    "top_p",
    "top_k",
}
GOOGLE_FIELDS = {"contents", "systemInstruction", "tools", "generationConfig"}


def common_wrongs(headers: Headers, body: Body, fields: set[str]) -> Iterator[str]:
    if unknown := sorted(set(body) - fields):
        yield f"unknown fields {unknown}"
    if not headers.get("content-type", "").startswith("application/json"):
        yield "the body must be JSON"
    if "x-session-id" in headers and len(headers["x-session-id"]) != 32:
        yield "a session is named by its hash"


def tool_wrongs(name: object, schema: object) -> Iterator[str]:
    if not TOOL_NAME.fullmatch(str(name)):
        yield f"tool name {name!r}"
    if not isinstance(schema, dict) or schema.get("type") != "object":  # pyright: ignore[reportUnknownMemberType]
        yield f"the parameters of {name} are no object schema"


def is_object(text: object) -> bool:
    try:
        return isinstance(json.loads(str(text)), dict)
    except ValueError:
        return False


def chat_wrongs(_path: str, headers: Headers, body: Body) -> Iterator[str]:
    yield from common_wrongs(headers, body, CHAT_FIELDS)
    if body.get("stream") is not True:
        yield "only streams are spoken here"
    for tool in body.get("tools", ()):
        yield from tool_wrongs(tool["function"]["name"], tool["function"]["parameters"])
    messages: list[Body] = body.get("messages") or []
    if not messages:
        yield "no messages"
    for place, message in enumerate(messages):
        yield from chat_message_wrongs(message, place)
    yield from chat_order_wrongs(messages)


def chat_message_wrongs(message: Body, place: int) -> Iterator[str]:
    role = message.get("role")
    if role not in ("system", "user", "assistant", "tool") or (role == "system" and place):
        yield f"message {place}: role {role!r}"
    if not message.get("content") and not (role == "assistant" and message.get("tool_calls")):
        yield f"message {place} ({role}) is empty"
    for call in message.get("tool_calls", ()):
        if not TOOL_ID.fullmatch(call["id"]) or len(call["id"]) > CHAT_ID_CHARACTERS_MAX:
            yield f"tool call id {call['id']!r}"
        if not is_object(call["function"]["arguments"]):
            yield f"the arguments of {call['id']} are no JSON object"


def chat_order_wrongs(messages: list[Body]) -> Iterator[str]:
    waiting: list[str] = []
    for place, message in enumerate(messages):
        if message.get("role") == "tool":
            if message.get("tool_call_id") not in waiting:
                yield f"message {place} answers a call nobody made just before"
            waiting = [id for id in waiting if id != message.get("tool_call_id")]
        elif waiting:
            yield f"message {place} stands between calls and their answers: {waiting}"
            waiting = []
        waiting += [call["id"] for call in message.get("tool_calls", ())]
    if waiting:
        yield f"calls without answers: {waiting}"


def responses_wrongs(_path: str, headers: Headers, body: Body) -> Iterator[str]:
    yield from common_wrongs(headers, body, RESPONSES_FIELDS)
    if body.get("stream") is not True or body.get("store") is not False:
        yield "only streams are spoken here, and nothing is stored"
    for tool in body.get("tools", ()):
        yield from tool_wrongs(tool["name"], tool["parameters"])
    items: list[Body] = body.get("input") or []
    if not items:
        yield "no input"
    for place, item in enumerate(items):
        yield from response_item_wrongs(item, place, last=place + 1 == len(items))
    called = [item["call_id"] for item in items if item.get("type") == "function_call"]
    answered = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
    if sorted(called) != sorted(answered):
        yield f"calls {called} and answers {answered}"


def response_item_wrongs(item: Body, place: int, *, last: bool) -> Iterator[str]:
    match item.get("type", "message"):
        case "message" if item.get("role") not in ("user", "assistant") or not item.get("content"):
            yield f"item {place} is no message"
        case "function_call" if not is_object(item["arguments"]):
            yield f"the arguments of {item['call_id']} are no JSON object"
        case "reasoning" if last or not item.get("encrypted_content"):
            yield f"item {place} is reasoning without its seal or without what followed it"
        case "message" | "function_call" | "function_call_output" | "reasoning":
            pass
        case other:
            yield f"item {place} is of type {other!r}"


def anthropic_wrongs(_path: str, headers: Headers, body: Body) -> Iterator[str]:
    yield from common_wrongs(headers, body, ANTHROPIC_FIELDS)
    if "anthropic-version" not in headers:
        yield "the header anthropic-version is missing"
    if body.get("stream") is not True or not int(body.get("max_tokens") or 0) > 0:
        yield "max_tokens and stream are needed"
    for tool in body.get("tools", ()):
        yield from tool_wrongs(tool["name"], tool["input_schema"])
    if json.dumps(body).count('"cache_control"') > CACHE_MARKS_MAX:
        yield f"more than {CACHE_MARKS_MAX} cache marks"
    yield from thinking_wrongs(body)
    yield from anthropic_order_wrongs(body.get("messages") or [])


def thinking_wrongs(body: Body) -> Iterator[str]:
    thinking = body.get("thinking", {})
    if thinking.get("type") == "enabled" and not 1024 <= thinking.get("budget_tokens", 0) < body["max_tokens"]:
        yield "the thinking budget does not fit"
    if thinking and {"temperature", "top_p", "top_k"} & set(body):
        yield "no sampling values with thinking"


def anthropic_order_wrongs(messages: list[Body]) -> Iterator[str]:
    if not messages or messages[0]["role"] != "user":
        yield "the first message must be the user's"
    waiting: list[str] = []
    for place, message in enumerate(messages):
        if message["role"] != ("user", "assistant")[place % 2]:
            yield f"message {place}: roles must take turns"
        answered = [block["tool_use_id"] for block in message["content"] if block["type"] == "tool_result"]
        leading = [block["type"] for block in message["content"][: len(answered)]]
        if sorted(answered) != sorted(waiting) or set(leading) - {"tool_result"}:
            yield f"message {place}: `tool_use` ids {waiting} need `tool_result` blocks at once, found {answered}"
        waiting = [block["id"] for block in message["content"] if block["type"] == "tool_use"]
        for block in message["content"]:
            yield from anthropic_block_wrongs(block, place)
    if waiting:
        yield f"calls without answers: {waiting}"


def anthropic_block_wrongs(block: Body, place: int) -> Iterator[str]:
    match block["type"]:
        case "text" if not block["text"].strip() or block["text"] != block["text"].rstrip():
            yield f"message {place}: text must not be empty or end with whitespace"
        case "thinking" if not block.get("signature"):
            yield f"message {place}: thinking without a signature"
        case "tool_use" if not TOOL_ID.fullmatch(block["id"]) or not isinstance(block["input"], dict):
            yield f"message {place}: tool_use {block['id']!r}"
        case "tool_result" if not block["content"]:
            yield f"message {place}: empty tool_result"
        case "text" | "thinking" | "redacted_thinking" | "tool_use" | "tool_result" | "image" | "document":
            pass
        case other:
            yield f"message {place}: block of type {other!r}"


def camel(value: Any) -> Any:
    """Protobuf's JSON takes names in either spelling; we read one."""
    match value:
        case dict():
            pairs = cast("dict[str, Any]", value)
            return {re.sub(r"_([a-z])", lambda m: m[1].upper(), key): camel(inner) for key, inner in pairs.items()}
        case list():
            return [camel(inner) for inner in cast("list[Any]", value)]
        case _:
            return value


def google_wrongs(path: str, headers: Headers, body: Body) -> Iterator[str]:
    body = camel(body)
    yield from common_wrongs(headers, body, GOOGLE_FIELDS)
    if not re.fullmatch(r"/v1(beta)?/models/[^/:]+:streamGenerateContent\?alt=sse", path):
        yield f"path {path}"
    for tool in body.get("tools", ()):
        for declared in tool["functionDeclarations"]:
            yield from tool_wrongs(declared["name"], declared.get("parametersJsonSchema"))
    contents: list[Body] = body.get("contents") or []
    if not contents or contents[0].get("role") != "user":
        yield "the first content must be the user's"
    waiting: list[str] = []
    for place, content in enumerate(contents):
        if content.get("role") != ("user", "model")[place % 2]:
            yield f"content {place}: roles must take turns"
        parts: list[Body] = content.get("parts") or []
        if not parts:
            yield f"content {place} has no parts"
        answered = [part["functionResponse"]["name"] for part in parts if "functionResponse" in part]
        if sorted(answered) != sorted(waiting):
            yield f"content {place}: {len(waiting)} function calls, {len(answered)} function responses"
        waiting = [part["functionCall"]["name"] for part in parts if "functionCall" in part]
        for part in parts:
            if not set(part) & {"text", "functionCall", "functionResponse", "inlineData", "fileData"}:
                yield f"content {place}: part {sorted(part)}"
    if waiting:
        yield f"calls without answers: {waiting}"
