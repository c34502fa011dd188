"""Without a command, people mean the terminal application, where there is a terminal."""

import pytest

from tests.cli.scene import home
from turnkeeper.cli.exits import Exit
from turnkeeper.cli.frame import meant_as


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ([], ["open"]),
        (["--continue"], ["open", "--continue"]),
        (["-c", "/tmp"], ["open", "-c", "/tmp"]),
        (["--help"], ["--help"]),
        (["--version"], ["--version"]),
        (["run", "hi"], ["run", "hi"]),
    ],
)
def test_what_begins_with_no_command_opens_the_terminal(given: list[str], meant: list[str]) -> None:
    assert meant_as(given, is_terminal=True) == meant


def test_without_a_terminal_and_without_a_word_there_is_help() -> None:
    assert meant_as([], is_terminal=False) == ["--help"]


def test_the_terminal_application_says_that_it_needs_a_terminal() -> None:
    with home() as at:
        for arguments in (("open",), ("--continue",)):
            done = at.run(*arguments)
            assert done.returncode == Exit.USAGE
            assert "'turnkeeper run PROMPT' needs none" in done.stderr


def test_a_session_is_named_or_the_last_one_and_not_both() -> None:
    with home() as at:
        done = at.run("open", "--session", "abc", "--continue")
        assert done.returncode == Exit.USAGE
        assert "exclude one another" in done.stderr
