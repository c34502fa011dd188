"""Writing as in vi, in the editor itself. What each command does is told in `test_vim.py`."""

from tests.tui.editor.scene import At, editor
from turnkeeper.tui.editor.composer import Composer


async def as_in_vi(at: At, text: str) -> None:
    at.composer.vi = True
    await at.type(text)


async def test_keys_write_until_esc_and_are_commands_after_it() -> None:
    async with editor() as at:
        await as_in_vi(at, "one two three")
        assert "normal" not in at.screen()
        await at.press("escape")
        await at.shows("normal")
        assert at.text == "one two thre|e"
        await at.type("bbdwx")
        assert at.text == "one |hree"
        await at.type("A!")
        assert at.text == "one hree!|"
        await at.until(lambda: "normal" not in at.screen())


async def test_what_commands_did_is_undone_and_done_again_one_by_one() -> None:
    async with editor() as at:
        await as_in_vi(at, "one two three")
        await at.press("escape")
        await at.type("0dwdw")
        assert at.text == "|three"
        await at.type("u")
        assert at.area.text == "two three"
        await at.type("u")
        assert at.area.text == "one two three"
        await at.press("ctrl+r")
        assert at.area.text == "two three"
        await at.type("2u")
        assert at.area.text == "one two three" or at.area.text == ""


async def test_marking_shows_what_is_marked_and_esc_goes_back() -> None:
    async with editor() as at:
        await as_in_vi(at, "one two")
        await at.press("escape")
        await at.type("0vee")
        await at.shows("visual")
        assert at.area.selected_text == "one tw"
        await at.press("escape")
        await at.shows("normal")
        assert at.area.selection.is_empty
        await at.type("vbd")
        assert at.area.text == "one "


async def test_enter_sends_in_every_mode_and_arrows_browse() -> None:
    async with editor() as at:
        await as_in_vi(at, "first")
        await at.press("escape", "enter")
        assert await at.told() == Composer.Sent("first")
        await at.press("up")
        assert at.area.text == "first"


async def test_esc_in_normal_mode_cancels_and_a_half_command_is_left_first() -> None:
    async with editor() as at:
        await as_in_vi(at, "text")
        await at.press("escape")
        await at.type("2d")
        await at.press("escape")
        assert at.app.told == []
        await at.press("escape")
        assert isinstance(await at.told(), Composer.Cancel)
        assert at.area.text == "text"


async def test_commands_and_shell_lines_begin_at_once_on_an_empty_text() -> None:
    async with editor() as at:
        await as_in_vi(at, "")
        await at.press("escape")
        await at.type("/new")
        await at.press("enter")
        assert await at.told() == Composer.Wanted("new")
        await at.press("escape")
        await at.type("!ls")
        assert (at.composer.is_shell, at.text) == (True, "ls|")


async def test_esc_closes_what_is_offered_before_it_leaves_writing() -> None:
    async with editor() as at:
        await as_in_vi(at, "/n")
        assert at.is_offering
        await at.press("escape")
        assert (at.is_offering, "normal" in at.screen()) == (False, False)
        await at.press("escape")
        await at.shows("normal")


async def test_without_the_option_every_key_writes() -> None:
    async with editor() as at:
        await at.type("x")
        await at.press("escape")
        await at.told()
        await at.type("dd")
        assert at.text == "xdd|"
