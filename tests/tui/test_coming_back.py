"""Coming back to a session: what one said, what it took and what one decided are told as they were when one left."""

from tests.client.scene import served
from tests.server.asking import running, shell
from tests.tui.scene import At, another
from turnkeeper.client.client import own_name
from turnkeeper.models.scripted import Say, turn
from turnkeeper.tui.chat.items import Footer
from turnkeeper.tui.dialogs.permission import PermissionDialog
from turnkeeper.tui.main import LATEST


async def denied(at: At) -> None:
    """Deny what is asked next, once keys are heard."""
    await at.until(lambda: isinstance(at.app.screen, PermissionDialog))
    dialog = at.app.screen
    assert isinstance(dialog, PermissionDialog)
    await at.until(lambda: dialog._grace.is_over(at.app.now()))
    await at.press("d")


def footer(at: At) -> Footer:
    assert at.app.main is not None
    return next(item for item in at.app.main.transcript.sheet.items if isinstance(item, Footer))


async def test_what_one_said_decided_and_spent_is_ones_own_again_after_coming_back() -> None:
    async with served(*running("make all"), tools=[shell([])]) as server, server.workspace() as workspace:
        async with another(server, workspace) as first:
            await first.type("do it\n")
            await denied(first)
            await first.shows("denied by you", "tokens in")
            took = footer(first)
        async with another(server, workspace, session=LATEST) as again:
            await again.shows("do it", "denied by you", "tokens in")
            page = again.screen_text()
            assert (footer(again).steps, footer(again).usage, own_name() in page) == (took.steps, took.usage, False)


async def test_another_terminal_of_the_same_person_is_told_apart_while_it_is_there() -> None:
    async with (
        served(turn(Say("Hello back."))) as server,
        server.workspace() as workspace,
        another(server, workspace) as mine,
    ):
        async with another(server, workspace) as other:
            await other.type("from over there\n")
            await other.shows("Hello back.")
            assert mine.app.main is not None
            assert other.app.main is not None
            await mine.app.main.open(other.app.main.session_id)
            await mine.shows("from over there", own_name())
        await mine.until(lambda: own_name() not in mine.screen_text())
        await mine.shows("▌ you", "from over there")
