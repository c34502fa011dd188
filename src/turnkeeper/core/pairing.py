"""Which result belongs to which tool call, when ids repeat, results stray and calls were cut off.

Every call gets an id of its own: some providers count from zero in every answer, others refuse a conversation in
which an id comes twice. A result belongs to the latest call of its id made before it, or else to the first one.
"""

from collections.abc import Mapping, Sequence

import msgspec

from turnkeeper.core.rendering import tool_call
from turnkeeper.protocol.ids import ToolCallId
from turnkeeper.protocol.messages import Message, Role, ToolCall, ToolResult


class Pair(msgspec.Struct, frozen=True):
    """A call as it was made, as it is shown, and what came of it."""

    made: ToolCall
    shown: ToolCall
    result: ToolResult | None = None


Answers = Mapping[int, Mapping[int, Pair]]
"""By the place of a message in the conversation, and by the place of a call among the message's parts."""


def paired(messages: Sequence[Message]) -> Answers:
    places = [
        (at, index, part)
        for at, message in enumerate(messages)
        if message.role is Role.ASSISTANT
        for index, part in enumerate(message.parts)
        if isinstance(part, ToolCall) and is_first(message, index, part)
    ]
    ids = own_ids([call for _, _, call in places])
    calls = [(at, call.id, own) for (at, _, call), own in zip(places, ids, strict=True)]
    results = results_by_call(messages, calls)
    answers: dict[int, dict[int, Pair]] = {}
    for (at, index, call), own in zip(places, ids, strict=True):
        shown = msgspec.structs.replace(tool_call(call), id=own)
        answers.setdefault(at, {})[index] = Pair(call, shown, results.get(own))
    return answers


def is_first(message: Message, index: int, call: ToolCall) -> bool:
    return not any(isinstance(part, ToolCall) and part.id == call.id for part in message.parts[:index])


def own_ids(calls: Sequence[ToolCall]) -> list[ToolCallId]:
    """The ids as they are where they are free; what comes again is counted up until it is."""
    taken = {call.id for call in calls}
    own: list[ToolCallId] = []
    given: set[ToolCallId] = set()
    for call in calls:
        chosen, count = call.id or ToolCallId("call"), 1
        while chosen in given or (chosen != call.id and chosen in taken):
            count += 1
            chosen = ToolCallId(f"{call.id or 'call'}-{count}")
        given.add(chosen)
        own.append(chosen)
    return own


def results_by_call(
    messages: Sequence[Message], calls: Sequence[tuple[int, ToolCallId, ToolCallId]]
) -> Mapping[ToolCallId, ToolResult]:
    """By a call's own id, the first result it got; one that stands before its call counts only if there is no other."""
    made: dict[ToolCallId, list[tuple[int, ToolCallId]]] = {}
    for at, called, own in calls:
        made.setdefault(called, []).append((at, own))
    late: dict[ToolCallId, ToolResult] = {}
    early: dict[ToolCallId, ToolResult] = {}
    for at, message in enumerate(messages):
        for result in message.tool_results:
            candidates = made.get(result.tool_call_id, [])
            before = [own for place, own in candidates if place <= at]
            if before:
                late.setdefault(before[-1], result)
            elif candidates:
                early.setdefault(candidates[0][1], result)
    return early | late
