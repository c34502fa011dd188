"""A terminal begins, and says why when it cannot."""

from tests.tui.scene import terminal


async def test_a_terminal_lands_on_the_workspace_it_was_opened_in() -> None:
    async with terminal() as at:
        await at.shows("turnkeeper", "/front", "Scripted")
