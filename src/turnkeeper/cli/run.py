"""`turnkeeper run`: one prompt, its answer on stdout, and an exit code that says how it ended."""

import importlib
import sys
import uuid
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from turnkeeper.cli.exits import Exit
from turnkeeper.cli.reach import Reach, reaching
from turnkeeper.cli.reach import run as run_async

if TYPE_CHECKING:
    from turnkeeper.cli.ending import Ending
    from turnkeeper.cli.leaving import Attended
    from turnkeeper.cli.progress import Progress
    from turnkeeper.client.workspace import WorkspaceClient
    from turnkeeper.protocol.runs import Prompt, RunOptions
    from turnkeeper.protocol.wire_own import RunView

TITLE = "non-interactive"
FORMATS = ("text", "json", "stream-json")
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)
COUNT = click.IntRange(min=1)
AMOUNT = click.FloatRange(min=0, min_open=True)
FORMAT = click.option(
    "--output-format", "-o", "shape", type=click.Choice(FORMATS), default="text", help="How the answer is printed."
)


class Asked(msgspec.Struct, frozen=True):
    """What the command line asks for, beside the prompt."""

    session: str
    goes_on: bool
    run_id: str
    detach: bool
    elsewhere: bool
    """Whether a server was named."""
    options: "RunOptions"


@click.command("run")
@click.argument("words", nargs=-1, metavar="[PROMPT]...")
@click.option(
    "--session", "-s", default="", metavar="ID", help="Go on with this session; a beginning of its id will do."
)
@click.option("--continue", "-C", "goes_on", is_flag=True, help="Go on with the session that was changed last.")
@click.option("--model", "-m", default="", help="Who answers, this time: MODEL or PROVIDER/MODEL.")
@click.option("--small-model", default="", help="Who does the small things, such as titles, this time.")
@click.option("--attach", "-a", multiple=True, type=FILE, help="Send a file along; repeatable.")
@click.option("--stdin", is_flag=True, help="Read standard input to its end, and put it before the prompt.")
@click.option("--yolo", "-y", is_flag=True, help="Allow everything that no rule denies, this time.")
@click.option("--allow", multiple=True, metavar="RULE", help="Allow this, this time: 'bash(npm test:*)'; repeatable.")
@click.option("--deny", multiple=True, metavar="RULE", help="Deny this, this time, whatever allows it; repeatable.")
@click.option("--ask", is_flag=True, help="Let whoever else looks at the workspace answer what is asked.")
@click.option("--max-steps", type=COUNT, help="Stop after so many questions to the model.")
@click.option("--max-tokens", type=COUNT, help="Stop after so many tokens.")
@click.option("--max-cost", type=AMOUNT, metavar="DOLLARS", help="Stop before it costs more.")
@click.option("--time-limit", type=AMOUNT, metavar="SECONDS", help="Stop after so long.")
@click.option(
    "--id", "run_id", default="", metavar="KEY", help="Name the run: the same prompt under one name is one run."
)
@click.option("--detach", is_flag=True, help="Print the run's id and leave; 'turnkeeper wait ID' waits for it.")
@FORMAT
@click.option("--output-dir", type=FOLDER, help="Also keep result.json, answer.md and events.jsonl there.")
@click.option("--quiet", "-q", is_flag=True, help="Nothing on stderr but why it failed.")
@click.option("--verbose", "-v", is_flag=True, help="Name the tools on stderr, also where it is no terminal.")
@reaching
def run(
    reach: Reach,
    words: tuple[str, ...],
    session: str,
    goes_on: bool,
    stdin: bool,
    attach: tuple[Path, ...],
    run_id: str,
    detach: bool,
    shape: str,
    output_dir: Path | None,
    quiet: bool,
    verbose: bool,
    ask: bool,
    **limits: Any,
) -> int:
    """Run one prompt and print the answer.

    \b
    turnkeeper run "What is in this directory?"
    git diff | turnkeeper run "Review this."
    turnkeeper run --allow "bash(npm test:*)" --time-limit 600 "Make the tests pass."
    turnkeeper run -o json "List the open TODOs." | jq -r .text

    Nobody is asked for permission: what no rule allows is refused, and the exit code is 5. What is piped in comes
    before the prompt; '-' or --stdin waits for it.

    \b
    Exit codes: 0 finished, 1 failed, 2 usage or configuration, 3 limit or deadline, 4 cancelled,
    5 was refused something, 6 server lost, 75 try again later, 130 and 143 interrupted here.
    """
    from turnkeeper.cli.prompting import prompt_of
    from turnkeeper.protocol.runs import RunOptions

    if session and goes_on:
        raise click.UsageError("--session and --continue exclude one another")
    prompt = prompt_of(words, stdin=stdin, attached=attach, quiet=quiet)
    options = RunOptions(
        large_model=limits["model"],
        small_model=limits["small_model"],
        interactive=ask,
        yolo=limits["yolo"],
        allow=limits["allow"],
        deny=limits["deny"],
        steps_max=limits["max_steps"],
        tokens_max=limits["max_tokens"],
        cost_max=limits["max_cost"],
        seconds_max=limits["time_limit"],
    )
    asked = Asked(session, goes_on, run_id, detach, bool(reach.named), options)
    progress = progress_on(shape, output_dir, quiet=quiet, verbose=verbose)
    return run_async(partial(performed, reach, prompt, asked, progress))


def progress_on(shape: str, output_dir: Path | None, *, quiet: bool, verbose: bool) -> "Progress":
    """What prints, on stdout and beside it."""
    from turnkeeper.cli import printing
    from turnkeeper.cli.output import is_terminal
    from turnkeeper.cli.progress import Progress, Wanted

    printer: printing.Printer
    match shape:
        case "json":
            printer = printing.JsonPrinter(sys.stdout)
        case "stream-json":
            printer = printing.StreamPrinter(sys.stdout)
        case _:
            printer = printing.TextPrinter(sys.stdout, live=is_terminal(sys.stdout))
    if output_dir is not None:
        try:
            printer = printing.Folder(output_dir, printer)
        except OSError as error:
            raise click.UsageError(f"{output_dir} cannot be written: {error.strerror}") from error
    return Progress(printer, sys.stderr, wanted=Wanted(quiet, verbose))


async def performed(reach: Reach, prompt: "Prompt", asked: Asked, progress: "Progress") -> int:
    from turnkeeper.cli.leaving import Attended, under_signals

    attended = Attended()

    async def work() -> "Ending":
        async with reach.workspace(meanwhile=get_ready) as workspace:
            return await submitted(workspace, prompt, asked, progress, attended)

    return await reported(attended, progress, partial(under_signals, attended, progress, work))


def get_ready() -> None:
    """Import what is needed to submit and to hear: done while the server opens the workspace, it costs no time."""
    importlib.import_module("turnkeeper.cli.attending")


async def reported(attended: "Attended", progress: "Progress", work: Any) -> int:
    """The ending is told whatever happens, and last."""
    from turnkeeper.cli.ending import of_problem, of_usage
    from turnkeeper.cli.frame import only
    from turnkeeper.protocol.problems import Problem

    try:
        ending = await work()
    except BaseException as error:
        match only(error):
            case Problem() as problem:
                run_id = attended.run_id if attended.is_taken else ""
                ending = of_problem(problem, run_id=run_id, session_id=attended.session_id)
            case click.ClickException() as usage:
                ending = of_usage(usage.format_message())
            case _:
                raise
    progress.ended(ending)
    return ending.exit_code


async def submitted(
    workspace: "WorkspaceClient", prompt: "Prompt", asked: Asked, progress: "Progress", attended: "Attended"
) -> "Ending":
    """Find the session and the run, and wait for its ending; or only until it was taken."""
    from turnkeeper.cli.attending import attend
    from turnkeeper.cli.ending import of_run
    from turnkeeper.protocol.problems import BadRequest, Conflict

    await set_out(workspace, asked, progress, attended)
    known = await known_run(workspace, asked.run_id, prompt) if asked.run_id else None
    attended.run_id = asked.run_id or str(uuid.uuid4())
    progress.name_models(workspace.opened.config, chosen=bool(asked.options.large_model))
    if known is not None:
        attended.session_id = known.session_id
        if known.has_ended and not asked.detach:
            progress.accepted(known.run_id, known.session_id)
            return of_run(known)
    else:
        attended.session_id = await session_for(workspace, asked)
    is_new = known is None and not asked.session and not asked.goes_on

    async def submit() -> bool:
        try:
            await workspace.runs.submit(
                attended.session_id,
                prompt.text,
                attachments=prompt.attachments,
                run_id=attended.run_id,
                options=asked.options,
                foldable=False,
            )
        except BadRequest:
            if is_new:
                await forgotten(workspace, attended.session_id)
            raise
        except Conflict:
            # Somebody submitted it between our looking and our asking; then it is the same run all the same.
            other = await known_run(workspace, asked.run_id, prompt) if asked.run_id else None
            if other is None:
                raise
            if is_new:
                await forgotten(workspace, attended.session_id)
            attended.session_id = other.session_id
            return False
        return True

    if asked.detach:
        if known is None:
            await submit()
        return progress.detached(attended.run_id, attended.session_id)
    return await attend(workspace, attended, progress, None if known is not None else submit)


async def set_out(workspace: "WorkspaceClient", asked: Asked, progress: "Progress", attended: "Attended") -> None:
    """What a run needs of its server before it is submitted. Where nobody named a server, it is one of ours."""
    if asked.elsewhere and await workspace.is_original():
        from turnkeeper.cli.original import prepared

        await prepared(workspace, asked.options, detach=asked.detach)
        attended.answers_itself = not asked.options.interactive
        attended.yolo = asked.options.yolo
    elif progress.is_heard:
        await tell_of_settings(workspace, progress)


async def tell_of_settings(workspace: "WorkspaceClient", progress: "Progress") -> None:
    """What a person has set and is not in force is said, since they would look for it in the answer."""
    state = await workspace.config.state()
    if state.problem:
        progress.say(f"the settings before are used, since {state.problem}")
    for one in state.waiting:
        progress.say(f"{one.path} takes effect when you trust it: 'turnkeeper config trust' shows what it wants")


async def forgotten(workspace: "WorkspaceClient", session_id: str) -> None:
    """A session that was begun for nothing. One that cannot be forgotten says less than why nothing came of it."""
    from turnkeeper.protocol.problems import Problem

    try:
        await workspace.sessions.delete(session_id)
    except Problem:
        return


async def known_run(workspace: "WorkspaceClient", run_id: str, prompt: "Prompt") -> "RunView | None":
    """The run of this name, if it was submitted before with the same prompt."""
    from turnkeeper.client.asking import Unsupported
    from turnkeeper.protocol.ids import RunId
    from turnkeeper.protocol.problems import NotFound, RunIdConflict

    try:
        known = await workspace.runs.get(run_id)
    except (NotFound, Unsupported):
        return None
    if known.prompt != prompt.text:
        raise click.UsageError(RunIdConflict(RunId(run_id)).message)
    return known


async def session_for(workspace: "WorkspaceClient", asked: Asked) -> str:
    """The session that was named, or the last one, or a new one."""
    if asked.session:
        return await found_session(workspace, asked.session)
    if asked.goes_on:
        sessions = await workspace.sessions.list()
        if not sessions:
            raise click.UsageError("there is no session to continue in this directory")
        return max(sessions, key=lambda session: session.updated_at).id
    return (await workspace.sessions.create(TITLE)).id


async def found_session(workspace: "WorkspaceClient", named: str) -> str:
    """The one session whose id begins like this."""
    from turnkeeper.protocol.problems import Problem

    sessions = await workspace.sessions.list()
    found = [session.id for session in sessions if session.id.startswith(named)]
    if len(found) == 1 or named in found:
        return named if named in found else found[0]
    if found:
        raise click.UsageError(f"{len(found)} sessions begin with {named}: {', '.join(found[:5])}")
    try:
        session = await workspace.sessions.get(named)
    except Problem as problem:
        raise click.UsageError(f"there is no session {named} in this directory") from problem
    if session.parent_session_id:
        raise click.UsageError(f"{named} belongs to a sub-agent of {session.parent_session_id}; continue that one")
    return session.id


__all__ = ["FORMAT", "Exit", "progress_on", "reported", "run"]
