"""One message's items, from the message and what is known around it."""

from collections.abc import Iterable, Mapping

import msgspec

from turnkeeper.protocol.messages import (
    Binary,
    Finish,
    FinishReason,
    ImageUrl,
    Message,
    Reasoning,
    Role,
    ShellCommand,
    Text,
    ToolCall,
    ToolResult,
)
from turnkeeper.protocol.runs import Outcome
from turnkeeper.protocol.wire_own import RunView
from turnkeeper.protocol.wire_requests import QuestionRequest
from turnkeeper.tui.chat.calls import standings
from turnkeeper.tui.chat.index import Turn
from turnkeeper.tui.chat.items import (
    Attached,
    Ending,
    EndKind,
    Footer,
    Item,
    Picture,
    Prompt,
    Said,
    Shell,
    Standing,
    Summary,
    Thought,
    Used,
)

AGENTS = ("agent", "agentic_fetch")


class Surroundings(msgspec.Struct, frozen=True):
    """What a message's items are made from beside the message."""

    run: RunView | None
    turn: Turn
    goes_on: bool
    results: Mapping[str, ToolResult]
    waiting: Mapping[str, Standing]
    questions: Mapping[str, QuestionRequest]
    answered_by: Mapping[str, str]
    written: frozenset[int]
    """The parts that are being written."""
    outputs: Mapping[int, str]
    """By part what its tool has put out so far."""
    children: Mapping[str, tuple[Item, ...]]


def items_of(message: Message, around: Surroundings) -> tuple[Item, ...]:
    match message.role:
        case Role.TOOL:
            return ()
        case Role.USER if not message.is_summary:
            return tuple(_from_a_person(message))
        case _:
            return tuple(_from_the_model(message, around))


def _from_a_person(message: Message) -> Iterable[Item]:
    attached = tuple(_attached(part) for part in message.parts if isinstance(part, Binary | ImageUrl))
    text = "\n\n".join(part.text for part in message.parts if isinstance(part, Text) and part.text)
    if text or attached:
        yield Prompt(f"{message.id}:0", text, message.author, message.created_at, attached)
    for index, part in enumerate(message.parts):
        if isinstance(part, ShellCommand):
            key = shell_key(message.id, index)
            yield Shell(key, part.command, part.output, part.exit_code, message.author, message.created_at)


def shell_key(message_id: str, index: int) -> str:
    return f"{message_id}:{index}:shell"


def _attached(part: Binary | ImageUrl) -> Attached:
    match part:
        case Binary(path, mime_type, data):
            return Attached(path, mime_type, len(data))
        case ImageUrl(url):
            return Attached(url[:200], "image")


def _from_the_model(message: Message, around: Surroundings) -> Iterable[Item]:
    found = standings(
        message.tool_calls,
        around.results,
        waiting=around.waiting,
        showing=[part.id for i, part in enumerate(message.parts) if isinstance(part, ToolCall) and i in around.outputs],
        goes_on=around.goes_on,
    )
    for index, part in enumerate(message.parts):
        key = f"{message.id}:{index}"
        writing = index in around.written
        match part:
            case Text(text) if text.strip():
                yield Summary(key, text, writing) if message.is_summary else Said(key, text, writing)
            case Reasoning(thinking) if thinking.strip():
                open_now = not part.finished_at and message.finish is None and around.goes_on
                seconds = max(0, part.finished_at - part.started_at) if part.started_at and part.finished_at else 0
                yield Thought(key, thinking, seconds, open_now and index == len(message.parts) - 1)
            case ToolCall():
                yield _used(key, index, part, found[part.id], message, around)
            case ShellCommand(command, output, exit_code):
                yield Shell(key, command, output, exit_code, message.author, message.created_at)
            case Binary() | ImageUrl():
                yield Picture(key, _attached(part))
            case _:
                pass
    yield from _end(message, around, found)


def _used(key: str, index: int, call: ToolCall, standing: Standing, message: Message, around: Surroundings) -> Used:
    result = around.results.get(call.id)
    child = f"{message.id}$${call.id}"
    return Used(
        key=key,
        call_id=call.id,
        name=call.name,
        input=call.input,
        standing=standing,
        content=result.content if result else "",
        metadata=result.metadata if result else "",
        mime_type=result.mime_type if result else "",
        is_error=bool(result and result.is_error),
        output=around.outputs.get(index, "") if result is None else "",
        questions=around.questions.get(call.id),
        child=child if call.name in AGENTS or child in around.children else "",
        nested=around.children.get(child, ()),
        by=around.answered_by.get(call.id, ""),
    )


def _end(message: Message, around: Surroundings, found: Mapping[str, Standing]) -> Iterable[Item]:
    """How the message ended, where that is not as usual; and below a run's last message, what the run took."""
    is_last, run = around.turn.last == message.id, around.run
    finish = message.finish
    ending = _ending(message, finish, run if is_last else None, found)
    if ending:
        yield ending
    over = run.has_ended if run else finish is not None and finish.reason is not FinishReason.TOOL_USE
    if is_last and over and not message.is_summary and (message.model or (run and run.usage)):
        yield Footer(
            key=f"{message.id}:footer",
            model=message.model,
            provider=message.provider,
            seconds=_seconds(around, finish),
            steps=run.steps if run else 0,
            usage=run.usage if run else None,
        )


def _seconds(around: Surroundings, finish: Finish | None) -> float:
    run = around.run
    if run and run.started_at and run.ended_at:
        return (run.ended_at - run.started_at) / 1000
    if finish and finish.time and around.turn.began_at:
        return float(max(0, finish.time - around.turn.began_at))
    return 0.0


def _ending(
    message: Message, finish: Finish | None, run: RunView | None, found: Mapping[str, Standing]
) -> Ending | None:
    kind = _kind(finish, run)
    if kind is None:
        return None
    failure = run.failure if run else None
    title = finish.message if finish and finish.reason is not FinishReason.TOOL_USE else ""
    details = finish.details if finish else ""
    halted = (Standing.CANCELLED, Standing.INTERRUPTED)
    return Ending(
        key=f"{message.id}:ending",
        kind=kind,
        title=title,
        message=failure.message if failure and failure.message else details,
        cause=failure.cause if failure else "",
        retryable=bool(failure and failure.retryable),
        stopped=tuple(call.name for call in message.tool_calls if found.get(call.id) in halted),
        denied=run.denied if run else (),
    )


def _kind(finish: Finish | None, run: RunView | None) -> EndKind | None:
    if run and run.outcome == Outcome.INTERRUPTED.value:
        return EndKind.INTERRUPTED
    match finish:
        case Finish(FinishReason.CANCELED, message="Interrupted"):
            return EndKind.INTERRUPTED
        case Finish(FinishReason.CANCELED):
            return EndKind.CANCELLED
        case Finish(FinishReason.ERROR):
            return EndKind.FAILED
        case Finish(FinishReason.CONTENT_FILTER):
            return EndKind.REFUSED
        case Finish(FinishReason.MAX_TOKENS):
            return EndKind.CUT
        case _:
            return EndKind.FAILED if run and run.outcome == Outcome.FAILED.value else None
