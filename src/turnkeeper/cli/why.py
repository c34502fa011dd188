"""`turnkeeper why`: what a busy session waits for, since when, and until when."""

import sys
from typing import TYPE_CHECKING

import click

from turnkeeper.cli.naming import session_named, short
from turnkeeper.cli.output import ago, emit, is_terminal, plain, say, style
from turnkeeper.cli.reach import Reach, reaching, run

if TYPE_CHECKING:
    from turnkeeper.protocol.wire_overview import Wait, Why

WATCH_SECONDS = 1.0

WORDS = {
    "permission": "a permission: {what}",
    "question": "an answer: {what}",
    "tool": "a tool: {what}",
    "model": "the model to begin: {what}",
    "writing": "the model, which is speaking: {what}",
    "retry": "another attempt: {what}",
    "sign_in": "somebody to sign in: {what}",
    "refresh": "fresh credentials: {what}",
    "stopping": "the run to stop",
    "release": "somebody to let the line go on",
    "engine": "nothing but its own next step",
}
HELP = {
    "permission": "Answer in the terminal ('turnkeeper'), or let rules answer: 'run --allow', '--deny'.",
    "question": "Answer in the terminal ('turnkeeper').",
    "sign_in": "'turnkeeper login' gives the provider a key.",
    "release": "Any new prompt lets it go on.",
}


@click.command("why")
@reaching
@click.argument("session", required=False)
@click.option("--watch", "-w", is_flag=True, help="Look again every second until it is idle.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def why(reach: Reach, session: str | None, watch: bool, as_json: bool) -> None:
    """Tell what a busy session waits for, with a clock.

    Without SESSION, every busy session of the workspace is told about.

    \b
    turnkeeper why
    turnkeeper why last --watch
    """

    async def work() -> None:
        import anyio

        async with reach.workspace() as workspace:
            while True:
                known = [await session_named(workspace, session)] if session else await workspace.sessions.list()
                wanted = [one for one in known if session or one.is_busy]
                told = [await workspace.overview.why(one.id) for one in wanted]
                if as_json:
                    emit(told[0] if session else told)
                else:
                    _show(told, redraw=watch)
                if not watch or not any(one.busy for one in told):
                    return
                await anyio.sleep(WATCH_SECONDS)

    run(work)


def _show(told: "list[Why]", *, redraw: bool) -> None:
    if redraw and is_terminal(sys.stdout):
        click.clear()
    if not told:
        say("Every session is idle.")
    for one in told:
        for line in lines(one):
            click.echo(line)


def lines(told: "Why") -> list[str]:
    """What one session waits for, for a person."""
    title = f"{style(short(told.session_id), 'cyan')}  {style(plain(told.title) or 'Untitled Session', 'bold')}"
    queued = f"{told.queued} more in line" if told.queued else ""
    if not told.busy:
        waits = [f"  waits for {_wait(told, wait)}" for wait in told.waits]
        return [f"{title}  {'held: ' + queued if waits else 'idle'}", *waits, *_help(told)]
    running = f"for {ago((told.now - told.since) / 1000)}, step {told.steps + 1}"
    head = f"{title}  busy {running}{', ' + queued if queued else ''}"
    prompt = [f"  {style('prompt', 'dim')} {plain(told.prompt)}"] if told.prompt else []
    return [head, *prompt, *(f"  waits for {_wait(told, wait)}" for wait in told.waits), *_help(told)]


def _wait(told: "Why", wait: "Wait") -> str:
    words = WORDS.get(wait.kind, "{what}").format(what=plain(wait.what))
    where = "in a sub-agent" if wait.session_id else ""
    since = f"for {ago((told.now - wait.since) / 1000)}" if wait.since else ""
    until = f"{ago((wait.until - told.now) / 1000)} left" if wait.until > told.now else ""
    return ", ".join(filter(None, (words, where, since, until)))


def _help(told: "Why") -> list[str]:
    return [f"  {HELP[kind]}" for kind in dict.fromkeys(wait.kind for wait in told.waits) if kind in HELP]
