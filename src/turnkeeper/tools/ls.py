"""Tool `ls`: the tree of a directory, breadth first, so that a cut takes away what is deepest."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

from anyio import to_thread
from msgspec import Meta

from turnkeeper.tools.ignoring import Ignoring, Layer
from turnkeeper.tools.making import Made, Parameters, Refusal, noted
from turnkeeper.tools.places import located, permit_read
from turnkeeper.tools.tool import Answer, Hands, Tool

ITEMS_MAX = 1000
ITEMS_MAX_OUTSIDE_A_REPOSITORY = 100
DEPTH_OUTSIDE_A_REPOSITORY = 2
# A folder with more entries than this is not read further: nobody could be shown them.
ENTRIES_MAX = 100_000


class LsParameters(Parameters, frozen=True):
    path: Annotated[str, Meta(description="The directory to list (default: the working directory).")] = ""
    ignore: Annotated[tuple[str, ...] | None, Meta(description="Names to leave out, as globs.")] = None
    depth: Annotated[int, Meta(description="How many levels to show; 0 for all.")] = 0


@dataclass(frozen=True)
class Limits:
    """How deep and how many; 0 levels means all."""

    depth: int
    items: int


@dataclass
class Node:
    """A name in the tree; `path` is empty for what is not a folder."""

    name: str
    path: str = ""
    layers: tuple[Layer, ...] = ()
    children: list["Node"] = field(default_factory=list["Node"])


@dataclass(frozen=True)
class Listing:
    root: Node
    count: int
    truncated: bool
    depth: int


def ls_tool(*, depth_max: int = 0, items_max: int = 0) -> Tool:
    """A limit of 0 means the usual one."""

    async def act(asked: LsParameters, hands: Hands) -> Answer:
        if asked.depth < 0:
            raise Refusal("depth must not be negative")
        place = located(hands, asked.path or ".")
        ignore = list(asked.ignore) if asked.ignore is not None else None
        params = {"path": str(place.path), "ignore": ignore, "depth": asked.depth}
        await permit_read(hands, place, tool="ls", action="list", params=params, what="List directory")
        if not place.real.is_dir():
            what = "this is a file, not a directory" if place.real.exists() else "there is no such directory"
            raise Refusal(f"{what}: {place.path}")
        limits = limited(place.real, asked.depth, depth_max, items_max)
        ignoring = Ignoring(env=hands.env)
        listing = await to_thread.run_sync(listed, place.real, limits, asked.ignore or (), ignoring)
        return told(listing, place.path)

    return Made("ls", LsParameters, act)


def limited(root: Path, depth: int, depth_max: int, items_max: int) -> Limits:
    inside = any((folder / ".git").exists() for folder in (root, *root.parents))
    usual_depth = depth_max or (0 if inside else DEPTH_OUTSIDE_A_REPOSITORY)
    items = items_max or (ITEMS_MAX if inside else ITEMS_MAX_OUTSIDE_A_REPOSITORY)
    if not depth_max:
        return Limits(depth or usual_depth, items)
    return Limits(min(depth or depth_max, depth_max), items)


def file_names(root: Path, limits: Limits, *, env: Mapping[str, str]) -> tuple[tuple[str, ...], bool]:
    """Files below a directory by their paths from there, without hidden and ignored ones; and if there are more."""
    listing = listed(root, limits, (".*",), Ignoring(env=env))
    return tuple(_files(listing.root)), listing.truncated


def _files(root: Node) -> Iterator[str]:
    """Nearest first: what is in a folder stands before what is in the folders below it."""
    waiting = [(root, "")]
    while waiting:
        folder, above = waiting.pop()
        yield from (above + node.name for node in folder.children if not node.path)
        waiting += [(node, f"{above}{node.name}/") for node in reversed(folder.children) if node.path]


def listed(path: Path, limits: Limits, ignore: tuple[str, ...], ignoring: Ignoring) -> Listing:
    """Level after level, names in order, until the limit."""
    root = Node(path.name, str(path), ignoring.above(path))
    level, count, depth = [root], 0, 0
    while level and not (limits.depth and depth == limits.depth):
        depth += 1
        following: list[Node] = []
        for folder in level:
            for node in entries(folder, ignore, ignoring):
                if count == limits.items:
                    return Listing(root, count, truncated=True, depth=limits.depth)
                folder.children.append(node)
                count += 1
                if node.path:
                    following.append(node)
        level = following
    return Listing(root, count, truncated=False, depth=limits.depth)


def entries(folder: Node, ignore: tuple[str, ...], ignoring: Ignoring) -> list[Node]:
    """What is in a folder and not left out; a link is a name, and is not followed."""
    try:
        with os.scandir(folder.path) as scan:
            found = sorted((entry for entry, _ in zip(scan, range(ENTRIES_MAX), strict=False)), key=lambda e: e.name)
    except OSError:
        return []
    layers = ignoring.within(folder.path, folder.layers)
    nodes: list[Node] = []
    for entry in found:
        is_folder = entry.is_dir(follow_symlinks=False)
        if any(fnmatchcase(entry.name, pattern) for pattern in ignore):
            continue
        if not ignoring.skips(entry.path, layers, folder=is_folder):
            nodes.append(Node(entry.name, entry.path if is_folder else "", layers))
    return nodes


def told(listing: Listing, path: Path) -> Answer:
    parts: list[str] = []
    if listing.truncated:
        parts.append(
            f"(Only the first {listing.count} entries are shown, level by level. "
            "List a directory below, or use glob, to see more.)\n"
        )
    elif listing.depth:
        parts.append(f"(Only {listing.depth} levels are shown; set depth or list a directory below to see more.)\n")
    parts.append(f"- {str(path).rstrip('/')}/")
    parts += rendered(listing.root)
    return Answer(
        content="\n".join(parts),
        metadata=noted({"number_of_files": listing.count, "truncated": listing.truncated}),
    )


def rendered(root: Node) -> Iterator[str]:
    """A loop, since folders may lie deeper than calls may."""
    waiting = [(node, 1) for node in reversed(root.children)]
    while waiting:
        node, level = waiting.pop()
        yield f"{'  ' * level}- {node.name}{'/' if node.path else ''}"
        waiting += [(child, level + 1) for child in reversed(node.children)]
