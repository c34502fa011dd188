"""`turnkeeper open`, and `turnkeeper` alone: the terminal application."""

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import click

from turnkeeper.cli.reach import Reach, reaching

if TYPE_CHECKING:
    from turnkeeper.tui.live import Live


@click.command("open")
@click.option("--session", "-s", default="", metavar="ID", help="Open this session; a beginning of its id will do.")
@click.option("--continue", "-C", "goes_on", is_flag=True, help="Open the session that was changed last.")
@click.option("--yolo", "-y", is_flag=True, help="Ask nobody for permission, for as long as this terminal is open.")
@reaching
def open_(reach: Reach, session: str, goes_on: bool, yolo: bool) -> int:
    """Open this directory in the terminal.

    \b
    turnkeeper
    turnkeeper --continue
    turnkeeper --cwd ~/work/shop

    Runs belong to the server: they go on when you leave, and are there when you come back.
    """
    if session and goes_on:
        raise click.UsageError("--session and --continue exclude one another")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise click.UsageError("This is for a terminal; 'turnkeeper run PROMPT' needs none.")
    if os.environ.get("TERM") == "dumb":
        raise click.UsageError(
            "TERM is dumb: nothing can be drawn on this terminal. 'turnkeeper run PROMPT' works on it; "
            "or set TERM to what the terminal is, such as xterm-256color."
        )
    try:
        from turnkeeper.tui.app import Terminal
    except ImportError as error:
        if (error.name or "").split(".")[0] not in ("textual", "rich"):
            raise
        raise click.UsageError(
            "The terminal application is not installed: pip install 'turnkeeper[tui]'. 'turnkeeper run' works without."
        ) from error
    from turnkeeper.settings.dirs import state_dir
    from turnkeeper.tui.main import LATEST

    # A token that cannot be read is said before there is a screen.
    reach.token()

    @asynccontextmanager
    async def connect() -> AsyncGenerator["Live"]:
        from turnkeeper.protocol.problems import Problem
        from turnkeeper.tui.live import Live

        async with reach.client(kind="terminal") as client:
            data_dir = str(reach.data_dir.absolute()) if reach.data_dir else ""
            workspace = await client.open(reach.path, data_dir=data_dir)
            with suppress(Problem):
                # A server without a model has no agent yet; the application says so and helps.
                await workspace.agent.init(interactive=True)
            if yolo:
                await workspace.permissions.set_skip(skip=True)
            yield Live(client, workspace)

    # What a token is for is told to the server, and to nobody else.
    env = {name: value for name, value in os.environ.items() if name != "TURNKEEPER_TOKEN"}
    app = Terminal(connect, session=LATEST if goes_on else session, env=env, state_dir=state_dir(os.environ))
    app.run()
    if app.farewell:
        click.echo(app.farewell)
    return app.return_code or 0
