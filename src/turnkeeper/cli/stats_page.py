"""The page of `turnkeeper stats --html`: charts in one file that asks nothing of the network."""

import html
import re
from collections.abc import Iterable, Sequence
from datetime import date
from importlib.resources import files
from typing import TYPE_CHECKING

from turnkeeper.cli.stats import asked, count, filled, money

if TYPE_CHECKING:
    from turnkeeper.protocol.wire_overview import Spending, Statistics

WIDTH, HEIGHT, GAP = 900, 160, 2
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

Bar = tuple[str, float, str]
"""Its name, how high it is, and what it says when it is pointed at."""


def written(told: "Statistics", *, title: str, until: date) -> str:
    days = filled(told.days, until=until)
    page = (files("turnkeeper.cli") / "stats.html").read_text("utf-8")
    parts = {
        "title": html.escape(f"Turnkeeper · {title}"),
        "sums": sums(told),
        "cost": chart([(day, _cost(line), money(_cost(line))) for day, line in days]),
        "tokens": chart([(day, float(_tokens(line)), count(_tokens(line))) for day, line in days]),
        "hours": chart([(f"{hour:02}", float(runs), f"{runs} runs") for hour, runs in _by_place(told.hours, 24)]),
        "weekdays": chart([(WEEKDAYS[day], float(runs), f"{runs} runs") for day, runs in _by_place(told.weekdays, 7)]),
        "models": rows(
            (one.key, str(one.runs), count(asked(one.usage)), count(one.usage.output_tokens), money(one.usage.cost))
            for one in told.models
        ),
        "tools": rows((name, str(calls)) for name, calls in told.tools.items()),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda name: parts[name[1]], page)


def sums(told: "Statistics") -> str:
    usage = told.total.usage
    said = (
        (money(usage.cost), "spent" + (", some of it estimated" if usage.estimated else "")),
        (str(told.total.runs), "runs"),
        (str(told.total.sessions), "sessions"),
        (count(asked(usage)), "tokens asked"),
        (count(usage.output_tokens), "tokens answered"),
        (f"{told.run_seconds_median:g} s", "half of the runs took less"),
    )
    return "".join(f"<div><b>{html.escape(number)}</b><span>{html.escape(what)}</span></div>" for number, what in said)


def chart(bars: Sequence[Bar]) -> str:
    """Bars beside each other; each says its name and amount when it is pointed at."""
    most = max((amount for _, amount, _ in bars), default=0.0) or 1.0
    step = WIDTH / max(len(bars), 1)
    drawn = "".join(
        f"<g><title>{html.escape(name)}: {html.escape(says)}</title>"
        f'<rect x="{place * step:.1f}" y="{HEIGHT * (1 - amount / most):.1f}" '
        f'width="{max(step - GAP, 1):.1f}" height="{HEIGHT * amount / most:.1f}"/></g>'
        for place, (name, amount, says) in enumerate(bars)
    )
    ends = f'<text x="0" y="{HEIGHT + 16}">{html.escape(bars[0][0])}</text>' if bars else ""
    if len(bars) > 1:
        ends += f'<text x="{WIDTH}" y="{HEIGHT + 16}" text-anchor="end">{html.escape(bars[-1][0])}</text>'
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT + 22}" role="img">{drawn}{ends}</svg>'


def rows(lines: Iterable[Sequence[str]]) -> str:
    return "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line) + "</tr>" for line in lines)


def _cost(line: "Spending | None") -> float:
    return line.usage.cost if line else 0.0


def _tokens(line: "Spending | None") -> int:
    return asked(line.usage) + line.usage.output_tokens if line else 0


def _by_place(lines: "Sequence[Spending]", places: int) -> list[tuple[int, int]]:
    known = {int(line.key): line.runs for line in lines}
    return [(place, known.get(place, 0)) for place in range(places)]
