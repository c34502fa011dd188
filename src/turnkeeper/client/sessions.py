"""Sessions and what was said in them."""

from turnkeeper.client.asking import checked, segment, value
from turnkeeper.client.place import Place
from turnkeeper.protocol.ids import SessionId
from turnkeeper.protocol.messages import Message
from turnkeeper.protocol.sessions import SessionInfo, Todo
from turnkeeper.protocol.wire_messages import WireMessage, message_from_wire
from turnkeeper.protocol.wire_sessions import (
    Session,
    SessionCreation,
    session_as_change,
    session_from_wire,
)


class Sessions:
    def __init__(self, place: Place) -> None:
        self._place = place

    async def create(self, title: str = "New Session") -> Session:
        return await self._place.tell("/sessions", SessionCreation(title), Session)

    async def get(self, session_id: str) -> Session:
        return await self._place.get(self._one(session_id), Session)

    async def rename(self, session_id: str, title: str) -> Session:
        return await self._change(session_id, title=title)

    async def set_todos(self, session_id: str, todos: tuple[Todo, ...]) -> Session:
        return await self._change(session_id, todos=todos)

    async def delete(self, session_id: str) -> None:
        """Stop and forget it, and its children with it."""
        await self._place.ask("DELETE", self._one(session_id))

    async def list(self) -> list[Session]:
        """Top-level sessions, most recently changed first."""
        return await self._place.get_list("/sessions", Session)

    async def _change(
        self, session_id: str, *, title: str | None = None, todos: tuple[Todo, ...] | None = None
    ) -> Session:
        """A server of the original zeroes what it is not sent, so the whole session is sent, in both spellings."""
        info = session_from_wire(await self.get(session_id))
        changed = SessionInfo(
            id=info.id,
            title=info.title if title is None else title,
            parent_id=info.parent_id,
            message_count=info.message_count,
            prompt_tokens=info.prompt_tokens,
            completion_tokens=info.completion_tokens,
            summary_message_id=info.summary_message_id,
            cost=info.cost,
            todos=info.todos if todos is None else todos,
            created_at=info.created_at,
            updated_at=info.updated_at,
        )
        answer = await self._place.ask("PUT", self._one(session_id), session_as_change(changed))
        return value(checked(answer), Session)

    def _one(self, session_id: str) -> str:
        return f"/sessions/{segment(session_id)}"


class Messages:
    def __init__(self, place: Place) -> None:
        self._place = place

    async def of_people(self, session_id: SessionId | str = "") -> list[Message]:
        """What people said in a session, or in all of them: latest first, for an input's history."""
        rest = f"/sessions/{segment(session_id)}/messages/user" if session_id else "/messages/user"
        return [message_from_wire(message) for message in await self._place.get_list(rest, WireMessage)]

    async def list(self, session_id: str) -> list[Message]:
        """The conversation, what is being written included; part for part as it is kept, where the server tells."""
        said = await self._place.get_list(f"/sessions/{segment(session_id)}/messages", WireMessage, detail=1)
        return [message_from_wire(message) for message in said]
