"""Writing a prompt and sending it off."""

from tests.tui.editor.scene import editor
from tests.tui.scene import presses
from turnkeeper.tui.editor.composer import Composer


@presses("editor.send")
async def test_enter_sends_what_was_written_and_begins_anew() -> None:
    async with editor() as at:
        await at.type("hello you")
        await at.press("enter")
        assert await at.told() == Composer.Sent("hello you")
        assert at.text == "|"
        await at.press("enter")
        await at.type("  ")
        await at.press("enter")
        assert at.app.told == []


@presses("editor.newline")
async def test_a_new_line_is_made_in_several_ways_and_sends_nothing() -> None:
    async with editor() as at:
        await at.type("a")
        await at.press("shift+enter", "b", "ctrl+j", "c", "alt+enter", "d", "backslash", "enter", "e")
        assert at.text == "a\nb\nc\nd\ne|"
        await at.press("enter")
        assert await at.told() == Composer.Sent("a\nb\nc\nd\ne")
