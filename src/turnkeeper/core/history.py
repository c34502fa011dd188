"""What the model is shown of a conversation: always valid, whatever was inserted meanwhile or cut off by a crash.

Promises, for any sequence of messages at all (`validity.py` checks them, and replaying twice changes nothing):

- it begins with a person's message;
- every tool call is whole and has exactly one result, directly after the answer that made it, in the calls' order:
  results are moved next to their call, missing ones are made up, orphans and second ones are dropped;
- no two calls share an id, no message is empty, no answer ends in the middle of its thinking;
- nothing exceeds the limits of `rendering.py`, and what the model cannot see is said in words.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from turnkeeper.core.excerpt import excerpt
from turnkeeper.core.pairing import Pair, paired
from turnkeeper.core.rendering import (
    TEXT_BYTES_MAX,
    TOOL_RESULT_BYTES_MAX,
    Sight,
    is_person,
    person_parts,
    tool_result,
)
from turnkeeper.protocol.ids import NO_MESSAGE, MessageId, RunId
from turnkeeper.protocol.messages import Message, Part, Reasoning, Role, Text, ToolCall, ToolResult
from turnkeeper.protocol.sessions import Todo, TodoStatus

NEVER_FINISHED = "This call was interrupted before it had a result. What it changed, if anything, is not known."
NEVER_RECEIVED = "This call was cut off before its arguments had arrived. It was not made."
BEGINNING = "[The beginning of this conversation is no longer part of it.]"
MEDIA = "media"
WINDOW_LARGE = 200_000
REMAINING_TOKENS_MIN = 20_000
CONTINUED = (
    "This conversation grew too long and was summarised above. Nothing has been asked since. Go on with the work "
    "where the summary says it stands; do not begin again. The request being worked on was:\n\n"
)


def replay(
    messages: Sequence[Message],
    *,
    sight: Sight | None = None,
    summary_id: MessageId = NO_MESSAGE,
    todos: Sequence[Todo] | None = None,
) -> tuple[Message, ...]:
    """The conversation as a model is asked with it.

    `todos` is the list as it stood when the run began (None: no tool for it): what changed since is in the
    conversation, and the cached prefix stays what it was.
    """
    sight = sight or Sight()
    told = without_cut_end(since_summary(messages, summary_id))
    answers = paired(told)
    shown = [one for at, message in enumerate(told) for one in as_shown(message, answers.get(at, {}), sight)]
    while shown and shown[-1].role is Role.ASSISTANT and is_cut(shown[-1]):
        shown.pop()
    if shown and not is_person(shown[0]):
        shown.insert(0, beside(shown[0], "beginning", Role.USER, Text(BEGINNING)))
    return tuple(shown if todos is None else reminded(shown, todos))


def since_summary(messages: Sequence[Message], summary_id: MessageId) -> Iterator[Message]:
    """From the summary on, which then speaks as the person; other summaries are no part of the conversation."""
    at = next((at for at, message in enumerate(messages) if is_summary_of(message, summary_id)), 0)
    for message in messages[at:]:
        if is_summary_of(message, summary_id):
            parts = tuple(part for part in message.parts if isinstance(part, Text))
            yield msgspec.structs.replace(message, role=Role.USER, parts=parts)
        elif not message.is_summary:
            yield message


def is_summary_of(message: Message, summary_id: MessageId) -> bool:
    """Whether everything before this message can be forgotten: a summary that says nothing replaces nothing."""
    return message.is_summary and message.id == summary_id != NO_MESSAGE and bool(message.text.strip())


def without_cut_end(messages: Iterable[Message]) -> Sequence[Message]:
    """Without an answer at the end that was cut before anything could be done with it: the model is asked again."""
    kept = list(messages)
    while kept and kept[-1].role is Role.ASSISTANT and is_cut(kept[-1]):
        kept.pop()
    return kept


def is_cut(answer: Message) -> bool:
    return answer.finish is None and not any(call.finished for call in answer.tool_calls)


def as_shown(message: Message, calls: Mapping[int, Pair], sight: Sight) -> Iterator[Message]:
    if is_person(message):
        if parts := tuple(person_parts(message, sight)):
            yield msgspec.structs.replace(message, role=Role.USER, parts=parts)
    elif message.role is Role.ASSISTANT:
        if parts := answer_parts(message, calls):
            yield msgspec.structs.replace(message, parts=parts)
        if calls:
            yield from answered(message, tuple(calls.values()), sight)


def answer_parts(answer: Message, calls: Mapping[int, Pair]) -> tuple[Part, ...]:
    """Text, thinking and calls in their order; nothing, if neither text nor call is left."""
    parts: list[Part] = []
    for index, part in enumerate(answer.parts):
        match part:
            case Text(text=text) if stripped := text.strip():
                parts.append(Text(excerpt(stripped, bytes_max=TEXT_BYTES_MAX).strip()))
            case Reasoning(thinking=thinking, signature=signature, provider_data=data) if thinking or signature or data:
                parts.append(part)
            case ToolCall() if index in calls:
                parts.append(calls[index].shown)
            case _:
                pass
    # Thinking that led to nothing is refused by providers as the end of an answer.
    while parts and isinstance(parts[-1], Reasoning):
        parts.pop()
    return (*parts, answer.finish) if parts and answer.finish else tuple(parts)


def answered(answer: Message, calls: Sequence[Pair], sight: Sight) -> Iterator[Message]:
    """All results of an answer in one message, and in another what its provider does not take there."""
    shown = [tool_result(result_of(pair), sight) for pair in calls]
    yield beside(answer, "results", Role.TOOL, *(result for result, _ in shown))
    if pictures := [picture for _, picture in shown if picture]:
        yield beside(answer, MEDIA, Role.USER, *pictures)


def result_of(pair: Pair) -> ToolResult:
    own = pair.shown
    if pair.result is not None:
        return msgspec.structs.replace(pair.result, tool_call_id=own.id, name=own.name)
    content = NEVER_FINISHED if pair.made.finished else NEVER_RECEIVED
    return ToolResult(tool_call_id=own.id, name=own.name, content=content, is_error=True)


def beside(message: Message, suffix: str, role: Role, *parts: Part) -> Message:
    return Message(id=MessageId(f"{message.id}-{suffix}"), session_id=message.session_id, role=role, parts=parts)


def reminded(messages: Sequence[Message], todos: Sequence[Todo]) -> list[Message]:
    """With the todo list before the last thing a person said, where it disturbs no tool call and no thinking."""
    at = next((at for at in reversed(range(len(messages))) if speaks(messages, at)), None)
    if at is None:
        return list(messages)
    said = beside(messages[at], "todos", Role.USER, Text(reminder(todos)))
    return [*messages[:at], said, *messages[at:]]


def speaks(messages: Sequence[Message], at: int) -> bool:
    media = at > 0 and messages[at - 1].role is Role.TOOL and messages[at].id.endswith(f"-{MEDIA}")
    return messages[at].role is Role.USER and not media


def reminder(todos: Sequence[Todo]) -> str:
    """What the todo list was when the next message was sent."""
    if not todos:
        said = "The todo list is empty. Use it for work of several steps; say nothing about this to the person."
    else:
        lines = "\n".join(f"- [{todo.status}] {todo.content}" for todo in todos)
        open_count = sum(todo.status is not TodoStatus.COMPLETED for todo in todos)
        said = f"The todo list has {len(todos)} entries, {open_count} of them open:\n{lines}"
    return f"<system_reminder>\n{excerpt(said, bytes_max=TOOL_RESULT_BYTES_MAX)}\n</system_reminder>"


def compact_at(*, window: int, used: int) -> bool:
    """Whether a context of `window` tokens is so full that it has to be summarised; an unknown window never is."""
    if window <= 0:
        return False
    reserve = REMAINING_TOKENS_MIN if window > WINDOW_LARGE else window // 5
    return window - used <= reserve


def shortened(shown: tuple[Message, ...]) -> tuple[Message, ...]:
    """The later half of a conversation as it is shown, cut where no call is parted from its result; or all of it."""
    for at in range(max(1, len(shown) // 2), len(shown)):
        if shown[at].role is not Role.TOOL:
            begun = shown[at].role is Role.USER
            return shown[at:] if begun else (beside(shown[at], "beginning", Role.USER, Text(BEGINNING)), *shown[at:])
    return shown


def added_to(messages: Sequence[Message], run_id: RunId) -> tuple[str, ...]:
    """What people said while a run went on: the prompts that joined it."""
    began = next((at for at, message in enumerate(messages) if message.run_id == run_id), len(messages))
    joined = (one for one in messages[began:] if one.role is Role.USER and one.run_id not in (None, run_id))
    return tuple(one.text for one in joined if one.text)


def continuation(prompt: str, *, added: Sequence[str] = ()) -> str:
    """The request to go on with after a summary. However often it is continued, the task is in it once."""
    since = "".join(f"\n\n{text}" for text in added)
    return CONTINUED + original(prompt) + (f"\n\nAdded while it was worked on:{since}" if since else "")


def original(prompt: str) -> str:
    """The task as it was first asked for."""
    while prompt.startswith(CONTINUED):
        prompt = prompt.removeprefix(CONTINUED)
    return prompt
