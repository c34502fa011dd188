"""A question's messages as every dialect needs them: turns that alternate, with nothing in them a provider refuses.

Who asks has already repaired the conversation (every call answered, answers right behind their calls). What is done
here is what depends on the voice: what it may see of its own thinking, where pictures go, how tool ids must look.
"""

import base64
import binascii
import hashlib
import json
import re
from dataclasses import dataclass
from typing import Any, cast

from turnkeeper.models.connection import Voice
from turnkeeper.models.model import Question, ToolSpec
from turnkeeper.protocol.messages import (
    Binary,
    ImageUrl,
    Message,
    Reasoning,
    Role,
    ShellCommand,
    Text,
    ToolCall,
    ToolResult,
)

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")
NAME_CHARACTERS_MAX = 64
UNREADABLE_MEDIA = "[This result held media that could not be read.]"
EMPTY_RESULT = "(no output)"


@dataclass(frozen=True, slots=True)
class Media:
    """A file a model can look at: its bytes, or where it can fetch them."""

    name: str
    mime_type: str
    data: bytes = b""
    url: str = ""

    @property
    def base64(self) -> str:
        return base64.b64encode(self.data).decode()

    @property
    def data_url(self) -> str:
        return self.url or f"data:{self.mime_type};base64,{self.base64}"


@dataclass(frozen=True, slots=True)
class Heard:
    """What was said to the model."""

    texts: tuple[str, ...]
    media: tuple[Media, ...] = ()


@dataclass(frozen=True, slots=True)
class Spoken:
    """What a model said, in its order. `own` when it was this very model, which may see its thinking again."""

    parts: tuple[Text | Reasoning | ToolCall, ...]
    own: bool


@dataclass(frozen=True, slots=True)
class Result:
    id: str
    name: str
    content: str
    is_error: bool = False
    media: Media | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """What the tools answered to the calls of the turn before."""

    results: tuple[Result, ...]


Turn = Heard | Spoken | Answered


def turns(question: Question, voice: Voice) -> list[Turn]:
    """The conversation, neighbours of one kind joined into one turn."""
    joined: list[Turn] = []
    for message in question.messages:
        for turn in turns_of(message, voice):
            last = joined[-1] if joined else None
            match last, turn:
                case Heard(), Heard():
                    joined[-1] = Heard(last.texts + turn.texts, last.media + turn.media)
                case Answered(), Answered():
                    joined[-1] = Answered(last.results + turn.results)
                case _:
                    joined.append(turn)
    return with_media_behind(joined, voice)


def turns_of(message: Message, voice: Voice) -> list[Turn]:
    match message.role:
        case Role.ASSISTANT:
            parts = tuple(part for part in message.parts if is_spoken(part))
            return [Spoken(cast("tuple[Text | Reasoning | ToolCall, ...]", parts), is_own(message, voice))]
        case Role.TOOL:
            known = tuple(result_of(result, voice) for result in message.tool_results)
            return [Answered(known)] if known else []
        case Role.USER | Role.SYSTEM:
            heard = heard_of(message, voice)
            return [heard] if heard.texts or heard.media else []


def is_spoken(part: object) -> bool:
    match part:
        case Text(text=text):
            return bool(text.strip())
        case ToolCall(provider_executed=executed):
            # What the provider ran itself it also answered itself; replayed alone it would be a call without a result.
            return not executed
        case _:
            return isinstance(part, Reasoning)


def is_own(message: Message, voice: Voice) -> bool:
    """Thinking is signed by the model that did it; nobody else can read the signature."""
    same_provider = message.provider in ("", voice.connection.provider)
    return same_provider and message.model in ("", voice.info.id)


def heard_of(message: Message, voice: Voice) -> Heard:
    texts: list[str] = []
    media: list[Media] = []
    for part in message.parts:
        match part:
            case Text(text=text) if text.strip():
                texts.append(text.strip())
            case ShellCommand():
                texts.append(shell_text(part))
            case Binary() if part.mime_type.startswith("text/"):
                texts.append(file_text(part))
            case Binary():
                seen = Media(part.path, part.mime_type, part.data)
                if voice.info.supports_images:
                    media.append(seen)
                else:
                    texts.append(f"[{part.path or 'A file'} was attached, but this model cannot see it.]")
            case ImageUrl(url=url) if voice.info.supports_images:
                media.append(media_at(url))
            case _:
                pass
    return Heard(tuple(texts), tuple(media))


def shell_text(part: ShellCommand) -> str:
    output = ESCAPES.sub("", part.output).rstrip()
    return f"$ {part.command}\n{output}\n(exit code {part.exit_code})"


def file_text(part: Binary) -> str:
    text = part.data.decode("utf-8", errors="replace")
    return f"<file path='{part.path}'>\n{text}\n</file>"


def media_at(url: str) -> Media:
    """The picture behind a URL; a `data:` URL is opened here, since not every provider opens one."""
    head, comma, body = url.partition(",")
    if url.startswith("data:") and comma and head.endswith(";base64"):
        data = decoded(body)
        if data is not None:
            return Media("image", head.removeprefix("data:").removesuffix(";base64"), data)
    return Media("image", "image/*", url=url)


def result_of(result: ToolResult, voice: Voice) -> Result:
    text = result.content if result.content.strip() else EMPTY_RESULT
    if not result.data:
        return Result(result.tool_call_id, result.name, text, result.is_error)
    data = decoded(result.data)
    if data is None:
        return Result(result.tool_call_id, result.name, UNREADABLE_MEDIA, result.is_error)
    if not voice.info.supports_images:
        seen = f"{text}\n[It held {result.mime_type}, which this model cannot see.]"
        return Result(result.tool_call_id, result.name, seen, result.is_error)
    media = Media(f"tool-result-{result.tool_call_id}", result.mime_type, data)
    return Result(result.tool_call_id, result.name, text, result.is_error, media)


def decoded(text: str) -> bytes | None:
    """The bytes of canonical base64, or None."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if base64.b64encode(data).decode() == text else None


def with_media_behind(joined: list[Turn], voice: Voice) -> list[Turn]:
    """Media taken out of tool results and put into a user turn behind them, where the voice cannot see it inside.

    Behind all results of the turn, because nothing may stand between a call and its answer.
    """
    if voice.info.media_in_tool_results:
        return joined
    moved: list[Turn] = []
    for turn in joined:
        match turn:
            case Answered(results=results) if any(result.media for result in results):
                moved.append(Answered(tuple(without_media(result) for result in results)))
                media = tuple(result.media for result in results if result.media)
                moved.append(
                    Heard((f"The media of the tool results above: {', '.join(m.name for m in media)}",), media)
                )
            case Heard() if moved and isinstance(moved[-1], Heard):
                moved[-1] = Heard(moved[-1].texts + turn.texts, moved[-1].media + turn.media)
            case _:
                moved.append(turn)
    return moved


def without_media(result: Result) -> Result:
    if result.media is None:
        return result
    text = "" if result.content == EMPTY_RESULT else f"{result.content}\n"
    return Result(result.id, result.name, f"{text}[Its media follows as {result.media.name}.]", result.is_error)


def arguments(text: str) -> dict[str, Any]:
    """A call's input as an object. What is not one is kept as text, so that the model sees what it wrote."""
    if not text.strip():
        return {}
    try:
        value: object = json.loads(text)
    except ValueError:
        return {"unreadable_input": text}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {"unreadable_input": text}


def arguments_text(text: str) -> str:
    """The same as JSON text: untouched where it is an object already."""
    value = arguments(text)
    return text if value and "unreadable_input" not in value else json.dumps(value, ensure_ascii=False)


def kept_data(provider_data: str) -> dict[str, Any]:
    """What a provider gave us to keep, if it is in the form we keep it in."""
    try:
        value: object = json.loads(provider_data or "{}")
    except ValueError:
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def fitting_id(id: str, *, characters_max: int, plain: bool = False) -> str:
    """A tool call's id in a form this provider takes; the same id always becomes the same, so answers still match."""
    pattern = rf"[a-zA-Z0-9]{{{characters_max}}}" if plain else rf"[a-zA-Z0-9_-]{{1,{characters_max}}}"
    if re.fullmatch(pattern, id):
        return id
    return hashlib.sha256(id.encode()).hexdigest()[:characters_max]


class ToolNames:
    """Owns the names of one question's tools: as the provider will take them, and back again."""

    def __init__(self, tools: tuple[ToolSpec, ...]) -> None:
        self._ours = {fitting_name(tool.name): tool.name for tool in tools}

    def theirs(self, name: str) -> str:
        return fitting_name(name)

    def ours(self, name: str) -> str:
        return self._ours.get(name, name)


def fitting_name(name: str) -> str:
    if NAME.fullmatch(name):
        return name
    plain = re.sub(r"[^a-zA-Z0-9_-]", "_", name) or "tool"
    mark = hashlib.sha256(name.encode()).hexdigest()[:6]
    start = plain if NAME.match(plain) else f"_{plain}"
    return f"{start[: NAME_CHARACTERS_MAX - 7]}_{mark}"
