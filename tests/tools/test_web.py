"""Reaching the web: against servers of our own that answer in the process, by names that a table resolves."""

import gzip
import math
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import anyio
import httpx2
import msgspec
import pytest

from tests.tools.scene import deeds, names, use
from turnkeeper.testing.hands import FakeHands, deny, in_turn
from turnkeeper.tools.agentic_fetch import agentic_fetch_tool
from turnkeeper.tools.download import download_tool
from turnkeeper.tools.fetch import FETCH_BYTES_MAX, fetch_tool
from turnkeeper.tools.html import Plain, to_markdown, to_text
from turnkeeper.tools.making import Refusal
from turnkeeper.tools.sourcegraph import sourcegraph_tool
from turnkeeper.tools.tool import Asking, Denied
from turnkeeper.tools.web import REDIRECTS_MAX, Web, is_private
from turnkeeper.tools.web_fetch import web_fetch_tool
from turnkeeper.tools.web_search import DuckDuckGo, Pause, Result, results_of, web_search_tool

NAMES = {
    "site.test": "93.184.215.14",
    "other.test": "93.184.215.15",
    "inner.test": "10.0.0.7",
    "metadata.test": "169.254.169.254",
    "localhost": "127.0.0.1",
}
PAGE = (
    "<html><head><title>T</title><style>p{}</style></head><body><nav>Menu</nav><h1>Head</h1>"
    "<p>Some <b>bold</b> &amp; <a href='/x'>link</a></p><script>evil()</script></body></html>"
)


async def table(host: str, port: int) -> Sequence[str]:
    if host not in NAMES:
        raise OSError("unknown host")
    return (NAMES[host],)


Respond = Callable[[httpx2.Request], httpx2.Response]


def web_of(respond: Respond) -> Web:
    return Web(table, httpx2.MockTransport(respond))


def page(text: str | bytes, kind: str = "text/html; charset=utf-8", status: int = 200) -> httpx2.Response:
    return httpx2.Response(status, content=text, headers={"content-type": kind})


def pages(**answers: httpx2.Response) -> Web:
    """By path: `index` for /, and no other host than the one a request names."""
    return web_of(lambda request: answers[request.url.path.strip("/") or "index"])


async def test_a_page_is_fetched_in_the_form_that_was_asked_for(tmp_path: Path) -> None:
    tool = fetch_tool(pages(index=page(PAGE)))
    hands = FakeHands(tmp_path)
    text = await use(tool, hands, url="http://site.test/", format="text")
    assert "Head" in text.content
    assert "Some bold & link" in text.content
    assert "evil" not in text.content
    assert "<" not in text.content
    markdown = await use(tool, hands, url="http://site.test/", format="markdown")
    assert markdown.content.startswith("```markdown\n")
    assert "# Head" in markdown.content
    assert "**bold**" in markdown.content
    html = await use(tool, hands, url="http://site.test/", format="html")
    assert html.content.startswith("<html>\n<body>")
    assert "<style>" not in html.content


async def test_a_fetch_is_asked_for_with_its_url(tmp_path: Path) -> None:
    hands = FakeHands(tmp_path, judge=deny)
    web = web_of(lambda request: pytest.fail("a denied request was made"))
    answer = await use(fetch_tool(web), hands, url="https://site.test/a", format="text", timeout=9)
    assert answer.stop_turn
    asking = hands.asked[0]
    assert (asking.tool, asking.action, asking.path) == ("fetch", "fetch", str(tmp_path))
    assert asking.subject == "https://site.test/a"
    assert asking.params == {"url": "https://site.test/a", "format": "text", "timeout": 9}


@pytest.mark.parametrize(
    "url",
    ["ftp://site.test/", "site.test", "file:///etc/passwd", "http://", "http://u:p@site.test/", "http://x:99999/"],
)
async def test_what_is_no_web_address_is_refused_before_anybody_is_asked(tmp_path: Path, url: str) -> None:
    hands = FakeHands(tmp_path)
    web = web_of(lambda request: pytest.fail("a request was made"))
    for tool in (fetch_tool(web), download_tool(web), agentic_fetch_tool(web), web_fetch_tool(web)):
        answer = await use(tool, hands, url=url, format="text", file_path="f", prompt="p")
        assert answer.is_error, tool.name
    assert hands.asked == []


async def test_a_format_we_do_not_know_is_refused(tmp_path: Path) -> None:
    answer = await use(fetch_tool(pages()), FakeHands(tmp_path), url="http://site.test/", format="pdf")
    assert answer.is_error
    assert "invalid parameters" in answer.content


async def test_the_status_is_told_when_it_is_not_success(tmp_path: Path) -> None:
    tool = fetch_tool(pages(index=page("no", status=404)))
    answer = await use(tool, FakeHands(tmp_path), url="http://site.test/", format="text")
    assert answer.is_error
    assert "404" in answer.content


async def test_a_long_answer_is_cut_and_says_so(tmp_path: Path) -> None:
    tool = fetch_tool(pages(index=page("é" * FETCH_BYTES_MAX, "text/plain")))
    answer = await use(tool, FakeHands(tmp_path), url="http://site.test/", format="text")
    assert answer.content.endswith(f"[Content truncated to {FETCH_BYTES_MAX} bytes]")
    assert answer.content.startswith("é" * (FETCH_BYTES_MAX // 2) + "\n\n[")


async def test_a_small_answer_that_unpacks_without_end_is_cut_off(tmp_path: Path) -> None:
    bomb = httpx2.Response(
        200,
        content=gzip.compress(b"a line of it\n" * 4_000_000),
        headers={"content-encoding": "gzip", "content-type": "text/plain"},
    )
    answer = await use(fetch_tool(pages(index=bomb)), FakeHands(tmp_path), url="http://site.test/", format="text")
    assert "[Content truncated" in answer.content


async def test_what_is_not_text_is_an_answer(tmp_path: Path) -> None:
    tool = fetch_tool(pages(index=page(b"\xff\xfe\x00\x81", "application/octet-stream")))
    answer = await use(tool, FakeHands(tmp_path), url="http://site.test/", format="text")
    assert answer.is_error
    assert "not text" in answer.content


async def test_a_server_that_never_answers_is_left_after_the_timeout(tmp_path: Path) -> None:
    async def silent(request: httpx2.Request) -> httpx2.Response:
        await anyio.sleep_forever()
        raise AssertionError

    tool = fetch_tool(Web(table, httpx2.MockTransport(silent)))
    with anyio.fail_after(5):
        answer = await use(tool, FakeHands(tmp_path), url="http://site.test/", format="text", timeout=0.05)
    assert answer.is_error
    assert "no answer within 0.05 s" in answer.content


async def test_a_name_that_does_not_exist_is_an_answer(tmp_path: Path) -> None:
    answer = await use(fetch_tool(pages()), FakeHands(tmp_path), url="http://nowhere.test/", format="text")
    assert answer.is_error
    assert "no such host: nowhere.test" in answer.content


async def test_the_connection_goes_to_the_address_that_was_judged(tmp_path: Path) -> None:
    seen: list[httpx2.Request] = []

    def respond(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return page("ok", "text/plain")

    await use(fetch_tool(web_of(respond)), FakeHands(tmp_path), url="https://site.test:8443/a?b=c#d", format="text")
    assert str(seen[0].url) == "https://93.184.215.14:8443/a?b=c"
    assert seen[0].headers["host"] == "site.test:8443"
    assert seen[0].extensions["sni_hostname"] == "site.test"


@pytest.mark.parametrize("host", ["localhost", "inner.test", "metadata.test"])
async def test_the_servers_own_network_is_asked_for_once_more(tmp_path: Path, host: str) -> None:
    hands = FakeHands(tmp_path, judge=in_turn(True, False))
    web = web_of(lambda request: pytest.fail("the inner network was reached"))
    answer = await use(fetch_tool(web), hands, url=f"http://{host}/", format="text")
    assert answer.is_error
    assert [asking.action for asking in hands.asked] == ["fetch", "private_network"]
    assert NAMES[host] in hands.asked[1].description
    hands = FakeHands(tmp_path, judge=in_turn(True, True))
    answer = await use(fetch_tool(pages(index=page("in", "text/plain"))), hands, url=f"http://{host}/", format="text")
    assert answer.content == "in"


async def test_a_redirect_to_the_inner_network_is_asked_for_too(tmp_path: Path) -> None:
    def respond(request: httpx2.Request) -> httpx2.Response:
        assert request.headers["host"] == "site.test", "the inner network was reached"
        return httpx2.Response(302, headers={"location": "http://metadata.test/latest"})

    hands = FakeHands(tmp_path, judge=in_turn(True, False))
    answer = await use(fetch_tool(web_of(respond)), hands, url="http://site.test/", format="text")
    assert answer.is_error
    assert hands.asked[1].subject == "http://metadata.test/latest"


async def test_the_time_a_person_takes_to_allow_is_not_the_servers(tmp_path: Path) -> None:
    limits: list[float] = []

    class Thoughtful(FakeHands):
        async def permit(self, asking: Asking) -> None:
            await super().permit(asking)
            limits.append(anyio.current_effective_deadline())

    def respond(request: httpx2.Request) -> httpx2.Response:
        limits.append(anyio.current_effective_deadline())
        return page("in", "text/plain")

    await use(fetch_tool(web_of(respond)), Thoughtful(tmp_path), url="http://inner.test/", format="text", timeout=60)
    assert limits[:2] == [math.inf, math.inf]
    assert limits[2] <= anyio.current_time() + 60


@pytest.mark.parametrize(
    ("address", "private"),
    [
        ("93.184.215.14", False),
        ("2606:4700::1111", False),
        ("127.0.0.1", True),
        ("0.0.0.0", True),
        ("10.1.2.3", True),
        ("172.16.0.1", True),
        ("192.168.1.1", True),
        ("100.64.0.1", True),
        ("169.254.169.254", True),
        ("224.0.0.1", True),
        ("::1", True),
        ("::", True),
        ("fe80::1%eth0", True),
        ("fd00:ec2::254", True),
        ("::ffff:127.0.0.1", True),
        ("64:ff9b::7f00:1", True),
        ("2002:7f00:1::", True),
        ("nonsense", True),
    ],
)
def test_an_address_is_public_or_it_is_asked_for(address: str, private: bool) -> None:
    assert is_private(address) == private


async def test_redirects_are_followed_to_a_limit(tmp_path: Path) -> None:
    def respond(request: httpx2.Request) -> httpx2.Response:
        hop = int(request.url.path.strip("/") or 0)
        if hop == REDIRECTS_MAX:
            return page(f"after {hop}", "text/plain")
        return httpx2.Response(301, headers={"location": f"/{hop + 1}"})

    answer = await use(fetch_tool(web_of(respond)), FakeHands(tmp_path), url="http://site.test/0", format="text")
    assert answer.content == f"after {REDIRECTS_MAX}"
    endless = web_of(lambda request: httpx2.Response(302, headers={"location": "/again"}))
    answer = await use(fetch_tool(endless), FakeHands(tmp_path), url="http://site.test/", format="text")
    assert answer.is_error
    assert "redirects" in answer.content


async def test_a_redirect_away_from_the_web_is_refused(tmp_path: Path) -> None:
    web = web_of(lambda request: httpx2.Response(302, headers={"location": "file:///etc/passwd"}))
    assert (await use(fetch_tool(web), FakeHands(tmp_path), url="http://site.test/", format="text")).is_error


async def test_a_download_is_saved_whole_and_tells_what_it_was(tmp_path: Path) -> None:
    hands = FakeHands(tmp_path)
    tool = download_tool(pages(file=page(b"\0\1\2" * 1000, "application/zip")))
    answer = await use(tool, hands, url="http://site.test/file", file_path="sub/file.zip", timeout=5)
    assert answer.content == "Downloaded 3000 bytes to sub/file.zip (Content-Type: application/zip)"
    assert (tmp_path / "sub/file.zip").read_bytes() == b"\0\1\2" * 1000
    assert deeds(hands) == ["permit", "begin"]
    asking = hands.asked[0]
    assert (asking.tool, asking.action) == ("download", "download")
    assert asking.params == {"url": "http://site.test/file", "file_path": str(tmp_path / "sub/file.zip"), "timeout": 5}
    assert asking.subjects == ("http://site.test/file", str(tmp_path / "sub/file.zip"))


async def test_a_download_over_a_text_can_be_taken_back(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old\n")
    hands = FakeHands(tmp_path)
    await use(download_tool(pages(file=page(b"new\n"))), hands, url="http://site.test/file", file_path="file")
    assert [version.content for version in await hands.history(tmp_path / "file")] == ["old\n", "new\n"]
    assert deeds(hands) == ["permit", "begin", "changed"]


async def test_the_text_that_a_binary_download_replaces_is_in_the_history_and_the_download_is_not(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_text("old\n")
    hands = FakeHands(tmp_path)
    await use(download_tool(pages(file=page(b"\0\1\2" * 10))), hands, url="http://site.test/file", file_path="file")
    assert (tmp_path / "file").read_bytes() == b"\0\1\2" * 10
    assert [version.content for version in await hands.history(tmp_path / "file")] == ["old\n"]
    assert deeds(hands) == ["permit", "begin"]


async def broken() -> AsyncIterator[bytes]:
    yield b"half"
    raise httpx2.ReadError("the line broke")


async def test_a_download_that_breaks_or_is_too_large_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old\n")
    half = pages(file=httpx2.Response(200, content=broken()))
    for tool in (download_tool(half), download_tool(pages(file=page(b"12345678")), bytes_max=7)):
        answer = await use(tool, FakeHands(tmp_path), url="http://site.test/file", file_path="file")
        assert answer.is_error
        assert (tmp_path / "file").read_text() == "old\n"
        new = await use(tool, FakeHands(tmp_path), url="http://site.test/file", file_path="new/folder/file")
        assert new.is_error
        assert names(tmp_path) == ["file"]


async def test_a_download_is_not_put_over_a_file_that_changed_meanwhile(tmp_path: Path) -> None:
    def respond(request: httpx2.Request) -> httpx2.Response:
        (tmp_path / "file").write_text("theirs\n")
        return page(b"ours")

    answer = await use(
        download_tool(web_of(respond)), FakeHands(tmp_path), url="http://site.test/file", file_path="file"
    )
    assert answer.is_error
    assert (tmp_path / "file").read_text() == "theirs\n"


async def test_research_reads_a_page_without_its_frame(tmp_path: Path) -> None:
    seen: list[str] = []

    def respond(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.headers["user-agent"])
        return page(PAGE)

    answer = await use(web_fetch_tool(web_of(respond)), FakeHands(tmp_path), url="http://site.test/")
    assert "# Head" in answer.content
    assert "Menu" not in answer.content
    assert "evil" not in answer.content
    assert seen[0].startswith("Mozilla/5.0")


async def test_a_long_page_becomes_a_file_to_look_into(tmp_path: Path) -> None:
    web = pages(index=page("word " * 20_000, "text/plain"))
    answer = await use(web_fetch_tool(web), FakeHands(tmp_path), url="http://site.test/")
    (name,) = names(tmp_path)
    assert str(tmp_path / name) in answer.content
    assert (tmp_path / name).read_text() == "word " * 20_000
    too_large = pages(index=page("x" * (5 * 1024 * 1024 + 1), "text/plain"))
    assert (await use(web_fetch_tool(too_large), FakeHands(tmp_path), url="http://site.test/")).is_error


LITE = """<table>
<tr><td>1.</td><td><a rel="nofollow" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fa.test%2Fx%3Fq%3D1&amp;rut=z"
 class='result-link'>First &amp; <b>best</b></a></td></tr>
<tr><td></td><td class='result-snippet'>About <b>one</b>
 thing</td></tr>
<tr><td>2.</td><td><a class="result-link" href="https://duckduckgo.com/y.js?ad=1">An ad</a></td></tr>
<tr><td>3.</td><td><a rel="nofollow" href="https://b.test/" class='result-link'>Second</a></td></tr>
</table>"""


def test_results_are_read_from_the_search_page_without_detours_and_advertisements() -> None:
    assert results_of(LITE, "https://engine.test/lite/") == [
        Result("First & best", "https://a.test/x?q=1", "About one thing"),
        Result("Second", "https://b.test/", ""),
    ]


async def test_a_search_lists_its_results_by_number(tmp_path: Path) -> None:
    queries: list[str] = []

    def respond(request: httpx2.Request) -> httpx2.Response:
        queries.append(request.url.params["q"])
        return page(LITE)

    tool = web_search_tool(DuckDuckGo(web_of(respond), "http://site.test/lite/"))
    answer = await use(tool, FakeHands(tmp_path), query="a & b", max_results=1)
    assert queries == ["a & b"]
    assert answer.content == (
        "Found 1 search results:\n\n1. First & best\n   URL: https://a.test/x?q=1\n   Summary: About one thing\n"
    )


@pytest.mark.parametrize("answered", [page("", status=202), page("<div class='anomaly-modal'>Unusual traffic</div>")])
async def test_an_engine_that_has_had_enough_is_not_asked_again(tmp_path: Path, answered: httpx2.Response) -> None:
    tool = web_search_tool(DuckDuckGo(web_of(lambda request: answered), "http://site.test/"))
    answer = await use(tool, FakeHands(tmp_path), query="x")
    assert answer.is_error
    assert "Do not search again" in answer.content


async def test_a_search_without_words_or_results_says_so(tmp_path: Path) -> None:
    tool = web_search_tool(DuckDuckGo(pages(index=page("<html></html>")), "http://site.test/"))
    assert "No results" in (await use(tool, FakeHands(tmp_path), query="x")).content
    assert (await use(tool, FakeHands(tmp_path), query=" ")).is_error


async def test_searches_that_come_at_once_wait_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []

    async def note(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr("turnkeeper.tools.web_search.anyio.sleep", note)
    pause = Pause()
    for _ in range(3):
        await pause.wait()
    assert waited[0] == 0
    assert 0.4 <= waited[1] <= 2
    assert waited[1] + 0.4 <= waited[2] <= 4


def found(**more: Any) -> httpx2.Response:
    match = {
        "__typename": "FileMatch",
        "repository": {"name": "host/owner/name"},
        "file": {"path": "a.go", "url": "/host/owner/name/-/blob/a.go", "content": "one\ntwo\nthree\nfour"},
        "lineMatches": [{"preview": "two", "lineNumber": 1}],
    }
    results = {"matchCount": 2, "resultCount": 2, "limitHit": True, "results": [match, match]} | more
    return page(msgspec.json.encode({"data": {"search": {"results": results}}}), "application/json")


async def test_public_code_is_shown_with_its_surroundings_up_to_the_count(tmp_path: Path) -> None:
    sent: list[dict[str, Any]] = []

    def respond(request: httpx2.Request) -> httpx2.Response:
        sent.append(msgspec.json.decode(request.content))
        return found()

    tool = sourcegraph_tool(web_of(respond), address="http://site.test/.api/graphql")
    hands = FakeHands(tmp_path)
    answer = await use(tool, hands, query="two", count=1, context_window=1)
    assert sent[0]["variables"] == {"query": "two count:1"}
    assert answer.content == (
        "# Sourcegraph Search Results\nFound 2 matches across 2 results\n"
        "(Result limit reached; a more specific query shows others)\n\n"
        "## Result 1: host/owner/name/a.go\nURL: http://site.test/host/owner/name/-/blob/a.go\n"
        "```\n1| one\n2| two\n3| three\n```"
    )
    assert hands.asked == []


@pytest.mark.parametrize(
    ("answered", "told"),
    [
        (page('{"errors": [{"message": "bad query"}]}', "application/json"), "bad query"),
        (page("<html>", "text/html"), "not JSON"),
        (page("{}", "application/json"), "a form we do not know"),
        (page("", status=500), "500"),
        (found(results=[], matchCount=0, resultCount=0), "No results found"),
    ],
)
async def test_a_code_search_without_results_says_why(tmp_path: Path, answered: httpx2.Response, told: str) -> None:
    tool = sourcegraph_tool(web_of(lambda request: answered), address="http://site.test/")
    assert told in (await use(tool, FakeHands(tmp_path), query="x")).content


async def test_a_question_about_a_page_goes_to_a_sub_agent_in_a_folder_that_is_removed(tmp_path: Path) -> None:
    hands = FakeHands(tmp_path, data_dir=tmp_path / "data")
    answer = await use(agentic_fetch_tool(pages(index=page(PAGE))), hands, url="http://site.test/", prompt="What?")
    assert answer.content.startswith("done: What?")
    (asked,) = hands.delegations
    assert (asked["kind"], asked["title"]) == ("research", "Fetch Analysis")
    assert asked["workdir"].startswith(str(tmp_path / "data/fetch-"))
    assert "# Head" in asked["prompt"]
    assert names(tmp_path / "data") == []
    asking = hands.asked[0]
    assert (asking.tool, asking.action) == ("agentic_fetch", "fetch")
    assert asking.params == {"prompt": "What?", "url": "http://site.test/"}


async def test_a_long_page_is_handed_to_the_sub_agent_as_a_file(tmp_path: Path) -> None:
    hands = FakeHands(tmp_path, data_dir=tmp_path / "data")
    found_by_agent: list[str] = []

    def look(prompt: str) -> str:
        found_by_agent.extend(path.read_text() for path in (tmp_path / "data").glob("fetch-*/page-*.md"))
        return "found it"

    hands.delegated = look
    web = pages(index=page("word " * 20_000, "text/plain"))
    answer = await use(agentic_fetch_tool(web), hands, url="http://site.test/", prompt="What?")
    assert answer.content == "found it"
    assert found_by_agent == ["word " * 20_000]


async def test_without_a_page_the_sub_agent_searches_and_silence_is_an_error(tmp_path: Path) -> None:
    hands = FakeHands(tmp_path, delegated=lambda prompt: " ")
    answer = await use(agentic_fetch_tool(pages()), hands, prompt="Who?")
    assert answer.is_error
    assert "web_search" in hands.delegations[0]["prompt"]
    assert hands.asked[0].params == {"prompt": "Who?"}
    no = await use(agentic_fetch_tool(pages()), FakeHands(tmp_path, judge=deny), prompt="Who?")
    assert no.stop_turn


def test_a_page_is_readable_also_without_the_converter() -> None:
    plain = Plain(marks=True, skipped=frozenset({"script", "style", "nav"})).read(PAGE)
    assert plain == "# Head\n\nSome **bold** & [link](/x)"
    listed = "<ul><li>a</li><li>b</li></ul><pre>x  y\n z</pre><table><tr><td>1</td><td>2</td></tr></table>"
    text = Plain(marks=True, skipped=frozenset()).read(listed)
    assert "- a\n- b" in text
    assert "```\nx  y\n z\n```" in text
    assert "1 | 2" in text
    assert to_text("<p>a</p><svg><text>no</text></svg><p>b") == "a\n\nb"
    assert "no" not in to_markdown("<p>a</p><footer>no</footer>", whole=False)


async def test_a_refusal_in_the_middle_of_a_page_closes_the_connection(tmp_path: Path) -> None:
    closed: list[bool] = []

    class Stream(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield b"x"

        async def aclose(self) -> None:
            closed.append(True)

    web = web_of(lambda request: httpx2.Response(200, stream=Stream()))
    with pytest.raises(Refusal):
        async with web.open("http://site.test/", hands=FakeHands(tmp_path), tool="fetch", seconds=5):
            raise Refusal("enough")
    assert closed == [True]


def private_denied(asking: Asking) -> Denied | None:
    return Denied("not inside") if asking.action == "private_network" else None


async def test_research_cannot_reach_the_inner_network_though_it_asks_for_nothing_else(tmp_path: Path) -> None:
    hands = FakeHands(tmp_path, judge=private_denied)
    web = web_of(lambda request: pytest.fail("the inner network was reached"))
    assert (await use(web_fetch_tool(web), hands, url="http://localhost:8080/")).is_error
