"""Nothing that a model, a file's name or another person says speaks to the terminal, wherever it is shown."""

from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.control import Control
from rich.segment import Segment
from textual.color import Color

from tests.tui.editor.scene import editor
from tests.tui.scene import screen_text, terminal
from turnkeeper.models.scripted import Hold, Say, turn
from turnkeeper.tui.legible import LEGIBLE, legible

ORDERS = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"
BLACK = Color(0, 0, 0)


@pytest.mark.parametrize("size", [(140, 40), (90, 40)], ids=["beside", "above"])
async def test_a_title_and_a_prompt_that_waits_give_the_terminal_no_orders(size: tuple[int, int]) -> None:
    async with terminal(turn(Say("One moment"), Hold("gate")), size=size) as at:
        session = await at.workspace.sessions.create(f"A title {ORDERS}of somebody")
        assert at.app.main is not None
        await at.app.main.open(session.id)
        await at.workspace.runs.submit(session.id, f"first {ORDERS}prompt")
        await at.shows("One moment", "A title")
        await at.workspace.runs.submit(session.id, f"second {ORDERS}prompt")
        await at.shows("1 waiting", "second")
        assert_legible(at.screen_text())


async def test_a_problem_that_is_told_gives_the_terminal_no_orders() -> None:
    async with terminal() as at:
        at.app.say(f"It went {ORDERS}wrong", title=f"Could {ORDERS}not", severity="error")
        await at.shows("wrong")
        assert_legible(at.screen_text())


async def test_a_files_name_gives_the_terminal_no_orders(tmp_path: Path) -> None:
    (tmp_path / f"notes{ORDERS}.txt").touch()
    async with editor(cwd=tmp_path) as at:
        await at.type("@notes")
        await at.until(lambda: at.offers and ".txt" in screen_text(at.app))
        assert_legible(screen_text(at.app))


def test_what_can_be_read_stays_as_it_is_in_every_script_and_so_do_the_screens_own_controls() -> None:
    said = [Segment("naïve 日本語 \ue0b0 👩\u200d💻 عربي\u00a0"), Control.clear().segment]
    assert LEGIBLE.apply(said, BLACK) == said


def test_every_cell_stays_where_it_is() -> None:
    said = f"a{ORDERS}b\udcff\tc\nd"
    assert cell_len(legible(said)) == cell_len(said)
    assert_legible(legible(said))


def assert_legible(text: str) -> None:
    assert [char for char in text if not (char.isprintable() or char == "\n")] == []
