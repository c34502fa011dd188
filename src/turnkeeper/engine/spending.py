"""What a run has spent, and whether it may ask once more: its own limits, and those of every run above it.

A sub-agent spends its parent's money: what it spends is the parent's at once, so that no two of them can spend the
same dollar, and none asks when its parent could not.
"""

from turnkeeper.core import budget, usage
from turnkeeper.engine.prices import prices
from turnkeeper.engine.running import Running
from turnkeeper.models.model import ModelInfo
from turnkeeper.protocol.messages import Message
from turnkeeper.protocol.runs import RunOptions, Usage
from turnkeeper.protocol.sessions import SessionInfo

RUNS_COUNTED_MAX = 1_000_000


async def advice(
    running: Running, info: ModelInfo, session: SessionInfo, messages: list[Message], compactions: int
) -> budget.Advice:
    """Asked before every question: go on, compact, or stop."""
    if stop := _exceeded_above(running):
        return stop
    own = [message for message in messages if message.run_id == running.run.run_id]
    spent = await spent_by(running, info, session, compactions)
    return budget.advise(limits(running), spent, room(running, info), own, session=_session_limits(running))


def limits(running: Running) -> RunOptions:
    """A run's own limits and its workspace's: the stricter of both holds."""
    knobs = running.workspace.means.knobs
    return budget.stricter(
        running.run.options,
        steps=knobs.steps_max,
        tokens=knobs.tokens_max,
        cost=knobs.cost_max,
        seconds=knobs.seconds_max,
    )


def _session_limits(running: Running) -> budget.SessionLimits:
    knobs = running.workspace.means.knobs
    return budget.SessionLimits(knobs.session_tokens_max, knobs.session_cost_max)


def room(running: Running, info: ModelInfo) -> budget.Room:
    return budget.Room(info.context_window, compact=running.workspace.means.knobs.auto_summarize)


def _exceeded_above(running: Running) -> budget.Stop | None:
    """A limit of the run that sent this one, or of the one that sent that. Each counts its steps for itself."""
    above = running.above
    while above is not None:
        used = above.usage
        spent = budget.Spent(tokens=total_tokens(used), cost=used.cost, seconds=above.elapsed_seconds)
        if stop := budget.exceeded(limits(above), spent):
            return stop
        above = above.above
    return None


async def spent_by(running: Running, info: ModelInfo, session: SessionInfo, compactions: int) -> budget.Spent:
    context_tokens = session.prompt_tokens + session.completion_tokens
    used = running.usage
    return budget.Spent(
        steps=running.steps,
        tokens=total_tokens(used),
        cost=used.cost,
        seconds=running.elapsed_seconds,
        context_tokens=context_tokens,
        next_tokens=context_tokens,
        next_cost=usage.cost(Usage(cache_read_tokens=context_tokens), prices(info)),
        compactions=compactions,
        session_tokens=await _session_tokens(running),
        session_cost=session.cost,
    )


async def _session_tokens(running: Running) -> int:
    """Counted only where there is a limit to it."""
    means = running.workspace.means
    if means.knobs.session_tokens_max is None:
        return 0
    runs = await means.store.runs(running.session.id, limit=RUNS_COUNTED_MAX)
    return sum(total_tokens(run.usage) for run in runs)


def total_tokens(used: Usage) -> int:
    return usage.prompt_tokens(used) + used.output_tokens


def seconds_left(running: Running) -> float | None:
    """Until the run's time is up, or that of a run above it; None: nobody set a limit."""
    left: float | None = None
    one: Running | None = running
    while one is not None:
        most = limits(one).seconds_max
        left = budget.least(left, None if most is None else most - one.elapsed_seconds)
        one = one.above
    return left
