"""Summaries: a conversation becomes one message, and goes on from there.

Asked for by a person (a run of its own kind), or by a run whose context is full, by our count or by the provider's
word. A conversation too long even to be summarised is summarised from its later part. Cancelled, a summary leaves
nothing behind; failed, it says why.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from turnkeeper.core import history, usage
from turnkeeper.core.prompt import summary_request
from turnkeeper.core.rendering import Sight
from turnkeeper.core.user_message import attached
from turnkeeper.engine.draft import Draft
from turnkeeper.engine.prices import prices
from turnkeeper.engine.querying import choose, query
from turnkeeper.engine.running import Running
from turnkeeper.engine.writing import begin_answer, session_of
from turnkeeper.models.model import Model, ModelTrouble, Purpose, Question, Trouble
from turnkeeper.protocol import events as e
from turnkeeper.protocol.messages import STOPPED, Finish, FinishReason, Message, Role, Text
from turnkeeper.protocol.sessions import SessionInfo

SHORTENED_TIMES_MAX = 4


async def summarise(running: Running) -> None:
    """A run of its own kind: the conversation so far becomes one message."""
    session = await session_of(running)
    messages = await running.workspace.means.store.messages(session.id)
    if any(message.parts for message in messages):
        await _summarise(running, await choose(running), session, messages)


async def compact(running: Running, model: Model, session: SessionInfo, messages: Sequence[Message]) -> None:
    """Summarise what was said, then go on with the task it was said for, and with what was added to it since."""
    await _summarise(running, model, session, messages)
    prompt = running.run.prompt
    text = history.continuation(prompt.text, added=history.added_to(messages, running.run.run_id))
    parts = (Text(text), *attached(prompt), STOPPED)
    message = replace(running.new_message(Role.USER), parts=parts, author=running.run.by)
    await running.say(e.MessageSaid(message))


async def _summarise(running: Running, model: Model, session: SessionInfo, messages: Sequence[Message]) -> None:
    means = running.workspace.means
    system = await means.prompts.system(
        "summary", model=model.info.id, provider=model.info.provider, workdir=means.path
    )
    sight = Sight(images=model.info.supports_images, media_in_tool_results=model.info.media_in_tool_results)
    shown = history.replay(messages, sight=sight, summary_id=session.summary_message_id)
    request = replace(running.new_message(Role.USER), parts=(Text(summary_request(session.todos)),))
    draft = await begin_answer(running, model, is_summary=True)
    for shortened in range(SHORTENED_TIMES_MAX + 1):
        question = Question(system=system, messages=(*shown, request), session_id=session.id, purpose=Purpose.SUMMARY)
        try:
            model = await query(running, model, question, draft)
        except ModelTrouble as trouble:
            shorter = history.shortened(shown)
            if trouble.trouble is not Trouble.CONTEXT_FULL or shortened == SHORTENED_TIMES_MAX or shorter == shown:
                raise
            shown = shorter
            await running.take_back(draft)
        else:
            await _finish(running, model, question, draft)
            return


async def _finish(running: Running, model: Model, question: Question, draft: Draft) -> None:
    spent = usage.known_or_estimated(draft.usage, question.messages, draft.message())
    spent = usage.priced(spent, prices(model.info))
    counters = usage.counters_after_summary(spent, draft.message())
    facts = draft.finish(Finish(FinishReason.END_TURN, running.workspace.means.now() // 1000))
    running.wrote(draft)
    await running.count(spent, *facts, e.SummarySet(draft.id), counters=counters)
    running.steps += 1
