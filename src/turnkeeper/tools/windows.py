"""Some lines from the middle of a file of any size, in constant memory.

A line ends at LF; a CR before it is dropped from what is shown. A line longer than `LINE_BYTES_MAX` is cut, and what
is beyond the cut is read past without being kept.
"""

import io
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import msgspec
from anyio import from_thread

from turnkeeper.tools.opening import reading
from turnkeeper.tools.texts import Coding, coding_of

LINE_BYTES_MAX = 2000
CHUNK_BYTES = 256 * 1024
PROBE_BYTES = 64 * 1024
CUT = "..."


class Window(msgspec.Struct, frozen=True):
    """`more`: the file goes on. `too_large`: the lines so far are more than were allowed, and nobody read on."""

    lines: tuple[str, ...]
    skipped: int
    more: bool
    encoding: str = "utf-8"
    size: int = 0
    too_large: bool = False


def read_window(path: Path, offset: int, limit: int, bytes_max: int) -> Window:
    """`limit` lines after `offset` others; a limit of 0 means as many as fit into `bytes_max`."""
    with reading(path) as file:
        probe = file.read(PROBE_BYTES)
        coding = coding_of(probe, whole=len(probe) < PROBE_BYTES)
        file.seek(len(coding.mark))
        if coding.encoding.startswith(("utf-16", "utf-32")):
            return wide_window(file, coding, offset, limit, bytes_max)
        skipped = skip_lines(file, offset)
        return gathered(narrow_lines(file), coding, skipped, limit, bytes_max)


def go_on() -> None:
    """Ends here for a call that was cancelled. Outside of a worker thread nobody can have been."""
    with suppress(RuntimeError):
        from_thread.check_cancelled()


def skip_lines(file: BinaryIO, count: int) -> int:
    """Go past `count` lines, by counting line feeds in chunks; returns how many there were."""
    skipped = 0
    while skipped < count:
        go_on()
        start = file.tell()
        chunk = file.read(CHUNK_BYTES)
        if not chunk:
            return skipped
        here = chunk.count(b"\n")
        if skipped + here < count:
            skipped += here
            at_end = len(chunk) < CHUNK_BYTES
            if at_end and not chunk.endswith(b"\n"):
                skipped += 1
            continue
        at = -1
        for _ in range(count - skipped):
            at = chunk.index(b"\n", at + 1)
        file.seek(start + at + 1)
        return count
    return skipped


def narrow_lines(file: BinaryIO) -> Iterator[tuple[bytes, bool]]:
    """Each line without its ending, cut at the limit, and whether it was cut."""
    while line := file.readline(LINE_BYTES_MAX + 2):
        ended = line.endswith(b"\n")
        body = line.rstrip(b"\n") if ended else line
        body = body.removesuffix(b"\r") if ended else body
        if not ended:
            while (rest := file.readline(CHUNK_BYTES)) and not rest.endswith(b"\n"):
                go_on()
        yield body[:LINE_BYTES_MAX], len(body) > LINE_BYTES_MAX


def gathered(lines: Iterator[tuple[bytes, bool]], coding: Coding, skipped: int, limit: int, bytes_max: int) -> Window:
    kept: list[str] = []
    size = -1
    for raw, was_cut in lines:
        if limit and len(kept) == limit:
            return Window(tuple(kept), skipped, more=True, encoding=coding.encoding, size=size)
        # A letter that the cut went through is dropped rather than shown as a question mark.
        text = raw.decode(coding.encoding, "ignore" if was_cut else "replace")
        kept.append(text + CUT if was_cut else text)
        size += len(kept[-1].encode()) + 1
        if size > bytes_max:
            return Window(tuple(kept), skipped, more=True, encoding=coding.encoding, size=size, too_large=True)
    return Window(tuple(kept), skipped, more=False, encoding=coding.encoding, size=size)


def wide_window(binary: BinaryIO, coding: Coding, offset: int, limit: int, bytes_max: int) -> Window:
    """The same for encodings whose line feed is not one byte."""
    with io.TextIOWrapper(binary, encoding=coding.encoding, errors="replace", newline="\n") as file:
        skipped = 0
        while skipped < offset and wide_line(file) is not None:
            skipped += 1
        lines = ((raw[:LINE_BYTES_MAX], len(raw) > LINE_BYTES_MAX) for raw in iter(lambda: wide_line(file), None))
        window = gathered(lines, Coding("utf-8"), skipped, limit, bytes_max)
    return msgspec.structs.replace(window, encoding=coding.encoding)


def wide_line(file: io.TextIOWrapper) -> bytes | None:
    """The next line as UTF-8 without its ending, with at most one letter more than is shown; None at the end."""
    line = file.readline(LINE_BYTES_MAX + 1)
    if not line:
        return None
    rest = line
    while rest and not rest.endswith("\n"):
        go_on()
        rest = file.readline(CHUNK_BYTES)
    return line.rstrip("\r\n").encode("utf-8", "replace")
