"""`turnkeeper doctor`: looks at everything a run needs, in the order in which it is needed, and says how to mend it.

Each look is a function that answers with findings. What cannot be looked at because something before it is broken is
not looked at. A finding is `well`, `strange` (it works, and could be better) or `broken` (runs will fail).
"""

import os
import shutil
import sys
import time
from collections.abc import AsyncIterator, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from turnkeeper.cli.exits import Exit
from turnkeeper.cli.output import emit, plain, style
from turnkeeper.cli.reach import Reach, reaching, run
from turnkeeper.protocol.problems import Problem

if TYPE_CHECKING:
    from turnkeeper.client.client import Client
    from turnkeeper.client.workspace import WorkspaceClient
    from turnkeeper.settings.load import Loaded

DISK_BYTES_MIN = 256 * 1024 * 1024
READABLE_BY_OTHERS = 0o077
SIGNS = {"well": ("✓", "green"), "strange": ("!", "yellow"), "broken": ("✗", "red")}


class State(StrEnum):
    WELL = "well"
    STRANGE = "strange"
    BROKEN = "broken"


class Finding(msgspec.Struct, frozen=True):
    what: str
    state: State
    said: str
    mend: str = ""


@click.command("doctor")
@reaching
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def doctor(reach: Reach, as_json: bool) -> int:
    """Find what is wrong here, and say how to mend it.

    Looks at directories, settings, your server, the database and the models of this directory; starts the server if it
    does not run. The exit code is 1 if anything is broken.
    """

    async def work() -> list[Finding]:
        found: list[Finding] = []
        async for one in examined(reach):
            found.append(one)
            if not as_json:
                tell(one)
        return found

    found = run(work)
    if as_json:
        emit(found)
    broken = [one for one in found if one.state is State.BROKEN]
    if not as_json:
        click.echo("")
        click.echo(summary(found))
    return Exit.FAILED if broken else Exit.FINISHED


def tell(one: Finding) -> None:
    sign, colour = SIGNS[one.state]
    click.echo(f"{style(sign, colour)} {style(one.what, 'bold')}: {plain(one.said)}")
    if one.mend:
        click.echo(f"    {plain(one.mend)}")


def summary(found: list[Finding]) -> str:
    broken = sum(one.state is State.BROKEN for one in found)
    strange = sum(one.state is State.STRANGE for one in found)
    if broken:
        return f"{broken} thing{'' if broken == 1 else 's'} to mend."
    return "All is well." if not strange else "It works; what is marked with ! could be better."


async def examined(reach: Reach) -> AsyncIterator[Finding]:
    for one in [*programs(), *places(), *settings(reach)]:
        yield one
    began = time.monotonic()
    try:
        async with reach.client() as client:
            async for one in server(client, time.monotonic() - began):
                yield one
            async for one in workspace(reach, client):
                yield one
    except Problem as problem:
        yield Finding("server", State.BROKEN, problem.message, "'turnkeeper logs' shows what it said last")


def programs() -> Iterator[Finding]:
    """What runs us, and what we run."""
    from turnkeeper import __version__

    yield Finding("version", State.WELL, f"turnkeeper {__version__}, Python {sys.version.split()[0]}")
    if shutil.which("bash") is None:
        yield Finding("bash", State.BROKEN, "there is no bash", "install bash: commands are run in it")
    for program, why in (("git", "changes are compared and committed with it"), ("rg", "searching is slower without")):
        beside = Path(sys.executable).parent / program
        if shutil.which(program) is None and not beside.exists():
            yield Finding(program, State.STRANGE, f"there is no {program}", f"install {program}: {why}")


def places() -> Iterator[Finding]:
    """The directories that are ours: there or possible, ours alone, on a disk that has room."""
    from turnkeeper.settings.credentials import keys_file
    from turnkeeper.settings.dirs import find_dirs

    ours = find_dirs(os.environ)
    bad: list[Finding] = []
    for name, folder in (("configuration", ours.config), ("data", ours.data), ("cache", ours.cache)):
        there = next(one for one in (folder, *folder.parents) if one.exists())
        if not os.access(there, os.W_OK | os.X_OK):
            bad.append(Finding(name, State.BROKEN, f"{there} cannot be written", f"make it yours: chown $USER {there}"))
        elif shutil.disk_usage(there).free < DISK_BYTES_MIN:
            bad.append(Finding(name, State.BROKEN, f"the disk of {there} is full", "make room on it"))
    if ours.runtime.exists() and not os.access(ours.runtime, os.W_OK | os.X_OK):
        mend = "set XDG_RUNTIME_DIR, or TURNKEEPER_RUNTIME_DIR, to a directory of yours"
        bad.append(Finding("socket", State.BROKEN, f"{ours.runtime} cannot be written", mend))
    keys = keys_file(os.environ)
    if keys.exists() and keys.stat().st_mode & READABLE_BY_OTHERS:
        bad.append(Finding("keys", State.BROKEN, f"others can read {keys}", f"chmod 600 {keys}"))
    yield from bad or [Finding("directories", State.WELL, f"{ours.config}, {ours.data}")]


def settings(reach: Reach) -> Iterator[Finding]:
    """Whether the files of this directory can be used, and what in them has no effect."""
    from turnkeeper.settings.load import load
    from turnkeeper.settings.reading import ConfigProblem

    try:
        loaded = load(reach.path, env=os.environ, data_dir=reach.data_dir)
    except ConfigProblem as problem:
        for line in problem.message.splitlines():
            yield Finding(
                "settings", State.BROKEN, line, "'turnkeeper config edit' opens a file, 'config check' checks"
            )
        return
    yield Finding("settings", State.WELL, told_files(loaded))
    waiting = {str(one.path) for one in loaded.waiting}
    for one in loaded.waiting:
        what = ", ".join(one.keys) or "a script"
        yield Finding("trust", State.STRANGE, f"{one.path} waits to be trusted: {what}", "turnkeeper config trust")
    for notice in loaded.notices:
        if notice.source is None or notice.source.path not in waiting:
            yield Finding("settings", State.STRANGE, str(notice), "turnkeeper config edit")
    if loaded.settings.shell.sandbox and shutil.which("bwrap") is None:
        yield Finding(
            "sandbox", State.BROKEN, "commands are to run in bubblewrap, and there is none", "install bubblewrap"
        )


def told_files(loaded: "Loaded") -> str:
    return ", ".join(map(str, loaded.files)) or "none, everything has its default"


async def server(client: "Client", seconds: float) -> AsyncIterator[Finding]:
    from turnkeeper import __version__
    from turnkeeper.settings.build import build_id

    version = await client.version()
    said = f"{client.host} answers after {seconds:.1f} s"
    if (version.version, version.build_id) == (__version__, build_id()):
        yield Finding("server", State.WELL, said)
    else:
        mend = "it leaves when nobody uses it; 'turnkeeper server stop --force' ends it now"
        yield Finding("server", State.STRANGE, f"{said}, and is another build ({version.version})", mend)


async def workspace(reach: Reach, client: "Client") -> AsyncIterator[Finding]:
    """The database of this directory, and who would answer here."""
    opened = await client.open(reach.path, data_dir=str(reach.data_dir.absolute()) if reach.data_dir else "")
    wrong = (await opened.overview.check_database()).wrong
    if wrong:
        mend = "'turnkeeper db backup' copies what can be read"
        yield Finding("database", State.BROKEN, f"it is damaged: {wrong[0]}", mend)
    else:
        yield Finding("database", State.WELL, "it is whole")
    for notice in (await opened.config.state()).notices:
        if not notice.path:  # about the workspace itself; what files say is told with the settings
            yield Finding("database", State.STRANGE, notice.message)
    async for one in models(opened):
        yield one


async def models(workspace: "WorkspaceClient") -> AsyncIterator[Finding]:
    config = await workspace.config.get()
    chosen = config.models.get("large")
    if chosen is None or chosen.provider == "offline":
        said = "none is configured: the built-in offline assistant answers, or a model server found on this computer"
        yield Finding("model", State.STRANGE, said, "'turnkeeper login PROVIDER' adds one")
    else:
        yield Finding("model", State.WELL, f"{chosen.provider}/{chosen.model} answers")
    for one in await workspace.overview.providers():
        if one.state == "unavailable":
            yield Finding("provider", State.BROKEN, f"{one.id}: {one.why}", mend_provider(one.id))


def mend_provider(id: str) -> str:
    from turnkeeper.settings.known import KEY_VARIABLES

    if id in KEY_VARIABLES:
        return f"'turnkeeper login {id}', or set {KEY_VARIABLES[id]}"
    return f"'turnkeeper config get providers.{id}' shows what is set"
