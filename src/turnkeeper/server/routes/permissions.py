"""Answers to what runs ask, and what was allowed for longer."""

from turnkeeper.engine import answering
from turnkeeper.protocol.ids import WORKSPACE, RequestId, SessionId
from turnkeeper.protocol.requests import Answers, Grant
from turnkeeper.protocol.wire_changes import Settled
from turnkeeper.protocol.wire_reading import decode
from turnkeeper.protocol.wire_requests import (
    GrantRequest,
    QuestionAnswer,
    Resolved,
    SkipPermissions,
    answers,
    decision,
    grant_request,
    unasked_views,
)
from turnkeeper.server.routing import Route
from turnkeeper.server.visit import EMPTY, Reply, Visit, json


async def skip(visit: Visit) -> Reply:
    """Whether the client's own runs ask nobody, and whose do."""
    unasked = (await visit.room()).workspace.unasked
    session = SessionId(visit.query("session_id") or "")
    mine = any((visit.author, here) in unasked for here in (WORKSPACE, session))
    return json(SkipPermissions(mine, by=unasked_views(unasked)))


async def set_skip(visit: Visit) -> Reply:
    said = await visit.read(SkipPermissions)
    room = await visit.room()
    await room.workspace.set_skip(said.skip, by=await visit.signed(room), session_id=SessionId(said.session_id))
    return EMPTY


async def grant(visit: Visit) -> Reply:
    """The first answer decides; a later one is told that it came too late."""
    said = grant_request(await visit.body())
    room = await visit.room()
    request, by = said.permission, await visit.signed(room)
    receipt = await answering.answer(
        room.workspace, RequestId(request.id), decision(said), by=by, digest=request.digest
    )
    return json(resolved(receipt))


def resolved(receipt: answering.Receipt) -> Resolved:
    return Resolved(receipt.resolved, receipt.by, receipt.decision)


async def answer(visit: Visit) -> Reply:
    said = decode(await visit.body(), QuestionAnswer)
    room = await visit.room()
    request_id = RequestId(said.batch_request_id) if said.batch_request_id else None
    by = await visit.signed(room)
    return json(resolved(await answering.answer_questions(room.workspace, request_id, answers(said), by=by)))


async def refuse(visit: Visit) -> Reply:
    """The body is not looked at. Our own clients name the batch in the query."""
    room = await visit.room()
    named = visit.query("batch_request_id")
    refused = Answers(cancelled=True)
    request_id = RequestId(named) if named else None
    by = await visit.signed(room)
    return json(resolved(await answering.answer_questions(room.workspace, request_id, refused, by=by)))


async def grants(visit: Visit) -> Reply:
    return json(await answering.grants((await visit.room()).workspace))


async def revoke(visit: Visit) -> Reply:
    room = await visit.room()
    await answering.revoke(room.workspace, visit.params["grant_id"])
    return EMPTY


async def audit(visit: Visit) -> Reply:
    room = await visit.room()
    return json([Settled(**entry) for entry in await answering.audit(room.workspace)])


_PERMISSIONS = "/v1/workspaces/{id}/permissions"
_QUESTIONS = "/v1/workspaces/{id}/questions"
ROUTES = (
    Route(
        "GET", f"{_PERMISSIONS}/skip", skip, "Whether nobody is asked.", gives=SkipPermissions, query=("session_id",)
    ),
    Route("POST", f"{_PERMISSIONS}/skip", set_skip, "Ask nobody, or ask again.", body=SkipPermissions, refuses=(503,)),
    Route(
        "POST",
        f"{_PERMISSIONS}/grant",
        grant,
        "Answer a permission request.",
        body=GrantRequest,
        gives=Resolved,
        refuses=(503,),
    ),
    Route("GET", f"{_PERMISSIONS}/grants", grants, "What was allowed for longer.", gives=list[Grant], own=True),
    Route(
        "DELETE", f"{_PERMISSIONS}/grants/{{grant_id}}", revoke, "Take an allowance back.", refuses=(404, 503), own=True
    ),
    Route("GET", f"{_PERMISSIONS}/audit", audit, "What was decided, newest first.", gives=list[Settled], own=True),
    Route(
        "POST", f"{_QUESTIONS}/answer", answer, "Answer questions.", body=QuestionAnswer, gives=Resolved, refuses=(503,)
    ),
    Route(
        "POST",
        f"{_QUESTIONS}/cancel",
        refuse,
        "Decline to answer.",
        gives=Resolved,
        query=("batch_request_id",),
        refuses=(503,),
    ),
)
