"""What is known around a message: its turn and run, and what its calls wait for, put out and began."""

from collections.abc import Iterable, Mapping
from typing import Protocol

from turnkeeper.client.conversation import Conversation, Spot
from turnkeeper.client.rope import Rope
from turnkeeper.client.view import View
from turnkeeper.protocol.messages import PartKind
from turnkeeper.protocol.runs import RunState
from turnkeeper.tui.chat.calls import waiting_in
from turnkeeper.tui.chat.index import Index, Turn
from turnkeeper.tui.chat.items import Item, Used
from turnkeeper.tui.chat.parts import Surroundings


class Folded(Protocol):
    """What a sub-agent's session shows."""

    @property
    def items(self) -> tuple[Item, ...]: ...


class Around:
    """One moment of a view, as each message of a session stands in it."""

    def __init__(
        self, view: View, conversation: Conversation, index: Index, children: Mapping[str, Folded], session_id: str
    ) -> None:
        session = view.sessions.get(session_id)
        self._is_busy = bool(session and session.is_busy)
        self._view = view
        self._index = index
        self._waiting = waiting_in(view, session_id)
        self._questions = {q.tool_call_id: q for q in view.questions.values() if q.session_id == session_id}
        self._answered_by: dict[str, dict[str, str]] = {}
        for settled in view.settled.values():
            # Models reuse the ids of calls, so an answer is told by its run, too.
            self._answered_by.setdefault(settled.run_id, {})[settled.tool_call_id] = settled.by
        self._drafts: dict[str, dict[Spot, Rope]] = {}
        for spot, rope in conversation.drafts.items():
            self._drafts.setdefault(spot.message_id, {})[spot] = rope
        self._children = {id: _uses(child.items) for id, child in children.items()}

    def of(self, message_id: str) -> Surroundings:
        turn = self._index.turn(message_id)
        drafts = self._drafts.get(message_id, {})
        return Surroundings(
            run=self._view.runs.get(turn.run_id),
            turn=turn,
            goes_on=self._goes_on(turn),
            results=self._index.results.get(message_id, {}),
            waiting=self._waiting,
            questions=self._questions,
            answered_by={**self._answered_by.get("", {}), **self._answered_by.get(turn.run_id, {})},
            written=frozenset(spot.part for spot in drafts if spot.kind is not PartKind.OUTPUT),
            outputs={spot.part: rope.text for spot, rope in drafts.items() if spot.kind is PartKind.OUTPUT},
            children=self._children,
        )

    def _goes_on(self, turn: Turn) -> bool:
        """Whether more is to come of a turn. Where runs have no names, it is the last one of a session that is busy."""
        run = self._view.runs.get(turn.run_id)
        if run is not None:
            return not run.has_ended and run.state != RunState.QUEUED.value
        return self._is_busy and not turn.run_id and self._index.last in turn.messages


def _uses(items: Iterable[Item]) -> tuple[Item, ...]:
    return tuple(item for item in items if isinstance(item, Used))
