"""Everything for which a provider would refuse a conversation, in words. An empty list is the promise of `history`."""

from collections.abc import Iterator, Sequence

from turnkeeper.core.rendering import arguments_of, decoded
from turnkeeper.protocol.ids import ToolCallId
from turnkeeper.protocol.messages import Binary, Finish, ImageUrl, Message, Reasoning, Role, Text


def problems(messages: Sequence[Message]) -> list[str]:
    return list(found(messages))


def found(messages: Sequence[Message]) -> Iterator[str]:
    if messages and messages[0].role is not Role.USER:
        yield "the first message is not a person's"
    seen: set[ToolCallId] = set()
    for at, message in enumerate(messages):
        if all(isinstance(part, Finish) or (isinstance(part, Text) and not part.text) for part in message.parts):
            yield f"{message.id} is empty"
        match message.role:
            case Role.ASSISTANT:
                yield from problems_of_answer(message, messages[at + 1 : at + 2], seen)
            case Role.TOOL:
                if at == 0 or not messages[at - 1].tool_calls:
                    yield f"{message.id} answers no calls"
            case Role.USER:
                if not all(isinstance(part, Text | Binary | ImageUrl) for part in message.parts):
                    yield f"{message.id} has parts that no person can say"
            case Role.SYSTEM:
                yield f"{message.id} has no place in a conversation"


def problems_of_answer(answer: Message, following: Sequence[Message], seen: set[ToolCallId]) -> Iterator[str]:
    said = [part for part in answer.parts if not isinstance(part, Finish)]
    if said and isinstance(said[-1], Reasoning):
        yield f"{answer.id} ends in the middle of its thinking"
    if not following and not answer.tool_calls and answer.finish is None:
        yield f"{answer.id} ends the conversation without being finished"
    for call in answer.tool_calls:
        if call.id in seen or not call.id:
            yield f"{answer.id} makes a call whose id is not its own"
        if not call.finished or arguments_of(call.input) is None:
            yield f"{answer.id} makes a call that is not whole"
        seen.add(call.id)
    results = [result for message in following if message.role is Role.TOOL for result in message.tool_results]
    if [call.id for call in answer.tool_calls] != [result.tool_call_id for result in results]:
        yield f"the calls of {answer.id} are not answered right after it"
    if any(result.data and decoded(result.data) is None for result in results):
        yield f"a result after {answer.id} has damaged media"
