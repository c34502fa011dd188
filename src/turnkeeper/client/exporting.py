"""A conversation as a document to keep or to send: Markdown to read, JSON to work with, HTML to look at.

Pure: from a session and its messages to a text. Each is whole in itself; the page asks nothing of the network and runs
nothing, so it can be opened from anywhere, whatever was said in it.
"""

import base64
import html
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from importlib.resources import files

import msgspec

from turnkeeper.protocol.messages import (
    Binary,
    Finish,
    FinishReason,
    ImageUrl,
    Message,
    Part,
    Reasoning,
    Role,
    ShellCommand,
    Text,
    ToolCall,
    ToolResult,
)
from turnkeeper.protocol.wire_messages import exact
from turnkeeper.protocol.wire_sessions import Session

WHO = {Role.USER: "You", Role.ASSISTANT: "Assistant", Role.TOOL: "Tool", Role.SYSTEM: "System"}
FENCE = "```"
ENDS_QUIETLY = frozenset({FinishReason.STOP, FinishReason.END_TURN, FinishReason.TOOL_USE})
PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


def markdown(session: Session, messages: Iterable[Message]) -> str:
    """To be read as it is, or by whatever reads Markdown."""
    lines = [f"# {_one_line(session.title) or 'Untitled Session'}", "", *(f"- {fact}" for fact in _facts(session)), ""]
    for message in messages:
        if pieces := [piece for part in message.parts for piece in _markdown(part)]:
            if message.role is not Role.TOOL:
                lines += [f"## {_heading(message)}", ""]
            lines += [piece for one in pieces for piece in (one, "")]
    return "\n".join(lines).rstrip("\n") + "\n"


def as_json(session: Session, messages: Iterable[Message]) -> str:
    """Everything, part for part, as the server tells it."""
    said = {"session": session, "messages": [exact(message) for message in messages]}
    return msgspec.json.format(msgspec.json.encode(said), indent=2).decode() + "\n"


def page(session: Session, messages: Iterable[Message]) -> str:
    """One file with everything in it."""
    articles = "\n".join(filter(None, map(_article, messages)))
    facts = " · ".join(html.escape(fact) for fact in _facts(session))
    template = (files("turnkeeper.client") / "page.html").read_text("utf-8")
    filled = {"title": html.escape(session.title or "Untitled Session"), "facts": facts, "articles": articles}
    return re.sub(r"\{\{(\w+)\}\}", lambda name: filled[name[1]], template)


EXPORTS: Mapping[str, Callable[[Session, Iterable[Message]], str]] = {
    "markdown": markdown,
    "json": as_json,
    "html": page,
}
"""The ways to write a conversation down, by name."""


def _facts(session: Session) -> Iterator[str]:
    yield f"session {session.id}"
    yield f"begun {_when(session.created_at)}, last changed {_when(session.updated_at)}"
    tokens = f"{session.prompt_tokens:,} + {session.completion_tokens:,} tokens in the model's window"
    yield f"{session.message_count} messages, {tokens}, ${float(session.cost):.4f}"


def _when(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _heading(message: Message) -> str:
    who = "Summary" if message.is_summary else WHO[message.role]
    return f"{who} ({message.model})" if message.model else who


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _markdown(part: Part) -> Iterator[str]:
    match part:
        case Text(text) if text.strip():
            yield text.strip("\n")
        case Reasoning(thinking=thinking) if thinking.strip():
            yield "\n".join(f"> {line}".rstrip() for line in thinking.strip().splitlines())
        case ToolCall():
            yield f"**{part.name}**\n\n{_fenced(_pretty(part.input), 'json')}"
        case ToolResult():
            failed = " (failed)" if part.is_error else ""
            yield f"Result of {part.name}{failed}:\n\n{_fenced(part.content)}"
        case ShellCommand():
            yield _fenced(f"$ {part.command}\n{part.output}", "console")
        case Binary():
            yield f"*Attached: {part.path or 'a file'} ({part.mime_type}, {len(part.data):,} bytes)*"
        case ImageUrl():
            yield f"*Picture: <{part.url}>*"
        case Finish() if part.reason not in ENDS_QUIETLY:
            yield f"*{_ending(part)}*"
        case _:
            pass


def _ending(part: Finish) -> str:
    return _one_line(": ".join(filter(None, (part.reason.value.replace("_", " "), part.message, part.details))))


def _pretty(text: str) -> str:
    """What a model wrote as JSON, indented; anything else as it is."""
    try:
        return msgspec.json.format(text.encode(), indent=2).decode()
    except (msgspec.DecodeError, UnicodeEncodeError):
        return text


def _fenced(text: str, language: str = "") -> str:
    """A fence longer than any inside, so that nothing said can end it."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=0)
    fence = "`" * max(len(FENCE), longest + 1)
    return f"{fence}{language}\n{text.rstrip(chr(10))}\n{fence}"


def _article(message: Message) -> str:
    pieces = "\n".join(filter(None, map(_html, message.parts)))
    if not pieces:
        return ""
    when = _when(message.created_at)
    return (
        f'<article class="{message.role.value}"><h2>{html.escape(_heading(message))}'
        f"<time>{when}</time></h2>\n{pieces}\n</article>"
    )


def _html(part: Part) -> str:
    match part:
        case Text(text) if text.strip():
            return f'<div class="text">{html.escape(text)}</div>'
        case Reasoning(thinking=thinking) if thinking.strip():
            return _folded("Thinking", thinking)
        case ToolCall():
            return _folded(part.name, _pretty(part.input))
        case ToolResult():
            return _folded(f"{part.name}: {'failed' if part.is_error else 'result'}", part.content)
        case ShellCommand():
            return f"<pre>$ {html.escape(part.command)}\n{html.escape(part.output)}</pre>"
        case Binary() if part.mime_type in PICTURES:
            data = base64.b64encode(part.data).decode()
            return f'<img alt="{html.escape(part.path)}" src="data:{part.mime_type};base64,{data}">'
        case Binary():
            return (
                f"<p>Attached: {html.escape(part.path)} ({html.escape(part.mime_type)}, {len(part.data):,} bytes)</p>"
            )
        case ImageUrl():
            # Named and not shown: to show it would tell its server who reads this.
            return f"<p>Picture: {html.escape(part.url)}</p>"
        case Finish() if part.reason not in ENDS_QUIETLY:
            return f'<p class="ending">{html.escape(_ending(part))}</p>'
        case _:
            return ""


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{html.escape(title)}</summary><pre>{html.escape(text)}</pre></details>"
