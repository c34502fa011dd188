"""Which files of a workspace are instructions for agents, in which order.

Every spelling that exists counts; one file under two names (a link, or two spellings of one name) counts once. The
order is that of the paths' bytes and of nothing else, so that the prompt made of them is always the same.
"""

from collections.abc import Iterable, Sequence

import msgspec

CONTEXT_NAMES = (
    ".cursor/rules/",
    ".cursorrules",
    ".github/copilot-instructions.md",
    "AGENTS.md",
    "CLAUDE.local.md",
    "CLAUDE.md",
    "CRUSH.local.md",
    "CRUSH.md",
    "GEMINI.md",
    "TURNKEEPER.local.md",
    "TURNKEEPER.md",
)
"""A name that ends in a slash is a directory: everything in it counts. Letter case does not matter."""
FILES_MAX = 200


class Listed(msgspec.Struct, frozen=True):
    """A file that exists: its path from the workspace (absolute, if it is elsewhere), and what makes it the same file
    under another name (device and number, or its resolved path)."""

    path: str
    identity: str


def context_files(listing: Iterable[Listed], configured: Sequence[str] = ()) -> tuple[str, ...]:
    """The paths to read: the usual names and the configured ones, each file once, by its first name in the order."""
    wanted = [plain(name) for name in (*CONTEXT_NAMES, *configured) if name.strip()]
    found = (file for file in sorted(listing, key=in_bytes) if any(is_meant(file.path, name) for name in wanted))
    by_identity: dict[str, str] = {}
    for file in found:
        by_identity.setdefault(file.identity, file.path)
    return tuple(by_identity.values())[:FILES_MAX]


def in_bytes(file: Listed) -> bytes:
    return plain(file.path).encode("utf-8", errors="surrogateescape")


def is_meant(path: str, name: str) -> bool:
    folded, wanted = plain(path).casefold(), name.casefold()
    return folded.startswith(wanted) if wanted.endswith("/") else folded == wanted or folded.startswith(f"{wanted}/")


def plain(path: str) -> str:
    return path.strip().replace("\\", "/").removeprefix("./")
