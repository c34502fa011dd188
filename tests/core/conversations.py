"""Short ways to say a conversation."""

from itertools import count

from turnkeeper.protocol.ids import MessageId, SessionId, ToolCallId
from turnkeeper.protocol.messages import Finish, FinishReason, Message, Part, Role, Text, ToolCall, ToolResult

SESSION = SessionId("s")


def conversation(*said: Message) -> tuple[Message, ...]:
    """The messages, numbered from m1 where they have no id of their own."""
    numbers = count(1)
    return tuple(
        Message(
            id=message.id or MessageId(f"m{next(numbers)}"),
            session_id=SESSION,
            role=message.role,
            parts=message.parts,
            is_summary=message.is_summary,
        )
        for message in said
    )


def person(*parts: Part | str, id: str = "") -> Message:
    return said(Role.USER, *parts, id=id)


def answer(
    *parts: Part | str, finish: FinishReason | None = FinishReason.END_TURN, id: str = "", is_summary: bool = False
) -> Message:
    ending = (Finish(finish),) if finish else ()
    return said(Role.ASSISTANT, *parts, *ending, id=id, is_summary=is_summary)


def calling(*parts: Part | str, finish: FinishReason | None = FinishReason.TOOL_USE, id: str = "") -> Message:
    return answer(*parts, finish=finish, id=id)


def results(*parts: ToolResult, id: str = "") -> Message:
    return said(Role.TOOL, *parts, id=id)


def said(role: Role, *parts: Part | str, id: str = "", is_summary: bool = False) -> Message:
    return Message(
        id=MessageId(id),
        session_id=SESSION,
        role=role,
        parts=tuple(Text(part) if isinstance(part, str) else part for part in parts),
        is_summary=is_summary,
    )


def call(id: str, name: str = "view", input: str = '{"path":"a"}', *, finished: bool = True) -> ToolCall:
    return ToolCall(ToolCallId(id), name, input, finished=finished)


def result(id: str, content: str = "fine", name: str = "view", *, is_error: bool = False) -> ToolResult:
    return ToolResult(ToolCallId(id), name, content, is_error=is_error)


def media(id: str, data: str, mime_type: str = "image/png", content: str = "Loaded") -> ToolResult:
    return ToolResult(ToolCallId(id), "view", content, data=data, mime_type=mime_type)
