"""`turnkeeper sessions`: the conversations of a workspace, looked at and looked after."""

import sys
import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from turnkeeper.cli.exits import Exit
from turnkeeper.cli.listing import Listing
from turnkeeper.cli.naming import session_named, short
from turnkeeper.cli.output import ago, cut, emit, is_terminal, plain, say, style, table
from turnkeeper.cli.reach import Reach, reaching, run

if TYPE_CHECKING:
    from turnkeeper.client.workspace import WorkspaceClient
    from turnkeeper.protocol.sessions import Effect
    from turnkeeper.protocol.wire_sessions import Session

JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
SESSION = click.argument("session", metavar="SESSION")
FORMATS = ("markdown", "json", "html")
ENDINGS = {".md": "markdown", ".markdown": "markdown", ".json": "json", ".html": "html", ".htm": "html"}
TITLE_COLUMNS = 60


@click.group("sessions", cls=Listing)
def sessions() -> None:
    """Look at conversations and look after them.

    SESSION is an id, the beginning of one, or 'last'.

    \b
    turnkeeper sessions list
    turnkeeper sessions search "race condition"
    turnkeeper sessions export last --output talk.html
    turnkeeper sessions effects last
    turnkeeper sessions fork 3f2a --title "another way"
    turnkeeper sessions import crush
    """


@sessions.command("list")
@reaching
@JSON
def list_(reach: Reach, as_json: bool) -> None:
    """List sessions, the one that changed last first."""

    async def work() -> None:
        async with reach.workspace() as workspace:
            known = await workspace.sessions.list()
        if as_json:
            emit(known)
        elif not known:
            say("There are no sessions here yet. 'turnkeeper run \"…\"' begins one.")
        else:
            now = time.time()
            rows = [
                (
                    short(one.id),
                    f"{ago(now - one.updated_at)} ago",
                    one.message_count,
                    f"${float(one.cost):.2f}" if one.cost else "",
                    "busy" if one.is_busy else "",
                    cut(one.title, TITLE_COLUMNS),
                )
                for one in known
            ]
            table(("ID", "CHANGED", "MESSAGES", "COST", "STATE", "TITLE"), rows, right=("MESSAGES", "COST"))

    run(work)


@sessions.command()
@reaching
@SESSION
@JSON
def show(reach: Reach, session: str, as_json: bool) -> None:
    """Show what was said in a session."""

    async def work() -> None:
        from turnkeeper.client.exporting import as_json as document
        from turnkeeper.client.exporting import markdown

        async with reach.workspace() as workspace:
            found = await session_named(workspace, session)
            said = await workspace.messages.list(found.id)
        text = (document if as_json else markdown)(found, said)
        if as_json or not is_terminal(sys.stdout):
            click.echo(text if as_json else plain(text), nl=False)
        else:
            click.echo_via_pager(plain(text))

    run(work)


@sessions.command()
@reaching
@SESSION
@click.argument("title", nargs=-1, required=True)
@JSON
def rename(reach: Reach, session: str, title: tuple[str, ...], as_json: bool) -> None:
    """Give a session another title."""

    async def work() -> None:
        async with reach.workspace() as workspace:
            found = await session_named(workspace, session)
            renamed = await workspace.sessions.rename(found.id, " ".join(title))
        emit(renamed) if as_json else say(f"{short(renamed.id)} is now called {renamed.title!r}.")

    run(work)


@sessions.command()
@reaching
@click.argument("named", metavar="SESSION…", nargs=-1, required=True)
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@JSON
def delete(reach: Reach, named: tuple[str, ...], yes: bool, as_json: bool) -> int:
    """Delete sessions: what runs in them is stopped, and what was said is forgotten."""

    async def work() -> int:
        async with reach.workspace() as workspace:
            found = [await session_named(workspace, one) for one in named]
            if not yes and not _sure(found):
                say("Nothing was deleted.")
                return Exit.FAILED
            for one in found:
                await workspace.sessions.delete(one.id)
                if not as_json:
                    say(f"Deleted {short(one.id)} ({one.title}).")
        if as_json:
            emit([{"id": one.id, "title": one.title, "deleted": True} for one in found])
        return Exit.FINISHED

    return run(work)


def _sure(found: "list[Session]") -> bool:
    if not is_terminal(sys.stdin):
        raise click.UsageError("nobody is here to confirm this; say --yes")
    for one in found:
        say(f"{short(one.id)}  {one.title}  ({one.message_count} messages{', BUSY' if one.is_busy else ''})")
    return click.confirm("Delete what was said there?", err=True)


@sessions.command()
@reaching
@SESSION
@click.option("--title", default="", help="What the copy is called.")
@click.option(
    "--upto", default="", metavar="MESSAGE", help="Only up to and including this message (its id, or part of it)."
)
@JSON
def fork(reach: Reach, session: str, title: str, upto: str, as_json: bool) -> None:
    """Begin another session with the same past; the two go on without each other."""

    async def work() -> None:
        async with reach.workspace() as workspace:
            found = await session_named(workspace, session)
            message = await _message(workspace, found.id, upto) if upto else ""
            copy = await workspace.overview.fork(found.id, message_id=message, title=title)
        emit(copy) if as_json else click.echo(copy.id)

    run(work)


async def _message(workspace: "WorkspaceClient", session_id: str, said: str) -> str:
    meant = [one.id for one in await workspace.messages.list(session_id) if one.id.startswith(said)]
    if len(meant) != 1:
        raise click.UsageError(f"{said!r} is {'several messages' if meant else 'no message'} of this session")
    return meant[0]


@sessions.command()
@reaching
@SESSION
@click.option("--format", "-f", "way", type=click.Choice(FORMATS), help="Else as the file's name ends; else Markdown.")
@click.option(
    "--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="Write there instead of to stdout."
)
def export(reach: Reach, session: str, way: str | None, output: Path | None) -> None:
    """Write a session down as Markdown, JSON or one HTML page."""

    async def work() -> None:
        from turnkeeper.client.exporting import EXPORTS

        chosen = way or ENDINGS.get(output.suffix.lower() if output else "", "markdown")
        async with reach.workspace() as workspace:
            found = await session_named(workspace, session)
            text = EXPORTS[chosen](found, await workspace.messages.list(found.id))
        if output is None:
            click.echo(plain(text) if is_terminal(sys.stdout) else text, nl=False)
        else:
            _write(output, text)
            say(f"Wrote {output}.")

    run(work)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise click.UsageError(f"{path} cannot be written: {error.strerror}") from error


@sessions.command()
@reaching
@click.argument("words", nargs=-1, required=True)
@click.option("--limit", "-n", default=20, show_default=True, help="At most so many places.")
@JSON
def search(reach: Reach, words: tuple[str, ...], limit: int, as_json: bool) -> int:
    """Find where something was said: every word, in any case, in titles and texts."""

    async def work() -> int:
        async with reach.workspace() as workspace:
            hits = await workspace.overview.search(" ".join(words), limit=limit)
        if as_json:
            emit(hits)
        elif not hits:
            say("Nothing was found.")
        for hit in () if as_json else hits:
            when = datetime.fromtimestamp(hit.created_at).astimezone().strftime("%Y-%m-%d %H:%M")
            title = plain(hit.title) or "Untitled Session"
            click.echo(f"{style(short(hit.session_id), 'cyan')}  {style(when, 'dim')}  {style(title, 'bold')}")
            if hit.excerpt:
                click.echo(f"    {hit.role}: {plain(hit.excerpt)}")
        return Exit.FINISHED if hits else Exit.FAILED

    return run(work)


@sessions.command()
@reaching
@SESSION
@JSON
def effects(reach: Reach, session: str, as_json: bool) -> None:
    """Tell how far each tool call got: after a crash, which command may have run."""

    async def work() -> None:
        async with reach.workspace() as workspace:
            found = await workspace.overview.effects((await session_named(workspace, session)).id)
        if as_json:
            emit(found)
        elif not found:
            say("No tool was used here.")
        else:
            now = time.time()
            rows = [(f"{ago(now - one.at / 1000)} ago", how_far(one), one.tool, one.subject) for one in found]
            table(("WHEN", "HOW FAR", "TOOL", "ON"), rows)

    run(work)


def how_far(effect: "Effect") -> str:
    match effect.state:
        case "intended":
            return "not begun"
        case "started":
            return "begun, no end known"
        case _:
            return "done" if effect.started_at else "answered"


@sessions.group("import")
def import_() -> None:
    """Take in conversations from elsewhere.

    \b
    turnkeeper sessions import crush                    this project's .crush/crush.db
    turnkeeper sessions import crush ~/old/crush.db
    """


@import_.command("crush")
@reaching
@click.argument("path", type=click.Path(exists=True, dir_okay=False, resolve_path=True), required=False)
@JSON
def crush(reach: Reach, path: str | None, as_json: bool) -> int:
    """Take in Crush's conversations. Its database is only read; what is here already stays as it is."""

    async def work() -> int:
        async with reach.workspace() as workspace:
            came = await workspace.overview.import_crush(path or "")
        if as_json:
            emit(came)
        else:
            here = f", {len(came.here_already)} were here already" if came.here_already else ""
            say(f"Took in {_counted(len(came.sessions))} from {came.path}{here}.")
            for id, why in came.failed.items():
                say(f"{id} could not be read: {why}")
        return Exit.FAILED if came.failed else Exit.FINISHED

    return run(work)


def _counted(number: int) -> str:
    return f"{number} session{'' if number == 1 else 's'}"
