"""What a change changed, for a person to read: a unified diff and its two counts, in bounded time and size."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from turnkeeper.protocol.differences import Block, changed

CONTEXT_LINES = 3
DIFF_CHARACTERS_MAX = 64 * 1024
CONTENTS_CHARACTERS_MAX = 64 * 1024


@dataclass(frozen=True, slots=True)
class Difference:
    text: str
    additions: int
    removals: int


def difference(path: Path | str, before: str, after: str) -> Difference:
    """The unified diff of two texts of one file."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    blocks = changed(old, new)
    additions = sum(j2 - j1 for _, _, j1, j2 in blocks)
    removals = sum(i2 - i1 for i1, i2, _, _ in blocks)
    return Difference(rendered(str(path), old, new, blocks), additions, removals)


def rendered(path: str, old: Sequence[str], new: Sequence[str], blocks: Sequence[Block]) -> str:
    if not blocks:
        return ""
    lines = [f"--- a/{path.lstrip('/')}", f"+++ b/{path.lstrip('/')}"]
    for hunk in hunks(blocks):
        start_old, start_new = max(hunk[0][0] - CONTEXT_LINES, 0), max(hunk[0][2] - CONTEXT_LINES, 0)
        end_old = min(hunk[-1][1] + CONTEXT_LINES, len(old))
        end_new = min(hunk[-1][3] + CONTEXT_LINES, len(new))
        lines.append(f"@@ -{span(start_old, end_old)} +{span(start_new, end_new)} @@")
        at = start_old
        for i1, i2, j1, j2 in hunk:
            lines.extend(f" {bare(line)}" for line in old[at:i1])
            lines.extend(f"-{bare(line)}" for line in old[i1:i2])
            lines.extend(f"+{bare(line)}" for line in new[j1:j2])
            at = i2
        lines.extend(f" {bare(line)}" for line in old[at:end_old])
    return cut("\n".join(lines) + "\n")


def hunks(blocks: Sequence[Block]) -> list[list[Block]]:
    """Blocks whose context would touch, together."""
    result: list[list[Block]] = []
    for block in blocks:
        if result and block[0] - result[-1][-1][1] <= 2 * CONTEXT_LINES:
            result[-1].append(block)
        else:
            result.append([block])
    return result


def span(start: int, end: int) -> str:
    return f"{start + 1 if end > start else start},{end - start}"


def bare(line: str) -> str:
    return line.rstrip("\r\n")


def cut(text: str) -> str:
    if len(text) <= DIFF_CHARACTERS_MAX:
        return text
    return text[:DIFF_CHARACTERS_MAX].rsplit("\n", 1)[0] + "\n... (the diff goes on)\n"


def contents(before: str, after: str) -> dict[str, Any]:
    """Both texts for faces that draw their own diff, unless they would swell every message they are kept in."""
    if len(before) + len(after) > CONTENTS_CHARACTERS_MAX:
        return {}
    return {key: text for key, text in (("old_content", before), ("new_content", after)) if text}


def to_be_seen(before: str, after: str) -> dict[str, str]:
    """Both texts for whoever decides; of large ones what changes and what stands around it, and how the whole is known.

    A request is kept, and told to everybody who watches: it is no place for a file of any size.
    """
    if len(before) + len(after) <= CONTENTS_CHARACTERS_MAX:
        return {"old_content": before, "new_content": after}
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    blocks = changed(old, new)
    first, last = blocks[0], blocks[-1]
    mine = old[max(first[0] - CONTEXT_LINES, 0) : last[1] + CONTEXT_LINES]
    yours = new[max(first[2] - CONTEXT_LINES, 0) : last[3] + CONTEXT_LINES]
    digests = {"old_digest": digest(before), "new_digest": digest(after)}
    return {"old_content": head("".join(mine)), "new_content": head("".join(yours)), **digests}


def head(text: str) -> str:
    most = CONTENTS_CHARACTERS_MAX // 2
    return text if len(text) <= most else f"{text[:most]}\n... (the text goes on)\n"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
