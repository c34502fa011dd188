"""A page from the web as text that a model can read."""

from dataclasses import dataclass

import httpx2

from turnkeeper.tools.html import to_markdown
from turnkeeper.tools.making import Refusal
from turnkeeper.tools.tool import Hands
from turnkeeper.tools.web import BROWSER, Web, read_up_to, require_ok

PAGE_BYTES_MAX = 5 * 1024 * 1024
PAGE_SECONDS_MAX = 30
INLINE_BYTES_MAX = 50_000
BROWSER_HEADERS = {
    "User-Agent": BROWSER,
    "Accept": "text/html,application/xhtml+xml,text/markdown,text/plain;q=0.9,*/*;q=0.8",
    "Accept-Language": "en-US,en;q=0.9",
}


@dataclass(frozen=True)
class Page:
    url: str
    text: str


async def page(web: Web, url: str, hands: Hands, *, tool: str) -> Page:
    """The page without its frame, as Markdown; what is no HTML stays as it is."""
    async with web.open(url, hands=hands, tool=tool, headers=BROWSER_HEADERS, seconds=PAGE_SECONDS_MAX) as response:
        require_ok(response, url)
        data, more = await read_up_to(response, PAGE_BYTES_MAX)
        if more:
            raise Refusal(f"the page is larger than {PAGE_BYTES_MAX} bytes; use download instead")
        text = text_of(response, data)
        if is_html(response, text):
            text = to_markdown(text, whole=False)
    return Page(url, text)


def text_of(response: httpx2.Response, data: bytes) -> str:
    """The body as text, in the encoding it says it has."""
    try:
        return data.decode(response.charset_encoding or "utf-8")
    except (UnicodeDecodeError, LookupError) as error:
        kind = response.headers.get("content-type", "of no kind it tells")
        raise Refusal(f"the answer is not text ({kind}); use download to save it") from error


def is_html(response: httpx2.Response, text: str) -> bool:
    kind = response.headers.get("content-type", "").lower()
    return "html" in kind or (not kind and text.lstrip()[:15].lower().startswith(("<!doctype html", "<html")))
