"""Commands that are written in full, and those that are mistaken: told, and not sent to the model."""

import pytest

from tests.tui.editor.scene import editor
from turnkeeper.tui.commands import COMMANDS, named
from turnkeeper.tui.editor.commanding import Mistaken, commanded
from turnkeeper.tui.editor.composer import Composer


@pytest.mark.parametrize(
    "prompt", ["hello", "/tmp/x is what?", "//", " /foo", "a /foo", "/a/b", "/regex/ does what?", "!ls", "see\n/help"]
)
def test_what_names_no_command_is_a_prompt(prompt: str) -> None:
    assert commanded(prompt, COMMANDS) is None


@pytest.mark.parametrize(
    ("said", "name"), [("/help", "help"), ("/Model ", "models"), ("quit", "quit"), ("EXIT", "quit")]
)
def test_a_command_is_called_by_its_name_or_by_another(said: str, name: str) -> None:
    assert commanded(said, COMMANDS) == named(name)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("/foo bar", "There is no command /foo; a space before it sends it as it is."),
        ("/modles", "There is no command /modles; there is /models; a space before it sends it as it is."),
        ("/session-s x", "There is no command /session-s; there is /sessions; a space before it sends it as it is."),
        ("/rename my work", "/rename takes nothing behind it; a space before it sends it as it is."),
    ],
)
def test_what_is_mistaken_is_told_with_what_is_near(said: str, why: str) -> None:
    assert commanded(said, COMMANDS) == Mistaken(why)


async def test_a_mistaken_command_stays_where_it_was_written_and_a_space_sends_it() -> None:
    async with editor() as at:
        await at.type("/foo bar")
        await at.press("enter")
        assert (at.app.told, at.text) == ([], "/foo bar|")
        assert at.app.said == ["There is no command /foo; a space before it sends it as it is."]
        await at.press("home", "space", "enter")
        assert await at.told() == Composer.Sent("/foo bar")


async def test_a_path_is_sent_and_so_is_a_line_for_the_shell_that_begins_with_a_slash() -> None:
    async with editor() as at:
        await at.type("/tmp/x is what?")
        await at.press("enter")
        assert await at.told() == Composer.Sent("/tmp/x is what?")
        await at.type("!/bin x")
        await at.press("enter")
        assert await at.told() == Composer.Shell("/bin x")
