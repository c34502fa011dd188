"""The way every change to a file takes: read, checked, asked for, announced, written whole, remembered.

The order is the promise. Nothing is touched before somebody allowed it; the effect is noted before it happens; the
file's history is written after it happened; and what changed on disk in the meantime, also while a person thought
about the answer, is never overwritten but told to the model.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import anyio
from anyio import to_thread

from turnkeeper.tools import files, forms
from turnkeeper.tools.diffs import Difference, contents, difference, to_be_seen
from turnkeeper.tools.files import Snapshot
from turnkeeper.tools.making import Refusal, noted, refused
from turnkeeper.tools.places import Place, described
from turnkeeper.tools.texts import MARK, UTF_8, CannotEncode, Coding, NotText, decoded, marked
from turnkeeper.tools.tool import Answer, Asking, Denied, Hands

WRITE_SECONDS_MAX = 60
SHORT_LETTERS_MAX = 8 * 1024

Result = TypeVar("Result")

Diagnose = Callable[[Path, Hands], Awaitable[str]]
"""What the language servers say of a file that was read or changed; empty where there is nothing to say."""


async def no_diagnosis(_path: Path, _hands: Hands) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Draft:
    """A file as the change finds it; `before` None: there is none yet."""

    place: Place
    found: Snapshot | None
    before: str | None
    coding: Coding


@dataclass(frozen=True, slots=True)
class Changed:
    """A change that happened, and what is told about it."""

    metadata: dict[str, Any]
    diff: str


async def opened(place: Place) -> Draft:
    """The file as it is now, whether or not the session has seen it."""
    try:
        try:
            # A short file is read sooner than a thread is found for it.
            return read_now(place, files.SHORT_BYTES_MAX)
        except files.TooBig:
            return await to_thread.run_sync(read_now, place, files.EDIT_BYTES_MAX)
    except files.NotAFile as error:
        raise Refusal(f"this is {error}, not a file: {place.path}") from error
    except files.TooBig as error:
        raise Refusal(str(error)) from error
    except NotText as error:
        raise Refusal(f"this is not a text file ({error}): {place.path}") from error


def read_now(place: Place, bytes_max: int) -> Draft:
    found = files.snapshot_now(place.real, bytes_max=bytes_max)
    if found is None:
        return Draft(place, None, None, UTF_8)
    before, coding = decoded(found.data)
    return Draft(place, found, before, coding)


async def computed(letters: int, work: Callable[..., Result], *given: object) -> Result:
    """Work on texts of so many letters: what is short is done at once, since a thread would cost more."""
    return work(*given) if letters <= SHORT_LETTERS_MAX else await to_thread.run_sync(work, *given)


async def require_fresh(hands: Hands, draft: Draft) -> None:
    """An existing file may be changed only by a session that has seen it as it is now."""
    found = draft.found
    if found is None:
        return
    read = await hands.last_seen(draft.place.real)
    if read is None:
        raise Refusal(f"you must read the file before changing it: use view on {draft.place.path} first")
    # Small files are known by their content; of large ones only size and time are remembered.
    sized = read.digest.startswith("size:") or not read.digest
    if read.digest != found.digest or (sized and read.mtime_ns != found.mtime_ns):
        raise stale(draft.place)


def stale(place: Place) -> Refusal:
    return Refusal(
        f"the file has changed since it was last read: {place.path}. Somebody else may be working on it. "
        "View it again, then make the change on what is there now."
    )


async def carry_out(hands: Hands, draft: Draft, after: str, *, tool: str, keep: bool = True) -> Changed:
    """Ask, announce, write and remember; `keep` gives faces both texts beside the diff."""
    place, before = draft.place, draft.before or ""
    after, coding = as_written(draft, after)
    seen = await compared(hands, draft, after)
    metadata: dict[str, Any] = {"additions": seen.additions, "removals": seen.removals, "diff": seen.text}
    if keep:
        metadata |= contents(before, after)
    data = encoded(coding, after)
    await permit_write(hands, draft, after, tool)
    note = forms.noted_found(place.real, draft.found, draft.coding)
    await hands.begin_change(place.real, before=draft.before, form=note)
    await write(hands, draft, data, after, coding)
    return Changed(metadata, seen.text)


async def write(hands: Hands, draft: Draft, data: bytes, after: str, coding: Coding) -> None:
    """Write and remember; a cancel that comes in between waits, so that no change goes unrecorded."""
    place = draft.place
    with anyio.fail_after(WRITE_SECONDS_MAX, shield=True):
        try:
            written = await files.replace(place.real, data, based_on=draft.found)
        except files.Changed as error:
            raise stale(place) from error
        note = forms.noted(coding, written.mode)
        await hands.changed(place.real, after=after, digest=written.digest, mtime_ns=written.mtime_ns, form=note)


def as_written(draft: Draft, after: str) -> tuple[str, Coding]:
    """The text without a mark that was put before it, and how it is written; a second mark of the file's own stays."""
    if draft.before and draft.before.startswith(MARK):
        return after, draft.coding
    text, coding = marked(after, draft.coding)
    if (text, coding) == (draft.before, draft.coding):
        raise Refusal(f"no changes: the file already contains exactly this text: {draft.place.path}")
    return text, coding


def encoded(coding: Coding, after: str) -> bytes:
    try:
        data = coding.encode(after)
    except CannotEncode as error:
        raise Refusal(f"{error}. Change the encoding of the file first, or use other letters.") from error
    if len(data) > files.EDIT_BYTES_MAX:
        raise Refusal(str(files.TooBig(len(data))))
    return data


async def permit_write(hands: Hands, draft: Draft, after: str, tool: str) -> None:
    place, before = draft.place, draft.before or ""
    within = place.inside and not place.secret
    texts = await computed(len(before) + len(after), to_be_seen, before, after)
    await hands.permit(
        Asking(
            tool=tool,
            action="write",
            description=described("Change file" if draft.found else "Create file", place),
            path=str(hands.workdir if within else place.path),
            subject=str(place.real),
            params={"file_path": str(place.path), **texts},
        )
    )


async def compared(hands: Hands, draft: Draft, after: str) -> Difference:
    before = draft.before or ""
    return await computed(len(before) + len(after), difference, shown(hands, draft.place), before, after)


def shown(hands: Hands, place: Place) -> str:
    return str(place.path).removeprefix(f"{hands.workdir}/")


async def denied_with_diff(hands: Hands, denied: Denied, draft: Draft, after: str, **more: Any) -> Answer:
    """A no, with the change that was not made, for a person to look back on."""
    before = draft.before or ""
    seen = await compared(hands, draft, after)
    counts = {"additions": seen.additions, "removals": seen.removals, "diff": seen.text}
    return refused(denied, {**counts, **contents(before, after), **more})


async def answered(hands: Hands, place: Place, text: str, metadata: dict[str, Any], diagnose: Diagnose) -> Answer:
    """What the model and the faces are told of a change."""
    diagnosis = await diagnose(place.real, hands)
    content = f"<result>\n{text}\n</result>" + (f"\n{diagnosis}" if diagnosis else "")
    return Answer(content=content, metadata=noted(metadata))
