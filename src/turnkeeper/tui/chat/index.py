"""Which messages of a conversation belong together: calls with their results, and the messages of one turn.

A turn is a run's messages; where nobody says whose a message is, a turn is what follows a person's message. Call ids
need only be new while a call is open: a result belongs to the last call before it that has none.
"""

from collections.abc import Iterable, Mapping

import msgspec

from turnkeeper.protocol.messages import Message, Role, ToolCall, ToolResult


class Turn(msgspec.Struct, frozen=True):
    run_id: str = ""
    began_at: int = 0
    """Unix seconds."""
    last: str = ""
    """Its last message of the model."""
    messages: tuple[str, ...] = ()


class Index(msgspec.Struct, frozen=True):
    messages: Mapping[str, Message] = {}
    results: Mapping[str, Mapping[str, ToolResult]] = {}
    """By the calling message and the call's id."""
    turn_of: Mapping[str, str] = {}
    turns: Mapping[str, Turn] = {}
    last: str = ""
    """The last message."""

    def of_run(self, run_id: str) -> tuple[str, ...]:
        turn = self.turns.get(run_id)
        return turn.messages if turn else ()

    def turn(self, message_id: str) -> Turn:
        return self.turns.get(self.turn_of.get(message_id, ""), Turn())

    def differing(self, other: "Index") -> Iterable[str]:
        """The messages of this index that have changed since the other, or have another place in their turn."""
        if self is other:
            return
        for id, message in self.messages.items():
            if (
                other.messages.get(id) is not message
                or self.results.get(id) != other.results.get(id)
                or self.turn_of.get(id) != other.turn_of.get(id)
                or (id in (self.turn(id).last, other.turn(id).last) and self.turn(id) != other.turn(id))
            ):
                yield id


def indexed(messages: Mapping[str, Message]) -> Index:
    results: dict[str, dict[str, ToolResult]] = {}
    turn_of: dict[str, str] = {}
    began: dict[str, int] = {}
    last: dict[str, str] = {}
    members: dict[str, list[str]] = {}
    runs: dict[str, str] = {}
    caller: dict[str, str] = {}
    turn = id = ""
    for id, message in messages.items():
        if message.run_id:
            turn = message.run_id
            runs[turn] = message.run_id
        elif message.role is Role.USER:
            turn = f"after {id}"
        turn_of[id] = turn
        began.setdefault(turn, message.created_at)
        members.setdefault(turn, []).append(id)
        if message.role is Role.ASSISTANT:
            last[turn] = id
        for part in message.parts:
            if isinstance(part, ToolCall):
                caller[part.id] = id
            elif isinstance(part, ToolResult) and (owner := caller.pop(part.tool_call_id, "")):
                results.setdefault(owner, {})[part.tool_call_id] = part
    turns = {
        name: Turn(runs.get(name, ""), began[name], last.get(name, ""), tuple(ids)) for name, ids in members.items()
    }
    return Index(messages, results, turn_of, turns, id)
