"""What a question to a model cost: money, the size of the context, and an estimate where the provider says nothing.

Money adds up. Sizes replace what was known before, and a provider that says nothing about one of them changes
nothing about it. What was estimated is never charged.
"""

from collections.abc import Iterable, Sequence

import msgspec

from turnkeeper.protocol.messages import (
    Binary,
    Finish,
    ImageUrl,
    Message,
    Part,
    Reasoning,
    ShellCommand,
    Text,
    ToolCall,
    ToolResult,
)
from turnkeeper.protocol.runs import Usage

BYTES_PER_TOKEN = 4


class Prices(msgspec.Struct, frozen=True):
    """US dollars per million tokens, as the catalogue lists them."""

    input: float = 0.0
    output: float = 0.0
    cache_write: float = 0.0
    cache_read: float = 0.0
    flat_rate: bool = False
    """A subscription: single questions cost nothing."""


class Counters(msgspec.Struct, frozen=True):
    """The size of a session's context after a question; None keeps what was known."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None


def cost(usage: Usage, prices: Prices) -> float:
    """What the provider itself reported (`usage.cost`), else what the catalogue's prices make of the tokens."""
    if usage.estimated or prices.flat_rate:
        return 0.0
    if usage.cost > 0:
        return usage.cost
    million = (
        prices.cache_write * usage.cache_write_tokens
        + prices.cache_read * usage.cache_read_tokens
        + prices.input * usage.input_tokens
        + prices.output * usage.output_tokens
    )
    return million / 1_000_000


def priced(usage: Usage, prices: Prices) -> Usage:
    return msgspec.structs.replace(usage, cost=cost(usage, prices))


def prompt_tokens(usage: Usage) -> int:
    """All the model read. What it wrote to its cache it has read too, and it fills the context like the rest."""
    return usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens


def counters(usage: Usage) -> Counters:
    return Counters(prompt_tokens=prompt_tokens(usage) or None, completion_tokens=usage.output_tokens or None)


def counters_after_summary(usage: Usage, summary: Message) -> Counters:
    """After a summary the context holds the summary alone."""
    return Counters(prompt_tokens=0, completion_tokens=summary_tokens(usage, summary))


def summary_tokens(usage: Usage, summary: Message) -> int:
    return usage.output_tokens or sum(approximate(part) for part in spoken(summary.parts))


def spoken(parts: Iterable[Part]) -> Iterable[str]:
    for part in parts:
        match part:
            case Text(text=text) | Reasoning(thinking=text):
                yield text
            case _:
                pass


def is_zero(usage: Usage) -> bool:
    return not (prompt_tokens(usage) or usage.output_tokens or usage.reasoning_tokens)


def known_or_estimated(usage: Usage, asked: Sequence[Message], answered: Message | None) -> Usage:
    """What the provider reported; if that is nothing at all, an estimate from what was said on both sides."""
    if not is_zero(usage):
        return usage
    read = estimate(asked)
    written = sum(map(produced, answered.parts)) if answered else 0
    if not read and not written:
        return usage
    return Usage(input_tokens=read, output_tokens=written, estimated=True)


def estimate(messages: Iterable[Message]) -> int:
    """About how many tokens a conversation is."""
    return sum(approximate(message.role) + sum(map(weight, message.parts)) for message in messages)


def approximate(text: str) -> int:
    """About how many tokens a text is: one for four bytes, rounded up."""
    return -(-len(text.encode("utf-8", errors="replace")) // BYTES_PER_TOKEN)


def weight(part: Part) -> int:
    match part:
        case Text(text=text) | Reasoning(thinking=text):
            return approximate(text)
        case ToolCall(name=name, input=arguments):
            return approximate(name) + approximate(arguments)
        case ToolResult(tool_call_id=call, content=content, data=data, mime_type=mime):
            media = approximate(f"{mime} {content} {len(data)} bytes") if data else approximate(content)
            return approximate(call) + media
        case Binary(path=path, mime_type=mime, data=data):
            return approximate(f"{mime} {path} {len(data)} bytes")
        case ImageUrl(url=url):
            return approximate(url)
        case ShellCommand(command=command, output=output):
            return approximate(command) + approximate(output)
        case Finish():
            return 0


def produced(part: Part) -> int:
    """What the model wrote of a message. Results inside it are those of tools the provider ran itself."""
    match part:
        case Finish() | ShellCommand() | ImageUrl():
            return 0
        case _:
            return weight(part)
