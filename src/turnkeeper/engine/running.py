"""A run while it goes on: its own cancel scope, and what it may say.

It is made when its run starts and gone when its run has ended; `engine/ending.py` takes it from one to the other.
"""

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio

from turnkeeper.core import commands as told
from turnkeeper.core.usage import Counters, priced
from turnkeeper.engine.draft import Draft
from turnkeeper.engine.prices import prices
from turnkeeper.engine.session import LiveSession
from turnkeeper.models.model import ModelInfo
from turnkeeper.protocol import events as e
from turnkeeper.protocol.ids import MessageId, RequestId, SessionId, ToolCallId
from turnkeeper.protocol.messages import STOPPED, Finish, Message, Role, ToolResult
from turnkeeper.protocol.problems import Problem, StoreGone, StoreReadOnly, StoreUnavailable
from turnkeeper.protocol.runs import Failure, Outcome, RunKind, Usage
from turnkeeper.protocol.sessions import Effect, EffectState, Todo

if TYPE_CHECKING:
    from turnkeeper.engine.workspace import Workspace

log = logging.getLogger(__name__)

RETRY_FIRST_SECONDS = 0.05
RETRY_MAX_SECONDS = 2.0
NOBODY = ModelInfo(id="", provider="")


class Stopped(Exception):
    """A limit, a loop or a policy ended the run."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class RunOver(Exception):
    """The run has ended elsewhere: what it says is no longer heard."""


@dataclass(slots=True)
class Settlement:
    """What came of a request, once `done` rings."""

    done: anyio.Event = field(default_factory=anyio.Event)
    event: e.RequestAnswered | e.RequestWithdrawn | None = None


@dataclass(slots=True, eq=False)
class Running:
    """Owns what one run knows of itself while it goes on."""

    workspace: "Workspace"
    session: LiveSession
    run: e.RunAccepted
    above: "Running | None" = None
    """The run whose sub-agent this is: it pays for what is spent here."""
    began: float = field(default_factory=anyio.current_time)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    title_scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    stopped_as: Outcome | None = None
    usage: Usage = field(default_factory=Usage)
    """What was spent so far, by its sub-agents too."""
    steps: int = 0
    info: ModelInfo = NOBODY
    """The model that was chosen last, and when: credentials fetched since then are fresh enough."""
    chosen_at: float = 0.0
    todos: tuple[Todo, ...] = ()
    """As they stood when the run began: what changed since is in the conversation, and the prompt's cache holds."""
    last: Message | None = None
    """The latest answer of the model, as far as it is known."""
    draft: Draft | None = None
    unanswered: dict[ToolCallId, str] = field(default_factory=dict[ToolCallId, str])
    """Calls of the latest answer that have no result yet, by id, with their tool's name."""
    begun: dict[ToolCallId, Effect] = field(default_factory=dict[ToolCallId, Effect])
    """Calls that have begun to act and have no result yet."""
    unsaid: list[tuple[e.Fact, ...]] = field(default_factory=list[tuple[e.Fact, ...]])
    """What could not be written when it was said: it is written with the ending."""
    asked: dict[RequestId, "Settlement"] = field(default_factory=dict[RequestId, "Settlement"])
    lineage: tuple[SessionId, ...] = ()
    """Its session and that session's parents, once somebody asked."""
    denied: list[str] = field(default_factory=list[str])
    """What it was not allowed to do, as rules are written."""

    @property
    def elapsed_seconds(self) -> float:
        return anyio.current_time() - self.began

    def stop(self, outcome: Outcome) -> None:
        self.stopped_as = self.stopped_as or outcome
        self.title_scope.cancel()
        self.scope.cancel()

    def settle(self, event: e.RequestAnswered | e.RequestWithdrawn) -> None:
        if settlement := self.asked.pop(event.request_id, None):
            settlement.event = event
            settlement.done.set()

    # The answer being written

    def write(self, draft: Draft) -> None:
        """An answer is being written."""
        self.draft = draft
        self.workspace.drafts[draft.id] = draft

    def wrote(self, draft: Draft) -> None:
        """The answer is whole: its calls now want results. A summary is beside the conversation."""
        self.put_away(draft)
        message = draft.message()
        if message.is_summary and self.run.run_kind is RunKind.PROMPT:
            return
        self.last = message
        self.unanswered = {call.id: call.name for call in message.tool_calls if not call.provider_executed}

    def put_away(self, draft: Draft) -> None:
        """The answer is written no further."""
        self.workspace.drafts.pop(draft.id, None)
        self.draft = None

    async def take_back(self, draft: Draft, *facts: e.Fact) -> None:
        """What was heard of an answer that broke off is void, though it has to be paid for."""
        paid = self.paid(draft)
        await self.say(draft.reset(), *paid, *facts)
        draft.told()
        await self.bear_above(paid)

    def paid(self, draft: Draft) -> list[e.UsageCounted]:
        """What the provider has counted of an answer that never came to its end."""
        if draft.usage == Usage():
            return []
        spent = priced(draft.usage, prices(self.info))
        self.usage += spent
        return [e.UsageCounted(spent, self.run.run_id)]

    # What it may say

    async def tell(self, command: told.Command) -> list[e.Event]:
        return await self.session.tell(command)

    async def say(self, *facts: e.Fact) -> None:
        """Write facts, waiting a while for a disk that cannot take them now; raises `RunOver` when this run may no
        longer speak. What is given up on is written with the ending."""
        give_up_at = anyio.current_time() + self.workspace.means.knobs.store_seconds
        wait_seconds = RETRY_FIRST_SECONDS
        while True:
            try:
                return await self.say_once(*facts)
            except StoreUnavailable as problem:
                self.unsaid.append(facts)
                if isinstance(problem, StoreReadOnly | StoreGone) or anyio.current_time() + wait_seconds > give_up_at:
                    raise
                log.warning("a run waits for its disk", extra={"run_id": self.run.run_id, "problem": problem.message})
            await anyio.sleep(wait_seconds)
            self.unsaid.remove(facts)
            wait_seconds = min(wait_seconds * 2, RETRY_MAX_SECONDS)

    async def say_once(self, *facts: e.Fact) -> None:
        if facts and not await self.session.tell(told.Say(self.run.run_id, facts)):
            raise RunOver

    async def count(self, spent: Usage, *facts: e.Fact, counters: Counters) -> None:
        """What a question led to and what it cost: told together, and to whoever sent this run."""
        counted = e.UsageCounted(spent, self.run.run_id, counters.prompt_tokens, counters.completion_tokens)
        self.usage += spent
        await self.say(*facts, counted)
        await self.bear_above([counted])

    async def bear_above(self, counted: list[e.UsageCounted]) -> None:
        """What a sub-agent spends is its parent's at once, on disk too: whatever becomes of either."""
        above = self.above
        if above is None or not counted:
            return
        borne = [e.UsageCounted(one.usage, above.run.run_id) for one in counted]
        above.usage = sum((one.usage for one in borne), above.usage)
        try:
            await self.workspace.note(above.session.id, *borne)
        except Problem as problem:
            log.warning("not told to the parent", extra={"run_id": self.run.run_id, "problem": problem.message})
        await above.bear_above(borne)

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
        begun = self.begun.pop(result.tool_call_id, None)
        over = Effect(
            tool_call_id=result.tool_call_id,
            session_id=self.session.id,
            run_id=self.run.run_id,
            tool=result.name,
            state=EffectState.FINISHED,
            subject=begun.subject if begun else "",
            at=self.workspace.means.now(),
            started_at=begun.started_at if begun else 0,
        )
        return e.MessageSaid(self.new_message(Role.TOOL, result)), e.EffectNoted(over)
