"""A run's life from started to ended, and its one exit.

    with scope:            a person's cancel, a lost session and a closing workspace all end here
        take the turn      engine/turn.py, within the time the run has
    close what is open     the message, and the calls without a result
    Finish                 told until it is written; the machine ends a run once, whoever tells it twice

Whatever happens inside, the exit is taken. If even the exit cannot be written, because the process is killed or the
workspace is taken away, recovery ends the run on the next start.
"""

import logging
from dataclasses import dataclass

import anyio
import msgspec
from msgspec.structs import replace

from turnkeeper.core import budget
from turnkeeper.core import commands as told
from turnkeeper.core.session import STOPPED_BY_SERVER
from turnkeeper.engine.failing import failure_by, failure_of
from turnkeeper.engine.running import RETRY_FIRST_SECONDS, RETRY_MAX_SECONDS, Running, RunOver, Stopped
from turnkeeper.engine.spending import limits, seconds_left
from turnkeeper.engine.summarising import summarise
from turnkeeper.engine.telling import tell_hooks
from turnkeeper.engine.turn import take_turn
from turnkeeper.engine.using import NOT_USED
from turnkeeper.models.model import ModelTrouble
from turnkeeper.protocol import events as e
from turnkeeper.protocol.ids import NO_MESSAGE
from turnkeeper.protocol.messages import Finish, FinishReason, Role, ToolResult
from turnkeeper.protocol.problems import (
    Problem,
    SessionMoved,
    SessionNotFound,
    StoreGone,
    StoreReadOnly,
    StoreUnavailable,
    WorkspaceClosing,
)
from turnkeeper.protocol.runs import Cause, Failure, Outcome, RunKind

log = logging.getLogger(__name__)

DENIED_MAX = 100

CANCELED = "User canceled request"
UNTELLABLE = "What this run had to say could not be kept: see the server's log."
SUMMARY_FAILED = "Summarization Error"
NO_RESULT = {
    Outcome.CANCELLED: "Error: user cancelled assistant tool calling",
    Outcome.INTERRUPTED: "Error: the server stopped before this tool had finished",
    Outcome.FAILED: "There was an error while executing the tool",
    Outcome.COMPLETED: NOT_USED,
}
TITLES = {
    Cause.LIMIT: "Limit Reached",
    Cause.POLICY: "Refused",
    Cause.SERVER: "Server Error",
    Cause.USER: "Request Error",
}
"""What a failure is headed with, where its provider has no heading of its own."""


@dataclass(frozen=True, slots=True)
class Ending:
    outcome: Outcome
    failure: Failure | None = None


LESS = Ending(Outcome.FAILED, Failure(Cause.SERVER, UNTELLABLE))


async def perform(running: Running) -> None:
    """Take the run from started to ended."""
    ending = Ending(Outcome.INTERRUPTED)
    try:
        with running.scope:
            ending = await _guarded(running)
        if running.scope.cancelled_caught:
            ending = Ending(running.stopped_as or Outcome.CANCELLED)
    finally:
        # A closing workspace grants the exit this long; after that, recovery takes it on the next start.
        facts = [fact for facts in running.unsaid for fact in facts] + _closing_facts(running, ending)
        with anyio.move_on_after(running.workspace.means.knobs.stop_seconds, shield=True) as grace:
            await _end(running, ending, facts)
        if grace.cancelled_caught:
            await _end(running, ending, facts)


async def _guarded(running: Running) -> Ending:
    try:
        with anyio.move_on_after(seconds_left(running)) as time:
            await (summarise if running.run.run_kind is RunKind.SUMMARY else take_turn)(running)
    except Stopped as stopped:
        return Ending(Outcome.FAILED, stopped.failure)
    except RunOver:
        return Ending(Outcome.INTERRUPTED)
    except ModelTrouble as trouble:
        return Ending(Outcome.FAILED, failure_of(trouble))
    except Problem as problem:
        return Ending(Outcome.FAILED, failure_by(problem))
    except Exception as error:  # models and tools are strangers' code; a run must end whatever they do
        log.exception("run failed", extra={"run_id": running.run.run_id})
        return Ending(Outcome.FAILED, Failure(Cause.SERVER, str(error) or type(error).__name__))
    if time.cancelled_caught:
        return Ending(
            Outcome.FAILED, budget.out_of_time(limits(running).seconds_max or running.elapsed_seconds).failure
        )
    return Ending(Outcome.COMPLETED)


async def _end(running: Running, ending: Ending, facts: list[e.Fact]) -> None:
    """Close what is open and tell the ending until it is written or somebody else has written it."""
    wait_seconds = RETRY_FIRST_SECONDS
    while True:
        try:
            if facts:
                await _close_what_is_open(running, facts)
            await running.tell(_finish(running, ending))
        except (RunOver, SessionMoved, SessionNotFound, WorkspaceClosing, StoreReadOnly, StoreGone):
            break
        except StoreUnavailable:
            log.warning("the ending of a run cannot be written yet", extra={"run_id": running.run.run_id})
            await anyio.sleep(wait_seconds)
            wait_seconds = min(wait_seconds * 2, RETRY_MAX_SECONDS)
        except Exception:  # what a stranger made us say must not keep the run from ending
            if not facts and ending == LESS:
                raise
            log.exception("an ending cannot be told as it is", extra={"run_id": running.run.run_id})
            ending = _without_what_cannot_be_kept(running, ending, facts)
        else:
            break
    _tell_hooks(running, ending)
    outcome = ending.outcome.value
    log.info("run ended", extra={"run_id": running.run.run_id, "outcome": outcome, "steps": running.steps})


def _without_what_cannot_be_kept(running: Running, ending: Ending, facts: list[e.Fact]) -> Ending:
    """First what is open is closed with less; then the ending itself says less."""
    if facts:
        kept = [fact for fact in facts if _can_be_kept(fact)]
        facts[:] = kept if len(kept) < len(facts) else []
        return ending
    running.last = None
    return LESS


def _can_be_kept(fact: e.Fact) -> bool:
    try:
        msgspec.json.encode(fact)
    except Exception:  # noqa: BLE001 - whatever it is, it cannot
        return False
    return True


async def _close_what_is_open(running: Running, facts: list[e.Fact]) -> None:
    paid = [fact for fact in facts if isinstance(fact, e.UsageCounted)]
    try:
        await running.say_once(*facts)
    except SessionNotFound:
        log.info("the session of a run was forgotten", extra={"run_id": running.run.run_id})
    facts.clear()
    await running.bear_above(paid)


def _finish(running: Running, ending: Ending) -> told.Finish:
    last = running.last
    return told.Finish(
        run_id=running.run.run_id,
        outcome=ending.outcome,
        message_id=last.id if last else NO_MESSAGE,
        text=last.text if last else "",
        failure=ending.failure or (STOPPED_BY_SERVER if ending.outcome is Outcome.INTERRUPTED else None),
        usage=running.usage,
        steps=running.steps,
        denied=tuple(dict.fromkeys(running.denied))[:DENIED_MAX],
    )


def _closing_facts(running: Running, ending: Ending) -> list[e.Fact]:
    """No message without a finish, and no call without a result, whatever ended the run."""
    facts = [] if ending.outcome is Outcome.COMPLETED else _closing_message(running, _finish_part(running, ending))
    for call_id, name in running.unanswered.items():
        facts += running.answered(ToolResult(call_id, name, NO_RESULT[ending.outcome], is_error=True))
    running.unanswered.clear()
    return facts


def _closing_message(running: Running, finish: Finish) -> list[e.Fact]:
    draft = running.draft
    if draft is not None:
        paid = running.paid(draft)
        if draft.message().is_summary and finish.reason is FinishReason.CANCELED:
            # Half a summary would be taken for a whole one by whoever reads it.
            running.put_away(draft)
            return [e.MessageDeleted(draft.id), *paid, *_closing_message(running, finish)]
        if draft.message().is_summary:
            finish = replace(finish, message=SUMMARY_FAILED)
        facts = draft.finish(finish)
        running.wrote(draft)
        return [*facts, *paid]
    if running.last is not None:
        at = next((i for i, part in enumerate(running.last.parts) if isinstance(part, Finish)), len(running.last.parts))
        return [e.PartSaid(running.last.id, at, finish, at=running.workspace.means.now())]
    if running.run.run_kind is RunKind.SUMMARY:
        return []
    running.last = running.new_message(Role.ASSISTANT, finish, model=running.info.id, provider=running.info.provider)
    return [e.MessageSaid(running.last)]


def _finish_part(running: Running, ending: Ending) -> Finish:
    seconds = running.workspace.means.now() // 1000
    match ending:
        case Ending(Outcome.CANCELLED):
            return Finish(FinishReason.CANCELED, seconds, CANCELED)
        case Ending(Outcome.INTERRUPTED):
            return Finish(FinishReason.CANCELED, seconds, "Interrupted", "The server stopped during this run.")
        case Ending(failure=Failure() as failure):
            heading = failure.details or TITLES.get(failure.cause, "Error")
            return Finish(FinishReason.ERROR, seconds, heading, failure.message)
        case _:
            return Finish(FinishReason.ERROR, seconds, "Error")


def _tell_hooks(running: Running, ending: Ending) -> None:
    """The user's programs hear of the ending. They end with the workspace, and keep nothing waiting."""
    if running.run.parent:
        return
    payload = {
        "session_id": running.session.id,
        "run_id": running.run.run_id,
        "outcome": ending.outcome.value,
        "text": running.last.text if running.last else "",
    }
    tell_hooks(running, "RunComplete", payload)
