"""The scene of the table tests: one session, a few prompts, and the events they lead to, spelled out.

`after(…)` is the session once it was told some commands. Expected events are written by hand here rather than taken
from the machine, so that the machine is compared with what we meant.
"""

from turnkeeper.core.commands import Command, Submit
from turnkeeper.core.session import Session, decide, evolve
from turnkeeper.protocol.events import (
    Event,
    MessageSaid,
    RequestAnswered,
    RequestWithdrawn,
    RunAccepted,
    RunComplete,
    RunFolded,
    RunStarted,
)
from turnkeeper.protocol.ids import NO_CLIENT, ClientId, MessageId, RequestId, RunId, SessionId, ToolCallId
from turnkeeper.protocol.messages import STOPPED, Message, Role, Text
from turnkeeper.protocol.requests import Answer, Permission, Question, Questions, QuestionType, Request
from turnkeeper.protocol.runs import Outcome, Prompt, RunKind

HERE = SessionId("here")
ELSEWHERE = SessionId("elsewhere")
ANA, BEN = ClientId("ana"), ClientId("ben")
A, B, C, D = RunId("a"), RunId("b"), RunId("c"), RunId("d")
S = RunId("s")
IDLE = Session(HERE)


def submit(run_id: RunId, text: str = "", *, foldable: bool = False, only_if_idle: bool = False) -> Submit:
    """Ana submits a prompt under this run id; its body's digest is its text."""
    said = text or f"do {run_id}"
    return Submit(
        run_id,
        Prompt(said),
        digest=said,
        foldable=foldable,
        only_if_idle=only_if_idle,
        by=ANA,
        user_message_id=MessageId(f"message of {run_id}"),
        at=1_700_000_000_123,
    )


def submit_foldable(run_id: RunId, text: str = "") -> Submit:
    """As `submit`, without a run id of the client's own: it may join the run that is active."""
    return submit(run_id, text, foldable=True)


def summarise(run_id: RunId = S, *, only_if_idle: bool = False) -> Submit:
    return Submit(run_id, Prompt(""), digest="summary", run_kind=RunKind.SUMMARY, only_if_idle=only_if_idle, by=ANA)


def after(*commands: Command) -> Session:
    session = IDLE
    for command in commands:
        session = become(session, decide(session, command))
    return session


def become(session: Session, events: list[Event]) -> Session:
    for event in events:
        session = evolve(session, event)
    return session


def accepted(told: Submit) -> RunAccepted:
    return RunAccepted(
        told.run_id,
        told.prompt,
        digest=told.digest,
        run_kind=told.run_kind,
        foldable=told.foldable,
        by=told.by,
        user_message_id=told.user_message_id,
        at=told.at,
    )


def said(told: Submit) -> MessageSaid:
    """The prompt as an entry of the conversation, with the clock in seconds as the wire has it."""
    return MessageSaid(
        Message(
            id=told.user_message_id,
            session_id=HERE,
            role=Role.USER,
            parts=(Text(told.prompt.text), STOPPED),
            created_at=1_700_000_000,
            updated_at=1_700_000_000,
            run_id=told.run_id,
            author=ANA,
        )
    )


def starts(told: Submit) -> list[Event]:
    """A run of a prompt starts by saying it; a summary has nothing to say."""
    started = RunStarted(told.run_id)
    return [started] if told.run_kind is RunKind.SUMMARY else [started, said(told)]


def joins(told: Submit, into: RunId) -> list[Event]:
    return [RunFolded(told.run_id, into=into), said(told)]


def cancelled(*run_ids: RunId) -> list[Event]:
    return [RunComplete(run_id, Outcome.CANCELLED) for run_id in run_ids]


def completed(run_id: RunId) -> RunComplete:
    return RunComplete(run_id, Outcome.COMPLETED)


def permission(name: str = "p", run_id: RunId = A) -> Permission:
    """A request whether a command may run."""
    return Permission(RequestId(name), HERE, run_id, ToolCallId(f"call of {name}"), "bash", "execute")


def questions(name: str = "q", run_id: RunId = A) -> Questions:
    asked = (Question("colour", QuestionType.FREE_TEXT, "Which colour?"),)
    return Questions(RequestId(name), HERE, run_id, ToolCallId(f"call of {name}"), asked)


def answered(request: Request, answer: Answer, by: ClientId = NO_CLIENT) -> RequestAnswered:
    return RequestAnswered(request.id, answer, by, request.tool_call_id)


def withdrawn(request: Request, reason: str = "") -> RequestWithdrawn:
    return RequestWithdrawn(request.id, reason, request.tool_call_id, was_question=isinstance(request, Questions))
