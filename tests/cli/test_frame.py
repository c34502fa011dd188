"""The frame of the command line: what it answers at once, how it helps, and how it ends."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from turnkeeper import __version__
from turnkeeper.cli.exits import Exit, of_ending, of_problem
from turnkeeper.cli.frame import COMMANDS, FRAME, HEADINGS, start
from turnkeeper.cli.main import main
from turnkeeper.client.asking import Unauthorized
from turnkeeper.client.http import ServerLost, ServerUnreachable
from turnkeeper.protocol.problems import BadRequest, NotFound, Problem
from turnkeeper.protocol.wire_own import FailureView


def test_the_version_is_the_first_and_only_thing_that_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"turnkeeper {__version__}\n"


def test_a_thread_and_a_child_that_somebody_left_behind_keep_nobody_waiting() -> None:
    leak = (
        "import subprocess, sys, threading, time; from turnkeeper.cli.main import main\n"
        "threading.Thread(target=time.sleep, args=(300,)).start()\n"
        "child = subprocess.Popen(['sleep', '300'], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)\n"
        "print(child.pid, file=sys.stderr, flush=True)\n"
        "sys.argv = ['turnkeeper', 'completion', 'bash']\n"
        "main()"
    )
    # The child holds our stderr open, so that nothing may wait for the end of that.
    with subprocess.Popen([sys.executable, "-c", leak], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        said = process.stdout.read()
        os.kill(int(process.stderr.readline()), signal.SIGKILL)
    assert (process.returncode, b"_turnkeeper_completion" in said) == (0, True)


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_that_were_closed_before_we_began_are_no_defect(closed: str) -> None:
    said = subprocess.run(
        ["bash", "-c", f'"{sys.executable}" -m turnkeeper completion bash {closed}'], capture_output=True, text=True
    )
    assert (said.returncode, "Traceback" in said.stderr) == (0, False)


def test_a_directory_that_was_removed_under_us_is_said_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    said = subprocess.run(
        ["bash", "-c", f'cd gone && rmdir ../gone && "{sys.executable}" -m turnkeeper config'],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (said.returncode, said.stderr) == (2, "turnkeeper: the directory you are in is not there any more\n")


def test_help_lists_every_command_under_its_heading_and_imports_none_of_them() -> None:
    said = subprocess.run(
        [
            sys.executable,
            "-c",
            (
                "import sys; from turnkeeper.cli.main import main; main([])\n"
                "print([name for name in sys.modules if name.startswith('turnkeeper.cli.')])"
            ),
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert all(f"  {command.name}  " in said and command.about[:30] in said for command in COMMANDS)
    assert said.splitlines()[-1] == "['turnkeeper.cli.main', 'turnkeeper.cli.exits', 'turnkeeper.cli.frame']"
    assert "\x1b" not in said


@pytest.mark.parametrize("name", [command.name for command in COMMANDS])
def test_every_command_is_where_the_table_says_and_explains_itself(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert start([name, "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"Usage: turnkeeper {name} ")


def test_every_command_stands_under_a_heading_that_is_shown() -> None:
    assert {command.heading for command in COMMANDS} <= set(HEADINGS)
    assert len({command.name for command in COMMANDS}) == len(COMMANDS)


def test_a_command_that_does_not_exist_is_a_usage_error_that_suggests_the_one_that_was_meant(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert start(["sevrer"]) == Exit.USAGE
    assert "There is no command 'sevrer'. Did you mean 'server'?" in capsys.readouterr().err


def test_a_problem_is_one_sentence_and_a_code_even_from_within_task_groups(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(**_: object) -> None:
        raise ExceptionGroup("a task group", [ExceptionGroup("another", [ServerUnreachable("nobody is there")])])

    monkeypatch.setattr(FRAME, "main", fail)
    assert start(["anything"]) == Exit.RETRY
    assert capsys.readouterr().err == "turnkeeper: nobody is there\n"


@pytest.mark.parametrize(
    ("outcome", "failure", "denied", "code"),
    [
        ("completed", None, (), 0),
        ("folded", None, (), 0),
        ("completed", None, ("bash(make)",), 5),
        ("failed", None, (), 1),
        ("failed", FailureView("provider", "no"), (), 1),
        ("failed", FailureView("tool", "no"), (), 1),
        ("failed", FailureView("policy", "no"), (), 1),
        ("failed", FailureView("auth", "no key"), (), 2),
        ("failed", FailureView("user", "no such model"), (), 2),
        ("failed", FailureView("limit", "too long"), (), 3),
        ("failed", FailureView("provider", "overloaded", retryable=True), (), 75),
        ("failed", FailureView("a cause of a later version", "?"), (), 1),
        ("cancelled", None, (), 4),
        ("cancelled", None, ("bash(make)",), 4),
        ("interrupted", None, (), 75),
        ("", None, (), 6),
        ("an outcome of a later version", None, (), 6),
    ],
)
def test_the_exit_code_is_a_function_of_how_the_run_ended(
    outcome: str, failure: FailureView | None, denied: tuple[str, ...], code: int
) -> None:
    assert of_ending(outcome, failure, denied=denied) == code


@pytest.mark.parametrize(
    ("problem", "code"),
    [
        (BadRequest("?"), 2),
        (Unauthorized(), 2),
        (NotFound("?"), 1),
        (Problem("?"), 1),
        (ServerUnreachable("?"), 75),
        (ServerLost("?"), 6),
    ],
)
def test_what_keeps_a_command_from_its_answer_has_a_code_too(problem: Problem, code: int) -> None:
    assert of_problem(problem) == code


NOTHING_TO_PRINT = {"open", "server", "config edit", "sessions export", "acp"}
"""They print a screen, what they serve, or a document of their own."""
PRINTS_LINES = {"completion", "config schema", "logs", "server logs", "jobs output"}
"""What they print is for programs as it is."""


def leaves(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        for inner in command.commands:
            yield from leaves(f"{name} {inner}", command.commands[inner])
    else:
        yield name, command


def test_every_command_that_tells_something_tells_it_to_programs_too() -> None:
    context = click.Context(FRAME)
    told = {
        name: one for top in COMMANDS for name, one in leaves(top.name, FRAME.get_command(context, top.name) or FRAME)
    }
    silent = {
        name
        for name, one in told.items()
        if not {"--json", "--output-format"} & {option for parameter in one.params for option in parameter.opts}
    }
    assert silent - NOTHING_TO_PRINT - PRINTS_LINES == set()
