"""What was used and what it cost, from the accounts of a workspace's ended runs."""

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from statistics import median

from msgspec.structs import replace

from turnkeeper.protocol.ids import RunId
from turnkeeper.protocol.runs import Usage
from turnkeeper.protocol.wire_overview import Spending, Statistics
from turnkeeper.store.store import Accounts, Spent

HEADLESS = "(no model was asked)"


def statistics(accounts: Accounts, *, since: int, offset_minutes: int, messages: int) -> Statistics:
    """The accounts added up by day, model, hour and weekday, for a clock so many minutes ahead of Greenwich's."""
    runs = _without_children(accounts.runs)

    def moment(run: Spent) -> datetime:
        return datetime.fromtimestamp(run.accepted_at / 1000, UTC) + timedelta(minutes=offset_minutes)

    asked = [run for run in accounts.runs if run.parent is None]
    return Statistics(
        since=since,
        total=_sum("total", runs),
        messages=messages,
        outcomes=dict(Counter(run.outcome.value for run in asked)),
        days=_by(runs, lambda run: moment(run).date().isoformat()),
        models=tuple(sorted(_by(runs, _model), key=_weight, reverse=True)),
        hours=_by(runs, lambda run: f"{moment(run).hour:02}"),
        weekdays=_by(runs, lambda run: str(moment(run).weekday())),
        tools=dict(Counter(accounts.tools).most_common()),
        run_seconds_median=round(median([_seconds(run) for run in asked if run.started_at] or [0.0]), 3),
    )


def _without_children(runs: Iterable[Spent]) -> list[Spent]:
    """What each run spent itself: what its sub-agents spent is counted with them, under their own models."""
    passed_on: dict[RunId, Usage] = {}
    for run in runs:
        if run.parent:
            passed_on[run.parent] = passed_on.get(run.parent, Usage()) + run.usage
    return [replace(run, usage=_less(run.usage, passed_on.get(run.run_id, Usage()))) for run in runs]


def _less(all_of: Usage, part: Usage) -> Usage:
    return Usage(
        input_tokens=max(0, all_of.input_tokens - part.input_tokens),
        output_tokens=max(0, all_of.output_tokens - part.output_tokens),
        cache_read_tokens=max(0, all_of.cache_read_tokens - part.cache_read_tokens),
        cache_write_tokens=max(0, all_of.cache_write_tokens - part.cache_write_tokens),
        reasoning_tokens=max(0, all_of.reasoning_tokens - part.reasoning_tokens),
        cost=max(0.0, all_of.cost - part.cost),
        estimated=all_of.estimated,
    )


def _by(runs: Iterable[Spent], key: Callable[[Spent], str]) -> tuple[Spending, ...]:
    groups: dict[str, list[Spent]] = {}
    for run in runs:
        groups.setdefault(key(run), []).append(run)
    return tuple(_sum(name, groups[name]) for name in sorted(groups))


def _sum(key: str, runs: Iterable[Spent]) -> Spending:
    runs = list(runs)
    usage = sum((run.usage for run in runs), start=Usage())
    # Sums of cents in binary have long tails that nobody spent.
    usage = replace(usage, cost=round(usage.cost, 9))
    asked = [run for run in runs if run.parent is None]
    return Spending(key, len(asked), usage, len({run.session_id for run in asked}))


def _model(run: Spent) -> str:
    return f"{run.provider}/{run.model}" if run.model else HEADLESS


def _weight(line: Spending) -> tuple[float, int]:
    return line.usage.cost, line.usage.input_tokens + line.usage.output_tokens


def _seconds(run: Spent) -> float:
    return max(0, run.ended_at - run.started_at) / 1000
