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

    async def answer(self, request: PermissionRequest, decision: Decision) -> bool:
        """Answer a request; whether it was this answer that settled it. Somebody else may have been first."""
        grant = grant_to_wire(permission_from_wire(request), decision)
        answer = await self._place.post("/permissions/grant", grant, repeatable=True)
        return value(answer, Resolved).resolved

    async def skip(self) -> bool:
        """Whether nobody is asked."""
        return (await self._place.get("/permissions/skip", SkipPermissions)).skip

    async def set_skip(self, skip: bool) -> None:
        await self._place.post("/permissions/skip", SkipPermissions(skip), repeatable=True)

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

    async def answer(self, request_id: str, answers: Answers) -> bool:
        said = answers_to_wire(RequestId(request_id), answers)
        return value(await self._place.post("/questions/answer", said, repeatable=True), Resolved).resolved

    async def refuse(self, request_id: str) -> bool:
        """Decline to answer."""
        rest = "/questions/cancel" + query(batch_request_id=request_id)
        return value(await self._place.post(rest, repeatable=True), Resolved).resolved
