"""What runs ask of people, and what they are told: permissions and questions."""

from turnkeeper.client.asking import query, segment, value
from turnkeeper.client.place import Place
from turnkeeper.protocol.ids import RequestId
from turnkeeper.protocol.requests import Answers, Decision, Grant
from turnkeeper.protocol.wire_changes import Settled
from turnkeeper.protocol.wire_requests import (
    PermissionRequest,
    Resolved,
    SkipPermissions,
    answers_to_wire,
    grant_to_wire,
    permission_from_wire,
)


class Permissions:
    def __init__(self, place: Place) -> None:
        self._place = place

    async def answer(self, request: PermissionRequest, decision: Decision) -> Resolved:
        """Answer a request; whether it was this answer that settled it, and if somebody else was first, who and how."""
        grant = grant_to_wire(permission_from_wire(request), decision)
        answer = await self._place.post("/permissions/grant", grant, repeatable=True)
        return value(answer, Resolved)

    async def skip(self, session_id: str = "") -> SkipPermissions:
        """Whether this client's runs ask nobody (in a session, or in all), and whose do."""
        rest = "/permissions/skip" + (query(session_id=session_id) if session_id else "")
        return await self._place.get(rest, SkipPermissions)

    async def set_skip(self, skip: bool, session_id: str = "") -> None:
        """From now on this client's runs ask nobody, or ask again: in one session, or in all."""
        await self._place.post("/permissions/skip", SkipPermissions(skip, session_id), repeatable=True)

    async def grants(self) -> list[Grant]:
        """What was allowed for longer than one call."""
        return await self._place.get("/permissions/grants", list[Grant])

    async def revoke(self, grant_id: str) -> None:
        await self._place.ask("DELETE", f"/permissions/grants/{segment(grant_id)}")

    async def audit(self) -> list[Settled]:
        """What was decided, newest first."""
        return await self._place.get("/permissions/audit", list[Settled])


class Questions:
    def __init__(self, place: Place) -> None:
        self._place = place

    async def answer(self, request_id: str, answers: Answers) -> Resolved:
        said = answers_to_wire(RequestId(request_id), answers)
        return value(await self._place.post("/questions/answer", said, repeatable=True), Resolved)

    async def refuse(self, request_id: str) -> bool:
        """Decline to answer."""
        rest = "/questions/cancel" + query(batch_request_id=request_id)
        return value(await self._place.post(rest, repeatable=True), Resolved).resolved
