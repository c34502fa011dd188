"""A turn: steps, until the conversation wants nothing more.

    fold what waits and may join -> read the conversation -> next_move
        ask the model   -> engine/listening.py, asked again where that can help
        use tools       -> engine/using.py
        done

The conversation is the only state of a step, so going on after a retry, a fold or a summary is the same question.
"""

import logging

import anyio
from msgspec.structs import replace

from turnkeeper.core import budget, history, usage
from turnkeeper.core import commands as told
from turnkeeper.core.prompt import summary_request
from turnkeeper.core.rendering import Sight
from turnkeeper.core.step import AskModel, Done, UseTools, next_move
from turnkeeper.engine.draft import Draft
from turnkeeper.engine.listening import listen
from turnkeeper.engine.means import Knobs
from turnkeeper.engine.running import Running, Stopped
from turnkeeper.engine.title import begin_title
from turnkeeper.engine.using import specs, use_tools
from turnkeeper.models.model import Model, ModelInfo, ModelTrouble, Question, Trouble
from turnkeeper.protocol import events as e
from turnkeeper.protocol.messages import STOPPED, Finish, FinishReason, Message, Role, Text
from turnkeeper.protocol.problems import SessionNotFound
from turnkeeper.protocol.runs import Cause, Failure, Usage
from turnkeeper.protocol.sessions import SessionInfo

log = logging.getLogger(__name__)

SILENT_RETRIES_MAX = 1


async def take_turn(running: Running) -> None:
    """Everything between the prompt and its answer."""
    means = running.workspace.means
    began = anyio.current_time()
    begin_title(running)
    await _tell_hooks(running)
    compactions = 0
    running.todos = (await _session(running)).todos
    while True:
        await _fold(running)
        session = await _session(running)
        messages = await means.store.messages(session.id)
        match next_move(messages):
            case Done():
                return
            case UseTools(calls):
                await use_tools(running, calls)
            case AskModel():
                model = await means.models.choose("large", running.run.options.large_model)
                spent = _spent(running, session, model.info, anyio.current_time() - began, compactions)
                advice = _advice(running, spent, model.info, messages)
                if isinstance(advice, budget.GoOn):
                    if await _ask(running, model, session, messages):
                        compactions = 0
                        continue
                    advice = budget.compact(spent)
                if isinstance(advice, budget.Stop):
                    raise Stopped(advice.failure)
                compactions += 1
                await _compact(running, model, session, messages)


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


async def _fold(running: Running) -> None:
    state = running.session.state
    if state and any(run.foldable for run in state.queue):
        await running.tell(told.Fold(running.run.run_id))


async def _session(running: Running) -> SessionInfo:
    session = await running.workspace.means.store.session(running.session.id)
    if session is None:
        raise SessionNotFound(running.session.id)
    return session


def _spent(running: Running, session: SessionInfo, model: ModelInfo, seconds: float, compactions: int) -> budget.Spent:
    context_tokens = session.prompt_tokens + session.completion_tokens
    used = running.usage
    return budget.Spent(
        steps=running.steps,
        tokens=usage.prompt_tokens(used) + used.output_tokens,
        cost=used.cost,
        seconds=seconds,
        context_tokens=context_tokens,
        next_tokens=context_tokens,
        next_cost=usage.cost(Usage(cache_read_tokens=context_tokens), prices(model)),
        compactions=compactions,
    )


def _advice(running: Running, spent: budget.Spent, model: ModelInfo, messages: list[Message]) -> budget.Advice:
    room = budget.Room(model.context_window, compact=running.workspace.means.knobs.auto_summarize)
    own = [message for message in messages if message.run_id == running.run.run_id]
    return budget.advise(running.run.options, spent, room, own)


async def _ask(running: Running, model: Model, session: SessionInfo, messages: list[Message]) -> bool:
    """Ask until there is an answer. False: the conversation does not fit, and nothing was answered."""
    means = running.workspace.means
    options = running.run.options
    tools = means.toolbox.tools(options.agent, interactive=options.interactive)
    system = await means.prompts.system(
        options.agent, model=model.info.id, provider=model.info.provider, workdir=means.path
    )
    question = Question(
        system=system,
        messages=history.replay(
            messages,
            sight=_sight(model.info),
            summary_id=session.summary_message_id,
            todos=running.todos if any(tool.name == "todos" for tool in tools) else None,
        ),
        tools=specs(tools),
        session_id=session.id,
    )
    running.sees_images = model.info.supports_images
    draft = await _begin_answer(running, model)
    try:
        model = await _answer(running, model, question, draft)
    except ModelTrouble as trouble:
        if trouble.trouble is not Trouble.CONTEXT_FULL:
            raise
        await running.say(e.MessageDeleted(draft.id))
        running.wrote(draft)
        running.last = None
        return False
    await _finish_answer(running, model, question, draft)
    return True


def _sight(info: ModelInfo) -> Sight:
    return Sight(images=info.supports_images, media_in_tool_results=info.media_in_tool_results)


async def _begin_answer(running: Running, model: Model, *, is_summary: bool = False) -> Draft:
    message = running.new_message(Role.ASSISTANT, model=model.info.id, provider=model.info.provider)
    message = replace(message, is_summary=is_summary)
    await running.say(e.MessageSaid(message))
    means = running.workspace.means
    draft = Draft(
        message,
        whisper=lambda delta: means.broker.whisper(means.id, delta),
        now=means.now,
        unsaved_bytes_max=means.knobs.write_behind_bytes,
    )
    running.write(draft)
    return draft


async def _answer(running: Running, model: Model, question: Question, draft: Draft) -> Model:
    """Hear an answer to its end, asking again where that can help; returns the model that gave it."""
    means = running.workspace.means
    attempt, waited_seconds, refreshed = 0, 0.0, False
    while True:
        try:
            await listen(running, model, question, draft)
        except ModelTrouble as trouble:
            if trouble.trouble is Trouble.AUTH and not refreshed:
                refreshed = True
                if not await means.models.refresh(model.info.provider):
                    raise
                slot_override = running.run.options.large_model
                model = await means.models.choose("large", slot_override)
            else:
                pause_seconds = retry_pause(trouble, attempt, waited_seconds, means.knobs)
                if pause_seconds is None:
                    raise
                attempt += 1
                waited_seconds += pause_seconds
                log.info("asking again", extra={"run_id": running.run.run_id, "in_seconds": pause_seconds})
                await _start_over(running, draft)
                await anyio.sleep(pause_seconds)
                continue
            await _start_over(running, draft)
        else:
            return model


async def _start_over(running: Running, draft: Draft) -> None:
    await running.say(draft.reset())
    draft.told()


def retry_pause(trouble: ModelTrouble, attempt: int, waited_seconds: float, knobs: Knobs) -> float | None:
    """How long to wait before asking again; None when asking again cannot help."""
    backoff = knobs.retry_first_seconds * knobs.retry_factor**attempt
    match trouble.trouble:
        case Trouble.BUSY | Trouble.CUT if attempt < knobs.retries_max:
            asked = trouble.retry_after_seconds
            return asked if asked is not None and 0 < asked < max(60.0, backoff) else backoff
        case Trouble.SILENT if attempt < SILENT_RETRIES_MAX:
            return 0.0
        case Trouble.UNREACHABLE:
            pause = min(0.5 * 2**attempt, 4.0)
            return pause if waited_seconds + pause < knobs.connect_seconds else None
        case _:
            return None


async def _finish_answer(running: Running, model: Model, question: Question, draft: Draft) -> None:
    """The answer, why it ended and what it cost: told together."""
    system = tuple(Message(draft.id, running.session.id, Role.SYSTEM, (Text(text),)) for text in question.system)
    spent = usage.known_or_estimated(draft.usage, (*system, *question.messages), draft.message())
    spent = usage.priced(spent, prices(model.info))
    counted = usage.counters(spent)
    reason = draft.reason
    if reason is FinishReason.END_TURN and draft.message().tool_calls:
        reason = FinishReason.TOOL_USE
    facts = draft.finish(Finish(reason, running.workspace.means.now() // 1000))
    await running.say(
        *facts, e.UsageCounted(spent, running.run.run_id, counted.prompt_tokens, counted.completion_tokens)
    )
    running.wrote(draft)
    running.usage += spent
    running.steps += 1


def prices(info: ModelInfo) -> usage.Prices:
    return usage.Prices(
        input=info.cost_per_1m_in,
        output=info.cost_per_1m_out,
        cache_write=info.cost_per_1m_in_cached,
        cache_read=info.cost_per_1m_out_cached,
        flat_rate=info.flat_rate,
    )


async def _compact(running: Running, model: Model, session: SessionInfo, messages: list[Message]) -> None:
    """Summarise what was said, then go on with the task it was said for."""
    await _summarise(running, model, session, messages)
    prompt = history.continuation(running.run.prompt.text)
    message = replace(running.new_message(Role.USER), parts=(Text(prompt), STOPPED), author=running.run.by)
    await running.say(e.MessageSaid(message))


async def summarise(running: Running) -> None:
    """A run of its own kind: the conversation so far becomes one message."""
    session = await _session(running)
    messages = await running.workspace.means.store.messages(session.id)
    if not any(message.parts for message in messages):
        return
    model = await running.workspace.means.models.choose("large", running.run.options.large_model)
    await _summarise(running, model, session, messages)


async def _summarise(running: Running, model: Model, session: SessionInfo, messages: list[Message]) -> None:
    means = running.workspace.means
    system = await means.prompts.system(
        "summary", model=model.info.id, provider=model.info.provider, workdir=means.path
    )
    replayed = history.replay(messages, sight=_sight(model.info), summary_id=session.summary_message_id)
    request = replace(running.new_message(Role.USER), parts=(Text(summary_request(session.todos)),))
    question = Question(system=system, messages=(*replayed, request), session_id=session.id)
    draft = await _begin_answer(running, model, is_summary=True)
    model = await _answer(running, model, question, draft)
    spent = usage.known_or_estimated(draft.usage, question.messages, draft.message())
    spent = usage.priced(spent, prices(model.info))
    counted = usage.counters_after_summary(spent, draft.message())
    facts = draft.finish(Finish(FinishReason.END_TURN, means.now() // 1000))
    await running.say(
        *facts,
        e.SummarySet(draft.id),
        e.UsageCounted(spent, running.run.run_id, counted.prompt_tokens, counted.completion_tokens),
    )
    running.wrote(draft)
    running.usage += spent
    running.steps += 1
