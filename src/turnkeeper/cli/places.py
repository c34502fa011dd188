"""`turnkeeper dirs` and `turnkeeper projects`: where things are."""

import os
import sys
import time
from pathlib import Path

import click

from turnkeeper.cli.output import ago, emit, is_terminal, say, table

JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
CWD = click.option(
    "--cwd",
    "-c",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    metavar="DIR",
    help="Look from this directory.",
)


@click.command("dirs")
@CWD
@JSON
def dirs(cwd: Path, as_json: bool) -> None:
    """Print where configuration, data, logs and sockets are. In a pipe: one directory a line.

    No server is asked.
    """
    from turnkeeper.settings.dirs import default_host, find_data_dir, find_dirs, project_dirs

    found = find_dirs(os.environ)
    workdir = cwd.absolute()
    here = {
        "config": found.config,
        "data": found.data,
        "cache": found.cache,
        "runtime": found.runtime,
        "system": found.system,
        "workspace": find_data_dir(workdir),
        "project": project_dirs(workdir)[0],
    }
    about = {
        "config": "what you write: turnkeeper.toml, commands, skills, ignore",
        "data": "what programs write: keys, choices, trust, projects",
        "cache": "what can be lost: logs, downloads",
        "runtime": f"the socket: {default_host(os.environ)}",
        "system": "what holds for everybody on this computer",
        "workspace": "this workspace's conversations and its own settings",
        "project": "where this project's configuration begins",
    }
    if as_json:
        emit({name: str(path) for name, path in here.items()} | {"host": default_host(os.environ)})
    elif is_terminal(sys.stdout):
        table(("WHAT", "WHERE", "FOR"), [(name, path, about[name]) for name, path in here.items()])
    else:
        click.echo("\n".join(map(str, here.values())))


@click.command("projects")
@JSON
def projects(as_json: bool) -> None:
    """List the projects that were opened on this computer, latest first. No server is asked."""
    from turnkeeper.settings.projects import projects as known_projects

    known = known_projects(os.environ)
    if as_json:
        emit({"projects": known})
    elif not known:
        say("No project has been opened yet.")
    else:
        now = time.time()
        rows = [
            (f"{ago(now - one.last_accessed)} ago", one.path if Path(one.path).is_dir() else f"{one.path} (gone)")
            for one in known
        ]
        table(("OPENED", "PROJECT"), rows)
