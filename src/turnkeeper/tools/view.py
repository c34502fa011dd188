"""Tool `view`: a stretch of a text file with line numbers, or an image.

Reads only the lines it shows: a window of a huge file costs constant memory.
"""

import base64
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from anyio import to_thread
from msgspec import Meta

from turnkeeper.tools.editing import Diagnose, no_diagnosis
from turnkeeper.tools.files import EDIT_BYTES_MAX, digest_now
from turnkeeper.tools.making import Made, Parameters, Refusal, noted
from turnkeeper.tools.opening import reading
from turnkeeper.tools.places import Place, located, permit_read
from turnkeeper.tools.texts import NotText
from turnkeeper.tools.tool import Answer, Hands, Tool
from turnkeeper.tools.windows import Window, read_window

LINES_DEFAULT = 200
WINDOW_BYTES_MAX = 204_800
IMAGE_BYTES_MAX = 200 * 1024
SIMILAR_NAMES_MAX = 3
IMAGE_SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".gif", ".webp"})
BUILTIN = "crush://skills/"


class ViewParameters(Parameters, frozen=True):
    file_path: Annotated[str, Meta(description="The file to read; relative paths start at the working directory.")]
    offset: Annotated[int, Meta(description="How many lines to skip; 0 starts at the first line.")] = 0
    limit: Annotated[int, Meta(description=f"How many lines to show (default {LINES_DEFAULT}).")] = 0


@dataclass(frozen=True)
class Skill:
    """A skill whose files may be read freely: a folder on disk, or a text that comes with the program."""

    name: str
    description: str = ""
    folder: Path | None = None
    text: str = ""

    def holds(self, place: Place) -> bool:
        return self.folder is not None and place.real.is_relative_to(self.folder.resolve())

    @property
    def metadata(self) -> dict[str, Any]:
        about = {"resource_type": "skill", "resource_name": self.name, "resource_description": self.description}
        return {key: value for key, value in about.items() if value}


def view_tool(skills: Sequence[Skill] = (), diagnose: Diagnose = no_diagnosis) -> Tool:
    async def act(asked: ViewParameters, hands: Hands) -> Answer:
        if asked.offset < 0 or asked.limit < 0:
            raise Refusal("offset and limit must not be negative")
        if asked.file_path.startswith(BUILTIN):
            return builtin(asked.file_path, skills)
        place = located(hands, asked.file_path)
        skill = next((skill for skill in skills if skill.holds(place)), None)
        if skill is None:
            params = {"file_path": str(place.path), "offset": asked.offset, "limit": asked.limit or LINES_DEFAULT}
            await permit_read(hands, place, tool="view", action="read", params=params)
        require_file(place)
        if place.path.suffix.lower() in IMAGE_SUFFIXES:
            return await image(place, hands)
        return await text(asked, place, hands, skill, diagnose)

    return Made("view", ViewParameters, act)


def builtin(url: str, skills: Sequence[Skill]) -> Answer:
    name = url.removeprefix(BUILTIN).removesuffix("/SKILL.md")
    skill = next((skill for skill in skills if skill.name == name and skill.text), None)
    if skill is None:
        raise Refusal(f"there is no such skill: {url}")
    lines = tuple(skill.text.splitlines())
    return told(Window(lines, 0, more=False), url, "", skill.metadata)


def require_file(place: Place) -> None:
    if place.real.is_dir():
        raise Refusal(f"this is a directory, not a file: {place.path}. Use ls to see what is in it.")
    if not place.real.exists():
        raise Refusal(f"file not found: {place.path}{suggestions(place)}")
    if not place.real.is_file():
        raise Refusal(f"this is not a regular file: {place.path}")


def suggestions(place: Place) -> str:
    """Files of the same folder with a similar name."""
    if not place.inside:
        return ""
    name = place.path.name.lower()
    try:
        names = sorted(entry.name for entry in place.path.parent.iterdir())
    except OSError:
        return ""
    near = [one for one in names if name and (name in one.lower() or one.lower() in name)][:SIMILAR_NAMES_MAX]
    return "\nDid you mean one of these?\n" + "\n".join(str(place.path.parent / one) for one in near) if near else ""


async def image(place: Place, hands: Hands) -> Answer:
    data = await to_thread.run_sync(image_bytes, place.real)
    if not hands.supports_images:
        raise Refusal("the current model cannot see images")
    kind = image_kind(data)
    if not kind:
        raise Refusal(f"this is not an image, whatever its name says: {place.path}")
    content = f"Image: {place.path} ({kind}, {len(data)} bytes)"
    return Answer(
        content=content,
        data=base64.b64encode(data).decode("ascii"),
        mime_type=kind,
        metadata=noted({"file_path": str(place.path), "content": ""}),
    )


def image_bytes(path: Path) -> bytes:
    with reading(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > IMAGE_BYTES_MAX:
            raise Refusal(f"the image is too large: {size} bytes, at most {IMAGE_BYTES_MAX} can be shown")
        return file.read(IMAGE_BYTES_MAX)


def image_kind(data: bytes) -> str:
    """What the first bytes say the image is."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    return "image/webp" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else ""


async def text(asked: ViewParameters, place: Place, hands: Hands, skill: Skill | None, diagnose: Diagnose) -> Answer:
    lines = asked.limit or (LINES_DEFAULT if skill is None else 0)
    most = WINDOW_BYTES_MAX if skill is None else EDIT_BYTES_MAX
    # The digest is taken first: what changes while we read is stale, never unnoticed.
    digest, mtime_ns = await to_thread.run_sync(digest_now, place.real)
    try:
        window = await to_thread.run_sync(read_window, place.real, asked.offset, lines, most)
    except NotText as error:
        size = place.real.stat().st_size
        raise Refusal(f"this is a binary file ({error}; {size} bytes) and cannot be shown: {place.path}") from error
    if window.too_large:
        raise Refusal(
            f"the first {len(window.lines)} lines asked for are {window.size} bytes; at most {most} can be shown. "
            "Use offset and limit to read less of it, or grep to find the place."
        )
    if asked.offset and not window.lines:
        raise Refusal(f"offset {asked.offset} is beyond the end: the file has {window.skipped} lines")
    await hands.seen(place.real, digest=digest, mtime_ns=mtime_ns)
    diagnosis = await diagnose(place.real, hands) if skill is None else ""
    return told(window, str(place.path), diagnosis, skill.metadata if skill else {})


def told(window: Window, path: str, diagnosis: str, about: dict[str, Any]) -> Answer:
    first = window.skipped + 1
    numbered = [f"{number:6d}|{line}" for number, line in enumerate(window.lines, start=first)]
    parts = ["<file>", *numbered]
    if window.more:
        following = window.skipped + len(window.lines)
        parts.append(f"\n(The file has more lines. Use offset {following} to read on from line {following + 1}.)")
    if window.encoding != "utf-8":
        parts.append(f"\n(The file is encoded as {window.encoding}.)")
    parts.append("</file>")
    if diagnosis:
        parts.append(diagnosis)
    metadata = {"file_path": path, "content": "\n".join(window.lines), **about}
    return Answer(content="\n".join(parts), metadata=noted(metadata))
