"""Tool `web_search`, for research: results of a search engine, which can be exchanged.

The one that comes with us reads DuckDuckGo's page for simple browsers. It waits between two questions, and when the
engine has had enough it says so, so that nobody asks again and again.
"""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Protocol
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

import anyio
from msgspec import Meta

from turnkeeper.tools.html import plain_text
from turnkeeper.tools.making import Made, Parameters, Refusal
from turnkeeper.tools.pages import BROWSER_HEADERS
from turnkeeper.tools.tool import Answer, Hands, Tool
from turnkeeper.tools.web import Web, read_up_to

RESULTS_DEFAULT = 10
RESULTS_MAX = 20
SEARCH_SECONDS_MAX = 30
GAP_SECONDS = (0.5, 2.0)
PAGE_BYTES_MAX = 2 * 1024 * 1024
DUCKDUCKGO = "https://lite.duckduckgo.com/lite/"
LINK = re.compile(r"<a\b([^>]*\bclass=['\"][^'\"]*result-link[^'\"]*['\"][^>]*)>(.*?)</a>", re.DOTALL)
SNIPPET = re.compile(r"<td\b[^>]*\bclass=['\"][^'\"]*result-snippet[^'\"]*['\"][^>]*>(.*?)</td>", re.DOTALL)
HREF = re.compile(r"\bhref=[\"']([^\"']*)[\"']")


@dataclass(frozen=True)
class Result:
    title: str
    url: str
    snippet: str = ""


class SearchEngine(Protocol):
    async def search(self, query: str, count: int, hands: Hands) -> Sequence[Result]: ...


class WebSearchParameters(Parameters, frozen=True):
    query: Annotated[str, Meta(description="What to look for.")]
    max_results: Annotated[int, Meta(description=f"How many results (default 10, at most {RESULTS_MAX}).")] = 0


def web_search_tool(engine: SearchEngine) -> Tool:
    async def act(asked: WebSearchParameters, hands: Hands) -> Answer:
        if not asked.query.strip():
            raise Refusal("query is empty")
        count = min(asked.max_results if asked.max_results > 0 else RESULTS_DEFAULT, RESULTS_MAX)
        return Answer(content=listed(await engine.search(asked.query, count, hands)))

    return Made("web_search", WebSearchParameters, act, parallel=True)


def listed(results: Sequence[Result]) -> str:
    if not results:
        return "No results found. Try other words."
    parts = [f"Found {len(results)} search results:\n"]
    for number, result in enumerate(results, start=1):
        parts.append(f"{number}. {result.title}\n   URL: {result.url}\n   Summary: {result.snippet}\n")
    return "\n".join(parts)


def gap() -> float:
    return random.uniform(*GAP_SECONDS)


@dataclass
class DuckDuckGo:
    """The one piece of state is when the next question may be asked."""

    web: Web
    address: str = DUCKDUCKGO
    pause: "Pause" = field(default_factory=lambda: Pause())

    async def search(self, query: str, count: int, hands: Hands) -> Sequence[Result]:
        await self.pause.wait()
        url = f"{self.address}?{urlencode({'q': query})}"
        async with self.web.open(
            url, hands=hands, tool="web_search", headers=BROWSER_HEADERS, seconds=SEARCH_SECONDS_MAX
        ) as response:
            data, _ = await read_up_to(response, PAGE_BYTES_MAX)
            page = data.decode("utf-8", "replace")
            if response.status_code == 202 or ("anomaly" in page[:20_000].lower() and "result-link" not in page):
                raise Refusal("the search engine is limiting us. Do not search again now; work with what you have.")
            if response.status_code != 200:
                raise Refusal(f"the search engine answered with status {response.status_code}")
        return results_of(page, self.address)[:count]


@dataclass
class Pause:
    """At least a moment between two questions; who comes in between waits for its turn."""

    next_at: float = 0.0

    async def wait(self) -> None:
        now = anyio.current_time()
        turn = max(now, self.next_at)
        # Taken before waiting, so that two who come at once wait one after the other.
        self.next_at = turn + gap()
        await anyio.sleep(turn - now)


def results_of(page: str, base: str) -> list[Result]:
    """The results of the page, each with the snippet that follows its link."""
    links = list(LINK.finditer(page))
    results: list[Result] = []
    for at, link in enumerate(links):
        end = links[at + 1].start() if at + 1 < len(links) else len(page)
        snippet = SNIPPET.search(page, link.end(), end)
        href = HREF.search(link[1])
        url = target(urljoin(base, plain_text(href[1]))) if href else ""
        title = plain_text(link[2])
        if url and title:
            results.append(Result(title, url, plain_text(snippet[1]) if snippet else ""))
    return results


def target(url: str) -> str:
    """Where a result leads, without the engine's own detour; nothing for its advertisements."""
    parts = urlsplit(url)
    onward = parse_qs(parts.query).get("uddg")
    if onward:
        return onward[0] if onward[0].startswith(("http://", "https://")) else ""
    return "" if parts.path == "/y.js" or parts.scheme not in ("http", "https") else url
