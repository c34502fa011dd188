"""Tool `grep`: lines by a regular expression, the most recently changed files first.

Two questions are asked: which files match, and then, of those that come first, which lines. So the answer is the same
each time, and its cost does not grow with the number of matches that nobody will see.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal
from unicodedata import east_asian_width

import anyio
from anyio import to_thread
from msgspec import Meta

from turnkeeper.protocol.secretfiles import is_secret
from turnkeeper.tools.glob import is_ignored
from turnkeeper.tools.ignoring import OWN_IGNORE_FILES, Ignoring
from turnkeeper.tools.making import Made, Parameters, Refusal, noted
from turnkeeper.tools.places import Place, located, permit_read
from turnkeeper.tools.plain_search import PlainLine
from turnkeeper.tools.searching import Scope, Searcher
from turnkeeper.tools.tool import Answer, Hands, Tool

MATCHES_MAX = 100
CELLS_MAX = 500
CONTEXT_LINES_MAX = 20
FILES_AT_ONCE = 100
COUNT_MAX = 10_000
OFFSET_MAX = 10_000
GREP_SECONDS_DEFAULT = 5.0
SKIPPED = ("node_modules", "__pycache__", "OrbStack")

Mode = Literal["content", "files_with_matches", "count"]


class GrepParameters(Parameters, frozen=True):
    pattern: Annotated[str, Meta(description="The regular expression to look for.")]
    path: Annotated[str, Meta(description="The folder or file to search (default: the working directory).")] = ""
    include: Annotated[str, Meta(description="Only files whose name matches this glob, such as `*.{ts,tsx}`.")] = ""
    literal_text: Annotated[bool, Meta(description="Take the pattern as plain text (default false).")] = False
    context: Annotated[int, Meta(description="How many lines to show around each match (default 0).")] = 0
    output_mode: Annotated[Mode, Meta(description="Lines, names of files, or matches per file.")] = "content"
    offset: Annotated[int, Meta(description="How many results to skip, to read on from an earlier answer.")] = 0


@dataclass(frozen=True)
class Found:
    """What one page of an answer holds."""

    lines: list[PlainLine]
    files: list[tuple[str, int]]
    truncated: bool
    secrets: int


def grep_tool(searcher: Searcher, *, seconds: float = GREP_SECONDS_DEFAULT) -> Tool:
    async def act(asked: GrepParameters, hands: Hands) -> Answer:
        require_sensible(asked)
        place = located(hands, asked.path or ".")
        params = {"pattern": asked.pattern, "path": asked.path, "include": asked.include}
        await permit_read(hands, place, tool="grep", action="read", params=params, what="Search")
        if not place.real.exists():
            raise Refusal(f"there is no such file or directory: {place.path}")
        try:
            with anyio.fail_after(seconds):
                found = await search(searcher, asked, place, hands)
        except TimeoutError as error:
            raise Refusal(f"the search took longer than {seconds:g} s; narrow it with path or include") from error
        return told(found, asked, place)

    return Made("grep", GrepParameters, act)


def require_sensible(asked: GrepParameters) -> None:
    if not asked.pattern:
        raise Refusal("pattern is empty")
    if not 0 <= asked.context <= CONTEXT_LINES_MAX:
        raise Refusal(f"context is 0 to {CONTEXT_LINES_MAX} lines")
    if not 0 <= asked.offset <= OFFSET_MAX:
        raise Refusal(f"offset is 0 to {OFFSET_MAX}; narrow the search instead")


async def search(searcher: Searcher, asked: GrepParameters, place: Place, hands: Hands) -> Found:
    pattern = re.sub(r"([^\w\s])", r"\\\1", asked.pattern) if asked.literal_text else asked.pattern
    scope = Scope(place.real, skipped=SKIPPED, env=hands.env)
    paths = await searcher.matching(scope, pattern, include=asked.include)
    files, secrets = await to_thread.run_sync(newest_first, paths, place)
    if asked.output_mode == "files_with_matches":
        page = [(path, 0) for path in files[asked.offset : asked.offset + MATCHES_MAX]]
        return Found([], page, len(files) > asked.offset + MATCHES_MAX, secrets)
    if asked.output_mode == "count":
        page = files[asked.offset : asked.offset + MATCHES_MAX]
        lines = await searcher.lines(page, pattern, context=0, lines_max=COUNT_MAX)
        counts = dict.fromkeys(page, 0)
        for line in lines:
            counts[line.path] += 1
        return Found([], list(counts.items()), len(files) > asked.offset + MATCHES_MAX, secrets)
    lines, truncated = await first_lines(searcher, files, pattern, asked)
    return Found(lines, [], truncated, secrets)


async def first_lines(
    searcher: Searcher, files: Sequence[str], pattern: str, asked: GrepParameters
) -> tuple[list[PlainLine], bool]:
    """The matches of the page that was asked for, file after file, and whether there are more."""
    wanted = asked.offset + MATCHES_MAX + 1
    lines: list[PlainLine] = []
    for start in range(0, len(files), FILES_AT_ONCE):
        some = files[start : start + FILES_AT_ONCE]
        lines += await searcher.lines(some, pattern, context=asked.context, lines_max=wanted)
        if sum(line.is_match for line in lines) >= wanted:
            break
    return page_of(lines, asked.offset)


def page_of(lines: Sequence[PlainLine], offset: int) -> tuple[list[PlainLine], bool]:
    """Matches and their neighbours from the match at `offset` on; a neighbour goes with the match it follows."""
    page: list[PlainLine] = []
    matches = 0
    for line in lines:
        matches += line.is_match
        if matches > offset + MATCHES_MAX:
            return page, True
        if matches > offset or (not line.is_match and matches == offset and offset == 0):
            page.append(line)
    return page, False


def newest_first(paths: Sequence[str], place: Place) -> tuple[list[str], int]:
    """The files in the order they are answered, and how many were left out because they may hold secrets."""
    timed: list[tuple[int, str]] = []
    for path in paths:
        try:
            timed.append((-os.stat(path, follow_symlinks=False).st_mtime_ns, path))  # noqa: PTH116
        except OSError:
            continue
    ordered = [path for _, path in sorted(timed)]
    root = str(place.real)
    if place.real.is_file():
        return ordered, 0
    ignoring = Ignoring(OWN_IGNORE_FILES, common=False)
    allowed = [path for path in ordered if not is_secret(path)]
    return [path for path in allowed if not is_ignored(path, root, ignoring)], len(ordered) - len(allowed)


def told(found: Found, asked: GrepParameters, place: Place) -> Answer:
    count = len(found.files) or sum(line.is_match for line in found.lines)
    parts = [heading(count, asked.output_mode), *shown(found, place)] if count else ["No files found"]
    if found.truncated:
        parts.append(
            f"\n(There are more results than the {MATCHES_MAX} shown. "
            f"Use offset {asked.offset + MATCHES_MAX} for the next, or narrow the search.)"
        )
    if found.secrets:
        parts.append(f"\n({found.secrets} files that may hold secrets were left out; name one as path to search it.)")
    return Answer(content="\n".join(parts), metadata=noted({"number_of_matches": count, "truncated": found.truncated}))


def heading(count: int, mode: Mode) -> str:
    what = "match" if mode == "content" else "file"
    plural = "" if count == 1 else "es" if what == "match" else "s"
    return f"Found {count} {what}{plural}"


def shown(found: Found, place: Place) -> list[str]:
    parts = [f"{as_asked(path, place)}: {count}" if count else as_asked(path, place) for path, count in found.files]
    current = ""
    for line in found.lines:
        if line.path != current:
            current = line.path
            parts.append(f"\n{as_asked(current, place)}:" if parts else f"{as_asked(current, place)}:")
        if not line.number:
            parts.append(f"  {line.text}")
        elif line.is_match:
            parts.append(f"  Line {line.number}, Char {line.column + 1}: {trimmed(line.text)}")
        else:
            parts.append(f"  Line {line.number}: {trimmed(line.text)}")
    return parts


def as_asked(path: str, place: Place) -> str:
    """The path by the name the folder was asked for with, though it may be a link."""
    root = str(place.real)
    return str(place.path) + path[len(root) :] if path.startswith(root) else path


def trimmed(text: str) -> str:
    text = text.strip()
    if len(text) * 2 <= CELLS_MAX:
        return text
    cells = 0
    for at, letter in enumerate(text):
        cells += 2 if east_asian_width(letter) in "WF" else 1
        if cells > CELLS_MAX:
            return text[:at] + "..."
    return text
