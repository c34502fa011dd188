"""Looking for files and text without ripgrep, as a program of its own, so that a timeout or a cancel can end it.

Run as `python -m turnkeeper.tools.plain_search` with one JSON request on its standard input. It answers in the way
ripgrep would: paths with a NUL after each, or one JSON line for each match.
"""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

import msgspec

from turnkeeper.tools.globs import compiled
from turnkeeper.tools.ignoring import ALWAYS_SKIPPED, IGNORE_FILES, Ignoring, Layer
from turnkeeper.tools.making import Refusal

PROBE_BYTES = 8192
FILE_BYTES_MAX = 64 * 1024 * 1024
LINE_BYTES_MAX = 8_000


class PlainRequest(msgspec.Struct, frozen=True):
    """What to look for: `files`, `matching` (their names) or `lines`."""

    mode: str
    root: str
    hidden: bool = False
    skipped: tuple[str, ...] = ()
    pattern: str = ""
    include: str = ""
    files: tuple[str, ...] = ()
    context: int = 0
    lines_max: int = 0
    env: dict[str, str] = {}


class PlainLine(msgspec.Struct, frozen=True):
    """A line of a file, or its beginning: a match, with how many letters stand before it, or a neighbour of one."""

    path: str
    number: int
    text: str
    column: int = 0
    is_match: bool = True


def main(source: IO[bytes], target: IO[bytes]) -> int:
    request = msgspec.json.decode(source.read(), type=PlainRequest)
    try:
        for piece in answers(request):
            target.write(piece)
    except (re.error, Refusal) as error:
        sys.stderr.write(f"this is not a pattern: {error}\n")
        return 2
    target.flush()
    return 0


def answers(request: PlainRequest) -> Iterator[bytes]:
    match request.mode:
        case "files":
            start = len(request.root.rstrip("/")) + 1
            yield from (os.fsencode(path[start:]) + b"\0" for path in walked(request))
        case "matching":
            expression = re.compile(request.pattern.encode(), re.MULTILINE)
            paths = chosen(request)
            yield from (os.fsencode(path) + b"\0" for path in paths if holds(path, expression))
        case _:
            expression = re.compile(request.pattern.encode(), re.MULTILINE)
            for path in map(unspelled, request.files):
                for line in matching_lines(path, expression, request.context, request.lines_max):
                    yield msgspec.json.encode(msgspec.structs.replace(line, path=spelled(line.path))) + b"\n"


def spelled(path: str) -> str:
    """A name as it can be written down: it may hold any bytes."""
    return os.fsencode(path).decode("latin-1")


def unspelled(path: str) -> str:
    return os.fsdecode(path.encode("latin-1"))


def letters_before(line: bytes, at: int) -> int:
    return len(line[:at].decode("utf-8", "replace"))


def chosen(request: PlainRequest) -> Iterator[str]:
    """The files to search: the one that was named, or those below the root that the filter lets through."""
    if os.path.isfile(request.root):  # noqa: PTH113
        yield request.root
        return
    include = included(request.include)
    for path in walked(request):
        if include is None or include.fullmatch(os.path.relpath(path, request.root)):
            yield path


def included(pattern: str) -> re.Pattern[str] | None:
    """A filter without a slash is about names in any folder."""
    if not pattern:
        return None
    return compiled(pattern if "/" in pattern else f"**/{pattern}")


def walked(request: PlainRequest) -> Iterator[str]:
    ignoring = Ignoring(IGNORE_FILES, common=False, env=request.env)
    yield from below(request.root, ignoring, ignoring.above(Path(request.root)), request)


def below(folder: str, ignoring: Ignoring, layers: tuple[Layer, ...], request: PlainRequest) -> Iterator[str]:
    """The files below a folder; links are neither followed nor listed."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    layers = ignoring.within(folder, layers)
    for entry in entries:
        is_folder = entry.is_dir(follow_symlinks=False)
        if not is_folder and not entry.is_file(follow_symlinks=False):
            continue
        if entry.name in request.skipped or entry.name in ALWAYS_SKIPPED:
            continue
        if entry.name.startswith(".") and not request.hidden:
            # As ripgrep has it: a hidden file that an ignore file explicitly wants is wanted.
            verdicts = [layer.verdict(entry.path, folder=is_folder) for layer in reversed(layers)]
            if next((verdict for verdict in verdicts if verdict is not None), None) is not False:
                continue
        if ignoring.skips(entry.path, layers, folder=is_folder):
            continue
        if is_folder:
            yield from below(entry.path, ignoring, layers, request)
        else:
            yield entry.path


def text_of(path: str) -> bytes:
    """A text file's bytes; nothing of a binary one, or of one too large to search in this way."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            probe = file.read(PROBE_BYTES)
            if b"\0" in probe or os.fstat(file.fileno()).st_size > FILE_BYTES_MAX:
                return b""
            data = probe + file.read()
            return b"" if b"\0" in data else data
    except OSError:
        return b""


def holds(path: str, expression: re.Pattern[bytes]) -> bool:
    return any(expression.search(line) for line in text_of(path).splitlines())


def matching_lines(path: str, expression: re.Pattern[bytes], context: int, lines_max: int) -> Iterator[PlainLine]:
    lines = [line.removesuffix(b"\r") for line in text_of(path).removesuffix(b"\n").split(b"\n")]
    found = {at: match.start() for at, line in enumerate(lines) if (match := expression.search(line))}
    kept = sorted(found)[:lines_max] if lines_max else sorted(found)
    shown = sorted({near for at in kept for near in around(at, context, len(lines))})
    for at in shown:
        text = lines[at][:LINE_BYTES_MAX].decode("utf-8", "replace")
        yield PlainLine(path, at + 1, text, letters_before(lines[at], found.get(at, 0)), is_match=at in kept)


def around(at: int, context: int, count: int) -> Sequence[int]:
    return range(max(at - context, 0), min(at + context + 1, count))


if __name__ == "__main__":
    sys.exit(main(sys.stdin.buffer, sys.stdout.buffer))
