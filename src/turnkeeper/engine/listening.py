"""Listening to a model: its stream becomes a message, with patience measured in meaning, not in bytes.

Watchers hear fragments at once; finished parts are durable when the next chunk is asked for; what is between is
written behind every few milliseconds. A model that stops saying anything is given up on, and so is a stream that
ends without its end.
"""

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing

import anyio

from turnkeeper.engine.draft import Draft
from turnkeeper.engine.letters import Letters
from turnkeeper.engine.means import Knobs
from turnkeeper.engine.running import Running
from turnkeeper.models.model import (
    Chunk,
    Finished,
    Model,
    ModelTrouble,
    Question,
    ReasoningSaid,
    TextSaid,
    Trouble,
    UsageSaid,
)
from turnkeeper.protocol.problems import StoreUnavailable

log = logging.getLogger(__name__)

WRITE_BEHIND_SECONDS_MAX = 2.0


class Patience:
    """How long the model may stay silent, from now."""

    def __init__(self, knobs: Knobs) -> None:
        self._knobs = knobs
        self.seconds = knobs.first_token_seconds
        self.deadline = anyio.current_time() + self.seconds

    def heard(self, chunk: Chunk) -> None:
        """Anything the model says of itself; counts and empty words are no sign that it goes on."""
        if isinstance(chunk, UsageSaid) or (isinstance(chunk, TextSaid | ReasoningSaid) and not chunk.text):
            return
        reasoning = isinstance(chunk, ReasoningSaid)
        self.seconds = self._knobs.reasoning_seconds if reasoning else self._knobs.between_events_seconds
        self.deadline = anyio.current_time() + self.seconds


async def listen(running: Running, model: Model, question: Question, draft: Draft) -> None:
    """Hear the whole answer into `draft`; raises `ModelTrouble` if it does not come to its end."""
    knobs = running.workspace.means.knobs
    patience = Patience(knobs)
    failure: list[Exception] = []
    stream = anyio.CancelScope()
    async with anyio.create_task_group() as around:
        with stream:
            around.start_soon(_lose_patience, patience, stream)
            around.start_soon(_write_behind, running, draft)
            try:
                await _hear(running, model.stream(question), draft, patience)
            except Exception as error:  # noqa: BLE001 - kept from the task group, which would wrap it
                failure.append(error)
        around.cancel_scope.cancel()
    if stream.cancelled_caught:
        raise ModelTrouble(Trouble.SILENT, f"{model.info.id} said nothing for {patience.seconds:g} seconds.")
    if failure:
        raise failure[0]


async def _hear(running: Running, stream: AsyncGenerator[Chunk, None], draft: Draft, patience: Patience) -> None:
    letters = Letters()
    async with aclosing(stream) as chunks:
        async for said in chunks:
            chunk = letters.heard(said)
            patience.heard(said)
            facts = draft.hear(chunk)
            if isinstance(chunk, Finished):
                # What it closes is told with why the answer ended and what it cost: one writing instead of two.
                return
            if facts:
                await running.say(*facts)
                draft.told()
    raise ModelTrouble(Trouble.CUT, "The answer stopped before its end.")


async def _lose_patience(patience: Patience, stream: anyio.CancelScope) -> None:
    while True:
        left_seconds = patience.deadline - anyio.current_time()
        if left_seconds <= 0:
            stream.cancel()
            return
        await anyio.sleep(left_seconds)


async def _write_behind(running: Running, draft: Draft) -> None:
    """What a crash may cost is bounded by this pause, and by how much may be said in it.

    A disk that cannot take it now costs the answer nothing: it is tried again, a little later each time.
    """
    means = running.workspace.means
    pause_seconds = means.knobs.write_behind_seconds
    while True:
        await draft.begun.wait()
        with anyio.move_on_after(pause_seconds):
            await draft.full.wait()
        if (piece := draft.unsaved()) is None:
            continue
        try:
            await means.store.write_behind([piece])
        except StoreUnavailable as problem:
            log.warning("not written behind", extra={"run_id": running.run.run_id, "problem": problem.message})
            pause_seconds = min(2 * pause_seconds, WRITE_BEHIND_SECONDS_MAX)
            await anyio.sleep(pause_seconds)
        else:
            draft.saved(piece)
            pause_seconds = means.knobs.write_behind_seconds
