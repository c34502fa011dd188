"""Writing a prompt and sending it off."""

import time

import pytest

from tests.tui.editor.scene import editor
from tests.tui.scene import presses
from turnkeeper.client.events import Link, LinkState
from turnkeeper.models.scripted import Hold, turn
from turnkeeper.tui.editor.composer import Composer
from turnkeeper.tui.editor.state import Standing, placeholder, words
from turnkeeper.tui.editor.vim import Mode

LOST = Link(LinkState.RECONNECTING, time.time(), attempts=1)
BACK = Link(LinkState.CONNECTED, time.time())


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


async def test_the_editor_grows_with_its_text_from_three_rows_to_fifteen() -> None:
    async with editor() as at:
        assert at.area.size.height == 3
        await at.press(*["ctrl+j"] * 6)
        assert at.area.size.height == 7
        await at.press(*["ctrl+j"] * 20)
        assert at.area.size.height == 15


@pytest.mark.parametrize("word", ["exit", "quit", " Quit "])
async def test_a_word_that_means_to_leave_leaves(word: str) -> None:
    async with editor() as at:
        await at.type(word)
        await at.press("enter")
        assert await at.told() == Composer.Wanted("quit")


async def test_one_can_leave_also_without_a_server() -> None:
    async with editor() as at:
        at.composer.link = LOST
        await at.type("quit")
        await at.press("enter")
        assert await at.told() == Composer.Wanted("quit")


@presses("editor.cancel")
async def test_esc_is_a_cancel_where_there_is_nothing_else_to_leave_and_loses_no_text() -> None:
    async with editor() as at:
        await at.type("half")
        await at.press("escape")
        assert isinstance(await at.told(), Composer.Cancel)
        assert at.text == "half|"


async def test_a_text_that_is_put_in_stands_before_what_is_being_written() -> None:
    async with editor() as at:
        at.composer.put("taken back")
        assert at.text == "taken back|"
        at.composer.put("another")
        assert at.text == "another\ntaken back|"
        await at.press("enter")
        assert await at.told() == Composer.Sent("another\ntaken back")


async def test_while_a_run_goes_on_it_is_said_that_a_prompt_waits() -> None:
    async with editor(turn(Hold("work"))) as at:
        await at.shows("Say what to do")
        session = await at.workspace.sessions.create()
        at.composer.session_id = session.id
        await at.workspace.runs.submit(session.id, "go")
        await at.shows("enter puts it in line", "Say what comes next")
        await at.workspace.runs.cancel_session(session.id)
        await at.until(lambda: "enter puts it in line" not in at.screen())


async def test_where_nobody_is_asked_the_editor_says_so_for_this_client_alone() -> None:
    async with editor() as at:
        await at.workspace.permissions.set_skip(True)
        await at.until(lambda: at.app.live.view.unasked)
        assert "yolo" not in at.screen()
        await at.app.live.workspace.permissions.set_skip(True)
        await at.shows("yolo: everything is allowed", "nobody will be asked")


async def test_without_a_server_a_prompt_waits_and_is_sent_when_the_server_is_back() -> None:
    async with editor() as at:
        at.composer.link = LOST
        await at.type("patience")
        await at.shows("no server")
        await at.press("enter")
        await at.shows("waits for the server")
        assert (at.app.told, at.text) == ([], "patience|")
        at.composer.link = BACK
        assert await at.told() == Composer.Sent("patience")
        assert at.text == "|"


async def test_a_prompt_that_waits_for_the_server_stays_when_somebody_writes_on_or_says_so() -> None:
    async with editor() as at:
        for keys in (("x",), ("escape",)):
            at.composer.link = LOST
            await at.type("wait")
            await at.press("enter", *keys)
            at.composer.link = BACK
            await at.pilot.pause()
            assert at.app.told == []
            assert at.area.text.startswith("wait")
            at.composer.session_id += "x"


@pytest.mark.parametrize(
    ("standing", "said", "inside"),
    [
        (Standing(), [], "Say what to do"),
        (Standing(mode=Mode.INSERT), [], "Say what to do"),
        (Standing(mode=Mode.NORMAL, is_busy=True), ["normal", "enter puts it in line"], "Say what comes next"),
        (Standing(mode=Mode.VISUAL), ["visual"], "Say what to do"),
        (Standing(is_shell=True, is_busy=True), ["shell"], "Run a shell command"),
        (Standing(is_yolo=True), ["yolo: everything is allowed"], "Say what to do; nobody will be asked"),
        (Standing(is_lost=True), ["no server: enter waits for it"], "The server is away; what you write is kept"),
    ],
)
def test_what_is_said_follows_from_how_things_stand(standing: Standing, said: list[str], inside: str) -> None:
    assert ([text for text, _ in words(standing)], placeholder(standing)) == (said, inside)
