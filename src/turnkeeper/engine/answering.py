"""Answers from clients: to the request they name, in whatever session it waits."""

from dataclasses import dataclass
from typing import Any

from turnkeeper.core import commands as told
from turnkeeper.core.answers import misfits
from turnkeeper.engine.workspace import Workspace
from turnkeeper.protocol import events as e
from turnkeeper.protocol.ids import WORKSPACE, ClientId, RequestId
from turnkeeper.protocol.problems import BadRequest, NotFound
from turnkeeper.protocol.requests import Answer, Answers, Decision, Grant, Permission, Questions, decided


class GrantNotFound(NotFound):
    """There is no such allowance."""


class AnswersUnfit(BadRequest):
    """The answers do not fit what was asked."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """Whether this answer settled it, and if it did not, who and what had."""

    resolved: bool
    by: str = ""
    decision: str = ""


async def answer(
    workspace: Workspace, request_id: RequestId, said: Answer, *, by: ClientId, digest: str = ""
) -> Receipt:
    """The first answer decides. One about another call than the one that waits (`digest`) decides nothing."""
    request = await workspace.means.store.request(request_id)
    if request is not None and await workspace.tell(request.session_id, told.Answer(request_id, said, by, digest)):
        return Receipt(resolved=True)
    earlier = next((one for one in await workspace.means.store.settled() if one.request.id == request_id), None)
    return Receipt(False, earlier.by, decided(earlier.answer)) if earlier else Receipt(resolved=False)


async def answer_questions(
    workspace: Workspace, request_id: RequestId | None, said: Answers, *, by: ClientId
) -> Receipt:
    """Without an id, the questions that have waited longest: the original's clients name none."""
    if request_id is None:
        pending = (await workspace.means.store.snapshot()).requests
        request_id = next((request.id for request in pending if isinstance(request, Questions)), None)
    if request_id is None:
        return Receipt(resolved=False)
    asked = await workspace.means.store.request(request_id)
    if isinstance(asked, Questions) and (wrong := "; ".join(misfits(asked, said))):
        raise AnswersUnfit(wrong)
    return await answer(workspace, request_id, said, by=by)


async def grants(workspace: Workspace) -> list[Grant]:
    """What was allowed for longer, here and everywhere."""
    return [*await workspace.means.store.grants(), *await workspace.means.lasting.grants()]


async def revoke(workspace: Workspace, grant_id: str) -> None:
    if any(grant.id == grant_id for grant in await workspace.means.store.grants()):
        await workspace.means.store.append(WORKSPACE, [e.GrantRevoked(grant_id)], after=None, at=workspace.means.now())
    elif not await workspace.means.lasting.remove(grant_id):
        raise GrantNotFound(f"there is no allowance {grant_id}")


async def audit(workspace: Workspace) -> list[dict[str, Any]]:
    """What was decided, newest first, as plain words."""
    return [
        {
            "request_id": entry.request.id,
            "session_id": entry.request.session_id,
            "run_id": entry.request.run_id,
            "tool": entry.request.tool_name if isinstance(entry.request, Permission) else "question",
            "subject": entry.request.subject if isinstance(entry.request, Permission) else "",
            "decision": decided(entry.answer),
            "scope": entry.answer.scope if isinstance(entry.answer, Decision) and entry.answer.allowed else "",
            "by": entry.by,
            "reason": entry.reason or (entry.answer.reason if isinstance(entry.answer, Decision) else ""),
            "at": entry.at,
            "tool_call_id": entry.request.tool_call_id,
        }
        for entry in await workspace.means.store.settled()
    ]
