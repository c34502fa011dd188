"""Asking a model until it has answered: again where that can help, with fresh credentials, after a person signed in.

    busy, cut        again after a pause that doubles, or as long as the provider asks for
    silent           again once, at once
    unreachable      again for a few seconds: somebody may be starting it
    unauthorised     fresh credentials; else a person may sign in, for so long
    anything else    is not asked again

Whatever was heard of an answer that broke off is taken back before the next attempt, and told to be; it is paid for
all the same. No tool is used before an answer is whole, so an attempt repeats nothing but a question.
"""

import logging
from dataclasses import dataclass

import anyio
from msgspec.structs import replace

from turnkeeper.engine.draft import Draft
from turnkeeper.engine.listening import listen
from turnkeeper.engine.means import Knobs
from turnkeeper.engine.running import Running, RunOver
from turnkeeper.models.model import Model, ModelTrouble, Question, Trouble
from turnkeeper.protocol import events as e
from turnkeeper.protocol.problems import Problem

log = logging.getLogger(__name__)

SILENT_RETRIES_MAX = 1
UNREACHABLE_FIRST_SECONDS = 0.5
UNREACHABLE_PAUSE_SECONDS_MAX = 4.0
REFRESH_QUIET_SECONDS = 1.0
"""Fresh credentials that come sooner than this are nobody's concern."""
RETRY_AFTER_SECONDS_MAX = 60.0
"""A provider that asks for more is not waited for, unless our own pause would have been as long."""


@dataclass(slots=True)
class Attempts:
    """Owns how often one question was asked, and since when."""

    began: float
    failed: int = 0
    refreshed: bool = False
    signed_in: bool = False


async def query(running: Running, model: Model, question: Question, draft: Draft) -> Model:
    """Hear a whole answer into `draft`; returns the model that gave it, and raises `ModelTrouble` if none did."""
    attempts = Attempts(anyio.current_time())
    while True:
        try:
            await listen(running, model, question, draft)
        except ModelTrouble as trouble:
            # What was heard stays to be read if nothing comes after it.
            if trouble.trouble is Trouble.AUTH:
                await _authorise(running, draft, trouble, attempts)
                await running.take_back(draft)
                model = await choose(running)
                continue
            elapsed_seconds = anyio.current_time() - attempts.began
            pause_seconds = retry_pause(trouble, attempts.failed, elapsed_seconds, running.workspace.means.knobs)
            if pause_seconds is None:
                raise
            attempts.failed += 1
            await _pause(running, draft, trouble, pause_seconds)
        else:
            return model


async def choose(running: Running) -> Model:
    """The model as it is now: whoever signs in or chooses another is heard at the next question."""
    running.chosen_at = anyio.current_time()
    model = await running.workspace.means.models.choose("large", running.run.options.large_model)
    running.info = model.info
    return model


async def _pause(running: Running, draft: Draft, trouble: ModelTrouble, seconds: float) -> None:
    log.info("asking again", extra={"run_id": running.run.run_id, "in_seconds": seconds, "trouble": trouble.trouble})
    provider = running.info.provider
    waiting = e.RunWaiting(running.run.run_id, e.Delay.RETRY, seconds, trouble.message, provider)
    await running.take_back(draft, waiting)
    draft.postpone(waiting)
    await anyio.sleep(seconds)


def retry_pause(trouble: ModelTrouble, failed: int, elapsed_seconds: float, knobs: Knobs) -> float | None:
    """How long to wait before asking again; None when asking again cannot help, or not in the time there is."""
    backoff = knobs.retry_first_seconds * knobs.retry_factor**failed
    match trouble.trouble:
        case Trouble.BUSY | Trouble.CUT if failed < knobs.retries_max:
            asked = trouble.retry_after_seconds
            pause = asked if asked is not None and 0 < asked < max(RETRY_AFTER_SECONDS_MAX, backoff) else backoff
            return pause if elapsed_seconds + pause <= knobs.retry_total_seconds else None
        case Trouble.SILENT if failed < SILENT_RETRIES_MAX:
            return 0.0
        case Trouble.UNREACHABLE:
            pause = min(UNREACHABLE_FIRST_SECONDS * 2**failed, UNREACHABLE_PAUSE_SECONDS_MAX)
            return pause if elapsed_seconds + pause < knobs.connect_seconds else None
        case _:
            return None


async def _authorise(running: Running, draft: Draft, trouble: ModelTrouble, attempts: Attempts) -> None:
    """Return when it makes sense to ask again; raises the trouble when it does not."""
    models, provider = running.workspace.means.models, running.info.provider
    if not attempts.refreshed:
        attempts.refreshed = True
        if await _refreshed(running, draft, provider):
            return
    if attempts.signed_in or not running.run.options.interactive or not models.can_sign_in(provider):
        raise trouble
    attempts.signed_in = True
    seconds = running.workspace.means.knobs.sign_in_seconds
    said = f"{provider} no longer accepts the login: sign in again."
    waiting = e.RunWaiting(running.run.run_id, e.Delay.SIGN_IN, seconds, said, provider)
    await running.say(draft.postpone(waiting))
    with anyio.move_on_after(seconds):
        await models.signed_in(provider, since=running.chosen_at)
        return
    raise ModelTrouble(
        Trouble.AUTH, f"Nobody signed in to {provider} within {seconds:g} seconds", title=trouble.title, status=401
    )


async def _refreshed(running: Running, draft: Draft, provider: str) -> bool:
    """Whether there are fresh credentials. If that takes a while, everybody sees it: it may be for a person to act."""
    knobs = running.workspace.means.knobs
    fresh: list[bool] = []
    failure: list[Exception] = []

    async def refresh() -> None:
        try:
            fresh.append(await running.workspace.means.models.refresh(provider, since=running.chosen_at))
        except Exception as error:  # noqa: BLE001 - kept from the task group, which would wrap it
            failure.append(error)
        done.set()
        turned.set()

    async def look() -> None:
        pages.append(await running.workspace.means.models.sign_in_page(provider))
        turned.set()

    done, turned, pages = anyio.Event(), anyio.Event(), list[str]()
    async with anyio.create_task_group() as fetching:
        fetching.start_soon(refresh)
        fetching.start_soon(look)
        with anyio.move_on_after(REFRESH_QUIET_SECONDS) as quiet:
            await done.wait()
        said = f"{provider} refused the credentials: fetching fresh ones."
        waiting = e.RunWaiting(running.run.run_id, e.Delay.REFRESH, knobs.sign_in_seconds, said, provider)
        try:
            if quiet.cancelled_caught:
                await running.say(draft.postpone(waiting))
            with anyio.move_on_after(knobs.sign_in_seconds):
                await turned.wait()
                if pages and not done.is_set():
                    waiting = replace(waiting, message=f"{said} Sign in at {pages[0]}")
                    await running.say(draft.postpone(waiting))
                await done.wait()
        except (Problem, RunOver) as over:
            failure.append(over)
        fetching.cancel_scope.cancel()
    if failure:
        raise failure[0]
    return bool(fresh and fresh[0])
