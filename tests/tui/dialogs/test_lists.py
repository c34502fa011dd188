"""Dialogs that are lists: commands, help, themes, settings, permissions; and leaving."""

from typing import Any

from textual.widgets import OptionList

from tests.tui.dialogs.house import at_home
from tests.tui.scene import At, presses, terminal
from turnkeeper.models.scripted import Hold, Say, turn
from turnkeeper.protocol.config import Scope
from turnkeeper.tui.commands import COMMANDS
from turnkeeper.tui.dialogs.filtered import Filtered, Row, narrowed
from turnkeeper.tui.dialogs.help import Help
from turnkeeper.tui.dialogs.palette import Palette
from turnkeeper.tui.dialogs.permissions import Permissions
from turnkeeper.tui.dialogs.quit import Quit
from turnkeeper.tui.dialogs.settings import SettingsDialog
from turnkeeper.tui.dialogs.theme import Themes
from turnkeeper.tui.main import Main


def marked(at: At) -> str:
    screen = at.app.screen
    assert isinstance(screen, Filtered)
    return screen.marked.id if screen.marked else ""


async def called(at: At, name: str, dialog: type[Any]) -> None:
    """Call a command by its name, as a person does where they write."""
    await at.type(f"/{name}")
    await at.press("enter")
    await at.until(lambda: isinstance(at.app.screen, dialog))


@presses("app.palette", "list.above", "list.below", "list.page-above", "list.page-below", "dialog.close")
async def test_the_palette_lists_every_command_and_arrows_move_in_it() -> None:
    async with terminal() as at:
        await at.press("ctrl+p")
        await at.until(lambda: isinstance(at.app.screen, Palette))
        await at.shows(*(command.name for command in COMMANDS[:8]))
        assert marked(at) == COMMANDS[0].name
        await at.press("down", "ctrl+n", "up")
        assert marked(at) == COMMANDS[1].name
        await at.press("pagedown", "pagedown")
        assert marked(at) == COMMANDS[-1].name
        await at.press("pageup", "pageup", "ctrl+n")
        assert marked(at) == COMMANDS[1].name
        await at.press("ctrl+p")
        assert marked(at) == COMMANDS[0].name
        await at.press("escape")
        await at.until(lambda: isinstance(at.app.screen, Main))


@presses("list.take")
async def test_what_is_typed_in_the_palette_is_found_and_done() -> None:
    async with terminal() as at:
        await at.press("ctrl+p")
        await at.type("colours")
        assert marked(at) == "theme"
        await at.press("enter")
        await at.until(lambda: isinstance(at.app.screen, Themes))


@presses("app.help")
async def test_help_shows_the_real_key_map_and_finds_in_it() -> None:
    async with terminal() as at:
        for key in ("ctrl+g", "f1"):
            await at.press(key)
            await at.until(lambda: isinstance(at.app.screen, Help))
            await at.shows("Everywhere", "ctrl+y", "Allow everything")
            await at.type("diffs side")
            await at.shows("Diffs side by side", "chat.split")
            await at.press("escape")
            await at.until(lambda: isinstance(at.app.screen, Main))


async def test_a_marked_theme_is_shown_and_kept_only_when_it_is_taken() -> None:
    async with at_home() as at:
        before = at.app.theme
        await called(at, "theme", Themes)
        await at.type("nord")
        await at.until(lambda: at.app.theme == "nord")
        await at.press("escape")
        await at.until(lambda: at.app.theme == before)
        await called(at, "theme", Themes)
        await at.type("nord")
        await at.press("enter")
        await at.until(lambda: at.app.settings.theme == "nord")
        assert at.app.theme == "nord"


@presses("settings.project")
async def test_a_setting_is_turned_and_kept_in_the_scope_that_is_shown(monkeypatch: Any) -> None:
    kept: list[tuple[Scope, str, Any]] = []
    async with terminal() as at:
        config = at.live.workspace.config

        async def keep(scope: Scope, key: str, said: Any) -> None:
            kept.append((scope, key, said))

        monkeypatch.setattr(config, "set", keep)
        await called(at, "settings", SettingsDialog)
        await at.shows("Notifications", "auto", "for you, everywhere")
        await at.type("notifications")
        await at.press("enter")
        await at.press("tab")
        await at.shows("for this workspace")
        await at.press("enter")
        await at.until(lambda: len(kept) == 2)
        assert kept == [
            (Scope.GLOBAL, "options.notifications", "native"),
            (Scope.WORKSPACE, "options.notifications", "native"),
        ]


@presses("grants.turn")
async def test_permissions_show_what_holds_and_what_was_decided() -> None:
    async with terminal() as at:
        await called(at, "permissions", Permissions)
        await at.shows("Allowed without asking", "There is nothing here.")
        await at.press("tab")
        await at.shows("What was decided")


@presses("app.quit", "quit.yes", "quit.no")
async def test_leaving_is_asked_once_and_the_same_key_again_is_a_yes() -> None:
    async with terminal(turn(Say("One moment"), Hold("gate"))) as at:
        await at.press("ctrl+c")
        await at.shows("Leave?", "Nothing is running")
        for no in ("escape", "n"):
            if no == "n":
                await at.press("ctrl+c")
            await at.until(lambda: isinstance(at.app.screen, Quit))
            await at.press(no)
            await at.until(lambda: isinstance(at.app.screen, Main))
        await at.type("begin")
        await at.press("enter")
        await at.shows("One moment")
        await at.press("ctrl+c")
        await at.shows("One run goes on at the server")
        await at.press("ctrl+c")
        await at.until(lambda: at.app.return_code == 0)
        (run,) = await at.workspace.runs.list()
        assert not run.has_ended
        at.server.front.model().release("gate")


async def test_ctrl_c_closes_a_dialog_and_does_not_leave() -> None:
    async with terminal() as at:
        await at.press("ctrl+p")
        await at.until(lambda: isinstance(at.app.screen, Palette))
        await at.press("ctrl+c")
        await at.until(lambda: isinstance(at.app.screen, Main))


def test_typing_narrows_and_headings_stand_only_over_all_rows() -> None:
    from textual.content import Content

    rows = [Row("h", Content("Fruit")), Row("a", Content("apple"), "apple"), Row("p", Content("pear"), "pear")]
    assert narrowed(rows, "") == rows
    assert [row.id for row in narrowed(rows, "pr")] == ["p"]
    assert list(narrowed(rows, "zzz")) == []


async def test_a_row_that_is_clicked_is_taken() -> None:
    async with terminal() as at:
        await at.press("ctrl+p")
        await at.until(lambda: isinstance(at.app.screen, Palette))
        listed = at.app.screen.query_one(OptionList)
        place = next(index for index, command in enumerate(COMMANDS) if command.name == "theme")
        await at.pilot.click(listed, offset=(4, place))
        await at.until(lambda: isinstance(at.app.screen, Themes))
