"""Whether a run may ask its model once more: go on, compact first, or stop, and why in a sentence a person can use.

It is asked before every question, so that a limit is never found out by having been exceeded. Time comes in as what
has elapsed. A run that stops here says so: it never ends in silence.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import TypeVar

import msgspec

from turnkeeper.core.history import compact_at
from turnkeeper.protocol.messages import Message, Role, ToolCall
from turnkeeper.protocol.runs import Cause, Failure, RunOptions

LOOP_WINDOW_STEPS = 10
LOOP_REPEATS_MAX = 5
COMPACTIONS_MAX = 2
"""How often a run may be compacted in a row without a step between: more is a spiral, not progress."""


class Limit(StrEnum):
    STEPS = "steps"
    TOKENS = "tokens"
    COST = "cost"
    TIME = "time"
    LOOP = "loop"
    CONTEXT = "context"
    SESSION_TOKENS = "session_tokens"
    SESSION_COST = "session_cost"


class GoOn(msgspec.Struct, frozen=True):
    """Nothing stands against the next question."""


class Compact(msgspec.Struct, frozen=True):
    """The context is nearly full: summarise it, then go on."""


class Stop(msgspec.Struct, frozen=True):
    """The run is over, by a limit."""

    limit: Limit
    sentence: str
    cause: Cause = Cause.LIMIT

    @property
    def failure(self) -> Failure:
        return Failure(cause=self.cause, message=self.sentence)


Advice = GoOn | Compact | Stop


class Spent(msgspec.Struct, frozen=True):
    """What a run has used up, and what its next question will take at the least."""

    steps: int = 0
    tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0
    context_tokens: int = 0
    """The size of the context now, what was written to the provider's cache included."""
    next_tokens: int = 0
    next_cost: float = 0.0
    compactions: int = 0
    """Compactions after which there was no room for more than one step."""
    session_tokens: int = 0
    session_cost: float = 0.0
    """Of all runs of the session, this one included."""


class SessionLimits(msgspec.Struct, frozen=True):
    """What all runs of a session together may take; None is no limit."""

    tokens_max: int | None = None
    cost_max: float | None = None


class Room(msgspec.Struct, frozen=True):
    """What the model and the settings leave open."""

    context_window: int = 0
    compact: bool = True
    """Whether to summarise by itself; if not, the provider's refusal is the limit."""


def advise(
    limits: RunOptions, spent: Spent, room: Room, run: Sequence[Message], *, session: SessionLimits | None = None
) -> Advice:
    """`run` is what this run has said. A loop is looked for before the context: compacting would only prolong it."""
    if stop := exceeded(limits, spent) or exceeded_by_session(session or SessionLimits(), spent) or looping(run):
        return stop
    if room.compact and compact_at(window=room.context_window, used=spent.context_tokens):
        return compact(spent)
    return GoOn()


def compact(spent: Spent) -> Compact | Stop:
    if spent.compactions < COMPACTIONS_MAX:
        return Compact()
    times = f"{spent.compactions} times in a row"
    return Stop(
        Limit.CONTEXT,
        f"The conversation was summarised {times} and still does not fit the model's context: choose a model with a "
        "larger one, or begin a new session.",
    )


def refused_as_full(spent: Spent, room: Room) -> Compact | Stop:
    """What to do when the provider itself refuses a context as too large."""
    if room.compact:
        return compact(spent)
    return Stop(
        Limit.CONTEXT,
        "The conversation no longer fits the model's context, and is not summarised by itself: summarise it, or begin "
        "a new session.",
    )


def exceeded(limits: RunOptions, spent: Spent) -> Stop | None:
    """What is reserved counts as spent: the question that would cross a limit is not asked."""
    if limits.steps_max is not None and spent.steps >= limits.steps_max:
        return Stop(Limit.STEPS, f"The run reached its limit of {counted(limits.steps_max, 'step')}.")
    if limits.tokens_max is not None and reached(spent.tokens, spent.next_tokens, limits.tokens_max):
        told = f"{counted(spent.tokens, 'token')} of {limits.tokens_max} are used"
        return Stop(Limit.TOKENS, f"The run reached its limit of tokens: {told}.")
    if limits.cost_max is not None and reached(spent.cost, spent.next_cost, limits.cost_max):
        told = f"{spent.cost:.4f} of {limits.cost_max:.4f} US dollars are spent"
        return Stop(Limit.COST, f"The run reached its limit of money: {told}.")
    if limits.seconds_max is not None and spent.seconds >= limits.seconds_max:
        return out_of_time(limits.seconds_max)
    return None


def out_of_time(seconds_max: float) -> Stop:
    return Stop(Limit.TIME, f"The run reached its limit of {seconds_max:g} seconds.")


def exceeded_by_session(limits: SessionLimits, spent: Spent) -> Stop | None:
    if limits.tokens_max is not None and reached(spent.session_tokens, spent.next_tokens, limits.tokens_max):
        told = f"{counted(spent.session_tokens, 'token')} of {limits.tokens_max} are used"
        return Stop(Limit.SESSION_TOKENS, f"The session reached its limit of tokens: {told}.")
    if limits.cost_max is not None and reached(spent.session_cost, spent.next_cost, limits.cost_max):
        told = f"{spent.session_cost:.4f} of {limits.cost_max:.4f} US dollars are spent"
        return Stop(Limit.SESSION_COST, f"The session reached its limit of money: {told}.")
    return None


def stricter(
    one: RunOptions, *, steps: int | None, tokens: int | None, cost: float | None, seconds: float | None
) -> RunOptions:
    """A run's own limits and those of its workspace: whichever is reached first."""
    return msgspec.structs.replace(
        one,
        steps_max=least(one.steps_max, steps),
        tokens_max=least(one.tokens_max, tokens),
        cost_max=least(one.cost_max, cost),
        seconds_max=least(one.seconds_max, seconds),
    )


Number = TypeVar("Number", int, float)


def least(one: Number | None, other: Number | None) -> Number | None:
    given = [limit for limit in (one, other) if limit is not None]
    return min(given) if given else None


def reached(used: float, reserved: float, most: float) -> bool:
    return used >= most or used + reserved > most


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def looping(run: Sequence[Message]) -> Stop | None:
    """Whether one step, with the same calls, arguments and outcomes, fills more than half of the last ten."""
    recent = steps(run)
    if len(recent) < LOOP_WINDOW_STEPS:
        return None
    signatures = Counter(filter(None, (signature(*step) for step in recent)))
    for sign, count in signatures.most_common(1):
        if count > LOOP_REPEATS_MAX:
            repeated = next(calls for calls, outputs in recent if signature(calls, outputs) == sign)
            names = ", ".join(dict.fromkeys(call.name for call in repeated))
            told = f"the same tool calls ({names}) with the same results {count} times in the last {len(recent)} steps"
            return Stop(Limit.LOOP, f"The run was stopped because it went in circles: {told}.")
    return None


Step = tuple[tuple[ToolCall, ...], tuple[str, ...]]
"""The calls of one answer, and what came of each of them."""


def steps(run: Sequence[Message]) -> list[Step]:
    """The last ten. Ids may repeat between answers, so a result is looked for up to the next answer first."""
    answers = [at for at, message in enumerate(run) if message.role is Role.ASSISTANT and not message.is_summary]
    recent = answers[-LOOP_WINDOW_STEPS:]
    told: list[Step] = []
    for at, following in zip(recent, [*recent[1:], len(run)], strict=False):
        near, far = outputs(run[at:following]), outputs(run[following:])
        calls = run[at].tool_calls
        told.append((calls, tuple(near.get(call.id, far.get(call.id, "")) for call in calls)))
    return told


def outputs(messages: Sequence[Message]) -> dict[str, str]:
    results = (result for message in reversed(messages) for result in reversed(message.tool_results))
    return {result.tool_call_id: result.data or result.content for result in results}


def signature(calls: Sequence[ToolCall], outcomes: Sequence[str]) -> str:
    """What a step did, apart from its ids; nothing for a step without calls."""
    if not calls:
        return ""
    digest = hashlib.sha256()
    for call, outcome in zip(calls, outcomes, strict=True):
        for text in (call.name, call.input, outcome):
            digest.update(text.encode("utf-8", errors="surrogatepass") + b"\0")
    return digest.hexdigest()
