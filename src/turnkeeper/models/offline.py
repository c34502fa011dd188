"""The model that is always there: no network, no key, no surprise, and honest about how little it is.

It understands a handful of plain requests (`offline_requests.py`), calls one tool after the other for them, and tells
what came of it. So the whole loop (asking, tools, permissions, reporting) works on a computer that knows no provider.
"""

import re
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass

import anyio.lowlevel

from turnkeeper.models.model import (
    Chunk,
    Finished,
    ModelInfo,
    Purpose,
    Question,
    TextSaid,
    ToolCallBegun,
    ToolCallDone,
    ToolInputSaid,
    UsageSaid,
)
from turnkeeper.models.offline_calls import Call
from turnkeeper.models.offline_reports import report, suggested
from turnkeeper.models.offline_requests import BEFORE, EXAMPLES, REQUESTS_MAX, understood
from turnkeeper.protocol.ids import ToolCallId
from turnkeeper.protocol.messages import FinishReason, Message, Role, ToolCall, ToolResult
from turnkeeper.protocol.runs import Usage

OFFLINE = ModelInfo(
    id="offline",
    provider="offline",
    name="Offline assistant",
    context_window=200_000,
    default_max_tokens=4_000,
    flat_rate=True,
)
OFFLINE_NAMES = {"offline", "offline/offline"}

TITLE_CHARACTERS_MAX = 50
REQUESTS_IN_SUMMARY_MAX = 20
TOKEN_BYTES = 4

HONESTY = (
    "(I am the built-in offline assistant, not a language model. For a real one, set a provider's key, such as "
    "ANTHROPIC_API_KEY or OPENAI_API_KEY, or start a local server such as Ollama.)"
)
GREETING = re.compile(r"(?:hi|hello|hey|thanks?|thank you|help|who are you|what (?:can|do) you)\b", re.IGNORECASE)
CHANGES = re.compile(
    r"(?:create|write|edit|change|fix|delete|remove|add|rename|refactor|implement|update|make|build|generate|move)\b",
    re.IGNORECASE,
)
ADDED = ("<system_reminder>", "<hook_context>")
INSTRUCTION = re.compile(r"^(generate|write|create|give)\b[^\n]*\btitle\b[^\n]*\n+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reply:
    """What it will say next: words, and perhaps one call."""

    text: str
    call: Call | None = None


class OfflineModel:
    """Owns nothing: the same conversation always gets the same answer."""

    @property
    def info(self) -> ModelInfo:
        return OFFLINE

    async def stream(self, question: Question) -> AsyncGenerator[Chunk, None]:
        for chunk in chunks(reply(question), question):
            await anyio.lowlevel.checkpoint()
            yield chunk


def chunks(said: Reply, question: Question) -> Iterator[Chunk]:
    yield from (TextSaid(word) for word in re.findall(r"\S+\s*|\s+", said.text))
    if said.call is not None:
        # The length of the conversation makes the id new in it, and the same again for the same question.
        id = ToolCallId(f"offline-{len(question.messages)}")
        yield ToolCallBegun(id, said.call.tool)
        yield ToolInputSaid(id, said.call.input)
        yield ToolCallDone(id, said.call.tool, said.call.input)
    yield UsageSaid(usage_of(question, said))
    yield Finished(FinishReason.TOOL_USE if said.call else FinishReason.END_TURN)


def reply(question: Question) -> Reply:
    """The next thing to say in this conversation."""
    match question.purpose:
        case Purpose.TITLE:
            return Reply(title(question.messages))
        case Purpose.SUMMARY:
            return Reply(summary(question.messages))
        case Purpose.ANSWER:
            return answer(question)


def answer(question: Question) -> Reply:
    since = since_asked(question.messages)
    said = understood(since[0].text if since else "")
    available = {tool.name for tool in question.tools}
    done = answered(since[1:])
    calls = planned([call for call in said.calls if call.tool in available], done)
    if not calls:
        return Reply(f"{beyond(said.left)}{HONESTY}\n\nI can do simple things here. Try one of these:\n\n{EXAMPLES}")
    if len(done) < len(calls):
        return Reply(f"{calls[len(done)].intention}.", calls[len(done)])
    told = [report(call, result) for call, result in zip(calls, done, strict=True) if not suggested(call, result)]
    told += [f"I did not understand this: {shortened(piece)}" for piece in said.left]
    spoke_before = any(message.role is Role.ASSISTANT for message in question.messages[: -len(since)])
    return Reply("\n\n".join(told if spoke_before else [*told, HONESTY]))


def beyond(left: Sequence[str]) -> str:
    """Why nothing is done; to who only greets or asks for help, nothing needs to be said."""
    first = BEFORE.sub("", left[0]) if left else ""
    if CHANGES.match(first):
        return "I cannot write or change anything: that takes a language model.\n\n"
    return "" if not first or GREETING.match(first) else "I did not understand that.\n\n"


def planned(calls: Sequence[Call], done: Sequence[ToolResult]) -> list[Call]:
    """What was asked for, and behind a file that is not there the one that was probably meant."""
    plan = list(calls)
    for place, result in enumerate(done[: REQUESTS_MAX * 2]):
        another = suggested(plan[place], result) if place < len(plan) else None
        if another is not None and another.arguments != plan[place].arguments:
            plan.insert(place + 1, another)
    return plan


def since_asked(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """What was said since the user asked something; what the house adds in a user's name is not asked."""
    asked = [
        place
        for place, message in enumerate(messages)
        if message.role is Role.USER and message.text.strip() and not message.text.lstrip().startswith(ADDED)
    ]
    return messages[asked[-1] :] if asked else ()


def answered(messages: tuple[Message, ...]) -> list[ToolResult]:
    """What the tools said to the calls made since, in the order of the calls."""
    results = {result.tool_call_id: result for message in messages for result in message.tool_results}
    made: list[ToolCall] = [call for message in messages for call in message.tool_calls]
    return [results[call.id] for call in made if call.id in results]


def title(messages: tuple[Message, ...]) -> str:
    """The first line of the request, cut at a word."""
    asked = next((message.text.strip() for message in messages if message.role is Role.USER), "")
    lines = INSTRUCTION.sub("", asked).strip().splitlines()
    line = " ".join(lines[0].split()) if lines else ""
    if len(line) <= TITLE_CHARACTERS_MAX:
        return line or "New session"
    return line[:TITLE_CHARACTERS_MAX].rsplit(" ", 1)[0].rstrip(",.;:") + "…"


def summary(messages: tuple[Message, ...]) -> str:
    """What was asked and which tools were used; the offline assistant can count, not judge."""
    requests = [message.text.strip() for message in messages if message.role is Role.USER and message.text.strip()]
    if requests and "summar" in requests[-1].lower():
        requests = requests[:-1]
    used: dict[str, int] = {}
    for message in messages:
        for call in message.tool_calls:
            used[call.name] = used.get(call.name, 0) + 1
    asked = "\n".join(f"- {shortened(text)}" for text in requests[-REQUESTS_IN_SUMMARY_MAX:]) or "- nothing yet"
    tools = ", ".join(f"{name} ({count}×)" for name, count in used.items()) or "none"
    return f"The user asked, in this order:\n{asked}\n\nTools used: {tools}.\n\n{HONESTY}"


def shortened(text: str) -> str:
    return " ".join(text.split())[:200]


def usage_of(question: Question, said: Reply) -> Usage:
    """An estimate, since nobody counted."""
    heard = sum(len(message.text.encode()) for message in question.messages)
    heard += sum(len(text.encode()) for text in question.system)
    told = len(said.text.encode()) + (len(said.call.input.encode()) if said.call else 0)
    return Usage(
        input_tokens=-(-heard // TOKEN_BYTES),
        output_tokens=-(-told // TOKEN_BYTES),
        estimated=True,
    )
