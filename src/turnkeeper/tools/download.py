"""Tool `download`: what a URL answers, saved to a file: whole, or not at all."""

import os
import tempfile
from pathlib import Path
from typing import Annotated

import anyio
import httpx2
from anyio import to_thread
from msgspec import Meta

from turnkeeper.tools.fetch import limited
from turnkeeper.tools.files import (
    NEW_FILE_MODE,
    current_umask,
    discard,
    identity,
    make_folders,
    remove_empty,
    swapping,
)
from turnkeeper.tools.making import Made, Parameters, Refusal
from turnkeeper.tools.places import Place, described, located
from turnkeeper.tools.tool import Answer, Asking, Hands, Tool
from turnkeeper.tools.web import Web, checked, require_ok

SECONDS_DEFAULT = 300
SECONDS_MAX = 600
DOWNLOAD_BYTES_MAX = 1024 * 1024 * 1024


class DownloadParameters(Parameters, frozen=True):
    url: Annotated[str, Meta(description="The address, beginning with http:// or https://.")]
    file_path: Annotated[str, Meta(description="Where to save it; relative paths start at the working directory.")]
    timeout: Annotated[float, Meta(description=f"Seconds to wait (at most {SECONDS_MAX}).")] = 0


def download_tool(web: Web, *, bytes_max: int = DOWNLOAD_BYTES_MAX) -> Tool:
    async def act(asked: DownloadParameters, hands: Hands) -> Answer:
        url, place = checked(asked.url), located(hands, asked.file_path)
        seconds = limited(asked.timeout, SECONDS_DEFAULT, SECONDS_MAX)
        if place.real.is_dir():
            raise Refusal(f"this is a directory, not a file: {place.path}")
        params = {"url": url, "file_path": str(place.path)} | ({"timeout": int(asked.timeout)} if asked.timeout else {})
        await hands.permit(
            Asking(
                tool="download",
                action="download",
                description=described(f"Download {url} to", place),
                path=str(hands.workdir if place.inside and not place.secret else place.path),
                subject=url,
                params=params,
                subjects=(url, str(place.real)),
            )
        )
        before = identity(place.real)
        async with web.open(url, hands=hands, tool="download", seconds=seconds) as response:
            require_ok(response, url)
            await hands.begin(f"{url} -> {place.real}")
            size = await saved(response, place, before, bytes_max)
            kind = response.headers.get("content-type", "unknown")
        return Answer(content=f"Downloaded {size} bytes to {shown(hands, place)} (Content-Type: {kind})")

    return Made("download", DownloadParameters, act, parallel=True)


async def saved(response: httpx2.Response, place: Place, before: object, bytes_max: int) -> int:
    """Streamed beside the file, then put in its place, unless somebody else changed it meanwhile."""
    made = await to_thread.run_sync(make_folders, place.real.parent)
    descriptor, name = tempfile.mkstemp(prefix=f".{place.real.name[:64]}.", suffix=".part", dir=place.real.parent)
    part = Path(name)
    try:
        async with await anyio.open_file(descriptor, "wb") as file:
            size = 0
            async for chunk in response.aiter_bytes():
                size += len(chunk)
                if size > bytes_max:
                    raise Refusal(f"the file is larger than {bytes_max} bytes; nothing was saved")
                await file.write(chunk)
            await file.flush()
            await to_thread.run_sync(os.fsync, descriptor)
        with swapping:
            put_in_place(part, place, before)
    except BaseException:
        discard(part)
        remove_empty(made)
        raise
    return size


def put_in_place(part: Path, place: Place, before: object) -> None:
    if identity(place.real) != before:
        raise Refusal(f"the file was changed by somebody else during the download; nothing was saved: {place.path}")
    mode = place.real.stat().st_mode & 0o7777 if before else NEW_FILE_MODE & ~current_umask()
    part.chmod(mode)
    part.replace(place.real)


def shown(hands: Hands, place: Place) -> str:
    return str(place.path.relative_to(hands.workdir)) if place.path.is_relative_to(hands.workdir) else str(place.path)
