"""`turnkeeper stats`: what was used and what it cost, with a chart a person can look at."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from turnkeeper.cli.output import emit, padded, plain, say, style, table, width
from turnkeeper.cli.reach import Reach, reaching, run

if TYPE_CHECKING:
    from turnkeeper.protocol.runs import Usage
    from turnkeeper.protocol.wire_overview import Spending, Statistics

BAR_COLUMNS = 40
EIGHTHS = " ▏▎▍▌▋▊▉█"
SPARKS = "▁▂▃▄▅▆▇█"
TOOLS_MAX = 12
DAYS_SHOWN_MAX = 60


@click.command("stats")
@reaching
@click.option("--days", "-n", default=30, show_default=True, help="How many days back; 0 for all there is.")
@click.option("--html", "page", type=click.Path(dir_okay=False, path_type=Path), help="Write a page with charts there.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def stats(reach: Reach, days: int, page: Path | None, as_json: bool) -> None:
    """Tell what this workspace's runs used and what they cost.

    Days and hours are those of your own clock. What sub-agents used is counted with them, under their own models.

    \b
    turnkeeper stats
    turnkeeper stats --days 7
    turnkeeper stats --html stats.html
    """

    async def work() -> None:
        here = datetime.now().astimezone()
        offset = int((here.utcoffset() or timedelta()).total_seconds() // 60)
        midnight = here.replace(hour=0, minute=0, second=0, microsecond=0)
        since = int((midnight - timedelta(days=days - 1)).timestamp() * 1000) if days > 0 else 0
        async with reach.workspace() as workspace:
            told = await workspace.overview.statistics(since=since, offset_minutes=offset)
        # Of all there is, the days are shown to the last on which something ran.
        until = here.date() if days > 0 or not told.days else date.fromisoformat(told.days[-1].key)
        if as_json:
            emit(told)
        elif page is not None:
            from turnkeeper.cli.stats_page import written

            page.write_text(written(told, title=reach.path.name, until=until), "utf-8")  # noqa: ASYNC240 - the end
            say(f"Wrote {page}.")
        elif not told.total.runs:
            say("Nothing has run here" + (f" in the last {days} days." if days else " yet."))
        else:
            for line in lines(told, until=until):
                click.echo(line)
            _tables(told)

    run(work)


def lines(told: "Statistics", *, until: date) -> list[str]:
    """The sums, and a bar for each day: of money where any was spent, else of tokens."""
    total = told.total
    outcomes = ", ".join(f"{count} {name}" for name, count in sorted(told.outcomes.items()))
    usage = total.usage
    cached = f", {count(usage.cache_read_tokens)} of them cached" if usage.cache_read_tokens else ""
    estimate = " (some of it estimated)" if usage.estimated else ""
    ran = f"{counted(total.runs, 'run')} in {counted(total.sessions, 'session')}"
    head = [
        f"{style(money(usage.cost), 'bold')}{estimate} for {ran}: {outcomes}",
        f"{count(asked(usage))} tokens asked{cached}, {count(usage.output_tokens)} answered",
        f"half of the runs took less than {told.run_seconds_median:g} s",
        "",
    ]
    by_money = any(line.usage.cost for line in told.days)
    chart = bars(filled(told.days, until=until), by_money=by_money)
    return [*head, *chart, "", f"hours  {sparks(told.hours, 24)}  0 to 23 h", ""]


def counted(number: int, name: str) -> str:
    return f"{number} {name}{'' if number == 1 else 's'}"


def filled(days: "Sequence[Spending]", *, until: date) -> "list[tuple[str, Spending | None]]":
    """Days on which nothing ran are days too."""
    known = {line.key: line for line in days}
    first = min((date.fromisoformat(key) for key in known), default=until)
    span = min((until - first).days + 1, DAYS_SHOWN_MAX)
    names = [(until - timedelta(days=back)).isoformat() for back in reversed(range(max(span, 1)))]
    return [(name, known.get(name)) for name in names]


def bars(days: "Sequence[tuple[str, Spending | None]]", *, by_money: bool) -> list[str]:
    amounts = [_amount(line, by_money=by_money) for _, line in days]
    most = max(amounts, default=0) or 1
    shown = [(money(amount) if by_money else count(int(amount))) if amount else "" for amount in amounts]
    column = max(map(width, shown), default=0)
    return [
        f"{name}  {padded(text, column, to_the_right=True)}  {style(bar(amount / most), 'cyan')}"
        for (name, _), amount, text in zip(days, amounts, shown, strict=True)
    ]


def _amount(line: "Spending | None", *, by_money: bool) -> float:
    if line is None:
        return 0.0
    return line.usage.cost if by_money else float(asked(line.usage) + line.usage.output_tokens)


def bar(share: float) -> str:
    """A bar of so much of the whole width; what is there at all is seen."""
    eighths = max(round(share * BAR_COLUMNS * 8), 1 if share > 0 else 0)
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()


def sparks(lines_: "Sequence[Spending]", places: int) -> str:
    """Runs by hour, one sign an hour."""
    by_place = {int(line.key): line.runs for line in lines_}
    most = max(by_place.values(), default=0) or 1
    found = (by_place.get(place, 0) for place in range(places))
    return "".join(SPARKS[min(len(SPARKS) - 1, runs * len(SPARKS) // (most + 1))] if runs else "·" for runs in found)


def _tables(told: "Statistics") -> None:
    rows = [
        (
            plain(line.key),
            line.runs or "",
            count(asked(line.usage)),
            count(line.usage.output_tokens),
            money(line.usage.cost),
        )
        for line in told.models
    ]
    table(("MODEL", "RUNS", "ASKED", "ANSWERED", "COST"), rows, right=("RUNS", "ASKED", "ANSWERED", "COST"))
    if told.tools:
        click.echo("")
        table(("TOOL", "CALLS"), list(told.tools.items())[:TOOLS_MAX], right=("CALLS",))


def asked(usage: "Usage") -> int:
    return usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens


def money(dollars: float) -> str:
    return f"${dollars:.2f}" if dollars >= 0.01 or not dollars else f"${dollars:.4f}"


def count(number: int) -> str:
    """A number that is read at a glance."""
    for size, name in ((1_000_000_000, "G"), (1_000_000, "M"), (10_000, "k")):
        if number >= size:
            return f"{number / (1000 if name == 'k' else size):.1f}{name}"
    return str(number)
