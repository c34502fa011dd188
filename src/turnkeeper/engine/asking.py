"""Waiting for a person: permissions and questions of one run.

What is asked is durable and bound to the exact call it shows; the first answer decides; nobody waits for ever. The
run's own cancel withdraws what it asked, and so does its time.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

import anyio
import anyio.lowlevel
import msgspec

from turnkeeper.core import commands as told
from turnkeeper.core.granting import edits_for, grant_for
from turnkeeper.core.permission import Judgement, demanded, judge, rules_for
from turnkeeper.core.ruletext import rule_text
from turnkeeper.core.ruletext import told as told_as_rule
from turnkeeper.engine.running import Running, Settlement
from turnkeeper.engine.telling import tell_hooks
from turnkeeper.protocol import events as e
from turnkeeper.protocol.ids import WORKSPACE, ClientId, RequestId, SessionId
from turnkeeper.protocol.requests import (
    Answers,
    Decision,
    Grant,
    Permission,
    Question,
    Questions,
    Request,
    Rule,
    Verdict,
)
from turnkeeper.tools.tool import Asking, Call, Denied

LINEAGE_MAX = 16


@dataclass(frozen=True, slots=True)
class Shown:
    """A call as a person is shown it, and as it will be made."""

    running: Running
    call: Call
    asking: Asking
    env: Mapping[str, str]
    demand: str = ""
    """Why a person is to decide, whatever rules allow; empty if nobody demands it."""

    def request(self) -> Permission:
        means, asking = self.running.workspace.means, self.asking
        return Permission(
            id=RequestId(means.new_id()),
            session_id=self.running.session.id,
            run_id=self.running.run.run_id,
            tool_call_id=self.call.id,
            tool_name=asking.tool,
            action=asking.action,
            description=f"{asking.description}\n{self.demand}" if self.demand else asking.description,
            path=asking.path,
            subject=asking.subject,
            digest=self.digest(),
            params=asking.params,
            expires_at=means.now() + int(means.knobs.permission_seconds * 1000),
            rules=tuple(map(rule_text, self.lasting_rules())),
            edits=tuple(map(rule_text, self.edit_rules())),
        )

    def lasting_rules(self) -> tuple[Rule, ...]:
        """What is allowed from now on by who allows it for longer than once."""
        if self.demand:
            # Whoever demanded a person now will do so again: a grant would be void.
            return ()
        return grant_for(
            tool=self.asking.tool,
            action=self.asking.action,
            subjects=self.asking.subjects or (self.asking.subject,),
            workdir=str(self.running.workspace.means.path),
        )

    def edit_rules(self) -> tuple[Rule, ...]:
        """What is allowed by who allows every edit of the workspace's files."""
        if self.demand:
            return ()
        return edits_for(
            tool=self.asking.tool,
            subjects=self.asking.subjects or (self.asking.subject,),
            workdir=str(self.running.workspace.means.path),
        )

    def digest(self) -> str:
        """What was shown is what is allowed: this call, where it runs, and the environment it runs with."""
        asking = self.asking
        where = (str(self.running.workspace.means.path), self.running.run.options.workdir, sorted(self.env.items()))
        what = (self.call.id, asking.tool, asking.action, asking.subject, asking.path, asking.params)
        return hashlib.sha256(msgspec.json.encode((what, where))).hexdigest()

    def was_denied(self) -> None:
        """The run will say so when it ends."""
        self.running.denied.append(told_as_rule(self.asking.tool, self.asking.subject))


async def permit(
    running: Running, call: Call, asking: Asking, *, approved: bool, env: Mapping[str, str], demand: str = ""
) -> None:
    """Return when the call may be made, with this environment; raises `Denied`."""
    shown = Shown(running, call, asking, env, demand)
    lineage = await _lineage(running)
    unasked = _is_unasked(running, lineage)
    judgement = await _judged(running, asking, lineage, approved=not demand and (approved or unasked))
    if demand:
        judgement = demanded(judgement)
    match judgement.verdict:
        case Verdict.ALLOW if judgement.waived:
            by = ClientId("hook" if approved else "yolo")
            await _note(shown, Decision(allowed=True), by)
        case Verdict.ALLOW:
            return
        case Verdict.DENY:
            await _refuse(shown, _forbidden(judgement), by=ClientId("rule"))
        case Verdict.ASK if not running.run.options.interactive:
            reason = f"nobody is there to be asked, and {demand or 'no rule allows it'}"
            await _refuse(shown, reason, by=ClientId("policy"))
        case Verdict.ASK:
            await _ask_person(shown)


def _is_unasked(running: Running, lineage: Sequence[SessionId]) -> bool:
    """Whether the run, or whoever submitted it, has said that nobody is to be asked: here, or in a parent of it."""
    by = running.run.by
    return running.run.options.yolo or any((by, here) in running.workspace.unasked for here in (WORKSPACE, *lineage))


async def _refuse(shown: Shown, reason: str, *, by: ClientId) -> NoReturn:
    shown.was_denied()
    await _note(shown, Decision(allowed=False, reason=reason), by)
    raise Denied(reason, by_person=False)


async def _note(shown: Shown, decision: Decision, by: ClientId) -> None:
    """What was decided without a person stands in the audit beside what people decided."""
    request = msgspec.structs.replace(shown.request(), unattended=True)
    await shown.running.tell(told.Decided(request, decision, by))


async def _judged(running: Running, asking: Asking, lineage: Sequence[SessionId], *, approved: bool) -> Judgement:
    means = running.workspace.means
    rules = rules_for(
        running.run.options,
        config=means.rules,
        grants=[*await means.store.grants(), *await means.lasting.grants()],
        lineage=lineage,
    )
    return judge(
        rules,
        tool=asking.tool,
        action=asking.action,
        subjects=asking.subjects or (asking.subject,),
        workdir=str(means.path),
        safe=asking.safe,
        approved=approved,
        shadows=asking.shadows,
        hides=bool(asking.hides),
    )


async def _lineage(running: Running) -> Sequence[SessionId]:
    """The session and its parents: what was granted to a parent holds for its children."""
    if not running.lineage:
        lineage = [running.session.id]
        while len(lineage) < LINEAGE_MAX:
            info = await running.workspace.means.store.session(lineage[-1])
            if info is None or not info.parent_id:
                break
            lineage.append(info.parent_id)
        running.lineage = tuple(lineage)
    return running.lineage


def _forbidden(judgement: Judgement) -> str:
    rule = judgement.rule
    named = told_as_rule(rule.tool, rule.subject) if rule else ""
    if judgement.hidden:
        return f"a rule forbids {named}, and this command does not spell out what it runs: write it plainly"
    return f"a rule forbids it: {named}" if named else "a rule forbids it"


async def _ask_person(shown: Shown) -> None:
    running = shown.running
    match await _settled(running, shown.request(), running.workspace.means.knobs.permission_seconds):
        case e.RequestAnswered(_, Decision(allowed=True, scope=scope), by):
            if scope != "once":
                await _grant(shown, scope, by)
        case e.RequestAnswered(_, Decision(reason=reason)):
            shown.was_denied()
            raise Denied(reason)
        case _:
            shown.was_denied()
            raise Denied("nobody answered in time", by_person=False)


async def _grant(shown: Shown, scope: str, by: str) -> None:
    running = shown.running
    means = running.workspace.means
    rules = shown.edit_rules() if scope == "edits" else shown.lasting_rules()
    reach = "session" if scope == "edits" else scope
    grants = tuple(Grant(means.new_id(), rule, reach, running.session.id, means.now() // 1000, by) for rule in rules)
    if scope == "always":
        await means.lasting.add(grants)
    elif grants:
        await running.tell(told.Note(tuple(map(e.GrantGiven, grants))))


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
    match await _settled(running, request, means.knobs.question_seconds):
        case e.RequestAnswered(_, Answers() as answers):
            return answers
        case _:
            return Answers(cancelled=True)


async def _settled(
    running: Running, request: Request, seconds_max: float
) -> e.RequestAnswered | e.RequestWithdrawn | None:
    """Ask durably and wait; None when the run may no longer ask."""
    settlement = running.asked[request.id] = Settlement()
    if not await running.tell(told.Ask(request)):
        running.asked.pop(request.id, None)
        return None
    _notify(running, request)
    with anyio.move_on_after(seconds_max):
        await settlement.done.wait()
    # Withdrawn because the run is being stopped: nothing more is done with it.
    await anyio.lowlevel.checkpoint_if_cancelled()
    if not settlement.done.is_set():
        await running.tell(told.Withdraw(request.id, "nobody answered in time"))
    return settlement.event


def _notify(running: Running, request: Request) -> None:
    """The user's programs hear that a person is needed."""
    needed = "permission_prompt" if isinstance(request, Permission) else "question"
    message = request.description if isinstance(request, Permission) else request.questions[0].question
    payload = {"session_id": request.session_id, "notification_type": needed, "message": message}
    tell_hooks(running, "Notification", payload)
