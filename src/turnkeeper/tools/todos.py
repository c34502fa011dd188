"""Tool `todos`: the session's list of what is to do, replaced as a whole."""

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from turnkeeper.protocol.sessions import Todo, TodoStatus
from turnkeeper.tools.making import Made, Parameters, Refusal, noted
from turnkeeper.tools.tool import Answer, Hands, Tool

TODOS_MAX = 200
CONTENT_CHARACTERS_MAX = 2000


class Item(Parameters, frozen=True):
    content: Annotated[str, Meta(description="What is to do, as an order: `Run the tests`.")]
    status: Annotated[str, Meta(description="pending, in_progress or completed.")]
    active_form: Annotated[str, Meta(description="The same while it is being done: `Running the tests`.")]


class TodosParameters(Parameters, frozen=True):
    todos: Annotated[tuple[Item, ...], Meta(description="The whole list; it replaces the one before.")]


def todos_tool() -> Tool:
    async def act(asked: TodosParameters, hands: Hands) -> Answer:
        todos = read(asked.todos)
        before = await hands.todos()
        await hands.set_todos(todos)
        return Answer(content=told(todos), metadata=noted(difference(before, todos)))

    return Made("todos", TodosParameters, act)


def read(items: Sequence[Item]) -> tuple[Todo, ...]:
    if len(items) > TODOS_MAX:
        raise Refusal(f"the list has {len(items)} items; at most {TODOS_MAX} are kept")
    return tuple(one(number, item) for number, item in enumerate(items, start=1))


def one(number: int, item: Item) -> Todo:
    if not item.content.strip() or len(item.content) > CONTENT_CHARACTERS_MAX:
        raise Refusal(f"item {number}: content has 1 to {CONTENT_CHARACTERS_MAX} letters")
    try:
        status = TodoStatus(item.status)
    except ValueError as error:
        known = ", ".join(TodoStatus)
        raise Refusal(f"item {number}: {item.status!r} is no status; use one of {known}") from error
    return Todo(item.content, status, item.active_form)


def difference(before: Sequence[Todo], after: Sequence[Todo]) -> dict[str, Any]:
    """What changed, for faces; an item is known by its content."""
    old = {todo.content: todo.status for todo in before}
    completed = [todo for todo in after if todo.status == TodoStatus.COMPLETED]
    just_completed = [todo.content for todo in completed if old.get(todo.content) != TodoStatus.COMPLETED and old]
    started = [
        todo.active_form or todo.content
        for todo in after
        if todo.status == TodoStatus.IN_PROGRESS and old.get(todo.content) != TodoStatus.IN_PROGRESS
    ]
    return {
        "is_new": not before,
        "todos": msgspec.to_builtins(list(after)),
        **({"just_completed": just_completed} if just_completed else {}),
        **({"just_started": started[0]} if started else {}),
        "completed": len(completed),
        "total": len(after),
    }


def told(todos: Sequence[Todo]) -> str:
    count = {status: sum(todo.status == status for todo in todos) for status in TodoStatus}
    return (
        "The list was updated. Keep exactly one item in progress while you work.\n\n"
        f"Status: {count[TodoStatus.PENDING]} pending, {count[TodoStatus.IN_PROGRESS]} in progress, "
        f"{count[TodoStatus.COMPLETED]} completed"
    )
