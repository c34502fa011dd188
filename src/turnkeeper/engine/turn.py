"""A turn: steps, until the conversation wants nothing more.

    read the conversation -> next_move
        ask the model   -> with what waits and may join: engine/querying.py, within the budget;
                           engine/summarising.py where the context is full
        use tools       -> engine/using.py
        done

The conversation is the only state of a step, so going on after a retry, a fold or a summary is the same question.
"""

from dataclasses import dataclass

from msgspec.structs import replace

from turnkeeper.core import budget, history, usage
from turnkeeper.core import commands as told
from turnkeeper.core.rendering import Sight
from turnkeeper.core.step import AskModel, Done, UseTools, next_move
from turnkeeper.engine.draft import Draft
from turnkeeper.engine.prices import prices
from turnkeeper.engine.querying import choose, query
from turnkeeper.engine.running import Running, Stopped
from turnkeeper.engine.spending import advice, room, spent_by
from turnkeeper.engine.summarising import compact
from turnkeeper.engine.title import begin_title
from turnkeeper.engine.using import leave_unused, specs, use_tools
from turnkeeper.engine.writing import begin_answer, session_of
from turnkeeper.models.model import Model, ModelInfo, ModelTrouble, Question, Trouble
from turnkeeper.protocol import events as e
from turnkeeper.protocol.messages import STOPPED, Finish, FinishReason, Message, Role, Text
from turnkeeper.protocol.runs import Cause, Failure
from turnkeeper.protocol.sessions import SessionInfo

STEPS_OF_PROGRESS = 2
"""Steps after a compaction that show that it made room."""


@dataclass(slots=True)
class Compactions:
    """Owns how often the conversation was summarised without gaining more than a step by it."""

    in_vain: int = 0
    steps_since: int = 0

    def stepped(self) -> None:
        self.steps_since += 1
        if self.steps_since >= STEPS_OF_PROGRESS:
            self.in_vain = 0

    def compacted(self) -> None:
        self.in_vain += 1
        self.steps_since = 0


async def take_turn(running: Running) -> None:
    """Everything between the prompt and its answer."""
    means = running.workspace.means
    begin_title(running)
    await _tell_hooks(running)
    compactions = Compactions()
    running.todos = (await session_of(running)).todos
    while True:
        messages = await means.store.messages(running.session.id)
        match next_move(messages):
            case Done():
                return
            case UseTools(calls):
                await use_tools(running, calls)
            case AskModel():
                await leave_unused(running)
                if await _fold(running):
                    messages = await means.store.messages(running.session.id)
                await _ask(running, await session_of(running), messages, compactions)


async def _tell_hooks(running: Running) -> None:
    """The user's programs hear of the prompt; they may refuse it, or add what the model should know with it."""
    means = running.workspace.means
    if means.hooks is None or running.run.parent:
        return
    asked = await means.store.user_messages(running.session.id)
    verdict = await means.hooks.prompt_submitted(
        running.run.prompt.text, session_id=running.session.id, first=len(asked) <= 1
    )
    if verdict.refusal:
        raise Stopped(Failure(Cause.POLICY, verdict.refusal))
    if verdict.context:
        told_too = f"<hook_context>\n{verdict.context}\n</hook_context>"
        message = replace(running.new_message(Role.USER), parts=(Text(told_too), STOPPED))
        await running.say(e.MessageSaid(message))


async def _fold(running: Running) -> bool:
    """Take in what waits and may join. Only a question that is asked anyway is a reason to: an answer that is over
    is its prompt's own, and what comes after it is a run of its own."""
    state = running.session.state
    if not state or not any(run.foldable for run in state.queue):
        return False
    return bool(await running.tell(told.Fold(running.run.run_id)))


async def _ask(running: Running, session: SessionInfo, messages: list[Message], compactions: Compactions) -> None:
    """Ask, if the budget allows it; summarise first, where the context is full by our count or by the provider's."""
    model = await choose(running)
    advised = await advice(running, model.info, session, messages, compactions.in_vain)
    if isinstance(advised, budget.GoOn):
        if await _answered(running, model, session, messages):
            compactions.stepped()
            return
        spent = await spent_by(running, model.info, session, compactions.in_vain)
        advised = budget.refused_as_full(spent, room(running, model.info))
    if isinstance(advised, budget.Stop):
        raise Stopped(advised.failure)
    compactions.compacted()
    await compact(running, model, session, messages)


async def _answered(running: Running, model: Model, session: SessionInfo, messages: list[Message]) -> bool:
    """Ask until there is an answer. False: the conversation does not fit, and nothing was answered."""
    question = await _question(running, model.info, session, messages)
    draft = await begin_answer(running, model)
    try:
        model = await query(running, model, question, draft)
    except ModelTrouble as trouble:
        if trouble.trouble is not Trouble.CONTEXT_FULL:
            raise
        running.put_away(draft)
        await running.say(e.MessageDeleted(draft.id))
        return False
    await _finish(running, model, question, draft)
    return True


async def _question(running: Running, info: ModelInfo, session: SessionInfo, messages: list[Message]) -> Question:
    """Tools and prompts as they are now, and the conversation as this model can be shown it."""
    means = running.workspace.means
    options = running.run.options
    tools = means.toolbox.tools(options.agent, interactive=options.interactive)
    system = await means.prompts.system(options.agent, model=info.id, provider=info.provider, workdir=means.path)
    shown = history.replay(
        messages,
        sight=sight(info),
        summary_id=session.summary_message_id,
        todos=running.todos if any(tool.name == "todos" for tool in tools) else None,
    )
    return Question(system=system, messages=shown, tools=specs(tools), session_id=session.id)


def sight(info: ModelInfo) -> Sight:
    return Sight(images=info.supports_images, media_in_tool_results=info.media_in_tool_results)


async def _finish(running: Running, model: Model, question: Question, draft: Draft) -> None:
    """The answer, why it ended and what it cost: told together."""
    system = tuple(Message(draft.id, running.session.id, Role.SYSTEM, (Text(text),)) for text in question.system)
    spent = usage.known_or_estimated(draft.usage, (*system, *question.messages), draft.message())
    spent = usage.priced(spent, prices(model.info))
    reason = draft.reason
    if reason is FinishReason.END_TURN and draft.message().tool_calls:
        reason = FinishReason.TOOL_USE
    facts = draft.finish(Finish(reason, running.workspace.means.now() // 1000))
    running.wrote(draft)
    await running.count(spent, *facts, counters=usage.counters(spent))
    running.steps += 1
