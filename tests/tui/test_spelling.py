"""Terminals that show less, or read aloud: no colours where none are wanted, no boxes in ASCII, no boxes when plain."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import pytest
from rich.style import Style

from tests.client.scene import QUICK_FEED, served
from tests.tui.scene import At
from turnkeeper.client.client import Client
from turnkeeper.models.scripted import Say, turn
from turnkeeper.tui.app import Terminal
from turnkeeper.tui.dialogs.confirm import ConfirmDialog
from turnkeeper.tui.dialogs.help import Help
from turnkeeper.tui.live import Live

BASE = {"LANG": "C.UTF-8", "TERM": "xterm-256color"}
LONG = "\n\n".join(f"Line {number}" for number in range(60))


@asynccontextmanager
async def sitting_at(env: Mapping[str, str], said: str = LONG) -> AsyncGenerator[At]:
    """A terminal with this environment, in which something was said."""
    async with served(turn(Say(said))) as server, server.workspace() as workspace:

        @asynccontextmanager
        async def connect() -> AsyncGenerator[Live]:
            async with Client(server.host) as client:
                yield Live(client, await client.open("/front"), limits=QUICK_FEED)

        app = Terminal(connect, env=BASE | dict(env))
        async with app.run_test(size=(80, 24), notifications=True) as pilot:
            at = At(app, pilot, server, workspace)
            await at.until(lambda: app.is_ready)
            await at.type("go\n")
            await at.shows("tokens in")
            yield at


async def look(at: At) -> str:
    """The conversation, a list, a question and a note, one after the other."""
    seen = at.screen_text()
    at.app.say("A note.")
    await at.shows("A note.")
    seen += at.screen_text()
    await at.press("ctrl+g")
    await at.until(lambda: isinstance(at.app.screen, Help))
    await at.shows("Keys and commands")
    seen += at.screen_text()
    await at.app.push_screen(ConfirmDialog(at.live, "Sure?", "It is lost.", yes="Do it", done=lambda: None))
    await at.shows("[n No]")
    return seen + at.screen_text()


@pytest.mark.parametrize("env", [{"LANG": "C"}, {"LANG": "C", "TURNKEEPER_PLAIN": "1"}])
async def test_a_terminal_without_unicode_gets_nothing_but_ascii(env: Mapping[str, str]) -> None:
    async with sitting_at(env) as at:
        assert {letter for letter in await look(at) if not letter.isascii()} == set()


async def test_plain_has_no_boxes_no_bars_and_no_signs_and_leaves_what_was_said_as_it_is() -> None:
    async with sitting_at({"TURNKEEPER_PLAIN": "1"}, "A tree:\n\n    ├── src\n    └── tests\n") as at:
        await at.shows("├── src", "└── tests")
        seen = (await look(at)).replace("├── src", "").replace("└── tests", "")
        assert {letter for letter in seen if "\u2500" <= letter <= "\u259f" or letter in "❯●◆▸"} == set()


def styles(at: At) -> list[Style]:
    return [segment.style for strip in at.app.screen._compositor.render_strips() for segment in strip if segment.style]


async def test_without_colours_none_is_sent_and_what_is_chosen_stands_out_all_the_same() -> None:
    async with sitting_at({"NO_COLOR": "1"}) as at:
        await look(at)
        for _ in range(2):
            sent = styles(at)
            assert [one for one in sent if one.color and not one.color.is_default] == []
            assert [one for one in sent if one.bgcolor and not one.bgcolor.is_default] == []
            assert any(one.reverse for one in sent)
            await at.press("escape")


async def test_the_row_one_stands_on_has_a_sign() -> None:
    async with sitting_at({}) as at:
        await at.press("ctrl+p")
        await at.shows("Commands", "▸ ")
        await at.press("down")
        marked = [row for row in at.screen_text().split("\n") if "▸ " in row]
        assert len(marked) == 1
