"""Tool `web_fetch`, for research: a page as Markdown; a long one as a file to look into."""

import hashlib
from pathlib import Path
from typing import Annotated

from anyio import to_thread
from msgspec import Meta

from turnkeeper.tools.making import Made, Parameters
from turnkeeper.tools.pages import INLINE_BYTES_MAX, Page, page
from turnkeeper.tools.tool import Answer, Hands, Tool
from turnkeeper.tools.web import Web, checked


class WebFetchParameters(Parameters, frozen=True):
    url: Annotated[str, Meta(description="The address of the page, beginning with http:// or https://.")]


def web_fetch_tool(web: Web) -> Tool:
    async def act(asked: WebFetchParameters, hands: Hands) -> Answer:
        found = await page(web, checked(asked.url), hands, tool="web_fetch")
        return Answer(content=await given(found, hands.workdir))

    return Made("web_fetch", WebFetchParameters, act, parallel=True)


async def given(found: Page, folder: Path) -> str:
    """The page itself, or where it was put when it is too long to be shown at once."""
    if len(found.text.encode()) <= INLINE_BYTES_MAX:
        return f"Content of {found.url}:\n\n{found.text}"
    path = await to_thread.run_sync(saved, found, folder)
    return (
        f"Content of {found.url} was saved, since it is longer than {INLINE_BYTES_MAX} bytes:\n\n{path}\n\n"
        "Use grep to find what you look for in it, and view with offset and limit to read there."
    )


def saved(found: Page, folder: Path) -> Path:
    path = folder / f"page-{hashlib.sha256(found.url.encode()).hexdigest()[:12]}.md"
    path.write_text(found.text, "utf-8")
    return path
