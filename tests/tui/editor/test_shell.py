"""A line for the shell."""

from tests.tui.editor.scene import editor
from tests.tui.scene import presses
from turnkeeper.tui.editor.composer import Composer


@presses("editor.send")
async def test_an_exclamation_mark_begins_a_line_for_the_shell_and_enter_runs_it() -> None:
    async with editor() as at:
        await at.type("!")
        assert at.composer.is_shell
        await at.shows("! Run a shell command", "shell")
        await at.type("ls !x")
        await at.press("enter")
        assert await at.told() == Composer.Shell("ls !x")
        assert (at.composer.is_shell, at.text) == (False, "|")


@presses("editor.plain", "editor.cancel")
async def test_esc_leaves_the_shell_and_so_does_backspace_on_an_empty_line() -> None:
    async with editor() as at:
        await at.type("!l")
        await at.press("backspace")
        assert at.composer.is_shell
        await at.press("backspace")
        assert not at.composer.is_shell
        await at.type("!ls")
        await at.press("escape")
        assert (at.composer.is_shell, at.text, at.app.told) == (False, "|", [])


async def test_a_line_for_the_shell_that_was_left_is_never_a_prompt_and_is_there_again_in_the_shell() -> None:
    async with editor() as at:
        await at.type("!rm x")
        await at.press("escape", "enter")
        assert (at.app.told, at.text) == ([], "|")
        await at.type("!")
        await at.press("up")
        assert (at.composer.is_shell, at.area.text) == (True, "rm x")


async def test_an_exclamation_mark_within_a_text_is_a_letter() -> None:
    async with editor() as at:
        await at.type("hi!")
        assert (at.composer.is_shell, at.text) == (False, "hi!|")


async def test_an_empty_shell_line_runs_nothing_and_a_shell_line_completes_nothing() -> None:
    async with editor() as at:
        await at.type("!")
        await at.press("enter")
        await at.type("/@")
        assert (at.app.told, at.is_offering) == ([], False)


async def test_what_is_pasted_into_a_shell_line_is_text_whatever_it_is() -> None:
    async with editor() as at:
        await at.type("!")
        await at.paste("x\n" * 20)
        assert (at.area.text, at.names) == ("x\n" * 20, [])


async def test_a_command_that_is_given_back_is_a_shell_line_again_where_nothing_is_being_written() -> None:
    async with editor() as at:
        at.composer.put("!make")
        await at.pilot.pause()
        assert (at.composer.is_shell, at.text) == (True, "make|")
        at.composer.put("!test")
        assert (at.composer.is_shell, at.area.text) == (False, "!test\n!make")


async def test_a_prompt_that_is_given_back_is_not_run_because_a_shell_line_is_being_written() -> None:
    async with editor() as at:
        await at.type("!ls")
        at.composer.put("remove everything")
        assert (at.composer.is_shell, at.area.text) == (False, "remove everything\n!ls")
