"""Answers from clients: to the request they name, in whatever session it waits."""

from typing import Any

from turnkeeper.core import commands as told
from turnkeeper.engine.workspace import Workspace
from turnkeeper.protocol import events as e
from turnkeeper.protocol.ids import WORKSPACE, ClientId, RequestId
from turnkeeper.protocol.problems import NotFound
from turnkeeper.protocol.requests import Answer, Answers, Decision, Permission, Questions


class GrantNotFound(NotFound):
    """There is no such allowance."""


async def answer(workspace: Workspace, request_id: RequestId, said: Answer, *, by: ClientId) -> bool:
    """Whether this answer settled it: false when somebody else had, or nothing of the kind was asked."""
    request = await workspace.means.store.request(request_id)
    if request is None:
        return False
    return bool(await workspace.tell(request.session_id, told.Answer(request_id, said, by)))


async def answer_questions(workspace: Workspace, request_id: RequestId | None, said: Answers, *, by: ClientId) -> bool:
    """Without an id, the questions that have waited longest: the original's clients name none."""
    if request_id is None:
        pending = (await workspace.means.store.snapshot()).requests
        request_id = next((request.id for request in pending if isinstance(request, Questions)), None)
    return request_id is not None and await answer(workspace, request_id, said, by=by)


async def revoke(workspace: Workspace, grant_id: str) -> None:
    if all(grant.id != grant_id for grant in await workspace.means.store.grants()):
        raise GrantNotFound(f"there is no allowance {grant_id}")
    await workspace.means.store.append(WORKSPACE, [e.GrantRevoked(grant_id)], after=None, at=workspace.means.now())


async def audit(workspace: Workspace) -> list[dict[str, Any]]:
    """What was decided, newest first, as plain words."""
    return [
        {
            "request_id": entry.request.id,
            "session_id": entry.request.session_id,
            "run_id": entry.request.run_id,
            "tool": entry.request.tool_name if isinstance(entry.request, Permission) else "question",
            "subject": entry.request.subject if isinstance(entry.request, Permission) else "",
            "decision": _decided(entry.answer),
            "scope": entry.answer.scope if isinstance(entry.answer, Decision) and entry.answer.allowed else "",
            "by": entry.by,
            "reason": entry.reason,
            "at": entry.at,
        }
        for entry in await workspace.means.store.settled()
    ]


def _decided(said: Answer | None) -> str:
    match said:
        case Decision(allowed=True):
            return "allowed"
        case Decision():
            return "denied"
        case Answers(cancelled=True):
            return "declined"
        case Answers():
            return "answered"
        case None:
            return "withdrawn"
