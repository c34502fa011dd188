"""A run while it goes on: its own cancel scope, its one exit, and what it may say.

    with scope:            a person's cancel, a lost session and a closing workspace all end here
        take the turn      engine/turn.py
    close what is open     the message, and the calls without a result
    Finish                 told until it is written; the machine ends a run once, whoever tells it twice

Whatever happens inside, the exit is taken. If even the exit cannot be written, because the process is killed or the
workspace is taken away, recovery ends the run on the next start.
"""

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio

from turnkeeper.core import commands as told
from turnkeeper.engine.draft import Draft
from turnkeeper.engine.session import LiveSession
from turnkeeper.models.model import ModelTrouble
from turnkeeper.protocol import events as e
from turnkeeper.protocol.ids import NO_MESSAGE, MessageId, RequestId, ToolCallId
from turnkeeper.protocol.messages import STOPPED, Finish, FinishReason, Message, Role, ToolResult
from turnkeeper.protocol.problems import (
    Problem,
    SessionMoved,
    SessionNotFound,
    StoreReadOnly,
    StoreUnavailable,
    WorkspaceClosing,
)
from turnkeeper.protocol.runs import Cause, Failure, Outcome, RunKind, Usage
from turnkeeper.protocol.sessions import Effect, EffectState, Todo

if TYPE_CHECKING:
    from turnkeeper.engine.workspace import Workspace

log = logging.getLogger(__name__)

RETRY_FIRST_SECONDS = 0.05
RETRY_MAX_SECONDS = 2.0
CANCELED = "User canceled request"
NO_RESULT = {
    Outcome.CANCELLED: "Error: user cancelled assistant tool calling",
    Outcome.INTERRUPTED: "Error: the server stopped before this tool had finished",
    Outcome.FAILED: "There was an error while executing the tool",
    Outcome.COMPLETED: "The turn ended before this tool was used",
}


class Stopped(Exception):
    """A limit, a loop or a policy ended the run."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class RunOver(Exception):
    """The run has ended elsewhere: what it says is no longer heard."""


@dataclass(frozen=True, slots=True)
class Ending:
    outcome: Outcome
    failure: Failure | None = None
    title: str = ""


@dataclass(slots=True)
class Settlement:
    """What came of a request, once `done` rings."""

    done: anyio.Event = field(default_factory=anyio.Event)
    event: e.RequestAnswered | e.RequestWithdrawn | None = None


@dataclass(slots=True)
class Running:
    """Owns what one run knows of itself while it goes on."""

    workspace: "Workspace"
    session: LiveSession
    run: e.RunAccepted
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    title_scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    stopped_as: Outcome | None = None
    usage: Usage = field(default_factory=Usage)
    steps: int = 0
    sees_images: bool = False
    todos: tuple[Todo, ...] = ()
    """As they stood when the run began: what changed since is in the conversation, and the prompt's cache holds."""
    last: Message | None = None
    """The latest answer of the model, as far as it is known."""
    draft: Draft | None = None
    unanswered: dict[ToolCallId, str] = field(default_factory=dict[ToolCallId, str])
    """Calls of the latest answer that have no result yet, by id, with their tool's name."""
    asked: dict[RequestId, "Settlement"] = field(default_factory=dict[RequestId, "Settlement"])
    closing: list[e.Fact] = field(default_factory=list[e.Fact])

    def stop(self, outcome: Outcome) -> None:
        self.stopped_as = self.stopped_as or outcome
        self.title_scope.cancel()
        self.scope.cancel()

    def settle(self, event: e.RequestAnswered | e.RequestWithdrawn) -> None:
        if settlement := self.asked.pop(event.request_id, None):
            settlement.event = event
            settlement.done.set()

    def write(self, draft: Draft) -> None:
        """An answer is being written."""
        self.draft = draft
        self.workspace.drafts[draft.id] = draft

    def wrote(self, draft: Draft) -> None:
        """The answer is whole: its calls now want results."""
        self.last = draft.message()
        self.unanswered = {call.id: call.name for call in self.last.tool_calls if not call.provider_executed}
        self.workspace.drafts.pop(draft.id, None)
        self.draft = None

    async def tell(self, command: told.Command) -> list[e.Event]:
        return await self.session.tell(command)

    async def say(self, *facts: e.Fact) -> None:
        """Write facts, waiting a while for a disk that cannot take them now; raises `RunOver` when this run may no
        longer speak."""
        knobs = self.workspace.means.knobs
        give_up_at = anyio.current_time() + knobs.store_seconds
        wait_seconds = RETRY_FIRST_SECONDS
        while True:
            try:
                return await self.say_once(*facts)
            except StoreReadOnly:
                raise
            except StoreUnavailable as problem:
                if anyio.current_time() + wait_seconds > give_up_at:
                    raise
                log.warning("a run waits for its disk", extra={"run_id": self.run.run_id, "problem": problem.message})
            await anyio.sleep(wait_seconds)
            wait_seconds = min(wait_seconds * 2, RETRY_MAX_SECONDS)

    async def say_once(self, *facts: e.Fact) -> None:
        if facts and not await self.session.tell(told.Say(self.run.run_id, facts)):
            raise RunOver

    def new_message(self, role: Role, *parts: ToolResult | Finish, model: str = "", provider: str = "") -> Message:
        means = self.workspace.means
        seconds = means.now() // 1000
        return Message(
            id=MessageId(means.new_id()),
            session_id=self.session.id,
            role=role,
            parts=(*parts, STOPPED) if role is Role.TOOL else parts,
            model=model,
            provider=provider,
            created_at=seconds,
            updated_at=seconds,
            run_id=self.run.run_id,
        )

    def answered(self, result: ToolResult) -> tuple[e.Fact, ...]:
        """A call's result, and that its effect is over: told together, so that neither is ever alone."""
        over = Effect(
            tool_call_id=result.tool_call_id,
            session_id=self.session.id,
            run_id=self.run.run_id,
            tool=result.name,
            state=EffectState.FINISHED,
            at=self.workspace.means.now(),
        )
        return e.MessageSaid(self.new_message(Role.TOOL, result)), e.EffectNoted(over)


async def perform(running: Running) -> None:
    """Take the run from started to ended."""
    from turnkeeper.engine.turn import summarise, take_turn

    ending = Ending(Outcome.INTERRUPTED)
    try:
        with running.scope:
            ending = await _guarded(running, summarise if running.run.run_kind is RunKind.SUMMARY else take_turn)
        if running.scope.cancelled_caught:
            ending = Ending(running.stopped_as or Outcome.CANCELLED)
    finally:
        # A closing workspace grants the exit this long; after that, recovery takes it on the next start.
        with anyio.move_on_after(running.workspace.means.knobs.stop_seconds, shield=True) as grace:
            await _end(running, ending)
        if grace.cancelled_caught:
            await _end(running, ending)


async def _guarded(running: Running, take: "TakeTurn") -> Ending:
    try:
        await take(running)
    except Stopped as stopped:
        return Ending(Outcome.FAILED, stopped.failure)
    except RunOver:
        return Ending(Outcome.INTERRUPTED)
    except ModelTrouble as trouble:
        failure = Failure(trouble.cause, trouble.message, details=trouble.title, retryable=trouble.retryable)
        return Ending(Outcome.FAILED, failure, trouble.title)
    except Problem as problem:
        return Ending(Outcome.FAILED, Failure(Cause.SERVER, problem.message, retryable=problem.status >= 500))
    except Exception as error:  # models and tools are strangers' code; a run must end whatever they do
        log.exception("run failed", extra={"run_id": running.run.run_id})
        return Ending(Outcome.FAILED, Failure(Cause.SERVER, str(error) or type(error).__name__))
    return Ending(Outcome.COMPLETED)


if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    TakeTurn = Callable[[Running], Awaitable[None]]


async def _end(running: Running, ending: Ending) -> None:
    """Close what is open and tell the ending until it is written or somebody else has written it."""
    facts = running.closing = running.closing or _closing_facts(running, ending)
    wait_seconds = RETRY_FIRST_SECONDS
    while True:
        try:
            if facts:
                await _close_what_is_open(running, facts)
            await running.tell(_finish(running, ending))
        except (RunOver, SessionMoved, SessionNotFound, WorkspaceClosing, StoreReadOnly):
            break
        except StoreUnavailable:
            log.warning("the ending of a run cannot be written yet", extra={"run_id": running.run.run_id})
            await anyio.sleep(wait_seconds)
            wait_seconds = min(wait_seconds * 2, RETRY_MAX_SECONDS)
        else:
            break
    _tell_hooks(running, ending)
    outcome = ending.outcome.value
    log.info("run ended", extra={"run_id": running.run.run_id, "outcome": outcome, "steps": running.steps})


async def _close_what_is_open(running: Running, facts: list[e.Fact]) -> None:
    try:
        await running.say_once(*facts)
    except SessionNotFound:
        log.info("the session of a run was forgotten", extra={"run_id": running.run.run_id})
    facts.clear()


def _tell_hooks(running: Running, ending: Ending) -> None:
    """The user's programs hear of the ending. They end with the workspace, and keep nothing waiting."""
    workspace = running.workspace
    if workspace.means.hooks is None or running.run.parent or workspace.closing:
        return
    payload = {
        "session_id": running.session.id,
        "run_id": running.run.run_id,
        "outcome": ending.outcome.value,
        "text": running.last.text if running.last else "",
    }
    workspace.tasks.start_soon(workspace.means.hooks.happened, "RunComplete", payload)


def _finish(running: Running, ending: Ending) -> told.Finish:
    last = running.last
    return told.Finish(
        run_id=running.run.run_id,
        outcome=ending.outcome,
        message_id=last.id if last else NO_MESSAGE,
        text=last.text if last else "",
        failure=ending.failure,
        usage=running.usage,
        steps=running.steps,
    )


def _closing_facts(running: Running, ending: Ending) -> list[e.Fact]:
    """No message without a finish, and no call without a result, whatever ended the run."""
    facts = [] if ending.outcome is Outcome.COMPLETED else _closing_message(running, _finish_part(running, ending))
    for call_id, name in running.unanswered.items():
        facts += running.answered(ToolResult(call_id, name, NO_RESULT[ending.outcome], is_error=True))
    running.unanswered.clear()
    return facts


def _closing_message(running: Running, finish: Finish) -> list[e.Fact]:
    if running.draft is not None:
        facts = running.draft.finish(finish)
        running.wrote(running.draft)
        return facts
    if running.last is not None:
        at = next((i for i, part in enumerate(running.last.parts) if isinstance(part, Finish)), len(running.last.parts))
        return [e.PartSaid(running.last.id, at, finish, at=running.workspace.means.now())]
    message = running.new_message(Role.ASSISTANT, finish)
    return [e.MessageSaid(message)]


def _finish_part(running: Running, ending: Ending) -> Finish:
    seconds = running.workspace.means.now() // 1000
    match ending:
        case Ending(Outcome.CANCELLED):
            return Finish(FinishReason.CANCELED, seconds, CANCELED)
        case Ending(Outcome.INTERRUPTED):
            return Finish(FinishReason.CANCELED, seconds, "Interrupted", "The server stopped during this run.")
        case _:
            message = ending.failure.message if ending.failure else ""
            return Finish(FinishReason.ERROR, seconds, ending.title or "Error", message)
