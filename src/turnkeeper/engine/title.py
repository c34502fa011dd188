"""A session's title, from its first prompt: by the small model, beside the answer, never over a person's own.

It is bounded in time, ends with its workspace, and is stopped with its run; then the next prompt gives one.
"""

import logging

import anyio

from turnkeeper.core import usage
from turnkeeper.core.title import NOBODYS_TITLES, title_of
from turnkeeper.engine.prices import prices
from turnkeeper.engine.running import Running
from turnkeeper.models.model import Finished, Model, ModelTrouble, Purpose, Question, TextSaid, UsageSaid
from turnkeeper.protocol import events as e
from turnkeeper.protocol.ids import MessageId
from turnkeeper.protocol.letters import whole
from turnkeeper.protocol.messages import FinishReason, Message, Role, Text
from turnkeeper.protocol.problems import Problem
from turnkeeper.protocol.runs import Usage

log = logging.getLogger(__name__)

TITLE_TOKENS_MAX = 40


def begin_title(running: Running) -> None:
    """Start naming the session, if nobody has named it and nobody is about to."""
    naming = running.workspace.naming
    if not running.run.parent and running.session.id not in naming:
        naming.add(running.session.id)
        running.workspace.tasks.start_soon(_give_title, running)


async def _give_title(running: Running) -> None:
    with running.title_scope:
        try:
            prompt = running.run.prompt.text.strip()
            if prompt and await _is_unnamed(running):
                await _name(running, prompt)
        except (Problem, ModelTrouble) as problem:
            log.info("no title", extra={"session_id": running.session.id, "problem": str(problem)})
        except Exception:  # a model is a stranger's code; a title is not worth a workspace
            log.exception("title failed", extra={"session_id": running.session.id})
    running.workspace.naming.discard(running.session.id)


async def _is_unnamed(running: Running) -> bool:
    session = await running.workspace.means.store.session(running.session.id)
    return session is not None and session.title in NOBODYS_TITLES and not session.titled_by_person


async def _name(running: Running, prompt: str) -> None:
    """By a model, or, if none has a name for it in time, by the prompt itself."""
    answer, spent = "", Usage()
    with anyio.move_on_after(running.workspace.means.knobs.title_seconds):
        answer, spent = await _asked(running, prompt)
    if await _is_unnamed(running):
        await _rename(running, title_of(answer, prompt), spent)


async def _rename(running: Running, title: str, spent: Usage) -> None:
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
    question = Question(system, (asked,), max_tokens=max_tokens, session_id=running.session.id, purpose=Purpose.TITLE)
    stream = model.stream(question)
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
    answer = "" if reason is FinishReason.MAX_TOKENS else whole(text)
    return answer, usage.priced(spent, prices(model.info))
