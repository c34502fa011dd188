"""How the lists and the small dialogs look, large and small, dark and light."""

import pytest
from textual.pilot import Pilot

from tests.tui.dialogs.scene import Table, table
from tests.tui.scene import snapshot
from turnkeeper.models.scripted import Hold, turn
from turnkeeper.tui.dialogs.ask import AskDialog
from turnkeeper.tui.dialogs.confirm import ConfirmDialog
from turnkeeper.tui.dialogs.dialog import Dialog
from turnkeeper.tui.dialogs.palette import Palette
from turnkeeper.tui.dialogs.quit import Quit

LOOKS = [(size, theme) for size in ((120, 40), (80, 24)) for theme in ("dark", "light")]


def small(at: Table) -> dict[str, Dialog]:
    about = "What the settings of this server hold of it is forgotten."
    return {
        "palette": Palette(at.live, ""),
        "quit": Quit(at.live, ""),
        "confirm": ConfirmDialog(at.live, "Remove the key of Acme?", about, yes="Remove", done=list[str]().clear),
        "ask": AskDialog(
            at.live, "Key for Acme", "It is shown to nobody.", given=list[str]().append, value="sk-1", is_secret=True
        ),
    }


@pytest.mark.parametrize(("size", "theme"), LOOKS, ids=lambda one: one if isinstance(one, str) else str(one[0]))
async def test_how_they_look(size: tuple[int, int], theme: str) -> None:
    async with table(turn(Hold("here")), size=size) as at:
        await at.blank()
        at.app.theme = f"turnkeeper-{theme}"
        for name, dialog in small(at).items():
            await at.open(dialog)
            await settled(at.pilot)
            snapshot(at.app, f"{name}-{size[0]}-{theme}")
            dialog.leave()
            await at.until(lambda: at.is_closed)


async def settled(pilot: Pilot[int]) -> None:
    """Everything that was laid out has been drawn."""
    await pilot.pause()
    await pilot.pause()
