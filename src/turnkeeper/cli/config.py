"""`turnkeeper config`: what is set, where it was said, what is wrong with it, and what waits to be trusted.

No server is asked: the files are read as a server would read them for this directory. A server that runs notices a
change by itself.
"""

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from turnkeeper.cli.config_edit import edit, set_, unset
from turnkeeper.cli.config_files import Where, checked, directory, file_of, here, where
from turnkeeper.cli.exits import Exit
from turnkeeper.cli.listing import Listing
from turnkeeper.cli.output import emit, is_terminal, plain, say, table

if TYPE_CHECKING:
    from turnkeeper.settings.files import Place, Waiting

JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
FILES = click.argument("files", metavar="[FILE]…", nargs=-1, type=click.Path(dir_okay=False, path_type=Path))
SCRIPT_LINES_MAX = 60


class Config(Listing):
    """`turnkeeper config` alone tells what was set."""

    usual = "get"


@click.group("config", cls=Config)
def config() -> None:
    """Look at the configuration of this directory, change it and check it.

    \b
    turnkeeper config get                            what was set, and where
    turnkeeper config get waits.first_token_seconds
    turnkeeper config set runs.cost_dollars_max 2.5
    turnkeeper config set --everywhere options.tui.compact_mode true
    turnkeeper config edit --everywhere
    turnkeeper config check
    """


@config.command()
@directory
@click.argument("key", required=False)
@click.option("--all", "everything_", is_flag=True, help="Also what has its default.")
@JSON
def get(cwd: Path, data_dir: Path | None, key: str | None, everything_: bool, as_json: bool) -> None:
    """Print the value of KEY; without one, everything that was set and where. Secrets are masked."""
    from turnkeeper.settings.showing import everything, leaves, value_of

    loaded = here(cwd, data_dir)
    tree = everything(loaded.settings)
    sources = loaded.settings.sources
    if key:
        value = value_of(tree, key)
        if as_json:
            emit(value)
        elif isinstance(value, dict):
            click.echo("\n".join(f"{name} = {shown(held)}" for name, held in leaves(value)))  # pyright: ignore[reportUnknownArgumentType]
        else:
            click.echo(plain(value) if isinstance(value, str) else shown(value))
        return
    known = [(name, held) for name, held in leaves(tree) if everything_ or name in sources.by_key]
    if as_json:
        emit([{"key": name, "value": held, "source": str(sources.by_key.get(name, ""))} for name, held in known])
    elif not known:
        say("Nothing was set: everything has its default. 'turnkeeper config get --all' lists the defaults.")
    else:
        table(
            ("KEY", "FROM", "VALUE"),
            [(name, sources.by_key.get(name, "default"), shown(held)) for name, held in known],
        )


def shown(value: Any) -> str:
    """A value on one line, as it is written in a file."""
    whole = int(value) if isinstance(value, float) and value.is_integer() else value
    return json.dumps(whole, ensure_ascii=False)


@config.command()
@directory
@FILES
@JSON
def check(cwd: Path, data_dir: Path | None, files: tuple[Path, ...], as_json: bool) -> int:
    """Tell what is wrong, with file, line and key: in FILEs, or in all that is read for this directory.

    The exit code is 2 if anything cannot be used. What is only strange, or waits to be trusted, is told.
    """
    from turnkeeper.settings.load import load
    from turnkeeper.settings.reading import ConfigProblem

    try:
        notices = (
            checked(files) if files else [str(one) for one in load(cwd, env=os.environ, data_dir=data_dir).notices]
        )
    except ConfigProblem as problem:
        wrong = problem.message.splitlines()
        if as_json:
            emit({"wrong": wrong, "notices": []})
        else:
            for line in wrong:
                say(plain(line))
        return Exit.USAGE
    if as_json:
        emit({"wrong": [], "notices": notices})
    else:
        for line in notices:
            say(plain(line))
        say("The configuration can be used." if not files else f"{'It' if len(files) == 1 else 'They'} can be used.")
    return Exit.FINISHED


@config.command()
def schema() -> None:
    """Print the JSON Schema of a configuration file, for editors that complete and check."""
    from turnkeeper.settings.checking import schema as found

    emit(found())


@config.command()
@directory
@where
@JSON
def path(cwd: Path, data_dir: Path | None, target: Where | None, as_json: bool) -> None:
    """Print which files are read, the strongest last; in a pipe only those that are there.

    With --everywhere, --project or --workspace: the one file that 'set' and 'edit' would write to.
    """
    if target is not None:
        click.echo(file_of(target, cwd, data_dir))
        return
    from turnkeeper.settings.files import places, read_files, workspace_places

    # What cannot be used has a place all the same.
    read = read_files(cwd, env=os.environ, data_dir=data_dir)
    known = list(dict.fromkeys([*places(cwd, os.environ), *workspace_places(cwd, read.data_dir)]))
    waiting = {one.path for one in read.waiting}
    if as_json:
        emit([{"path": str(one.path), "level": one.level, "state": state(one, waiting)} for one in known])
    elif is_terminal(sys.stdout):
        table(("LEVEL", "STATE", "FILE"), [(one.level, state(one, waiting), one.path) for one in known])
    else:
        click.echo("".join(f"{one.path}\n" for one in known if one.path.is_file()), nl=False)


def state(place: "Place", waiting: set[Path]) -> str:
    if not place.path.is_file():
        return "-"
    return "waits for trust" if place.path in waiting else "read"


@config.command()
@directory
@FILES
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@click.option("--revoke", is_flag=True, help="No longer trust them.")
@JSON
def trust(cwd: Path, data_dir: Path | None, files: tuple[Path, ...], yes: bool, revoke: bool, as_json: bool) -> int:
    """Trust what this project's own files want to run or to open; without FILE, all that waits.

    A project that you have not written can run programs through its configuration: hooks, servers, scripts. None of it
    takes effect until you have looked at it and said so here. What changes has to be trusted again.
    """
    from turnkeeper.settings.dirs import find_dirs
    from turnkeeper.settings.trust import distrust
    from turnkeeper.settings.trust import trust as remember

    machine = find_dirs(os.environ).data
    wanted = {Path(os.path.abspath(file)) for file in files}  # noqa: PTH100 - links stay the names they are
    if revoke:
        if not wanted:
            raise click.UsageError("say which file")
        for file in wanted:
            distrust(machine, file)
        say(f"No longer trusted: {', '.join(sorted(map(str, wanted)))}.")
        return Exit.FINISHED
    waiting = [one for one in here(cwd, data_dir).waiting if not wanted or one.path in wanted]
    if as_json and not yes:
        emit([{"path": str(one.path), "keys": one.keys, "digest": one.digest} for one in waiting])
        return Exit.FINISHED
    if not waiting:
        say("Nothing waits to be trusted here.")
        return Exit.FINISHED
    for one in waiting:
        show(one)
    if not yes and not sure():
        say("Nothing was trusted.")
        return Exit.FAILED
    for one in waiting:
        remember(machine, one.path, one.digest)
    say(f"Trusted: {', '.join(str(one.path) for one in waiting)}.")
    return Exit.FINISHED


def show(one: "Waiting") -> None:
    """What would take effect: the keys of a file, the text of a script."""
    say(f"{one.path}{':' if one.keys else ''}")
    for key in one.keys:
        say(f"    {plain(key)}")
    if not one.keys:
        lines = one.path.read_text("utf-8", "replace").splitlines()
        for line in lines[:SCRIPT_LINES_MAX]:
            say(f"    {plain(line)}")
        if len(lines) > SCRIPT_LINES_MAX:
            say(f"    … and {len(lines) - SCRIPT_LINES_MAX} lines more")


def sure() -> bool:
    if not is_terminal(sys.stdin):
        raise click.UsageError("nobody is here to confirm this; say --yes")
    return click.confirm("Trust this?", err=True)


config.add_command(set_)
config.add_command(unset)
config.add_command(edit)
