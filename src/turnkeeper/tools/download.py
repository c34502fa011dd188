"""Tool `download`: what a URL answers, saved to a file: whole, or not at all."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import anyio
import httpx2
from anyio import to_thread
from msgspec import Meta

from turnkeeper.tools.fetch import limited
from turnkeeper.tools.files import (
    NEW_FILE_MODE,
    Identity,
    NotAFile,
    Part,
    TooBig,
    current_umask,
    digest_now,
    discard,
    identity,
    part_name,
    snapshot_now,
    swapping,
)
from turnkeeper.tools.forms import noted_found
from turnkeeper.tools.making import Made, Parameters, Refusal
from turnkeeper.tools.opening import NO_LINK, opened_folder, remove_empty
from turnkeeper.tools.places import Place, described, located
from turnkeeper.tools.texts import UTF_8, NotText, decoded
from turnkeeper.tools.tool import Answer, Asking, Hands, Tool
from turnkeeper.tools.web import Web, checked, require_ok

SECONDS_DEFAULT = 300
SECONDS_MAX = 600
DOWNLOAD_BYTES_MAX = 1024 * 1024 * 1024
RECORD_SECONDS_MAX = 60


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
        before = await to_thread.run_sync(identity_now, place.real)
        async with web.open(url, hands=hands, tool="download", seconds=seconds) as response:
            require_ok(response, url)
            held = await to_thread.run_sync(text_now, place.real)
            if held:
                await hands.begin_change(place.real, before=held.text, form=held.form)
            else:
                await hands.begin(f"{url} -> {place.real}")
            size = await saved(response, place, before, bytes_max)
            # What stands there now is recorded, also if somebody cancels at this moment.
            with anyio.fail_after(RECORD_SECONDS_MAX, shield=True):
                await record(hands, place, held)
            kind = response.headers.get("content-type", "unknown")
        return Answer(content=f"Downloaded {size} bytes to {shown(hands, place)} (Content-Type: {kind})")

    return Made("download", DownloadParameters, act, parallel=True)


def identity_now(path: Path) -> Identity | None:
    try:
        folder = opened_folder(path.parent)
    except FileNotFoundError:
        return None
    try:
        return identity(folder, path.name)
    finally:
        os.close(folder)


@dataclass(frozen=True, slots=True)
class Held:
    """A file's text, or None where there is no file, and how it is kept."""

    text: str | None
    form: str


def text_now(path: Path) -> Held | None:
    """Nothing for what a history of texts cannot hold."""
    try:
        found = snapshot_now(path)
        text, coding = decoded(found.data) if found else (None, UTF_8)
        return Held(text, noted_found(path, found, coding))
    except (NotAFile, NotText, OSError, TooBig):
        return None


async def record(hands: Hands, place: Place, held: Held | None) -> None:
    match held and await to_thread.run_sync(text_now, place.real):
        case Held(str(after), form):
            digest, mtime_ns = await to_thread.run_sync(digest_now, place.real)
            await hands.changed(place.real, after=after, digest=digest, mtime_ns=mtime_ns, form=form)
        case _:
            pass


async def saved(response: httpx2.Response, place: Place, before: object, bytes_max: int) -> int:
    """Streamed beside the file, then put in its place, unless somebody else changed it meanwhile."""
    made: list[Path] = []
    try:
        folder = await to_thread.run_sync(opened_folder, place.real.parent, made)
        try:
            return await streamed(response, folder, place, before, bytes_max)
        finally:
            os.close(folder)
    except BaseException:
        remove_empty(made)
        raise


async def streamed(response: httpx2.Response, folder: int, place: Place, before: object, bytes_max: int) -> int:
    part = Part(folder, part_name(place.real.name))
    descriptor = os.open(part.name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_LINK, 0o600, dir_fd=folder)
    try:
        async with await anyio.open_file(descriptor, "wb") as file:
            size = 0
            async for chunk in response.aiter_bytes():
                size += len(chunk)
                if size > bytes_max:
                    raise Refusal(f"the file is larger than {bytes_max} bytes; nothing was saved")
                await file.write(chunk)
            await file.flush()
            await to_thread.run_sync(finish, descriptor, folder, place.real.name)
        with swapping:
            put_in_place(part, place, before)
    except BaseException:
        discard(part)
        raise
    return size


def finish(descriptor: int, folder: int, name: str) -> None:
    """With the mode of the file that is to be replaced, safe on disk."""
    os.fchmod(descriptor, mode_there(folder, name))
    os.fsync(descriptor)


def mode_there(folder: int, name: str) -> int:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode & 0o7777
    except FileNotFoundError:
        return NEW_FILE_MODE & ~current_umask()


def put_in_place(part: Part, place: Place, before: object) -> None:
    name = place.real.name
    if identity(part.folder, name) != before:
        raise Refusal(f"the file was changed by somebody else during the download; nothing was saved: {place.path}")
    os.replace(part.name, name, src_dir_fd=part.folder, dst_dir_fd=part.folder)


def shown(hands: Hands, place: Place) -> str:
    return str(place.path.relative_to(hands.workdir)) if place.path.is_relative_to(hands.workdir) else str(place.path)
