"""What comes next in a conversation: ask the model, use tools, or nothing.

The conversation is the only state of a step. Going on, resuming after a crash, retrying and simulating all ask this
one question, and the same conversation always gets the same answer.

| the conversation ends with | next |
|---|---|
| finished tool calls of the last answer, some without a result | use those tools |
| a person's message, or results for every call | ask the model |
| an answer that was cut before its end, with nothing to use in it | ask again |
| an answer that is over: end_turn, max_tokens, content_filter, canceled, error | done |
| an answer without calls, whatever it says of itself | done |

A tool that ends the turn is recorded by the answer's finish, `end_turn`: then its results are not shown to the model.
"""

from collections.abc import Sequence

import msgspec

from turnkeeper.protocol.messages import Finish, FinishReason, Message, Role, ShellCommand, ToolCall

TURN_OVER = frozenset(
    {
        FinishReason.END_TURN,
        FinishReason.MAX_TOKENS,
        FinishReason.CONTENT_FILTER,
        FinishReason.CANCELED,
        FinishReason.ERROR,
    }
)


class AskModel(msgspec.Struct, frozen=True):
    """The model has something to answer."""


class UseTools(msgspec.Struct, frozen=True):
    """The model is waiting for these, in this order."""

    calls: tuple[ToolCall, ...]


class Done(msgspec.Struct, frozen=True):
    """Nobody is waiting for anything."""


Move = AskModel | UseTools | Done


def next_move(messages: Sequence[Message]) -> Move:
    """Read the conversation alone. Summaries are beside it, and an answer without any part has not begun."""
    said = [message for message in messages if message.parts and not message.is_summary]
    at = last_answer(said)
    if at is None:
        return AskModel() if any(map(wants_answer, said)) else Done()
    answer, after = said[at], said[at + 1 :]
    asked_since = any(map(wants_answer, after))
    if is_over(answer):
        return AskModel() if asked_since else Done()
    if calls := unanswered(answer, after):
        return UseTools(calls)
    if asked_since or answer.tool_calls or answer.finish is None:
        return AskModel()
    return Done()


def last_answer(messages: Sequence[Message]) -> int | None:
    return next((at for at in reversed(range(len(messages))) if messages[at].role is Role.ASSISTANT), None)


def wants_answer(message: Message) -> bool:
    """A shell command a person ran beside the conversation is there to be known, not to be answered."""
    if message.role not in (Role.USER, Role.SYSTEM):
        return False
    return any(not isinstance(part, ShellCommand | Finish) for part in message.parts)


def is_over(answer: Message) -> bool:
    return answer.finish is not None and answer.finish.reason in TURN_OVER


def unanswered(answer: Message, after: Sequence[Message]) -> tuple[ToolCall, ...]:
    """Calls that were received whole, are ours to make, and have no result yet."""
    answered = {result.tool_call_id for message in (answer, *after) for result in message.tool_results}
    return tuple(
        call for call in answer.tool_calls if call.finished and not call.provider_executed and call.id not in answered
    )
