"""Going back to what was said before, in the editor."""

from tests.tui.editor.scene import At, editor
from tests.tui.scene import presses
from turnkeeper.models.scripted import Say, turn
from turnkeeper.tui.editor.composer import Composer


async def said_before(at: At, *prompts: str) -> None:
    for prompt in prompts:
        session = await at.workspace.sessions.create()
        await at.workspace.runs.wait(await at.workspace.runs.submit(session.id, prompt))


@presses("editor.older", "editor.newer")
async def test_up_and_down_go_through_what_was_said_in_all_sessions_and_keep_the_draft() -> None:
    async with editor(turn(Say("a")), turn(Say("b"))) as first:
        await said_before(first, "first prompt", "second\nprompt")
        async with editor(server=first.server) as at:
            await at.type("draft")
            await at.until(lambda: at.composer.past.is_known)
            await at.press("up")
            assert at.text == "|second\nprompt"
            await at.press("up")
            assert at.text == "|first prompt"
            await at.press("up")
            assert at.text == "|first prompt"
            await at.press("down")
            assert at.text == "second\nprompt|"
            await at.press("down")
            assert at.text == "draft|"
            await at.press("down")
            assert at.text == "draft|"


async def test_what_was_sent_since_is_the_latest() -> None:
    async with editor() as at:
        await at.type("one")
        await at.press("enter")
        await at.type("two")
        await at.press("enter", "up")
        assert at.text == "|two"
        await at.press("up")
        assert at.text == "|one"


async def test_within_a_text_up_and_down_move_first() -> None:
    async with editor() as at:
        await at.type("said")
        await at.press("enter")
        await at.type("one\ntwo")
        await at.press("up")
        assert at.text == "one|\ntwo"
        await at.press("up")
        assert at.text == "|said"
        await at.press("down")
        assert at.text == "one\ntwo|"


async def test_the_shell_has_a_history_of_its_own() -> None:
    async with editor() as at:
        await at.type("a prompt")
        await at.press("enter")
        await at.type("!ls")
        await at.press("enter", "up")
        assert at.text == "|a prompt"
        await at.press("ctrl+u", "delete", *["delete"] * 8)
        await at.type("!")
        await at.press("up")
        assert at.text == "|ls"
        await at.press("enter")
        assert [type(one) for one in at.app.told] == [Composer.Sent, Composer.Shell, Composer.Shell]
