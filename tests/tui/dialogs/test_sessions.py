"""Sessions: found by title and by what was said, opened, renamed, forked, exported, deleted; alive while one looks."""

from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from tests.server.asking import running, shell
from tests.tui.dialogs.scene import Table, table
from tests.tui.scene import presses, snapshot
from turnkeeper.models.scripted import Hold, Say, turn
from turnkeeper.tui.dialogs.confirm import ConfirmDialog
from turnkeeper.tui.dialogs.line import Export, Rename
from turnkeeper.tui.dialogs.models import Models
from turnkeeper.tui.dialogs.providers import Providers
from turnkeeper.tui.dialogs.sessions import Sessions
from turnkeeper.tui.wishes import Open


def marked(at: Table) -> str:
    dialog = at.app.screen
    assert isinstance(dialog, Sessions)
    return dialog.marked.id if dialog.marked else ""


async def shown(at: Table, *titles: str) -> tuple[list[Any], dict[str, str]]:
    """The dialog over sessions of these titles, the first of them changed last; and their ids."""
    ids = {title: (await at.workspace.sessions.create(title)).id for title in reversed(titles)}
    await at.until(lambda: len(at.live.view.sessions) >= len(titles))
    left = await at.open(Sessions(at.live))
    return left, ids


async def test_a_session_is_found_by_a_few_letters_of_its_title_and_opened() -> None:
    async with table() as at:
        left, ids = await shown(at, "Fix the parser", "Write the docs", "Fix the printer")
        await at.type("fixpr")
        await at.shows("Fix the printer")
        assert "Write the docs" not in at.screen_text()
        await at.press(*["backspace"] * 5)
        await at.shows("Write the docs")
        await at.press("down", "ctrl+n", "up", "ctrl+p", "down", "enter")
        await at.until(lambda: left)
        assert left[0].session_id in ids.values()
        assert isinstance(left[0], Open)


async def test_long_lists_are_paged() -> None:
    async with table(size=(80, 24)) as at:
        await shown(at, *(f"Session {number:02}" for number in range(30)))
        first = marked(at)
        await at.press("pagedown", "pagedown")
        assert marked(at) != first
        await at.press("pageup", "pageup", "pageup")
        assert marked(at) == first


@presses("sessions.search")
async def test_all_conversations_are_searched_for_what_was_said_in_them() -> None:
    async with table(turn(Say("the answer is forty-two"))) as at:
        session = await at.prompt("what is it?", title="Deep thought")
        await at.workspace.runs.wait("r1")
        left, _ = await shown(at, "Another")
        await at.press("ctrl+f")
        await at.type("forty")
        await at.shows("Deep thought", "the answer is forty-two")
        await at.press("enter")
        await at.until(lambda: left == [Open(session)])


async def test_what_nobody_said_is_not_found_and_what_is_searched_is_said() -> None:
    async with table(turn(Say("the answer is forty-two"))) as at:
        await at.prompt("what is it?", title="Deep thought")
        await at.workspace.runs.wait("r1")
        await shown(at, "Another")
        await at.press("ctrl+f")
        await at.shows("Titles, prompts and answers are searched; what tools put out is not.")
        await at.type("fifty")
        await at.shows("Nothing is called “fifty”, and nobody said it.")
        assert "no sessions" not in at.screen_text()


async def test_of_sessions_with_one_title_the_one_that_is_open_is_marked() -> None:
    async with table() as at:
        one, _ = [await at.workspace.sessions.create("Same") for _ in range(2)]
        await at.until(lambda: len(at.live.view.sessions) == 2)
        await at.open(Sessions(at.live, one.id))
        await at.shows("Same")
        assert at.screen_text().count("open here") == 1


@presses("sessions.rename")
async def test_a_session_is_renamed_for_everybody() -> None:
    async with table() as at:
        _, ids = await shown(at, "Old")
        await at.press("ctrl+r")
        await at.until(lambda: isinstance(at.app.screen, Rename))
        await at.press(*["backspace"] * 3)
        await at.type("New name\n")
        await at.until(lambda: isinstance(at.app.screen, Sessions))
        await at.shows("New name")
        assert (await at.workspace.sessions.get(ids["Old"])).title == "New name"


@presses("sessions.delete", "confirm.yes", "confirm.no", "confirm.next", "confirm.choose")
@pytest.mark.parametrize(
    ("keys", "is_gone"),
    [("y", True), (["left", "enter"], True), ("n", False), (["enter"], False), (["escape"], False)],
)
async def test_a_session_is_deleted_only_by_who_is_sure(keys: list[str], is_gone: bool) -> None:
    async with table() as at:
        _, ids = await shown(at, "Precious")
        await at.press("ctrl+x")
        assert isinstance(at.app.screen, ConfirmDialog)
        await at.press(*keys)
        await at.until(lambda: isinstance(at.app.screen, Sessions))
        if is_gone:
            await at.until(lambda: ids["Precious"] not in at.live.view.sessions)
        assert len(await at.workspace.sessions.list()) == (0 if is_gone else 1)


@presses("sessions.fork")
async def test_a_fork_is_opened() -> None:
    async with table() as at:
        left, ids = await shown(at, "Talk")
        await at.press("ctrl+b")
        await at.until(lambda: left)
        assert left[0].session_id not in ("", ids["Talk"])


@presses("sessions.export")
async def test_a_conversation_is_written_to_a_file(tmp_path: Path) -> None:
    async with table(turn(Say("forty-two"))) as at:
        await at.prompt("what is it?", title="Deep thought")
        await at.workspace.runs.wait("r1")
        await shown(at)
        path = tmp_path / "talk.md"
        await at.press("ctrl+e")
        await at.until(lambda: isinstance(at.app.screen, Export))
        at.app.screen.query_one(Input).value = str(path)
        await at.press("enter")
        await at.until(lambda: isinstance(at.app.screen, Sessions))
    assert "forty-two" in path.read_text("utf-8")


@presses("dialog.close")
async def test_the_list_follows_what_happens_while_it_is_looked_at() -> None:
    async with table(*running("make"), tools=[shell([])]) as at:
        await shown(at, "Quiet")
        session = await at.prompt("go", title="Busy one")
        await at.shows("Busy one", "needs you")
        await at.workspace.select(session)
        async with at.workspace.follow() as heard:
            await anext(heard)
            await at.shows("bob@desk")
        await at.workspace.sessions.delete(session)
        await at.until(lambda: "Busy one" not in at.screen_text())
        await at.press("escape")
        assert at.is_closed


@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=lambda size: f"{size[0]}")
@pytest.mark.parametrize("theme", ["turnkeeper-dark", "turnkeeper-light"])
async def test_how_it_looks(size: tuple[int, int], theme: str) -> None:
    async with table(turn(Hold("here")), size=size) as at:
        await at.blank()
        at.app.theme = theme
        await at.prompt("go", title="A run is at work here")
        await shown(at, "Write the docs", "Fix the parser")
        await at.until(lambda: any(one.is_busy for one in at.live.view.sessions.values()))
        await at.press("down")
        await at.pilot.pause()
        snapshot(at.app, f"sessions-{size[0]}-{theme.removeprefix('turnkeeper-')}")
        at.server.front.model().release("here")


@presses("app.sessions", "app.models")
async def test_keys_and_commands_open_the_lists_over_the_main_screen_and_a_choice_shows_the_session() -> None:
    async with table() as at:
        session = await at.workspace.sessions.create("Parser work")
        await at.until(lambda: session.id in at.live.view.sessions)
        await at.press("ctrl+l")
        await at.until(lambda: isinstance(at.app.screen, Models))
        await at.press("escape")
        await at.until(lambda: at.is_closed)
        await at.type("/providers\n")
        await at.until(lambda: isinstance(at.app.screen, Providers))
        await at.press("escape")
        await at.until(lambda: at.is_closed)
        await at.press("ctrl+s")
        await at.until(lambda: isinstance(at.app.screen, Sessions))
        await at.type("parser")
        await at.press("enter")
        await at.until(lambda: at.app.main is not None and at.app.main.session_id == session.id)
