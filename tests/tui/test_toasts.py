"""What is told in passing: it covers nothing that somebody writes in, and of a matter the last word is what is seen."""

from textual.widgets._toast import Toast

from tests.tui.scene import At, terminal
from turnkeeper.models.scripted import Hold, Say, turn
from turnkeeper.tui.editor.composer import Composer


def toasts(at: At) -> list[str]:
    """What is told now, oldest first."""
    return [toast.render().plain for toast in at.app.screen.query(Toast)]


async def test_what_is_told_covers_nothing_of_what_is_written() -> None:
    async with terminal(size=(80, 24)) as at:
        at.app.say("One thing.")
        at.app.say("Another thing.", severity="warning")
        await at.shows("One thing.", "Another thing.")
        told = [toast.region for toast in at.app.screen.query(Toast)]
        assert max(one.bottom for one in told) < at.app.screen.query_one(Composer).region.y
        assert min(one.right for one in told) > 76


async def test_the_same_said_again_is_there_once() -> None:
    async with terminal() as at:
        for _ in range(3):
            at.app.say("Copied.")
        at.app.say("Something else.")
        await at.until(lambda: toasts(at) == ["Copied.", "Something else."])


async def test_what_is_said_last_of_a_matter_takes_the_place_of_what_was_said_before() -> None:
    async with terminal() as at:
        at.app.say("It is on.", severity="warning", about="the light")
        at.app.say("It is off.", about="the light")
        await at.until(lambda: toasts(at) == ["It is off."])
        at.app.unsay("the light")
        await at.until(lambda: toasts(at) == [])


async def test_nobody_is_asked_any_more_only_after_a_second_press_and_what_is_told_is_what_holds() -> None:
    async with terminal() as at:
        await at.press("ctrl+y")
        await at.until(lambda: toasts(at) == ["ctrl+y again lets your runs ask nobody for permission."])
        assert not at.live.view.skip
        await at.press("ctrl+y")
        await at.until(lambda: at.live.view.skip)
        await at.until(lambda: toasts(at) == ["Your runs ask nobody for permission now; the same key asks again."])
        await at.press("ctrl+y")
        await at.until(lambda: not at.live.view.skip)
        await at.until(lambda: toasts(at) == ["Your runs ask again."])


async def test_a_second_press_that_comes_late_is_a_first_one() -> None:
    now = 1000.0
    async with terminal() as at:
        at.app.now = lambda: now
        await at.press("ctrl+y")
        now += 60
        await at.press("ctrl+y")
        await at.workspace.permissions.skip()
        assert not at.live.view.skip
        await at.press("ctrl+y")
        await at.until(lambda: at.live.view.skip)


async def test_that_a_summary_is_made_is_told_until_it_is_there() -> None:
    async with terminal(turn(Say("Hello.")), turn(Hold("gate"), Say("All in short."))) as at:
        await at.type("hello\n")
        await at.shows("Hello.", "ready")
        await at.type("/compact\n")
        await at.until(lambda: toasts(at) == ["Summarising; esc esc stops it."])
        await at.server.front.model().reached("gate")
        at.server.front.model().release("gate")
        await at.shows("All in short.")
        await at.until(lambda: toasts(at) == [])
