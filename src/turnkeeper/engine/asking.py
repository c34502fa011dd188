"""Waiting for a person: permissions and questions of one run.

What is asked is durable and bound to the exact call it shows; the first answer decides; nobody waits for ever. The
run's own cancel withdraws what it asked, and so does its time.
"""

import hashlib
from collections.abc import Sequence

import anyio
import msgspec

from turnkeeper.core import commands as told
from turnkeeper.core.granting import grant_for
from turnkeeper.core.permission import Judgement, judge, rules_for
from turnkeeper.engine.running import Running, Settlement
from turnkeeper.engine.telling import tell_hooks
from turnkeeper.protocol import events as e
from turnkeeper.protocol.ids import RequestId, SessionId
from turnkeeper.protocol.requests import (
    Answers,
    Decision,
    Grant,
    Permission,
    Question,
    Questions,
    Request,
    Verdict,
)
from turnkeeper.tools.tool import Asking, Call, Denied

LINEAGE_MAX = 16


async def permit(running: Running, call: Call, asking: Asking, *, approved: bool) -> None:
    """Return when the call may be made; raises `Denied`."""
    options = running.run.options
    yolo = options.yolo or running.workspace.skip_permissions
    judgement = await _judged(running, asking, approved=approved or yolo)
    match judgement.verdict:
        case Verdict.ALLOW:
            return
        case Verdict.DENY:
            raise Denied(_forbidden(judgement), by_person=False)
        case Verdict.ASK if not options.interactive:
            raise Denied("nobody is there to be asked, and no rule allows it", by_person=False)
        case Verdict.ASK:
            await _ask_person(running, call, asking)


async def _judged(running: Running, asking: Asking, *, approved: bool) -> Judgement:
    means = running.workspace.means
    rules = rules_for(
        running.run.options,
        config=means.rules,
        grants=await means.store.grants(),
        lineage=await _lineage(running),
    )
    return judge(
        rules,
        tool=asking.tool,
        action=asking.action,
        subjects=asking.subjects or (asking.subject,),
        workdir=str(means.path),
        safe=asking.safe,
        approved=approved,
    )


async def _lineage(running: Running) -> list[SessionId]:
    """The session and its parents: what was granted to a parent holds for its children."""
    lineage = [running.session.id]
    while len(lineage) < LINEAGE_MAX:
        info = await running.workspace.means.store.session(lineage[-1])
        if info is None or not info.parent_id:
            break
        lineage.append(info.parent_id)
    return lineage


def _forbidden(judgement: Judgement) -> str:
    rule = judgement.rule
    named = f"{rule.tool}({rule.subject})" if rule and rule.subject else (rule.tool if rule else "")
    return f"a rule forbids it: {named}" if named else "a rule forbids it"


async def _ask_person(running: Running, call: Call, asking: Asking) -> None:
    means = running.workspace.means
    request = Permission(
        id=RequestId(means.new_id()),
        session_id=running.session.id,
        run_id=running.run.run_id,
        tool_call_id=call.id,
        tool_name=asking.tool,
        action=asking.action,
        description=asking.description,
        path=asking.path,
        subject=asking.subject,
        digest=_digest(running, asking),
        params=asking.params,
        expires_at=means.now() + int(means.knobs.permission_seconds * 1000),
    )
    match await _settled(running, request):
        case e.RequestAnswered(_, Decision(allowed=True, scope=scope), by):
            if scope != "once":
                await _grant(running, asking, scope, by)
        case e.RequestAnswered(_, Decision(reason=reason)):
            raise Denied(reason)
        case _:
            raise Denied("nobody answered in time", by_person=False)


def _digest(running: Running, asking: Asking) -> str:
    """What was shown is what is allowed: the call, where it runs, and what it runs with."""
    shown = (asking.tool, asking.action, asking.subject, asking.path, asking.params, str(running.workspace.means.path))
    return hashlib.sha256(msgspec.json.encode(shown)).hexdigest()


async def _grant(running: Running, asking: Asking, scope: str, by: str) -> None:
    means = running.workspace.means
    facts = tuple(
        e.GrantGiven(Grant(means.new_id(), rule, scope, running.session.id, means.now() // 1000, by))
        for rule in grant_for(
            tool=asking.tool,
            action=asking.action,
            subjects=asking.subjects or (asking.subject,),
            workdir=str(means.path),
        )
    )
    if facts:
        await running.tell(told.Note(facts))


async def put_questions(
    running: Running, call: Call, questions: Sequence[Question], *, title: str, description: str
) -> Answers:
    """Ask a person; without one, or without an answer in time, the questions are cancelled."""
    if not running.run.options.interactive:
        return Answers(cancelled=True)
    means = running.workspace.means
    request = Questions(
        id=RequestId(means.new_id()),
        session_id=running.session.id,
        run_id=running.run.run_id,
        tool_call_id=call.id,
        questions=tuple(questions),
        confirm_title=title,
        confirm_description=description,
        expires_at=means.now() + int(means.knobs.question_seconds * 1000),
    )
    match await _settled(running, request):
        case e.RequestAnswered(_, Answers() as answers):
            return answers
        case _:
            return Answers(cancelled=True)


async def _settled(running: Running, request: Request) -> e.RequestAnswered | e.RequestWithdrawn | None:
    """Ask durably and wait; None when the run may no longer ask."""
    settlement = running.asked[request.id] = Settlement()
    if not await running.tell(told.Ask(request)):
        running.asked.pop(request.id, None)
        return None
    _notify(running, request)
    knobs = running.workspace.means.knobs
    with anyio.move_on_after(knobs.permission_seconds if isinstance(request, Permission) else knobs.question_seconds):
        await settlement.done.wait()
    if not settlement.done.is_set():
        await running.tell(told.Withdraw(request.id, "nobody answered in time"))
    return settlement.event


def _notify(running: Running, request: Request) -> None:
    """The user's programs hear that a person is needed."""
    needed = "permission_prompt" if isinstance(request, Permission) else "question"
    message = request.description if isinstance(request, Permission) else request.questions[0].question
    payload = {"session_id": request.session_id, "notification_type": needed, "message": message}
    tell_hooks(running, "Notification", payload)
