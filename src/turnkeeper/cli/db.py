"""`turnkeeper db`: looking after a workspace's database, also while it is in use."""

import click

from turnkeeper.cli.exits import Exit
from turnkeeper.cli.output import emit, say
from turnkeeper.cli.reach import Reach, reaching, run

JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group("db")
def db() -> None:
    """Check, copy and compact the database in which this workspace's conversations are.

    All of it may be done while the server works.

    \b
    turnkeeper db check
    turnkeeper db backup ~/backups/project.db
    turnkeeper db compact
    """


@db.command()
@reaching
@JSON
def check(reach: Reach, as_json: bool) -> int:
    """Tell whether the database is whole."""

    async def work() -> int:
        async with reach.workspace() as workspace:
            wrong = (await workspace.overview.check_database()).wrong
        if as_json:
            emit({"wrong": wrong})
        else:
            say("The database is whole." if not wrong else "The database is damaged:")
            for line in wrong:
                click.echo(line)
        return Exit.FAILED if wrong else Exit.FINISHED

    return run(work)


@db.command()
@reaching
@click.argument("path", type=click.Path(dir_okay=False, resolve_path=True), required=False)
@JSON
def backup(reach: Reach, path: str | None, as_json: bool) -> None:
    """Copy the database as it is at one moment, to PATH or among the workspace's data."""

    async def work() -> None:
        async with reach.workspace() as workspace:
            copy = await workspace.overview.back_up_database(path or "")
        emit({"path": copy.path}) if as_json else click.echo(copy.path)

    run(work)


@db.command()
@reaching
@JSON
def compact(reach: Reach, as_json: bool) -> None:
    """Give the database's empty pages back to the disk."""

    async def work() -> None:
        async with reach.workspace() as workspace:
            pages = (await workspace.overview.compact_database()).pages
        emit({"pages": pages}) if as_json else say(f"Gave {pages} page{'' if pages == 1 else 's'} back.")

    run(work)
