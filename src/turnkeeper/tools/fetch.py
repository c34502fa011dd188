"""Tool `fetch`: what a URL answers, as text, Markdown or HTML."""

from typing import Annotated, Literal

from msgspec import Meta

from turnkeeper.tools.html import body_of, to_markdown, to_text
from turnkeeper.tools.making import Made, Parameters, Refusal
from turnkeeper.tools.pages import is_html, text_of
from turnkeeper.tools.tool import Answer, Asking, Hands, Tool
from turnkeeper.tools.web import Web, checked, read_up_to, require_ok

FETCH_BYTES_MAX = 100 * 1024
PAGE_BYTES_MAX = 5 * 1024 * 1024
SECONDS_DEFAULT = 30
SECONDS_MAX = 120


class FetchParameters(Parameters, frozen=True):
    url: Annotated[str, Meta(description="The address, beginning with http:// or https://.")]
    format: Annotated[Literal["text", "markdown", "html"], Meta(description="What to make of the answer.")]
    timeout: Annotated[float, Meta(description=f"Seconds to wait (at most {SECONDS_MAX}).")] = 0


def fetch_tool(web: Web) -> Tool:
    async def act(asked: FetchParameters, hands: Hands) -> Answer:
        url = checked(asked.url)
        seconds = limited(asked.timeout, SECONDS_DEFAULT, SECONDS_MAX)
        params = {"url": url, "format": asked.format} | ({"timeout": int(asked.timeout)} if asked.timeout else {})
        await hands.permit(
            Asking(
                tool="fetch",
                action="fetch",
                description=f"Fetch content from URL: {url}",
                path=str(hands.workdir),
                subject=url,
                params=params,
            )
        )
        async with web.open(url, hands=hands, tool="fetch", seconds=seconds) as response:
            require_ok(response, url)
            data, more = await read_up_to(response, PAGE_BYTES_MAX)
            text = text_of(response, data[: data.rfind(b"\n") + 1] or data if more else data)
            return Answer(content=shaped(text, asked.format, html=is_html(response, text)))

    return Made("fetch", FetchParameters, act, parallel=True)


def limited(asked: float, default: float, most: float) -> float:
    if asked < 0:
        raise Refusal("timeout must not be negative")
    return min(asked or default, most)


def shaped(text: str, form: str, *, html: bool) -> str:
    match form:
        case "text":
            return cut(to_text(text) if html else text)
        case "markdown":
            fence = "`" * 3
            return f"{fence}markdown\n{cut(to_markdown(text))}\n{fence}" if html else f"{fence}\n{cut(text)}\n{fence}"
        case _:
            return cut(body_of(text) if html else text)


def cut(text: str) -> str:
    data = text.encode()
    if len(data) <= FETCH_BYTES_MAX:
        return text
    return data[:FETCH_BYTES_MAX].decode("utf-8", "ignore") + f"\n\n[Content truncated to {FETCH_BYTES_MAX} bytes]"
