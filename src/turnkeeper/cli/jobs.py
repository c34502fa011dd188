"""`turnkeeper jobs`: the commands that sessions left running in the background."""

import time
from typing import TYPE_CHECKING

import click

from turnkeeper.cli.exits import Exit
from turnkeeper.cli.listing import Listing
from turnkeeper.cli.naming import short
from turnkeeper.cli.output import ago, emit, plain, say, table
from turnkeeper.cli.reach import Reach, reaching, run
from turnkeeper.protocol.problems import NotFound

if TYPE_CHECKING:
    from turnkeeper.client.workspace import WorkspaceClient
    from turnkeeper.protocol.wire_changes import JobRow

JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
JOB = click.argument("job", metavar="JOB")
FOLLOW_SECONDS = 0.25


@click.group("jobs", cls=Listing)
def jobs() -> None:
    """Look at commands that run in the background of this workspace's sessions.

    \b
    turnkeeper jobs list
    turnkeeper jobs output 001 --follow
    turnkeeper jobs kill 001
    """


@jobs.command("list")
@reaching
@JSON
def list_(reach: Reach, as_json: bool) -> None:
    """List commands in the background, those that have ended too."""

    async def work() -> None:
        async with reach.workspace() as workspace:
            known = await workspace.jobs.all()
        if as_json:
            emit(known)
        elif not known:
            say("Nothing runs in the background.")
        else:
            now = time.time() * 1000
            rows = [
                (one.id, short(one.session_id), _state(one), f"{ago((now - one.started_at) / 1000)} ago", one.command)
                for one in known
            ]
            table(("JOB", "SESSION", "STATE", "BEGUN", "COMMAND"), rows)

    run(work)


def _state(job: "JobRow") -> str:
    if job.exit_code is not None:
        return f"{job.state} ({job.exit_code})"
    return f"{job.state}, detached" if job.detached else job.state


@jobs.command()
@reaching
@JOB
@click.option("--follow", "-f", is_flag=True, help="Go on as it says more, until it ends.")
def output(reach: Reach, job: str, follow: bool) -> None:
    """Print what a command has said so far."""

    async def work() -> None:
        import anyio

        async with reach.workspace() as workspace:
            found = await _found(workspace, job)
            said = await workspace.jobs.output(found.session_id, found.id, after=0 if follow else None)
            while True:
                click.echo(plain(said.text), nl=not follow and not said.text.endswith("\n"))
                if not follow or (said.done and not said.text):
                    return
                if not said.text:
                    await anyio.sleep(FOLLOW_SECONDS)
                said = await workspace.jobs.output(found.session_id, found.id, after=said.position)

    run(work)


@jobs.command()
@reaching
@JOB
@JSON
def kill(reach: Reach, job: str, as_json: bool) -> int:
    """Stop a command and everything it started."""

    async def work() -> int:
        async with reach.workspace() as workspace:
            found = await _found(workspace, job)
            killed = await workspace.jobs.kill(found.session_id, found.id)
        emit(killed) if as_json else say(f"{killed.id} has stopped: {killed.command}")
        return Exit.FINISHED

    return run(work)


async def _found(workspace: "WorkspaceClient", job: str) -> "JobRow":
    """Ids count through the workspace, so that one names one job."""
    known = await workspace.jobs.all()
    found = next((one for one in known if one.id.lstrip("0") == job.upper().lstrip("0")), None)
    if found is None:
        raise NotFound(f"there is no job {job!r} in the background here; 'turnkeeper jobs list' lists them")
    return found
