"""Runs that survive their caller: `wait`, `result`, `cancel` and `runs`."""

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from turnkeeper.cli.exits import Exit
from turnkeeper.cli.output import ago, emit, plain, say, table
from turnkeeper.cli.reach import Reach, reaching
from turnkeeper.cli.reach import run as run_async
from turnkeeper.cli.run import FOLDER, FORMAT, progress_on, reported

if TYPE_CHECKING:
    from turnkeeper.cli.ending import Ending
    from turnkeeper.cli.progress import Progress
    from turnkeeper.client.workspace import WorkspaceClient
    from turnkeeper.protocol.wire_own import RunView

PROMPT_CHARACTERS = 60
LIMIT_DEFAULT = 30
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.command()
@click.argument("run_id", metavar="ID")
@click.option("--timeout", type=click.FloatRange(min=0), metavar="SECONDS", help="Leave after so long; it goes on.")
@FORMAT
@click.option("--output-dir", type=FOLDER, help="Also keep result.json, answer.md and events.jsonl there.")
@click.option("--quiet", "-q", is_flag=True, help="Nothing on stderr but why it failed.")
@click.option("--verbose", "-v", is_flag=True, help="Name the tools on stderr, also where it is no terminal.")
@reaching
def wait(
    reach: Reach,
    run_id: str,
    timeout: float | None,
    shape: str,
    output_dir: Path | None,
    quiet: bool,
    verbose: bool,
) -> int:
    """Wait for a run to end, and print its answer.

    The exit code is the run's. An interrupt cancels the run, as it would where it was begun.
    """
    progress = progress_on(shape, output_dir, quiet=quiet, verbose=verbose)
    return run_async(partial(waited, reach, run_id, timeout, progress))


async def waited(reach: Reach, run_id: str, timeout: float | None, progress: "Progress") -> int:
    import anyio

    from turnkeeper.cli.attending import attend
    from turnkeeper.cli.ending import of_run
    from turnkeeper.cli.leaving import Attended, under_signals

    attended = Attended()

    async def work() -> "Ending":
        async with reach.workspace() as workspace:
            known = await found(workspace, run_id)
            attended.run_id, attended.session_id = known.run_id, known.session_id
            if known.has_ended:
                return of_run(known)
            with anyio.move_on_after(timeout):
                return await attend(workspace, attended, progress)
            return of_run(await workspace.runs.get(known.run_id), exit_code=Exit.LIMIT)

    return await reported(attended, progress, partial(under_signals, attended, progress, work))


@click.command()
@click.argument("run_id", metavar="ID")
@FORMAT
@reaching
def result(reach: Reach, run_id: str, shape: str) -> int:
    """Print how a run ended. One that goes on has no result yet: the exit code is 75."""
    from turnkeeper.cli.ending import of_run

    async def work() -> int:
        async with reach.workspace() as workspace:
            known = await found(workspace, run_id)
        if not known.has_ended:
            say(f"turnkeeper: run {known.run_id} is {known.state}; 'turnkeeper wait {known.run_id}' waits for it")
            return Exit.RETRY
        ending = of_run(known)
        progress_on(shape, None, quiet=False, verbose=False).ended(ending)
        return ending.exit_code

    return run_async(work)


@click.command()
@click.argument("run_ids", nargs=-1, required=True, metavar="ID...")
@JSON
@reaching
def cancel(reach: Reach, run_ids: tuple[str, ...], as_json: bool) -> int:
    """Stop runs, wherever they stand; answers when they have stopped. What waits behind them goes on."""

    async def work() -> int:
        stopped: list[RunView] = []
        async with reach.workspace() as workspace:
            for run_id in run_ids:
                known = await found(workspace, run_id)
                before = "had ended before: " if known.has_ended else ""
                run = known if known.has_ended else await workspace.runs.cancel(known.run_id)
                stopped.append(run)
                if not as_json:
                    say(f"Run {run.run_id}: {before}{run.outcome or run.state}.")
        if as_json:
            emit(stopped)
        return Exit.FINISHED

    return run_async(work)


@click.command()
@click.option("--session", "-s", default="", metavar="ID", help="Only of this session.")
@click.option("--limit", "-n", default=LIMIT_DEFAULT, show_default=True, help="How many, newest first; 0 for all.")
@click.option("--all", "-a", "children", is_flag=True, help="Those of sub-agents too.")
@JSON
@reaching
def runs(reach: Reach, session: str, limit: int, children: bool, as_json: bool) -> int:
    """List the runs of this directory, newest first."""

    async def work() -> "list[RunView]":
        async with reach.workspace() as workspace:
            return await workspace.runs.list(session)

    known = [run for run in run_async(work) if children or not run.parent][: limit or None]
    if as_json:
        emit(known)
    elif not known:
        say("There are no runs in this directory yet.")
    else:
        now = time.time()
        rows = [
            (run.run_id, run.outcome or run.state, ago(now - run.accepted_at / 1000), first_line(run)) for run in known
        ]
        table(("RUN", "STATE", "AGE", "PROMPT"), rows, right=("AGE",))
    return Exit.FINISHED


def first_line(run: "RunView") -> str:
    line = plain(" ".join(run.prompt.split()))
    return line if len(line) <= PROMPT_CHARACTERS else line[: PROMPT_CHARACTERS - 1] + "…"


async def found(workspace: "WorkspaceClient", named: str) -> "RunView":
    """The one run whose id is, or begins, like this."""
    from turnkeeper.protocol.ids import RunId
    from turnkeeper.protocol.problems import NotFound, RunNotFound

    try:
        return await workspace.runs.get(named)
    except NotFound:
        pass
    known = [run for run in await workspace.runs.list() if run.run_id.startswith(named)]
    if len(known) > 1:
        raise click.UsageError(f"{len(known)} runs begin with {named}: {', '.join(run.run_id for run in known[:5])}")
    if not known:
        raise RunNotFound(RunId(named))
    return known[0]
