"""A session's title, from its first prompt: by the small model, beside the answer, never over a person's own.

It is bounded in time, ends with its workspace, and is stopped with its run.
"""

import logging

import anyio

from turnkeeper.core import usage
from turnkeeper.core.title import title_of
from turnkeeper.engine.prices import prices
from turnkeeper.engine.running import Running
from turnkeeper.models.model import Finished, Model, ModelTrouble, Question, TextSaid, UsageSaid
from turnkeeper.protocol import events as e
from turnkeeper.protocol.ids import MessageId
from turnkeeper.protocol.messages import FinishReason, Message, Role, Text
from turnkeeper.protocol.problems import Problem
from turnkeeper.protocol.runs import Usage

log = logging.getLogger(__name__)

TITLE_TOKENS_MAX = 40


def begin_title(running: Running) -> None:
    """Start naming the session, if this is its first prompt and nobody has named it."""
    if not running.run.parent:
        running.workspace.tasks.start_soon(_give_title, running)


async def _give_title(running: Running) -> None:
    means = running.workspace.means
    with running.title_scope:
        try:
            session = await means.store.session(running.session.id)
            if session is None or session.parent_id or session.titled_by_person:
                return
            if len([m for m in await means.store.user_messages(session.id) if m.text]) > 1:
                return
            prompt = running.run.prompt.text
            with anyio.move_on_after(means.knobs.title_seconds):
                answer, spent = await _asked(running, prompt)
                await _rename(running, title_of(answer, prompt), spent)
                return
            await _rename(running, title_of("", prompt), Usage())
        except (Problem, ModelTrouble) as problem:
            log.info("no title", extra={"session_id": running.session.id, "problem": str(problem)})
        except Exception:  # a model is a stranger's code; a title is not worth a workspace
            log.exception("title failed", extra={"session_id": running.session.id})


async def _rename(running: Running, title: str, spent: Usage) -> None:
    session = await running.workspace.means.store.session(running.session.id)
    if session is None or session.titled_by_person:
        return
    facts: list[e.Fact] = [e.SessionRenamed(title)]
    if spent != Usage():
        facts.append(e.UsageCounted(spent))
    await running.workspace.note(running.session.id, *facts)


async def _asked(running: Running, prompt: str) -> tuple[str, Usage]:
    """The first answer one of the models gives; empty, when none does."""
    options = running.run.options
    for slot, override in (("small", options.small_model), ("large", options.large_model)):
        try:
            model = await running.workspace.means.models.choose(slot, override)
            answer, spent = await _answered(running, model, prompt)
        except ModelTrouble as trouble:
            log.info("no title from a model", extra={"slot": slot, "trouble": trouble.trouble})
            continue
        if answer.strip():
            return answer, spent
    return "", Usage()


async def _answered(running: Running, model: Model, prompt: str) -> tuple[str, Usage]:
    means = running.workspace.means
    system = await means.prompts.system("title", model=model.info.id, provider=model.info.provider, workdir=means.path)
    asked = Message(
        MessageId(means.new_id()), running.session.id, Role.USER, (Text(f"Generate a title for:\n\n{prompt}"),)
    )
    max_tokens = model.info.default_max_tokens if model.info.can_reason else TITLE_TOKENS_MAX
    text, spent, reason = "", Usage(), FinishReason.UNKNOWN
    stream = model.stream(Question(system, (asked,), max_tokens=max_tokens, session_id=running.session.id))
    try:
        async for chunk in stream:
            match chunk:
                case TextSaid(piece):
                    text += piece
                case UsageSaid(said):
                    spent = said
                case Finished(why):
                    reason = why
                case _:
                    pass
    finally:
        await stream.aclose()
    answer = "" if reason is FinishReason.MAX_TOKENS else text
    return answer, usage.priced(spent, prices(model.info))
