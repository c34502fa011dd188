"""The frame of the command line: which commands there are, and how each is found, run and ended.

A command is a line in `COMMANDS` and a file of its own; the file is imported when the command is called. Help is
written from the lines, so that asking what there is imports none of it.
"""

import importlib
import io
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import click

from turnkeeper.cli.exits import Exit, of_problem
from turnkeeper.protocol.problems import Problem


class ReaderLeft(Exception):
    """Whoever read our output is gone."""


class Command(NamedTuple):
    """A command: its name, where it is (`module:object`), what it is for in one sentence, and under which heading."""

    name: str
    at: str
    about: str
    heading: str


WORK = "Work"
LOOK = "Look"
SET_UP = "Set up"
SERVE = "Serve"
HEADINGS = (WORK, LOOK, SET_UP, SERVE)

COMMANDS: tuple[Command, ...] = (
    Command("open", "turnkeeper.cli.opening:open_", "The terminal application; 'turnkeeper' alone does it too.", WORK),
    Command("run", "turnkeeper.cli.run:run", "Run one prompt and print the answer.", WORK),
    Command("wait", "turnkeeper.cli.runs:wait", "Wait for a run to end, and print its answer.", WORK),
    Command("cancel", "turnkeeper.cli.runs:cancel", "Stop a run.", WORK),
    Command("runs", "turnkeeper.cli.runs:runs", "List the runs of this directory.", LOOK),
    Command("result", "turnkeeper.cli.runs:result", "Print how a run ended.", LOOK),
    Command("sessions", "turnkeeper.cli.sessions:sessions", "Conversations: list, show, search, fork, export…", LOOK),
    Command("why", "turnkeeper.cli.why:why", "What a busy session waits for, with a clock.", LOOK),
    Command("jobs", "turnkeeper.cli.jobs:jobs", "Commands that sessions left running in the background.", LOOK),
    Command("permissions", "turnkeeper.cli.permissions:permissions", "What was allowed for longer than once.", LOOK),
    Command("stats", "turnkeeper.cli.stats:stats", "What was used and what it cost, with a chart.", LOOK),
    Command("projects", "turnkeeper.cli.places:projects", "The projects that were opened on this computer.", LOOK),
    Command("logs", "turnkeeper.cli.server:logs", "What your server wrote to its log.", LOOK),
    Command("models", "turnkeeper.cli.models:models", "The models that can be asked, and which one is.", SET_UP),
    Command(
        "providers",
        "turnkeeper.cli.providers:providers",
        "Whose models there are, and why one cannot be asked.",
        SET_UP,
    ),
    Command("config", "turnkeeper.cli.config:config", "What is set and where: get, set, edit, check, trust…", SET_UP),
    Command("login", "turnkeeper.cli.login:login", "Give a provider its key.", SET_UP),
    Command("logout", "turnkeeper.cli.login:logout", "Forget a provider's key.", SET_UP),
    Command("doctor", "turnkeeper.cli.doctor:doctor", "Find what is wrong, and say how to mend it.", SET_UP),
    Command("dirs", "turnkeeper.cli.places:dirs", "Where configuration, data and logs are.", SET_UP),
    Command("db", "turnkeeper.cli.db:db", "Check, copy and compact the database of a workspace.", SET_UP),
    Command("completion", "turnkeeper.cli.about:completion", "What makes a shell complete its commands.", SET_UP),
    Command("version", "turnkeeper.cli.about:version", "Which version this is, and which your server is.", SET_UP),
    Command("server", "turnkeeper.cli.server:server", "Serve here, or start, stop and look at your own server.", SERVE),
)
ABOUT = """\
A coding agent whose server keeps the runs, so that any number of clients can share them.
"""
FRAME_OPTIONS = ("-h", "--help", "--version")
EPILOG = "'turnkeeper COMMAND --help' tells more about a command. Short name: tk."


class Frame(click.Group):
    """All commands by name; none of them is imported before it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [command.name for command in COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        found = next((command for command in COMMANDS if command.name == cmd_name), None)
        if found is None:
            return None
        module, _, name = found.at.partition(":")
        return getattr(importlib.import_module(module), name)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            # click would make an ordinary failure of it.
            raise ReaderLeft from error

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if not name.startswith("-") and all(command.name != name for command in COMMANDS):
            raise click.UsageError(f"There is no command '{name}'.{meant(name)}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(len(command.name) for command in COMMANDS)
        for heading in HEADINGS:
            lines = [(command.name.ljust(width), command.about) for command in COMMANDS if command.heading == heading]
            if lines:
                with formatter.section(heading):
                    formatter.write_dl(lines)


def meant(name: str) -> str:
    import difflib

    close = difflib.get_close_matches(name, [command.name for command in COMMANDS], n=1)
    return f" Did you mean '{close[0]}'?" if close else " 'turnkeeper --help' lists what there is."


def shown_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from turnkeeper import __version__

        click.echo(f"turnkeeper {__version__}")
        ctx.exit()


FRAME = Frame(
    help=ABOUT,
    epilog=EPILOG,
    no_args_is_help=False,
    invoke_without_command=True,
    callback=lambda: None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=shown_version,
            help="Show the version.",
        )
    ],
)


def start(given: Sequence[str]) -> int:
    """Run what was asked for. Whatever goes wrong ends in one sentence on stderr and a code from the table."""
    open_closed_streams()
    if not is_somewhere():
        print("turnkeeper: the directory you are in is not there any more", file=sys.stderr)
        return Exit.USAGE
    arguments = meant_as(given, is_terminal=sys.stdin.isatty() and sys.stdout.isatty())
    try:
        code = FRAME.main(args=arguments, prog_name="turnkeeper", standalone_mode=False)
    except BaseException as error:
        code = code_of(only(error))
        if code is None:
            raise
    return code if isinstance(code, int) else 0


def is_somewhere() -> bool:
    """Whether the working directory has not been removed under us."""
    try:
        os.getcwd()  # noqa: PTH109 - pathlib would be imported for nothing
    except OSError:
        return False
    return True


def open_closed_streams() -> None:
    """What whoever started us has closed leads nowhere, rather than to the first file or socket that we open."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123 - open as long as we are


def meant_as(given: Sequence[str], *, is_terminal: bool) -> list[str]:
    """Without a command, the terminal application is meant where there is a terminal, and help where there is none."""
    if not given:
        return ["open"] if is_terminal else ["--help"]
    if given[0].startswith("-") and given[0] not in FRAME_OPTIONS:
        return ["open", *given]
    return list(given)


def code_of(error: BaseException) -> int | None:
    """The exit code for what ended a command, said if there is something to say; None for what is a defect of ours."""
    from turnkeeper.cli.output import plain

    match error:
        case click.exceptions.Exit():
            return error.exit_code
        case click.ClickException():
            shown = io.StringIO()  # what is wrong may be called by a title that somebody gave
            error.show(shown)
            click.echo(plain(shown.getvalue()), err=True, nl=False)
            return Exit.USAGE
        case click.exceptions.Abort() | KeyboardInterrupt():
            return 128 + signal.SIGINT
        case ReaderLeft() | BrokenPipeError():
            # Whoever read us has left; there is nobody to complain to, not even when Python flushes at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 128 + signal.SIGPIPE
        case Problem():
            print(f"turnkeeper: {plain(error.message)}", file=sys.stderr)
            return of_problem(error)
        case _:
            return None


def only(error: BaseException) -> BaseException:
    """What task groups wrapped, if there is one thing in them."""
    match error:
        case BaseExceptionGroup(exceptions=(inner,)):
            return only(inner)
        case _:
            return error
