"""Tool `glob`: files by the pattern of their names, the shortest paths first."""

from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import Annotated

import anyio
from anyio import to_thread
from msgspec import Meta

from turnkeeper.tools.globs import compiled, hidden_names, literal_folder
from turnkeeper.tools.ignoring import OWN_IGNORE_FILES, SKIPPED_BY_GLOB, Ignoring
from turnkeeper.tools.making import Made, Parameters, Refusal, noted
from turnkeeper.tools.places import Place, located, permit_read
from turnkeeper.tools.searching import Scope, Searcher
from turnkeeper.tools.tool import Answer, Hands, Tool

FILES_MAX = 100
GLOB_SECONDS_DEFAULT = 30.0


class GlobParameters(Parameters, frozen=True):
    pattern: Annotated[str, Meta(description="A glob such as `**/*.py` or `src/{a,b}/*.ts`, from `path` down.")]
    path: Annotated[str, Meta(description="The folder to look in (default: the working directory).")] = ""


@dataclass(frozen=True)
class Look:
    """Where a pattern is looked for, and how it reads from there."""

    place: Place
    pattern: str


def glob_tool(searcher: Searcher, *, seconds: float = GLOB_SECONDS_DEFAULT) -> Tool:
    async def act(asked: GlobParameters, hands: Hands) -> Answer:
        look = looked(hands, asked)
        params = {"pattern": asked.pattern, "path": asked.path}
        await permit_read(hands, look.place, tool="glob", action="list", params=params, what="List files")
        try:
            with anyio.fail_after(seconds):
                found, truncated = await search(searcher, look, hands)
        except TimeoutError as error:
            raise Refusal(
                f"looking for files took longer than {seconds:g} s; use a narrower pattern or path"
            ) from error
        return told(found, truncated)

    return Made("glob", GlobParameters, act)


def looked(hands: Hands, asked: GlobParameters) -> Look:
    """The deepest folder that the pattern names: a walk begins there, and so does the border's judgement."""
    pattern, base = asked.pattern.removeprefix("./"), located(hands, asked.path or ".").path
    compiled(pattern)
    if pattern.startswith("/"):
        pattern, base = pattern[1:], Path("/")
    while pattern.startswith("../"):
        pattern, base = pattern[3:], base.parent
    folder = literal_folder(pattern)
    place = located(hands, str(base / folder))
    if not base.is_dir():
        raise Refusal(f"there is no such directory: {base}")
    return Look(place, pattern[len(folder) :].removeprefix("/"))


async def search(searcher: Searcher, look: Look, hands: Hands) -> tuple[list[str], bool]:
    if not look.place.real.is_dir():
        return [], False
    hidden = hidden_names(look.pattern)
    named = set(look.pattern.split("/"))
    skipped = sorted(SKIPPED_BY_GLOB - named - set(hidden))
    scope = Scope(look.place.real, hidden=bool(hidden), skipped=skipped, env=hands.env)
    names = await searcher.files(scope, name=look.pattern.rpartition("/")[2])
    return await to_thread.run_sync(chosen, names, look, hidden)


def chosen(names: list[str], look: Look, hidden: tuple[str, ...]) -> tuple[list[str], bool]:
    """The shortest of the paths that match, and whether there are more."""
    root = str(look.place.real).rstrip("/")
    wanted, ignoring = compiled(look.pattern), Ignoring(OWN_IGNORE_FILES, common=False)
    found: list[str] = []
    # Tried with a few first, so that a hundred of a hundred thousand cost no look at all the others.
    for some in (shortest(names, 4 * FILES_MAX), names):
        matching = shortest([name for name in some if wanted.fullmatch(name)], len(some))
        let_through = (name for name in matching if is_wanted(f"{root}/{name}", root, hidden, ignoring))
        found = list(islice(let_through, FILES_MAX + 1))
        if len(found) > FILES_MAX:
            break
    shown = str(look.place.path).rstrip("/")
    return [f"{shown}/{name}" for name in found[:FILES_MAX]], len(found) > FILES_MAX


def shortest(names: list[str], count: int) -> list[str]:
    """The `count` shortest in order, and whatever is no longer than the last of them."""
    lengths = sorted(map(len, names))[:count]
    return sorted(sorted([name for name in names if len(name) <= lengths[-1]]), key=len) if lengths else []


def is_wanted(path: str, root: str, hidden: tuple[str, ...], ignoring: Ignoring) -> bool:
    names = path[len(root) + 1 :].split("/")
    if not all(any(fnmatchcase(name, one) for one in hidden) for name in names if name.startswith(".")):
        return False
    return not is_ignored(path, root, ignoring)


def is_ignored(path: str, root: str, ignoring: Ignoring) -> bool:
    """Whether our own ignore files leave out the path, or a folder on the way to it."""
    folder = root
    for name in path[len(root) + 1 :].split("/"):
        layers = ignoring.own(folder, root)
        folder = f"{folder}/{name}"
        if layers and ignoring.skips(folder, layers, folder=folder != path):
            return True
    return False


def told(found: list[str], truncated: bool) -> Answer:
    text = "\n".join(found) or "No files found"
    if truncated:
        text += f"\n\n(Only the first {FILES_MAX} files are shown. Use a narrower pattern or path.)"
    return Answer(content=text, metadata=noted({"number_of_files": len(found), "truncated": truncated}))
