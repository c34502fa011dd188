"""Taking back what a session did to files, and doing it again: one file or all of them, one change or many.

Nothing is lost by going back: the list of versions only grows, and what somebody else wrote meanwhile is kept as a
version before it is written over, and only when that was asked for.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path

from turnkeeper.core.file_history import (
    ChangedElsewhere,
    Content,
    Move,
    NowhereToGo,
    Plan,
    before_run,
    in_all,
    redo,
    undo,
    undo_since,
)
from turnkeeper.engine.versions import record
from turnkeeper.engine.workspace import Workspace
from turnkeeper.protocol.ids import RunId, SessionId
from turnkeeper.protocol.problems import Conflict, NotFound
from turnkeeper.protocol.sessions import FileVersion

NOTHING_BEFORE = "there is nothing to take back"
NOTHING_AFTER = "there is nothing to do again"
ELSEWHERE = "the file was changed by somebody else since; ask for it again with `over` to go back all the same"


class FileUnchanged(NotFound):
    """The session changed no such file."""


@dataclass(frozen=True, slots=True)
class Back:
    """How far to go back: before a run, to a version, or one change; `over` also over somebody else's changes."""

    run_id: RunId | None = None
    version: int | None = None
    over: bool = False


@dataclass(frozen=True, slots=True)
class Restored:
    """What became of one file; `problem` is empty when it was restored."""

    path: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """What a session made of a file in all."""

    path: str
    before: Content
    after: Content


async def changes(workspace: Workspace, session_id: SessionId) -> list[Change]:
    """Every file that is not as the session found it."""
    compared = [(path, in_all(versions)) for path, versions in await _versions(workspace, session_id)]
    return [Change(path, *both) for path, both in compared if both and both[0] != both[1]]


async def take_back(
    workspace: Workspace, session_id: SessionId, back: Back, *, path: str | None = None
) -> list[Restored]:
    """Undo in one file, or in every file the session changed."""

    def plan(versions: list[FileVersion], disk: Content) -> Plan:
        return _plan_back(versions, disk, back)

    return [
        await _restored(workspace, session_id, versions, plan, NOTHING_BEFORE)
        for versions in await _named(workspace, session_id, path)
    ]


def _plan_back(versions: list[FileVersion], disk: Content, back: Back) -> Plan:
    if back.run_id is not None:
        point = before_run(versions, back.run_id)
        return NowhereToGo() if point is None else undo_since(versions, point, disk, over=back.over)
    if back.version is not None:
        return undo_since(versions, back.version, disk, over=back.over)
    return undo(versions, disk, over=back.over)


async def do_again(workspace: Workspace, session_id: SessionId, *, path: str | None = None) -> list[Restored]:
    """Redo what was taken back last."""
    return [
        await _restored(workspace, session_id, versions, redo, NOTHING_AFTER)
        for versions in await _named(workspace, session_id, path)
    ]


async def _named(workspace: Workspace, session_id: SessionId, path: str | None) -> list[list[FileVersion]]:
    """The versions of one file, or of every file; a path is meant from the workspace, and may lead through links."""
    known = dict(await _versions(workspace, session_id))
    if path is None:
        return list(known.values())
    found = next((known[name] for name in _names(workspace, path) if name in known), None)
    if found is None:
        raise FileUnchanged(f"this session changed no file {path}")
    return [found]


def _names(workspace: Workspace, path: str) -> Iterator[str]:
    yield path
    meant = os.path.join(workspace.means.path, path)  # noqa: PTH118 - as the client wrote it, `..` and all
    yield os.path.normpath(meant)
    if "\0" not in path:
        yield os.path.realpath(meant)


async def _restored(
    workspace: Workspace,
    session_id: SessionId,
    versions: list[FileVersion],
    plan: Callable[[list[FileVersion], Content], Plan],
    nothing: str,
) -> Restored:
    """One file. What stands in the way of this one is told, and keeps none of the others."""
    path = versions[0].path
    try:
        disk = await workspace.means.files.read(Path(path))
        return await _carry_out(workspace, session_id, path, plan(versions, disk), disk, nothing)
    except Conflict as problem:
        return Restored(path, problem.message)


async def _carry_out(
    workspace: Workspace, session_id: SessionId, path: str, plan: Plan, disk: Content, nothing: str
) -> Restored:
    match plan:
        case NowhereToGo():
            return Restored(path, nothing)
        case ChangedElsewhere():
            return Restored(path, ELSEWHERE)
        case Move():
            means, say = workspace.means, partial(workspace.note, session_id)
            await record(means, say, session_id, path, lambda _: plan.found)
            # Whoever wrote into it since it was read is told of, not written over: a run, or an editor.
            left = await means.files.write(Path(path), plan.content, over=disk, form=plan.target.form)
            await record(means, say, session_id, path, lambda _: (plan.content,), name=plan.id_of, form=left)
            return Restored(path)


async def _versions(workspace: Workspace, session_id: SessionId) -> list[tuple[str, list[FileVersion]]]:
    files = sorted(await workspace.means.store.files(session_id), key=lambda file: (file.path, file.version))
    return [(path, list(versions)) for path, versions in groupby(files, key=lambda file: file.path)]
