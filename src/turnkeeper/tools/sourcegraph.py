"""Tool `sourcegraph`: search in public repositories."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, cast
from urllib.parse import urljoin

import msgspec
from msgspec import Meta

from turnkeeper.tools.fetch import limited
from turnkeeper.tools.making import Made, Parameters, Refusal
from turnkeeper.tools.tool import Answer, Hands, Tool
from turnkeeper.tools.web import Web, read_up_to, require_ok

ADDRESS = "https://sourcegraph.com/.api/graphql"
RESULTS_DEFAULT = 10
RESULTS_MAX = 20
CONTEXT_LINES_DEFAULT = 10
CONTEXT_LINES_MAX = 100
SECONDS_DEFAULT = 30
SECONDS_MAX = 120
ANSWER_BYTES_MAX = 16 * 1024 * 1024
LINE_CHARACTERS_MAX = 500
QUESTION = """query Search($query: String!) {
  search(query: $query, version: V2, patternType: keyword) {
    results {
      matchCount limitHit resultCount approximateResultCount
      results {
        __typename
        ... on FileMatch {
          repository { name }
          file { path url content }
          lineMatches { preview lineNumber }
        }
      }
    }
  }
}"""


class SourcegraphParameters(Parameters, frozen=True):
    query: Annotated[str, Meta(description="The query, with Sourcegraph's filters such as repo:, file: and lang:.")]
    count: Annotated[int, Meta(description=f"How many results (default 10, at most {RESULTS_MAX}).")] = 0
    context_window: Annotated[int, Meta(description="Lines around each match (default 10).")] = 0
    timeout: Annotated[float, Meta(description=f"Seconds to wait (at most {SECONDS_MAX}).")] = 0


def sourcegraph_tool(web: Web, *, address: str = ADDRESS) -> Tool:
    async def act(asked: SourcegraphParameters, hands: Hands) -> Answer:
        if not asked.query.strip():
            raise Refusal("query is empty")
        count = min(asked.count if asked.count > 0 else RESULTS_DEFAULT, RESULTS_MAX)
        context = min(asked.context_window if asked.context_window > 0 else CONTEXT_LINES_DEFAULT, CONTEXT_LINES_MAX)
        body = msgspec.json.encode({"query": QUESTION, "variables": {"query": f"{asked.query} count:{count}"}})
        seconds = limited(asked.timeout, SECONDS_DEFAULT, SECONDS_MAX)
        headers = {"Content-Type": "application/json"}
        await hands.begin(asked.query)
        async with web.open(
            address, hands=hands, tool="sourcegraph", headers=headers, body=body, seconds=seconds
        ) as response:
            require_ok(response, address)
            data, more = await read_up_to(response, ANSWER_BYTES_MAX)
        if more:
            raise Refusal("the answer is too large; use a smaller count or a narrower query")
        return Answer(content=rendered(found(data), count, context, address))

    return Made("sourcegraph", SourcegraphParameters, act, parallel=True)


def found(data: bytes) -> Mapping[str, Any]:
    """The search results of an answer, or the reason why there are none."""
    try:
        answer = msgspec.json.decode(data, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise Refusal("the search service answered with something that is not JSON") from error
    if problems := answer.get("errors"):
        texts = [str(at(problem, "message") or problem) for problem in cast(Sequence[Any], problems)]
        raise Refusal(f"the search service reported: {'; '.join(texts)}")
    results = at(answer, "data", "search", "results")
    if not isinstance(results, dict):
        raise Refusal("the search service answered in a form we do not know")
    return cast(Mapping[str, Any], results)


def at(value: Any, *keys: str) -> Any:
    """What stands at a path of keys, or None: a stranger's answer may have any shape."""
    for key in keys:
        value = cast(Mapping[str, Any], value).get(key) if isinstance(value, dict) else None
    return value


def rendered(results: Mapping[str, Any], count: int, context: int, address: str) -> str:
    matches = [one for one in cast(Sequence[Any], results.get("results") or ()) if at(one, "__typename") == "FileMatch"]
    parts = [
        "# Sourcegraph Search Results",
        f"Found {results.get('matchCount', 0)} matches across {results.get('resultCount', 0)} results",
    ]
    if results.get("limitHit"):
        parts.append("(Result limit reached; a more specific query shows others)")
    if not matches:
        parts.append("\nNo results found. Try a different query.")
    for number, match in enumerate(matches[:count], start=1):
        parts.append(one_file(number, match, context, address))
    return "\n".join(parts)


def one_file(number: int, match: Any, context: int, address: str) -> str:
    parts = [f"\n## Result {number}: {at(match, 'repository', 'name')}/{at(match, 'file', 'path')}"]
    if url := at(match, "file", "url"):
        parts.append(f"URL: {urljoin(address, str(url))}")
    content = str(at(match, "file", "content") or "").split("\n")
    parts += [snippet(line, content, context) for line in cast(Sequence[Any], at(match, "lineMatches") or ())]
    return "\n".join(parts)


def snippet(line: Any, content: Sequence[str], context: int) -> str:
    """The matching line with its neighbours, numbered from 1."""
    place = int(at(line, "lineNumber") or 0)
    lines = {place: str(at(line, "preview") or "")}
    if content != [""]:
        first, last = max(place - context, 0), min(place + context + 1, len(content))
        lines = {near: content[near] for near in range(first, last)} | lines
    shown = [f"{near + 1}| {text[:LINE_CHARACTERS_MAX]}" for near, text in sorted(lines.items())]
    return "\n".join(["```", *shown, "```"])
