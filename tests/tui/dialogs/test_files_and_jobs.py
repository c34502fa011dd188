"""Files changed and commands left running, by real tools: looked at, taken back, done again, stopped."""

from pathlib import Path

from tests.tui.dialogs.house import at_home
from tests.tui.scene import presses
from turnkeeper.client.exporting import markdown
from turnkeeper.models.scripted import CallTool, Say, turn
from turnkeeper.tui.dialogs.files import Files
from turnkeeper.tui.dialogs.jobs import Jobs
from turnkeeper.tui.main import Main

WRITES = (
    turn(
        CallTool("c1", "write", {"file_path": "poem.txt", "content": "roses\nviolets\n"}),
        CallTool("c2", "write", {"file_path": "list.txt", "content": "one\n"}),
    ),
    turn(Say("Written.")),
)


@presses("files.undo", "files.redo", "files.undo-all", "files.up", "files.down", "files.split")
async def test_changed_files_are_looked_at_taken_back_and_done_again() -> None:
    async with at_home(*WRITES) as at:
        await at.say("write")
        poem, other = at.project / "poem.txt", at.project / "list.txt"
        await at.type("/files")
        await at.press("enter")
        await at.until(lambda: isinstance(at.app.screen, Files))
        await at.shows("list.txt", "poem.txt", "+2", "new")
        await at.type("poem")
        await at.shows("roses", "violets")
        await at.press("ctrl+t", "ctrl+d", "ctrl+u", "ctrl+z")
        await at.until(lambda: not poem.exists())
        assert other.read_text() == "one\n"
        await at.press("ctrl+a", "delete", "delete", "delete", "delete")
        await at.shows("list.txt")
        await at.press("ctrl+x")
        await at.shows("Take every change back?")
        await at.press("enter")
        await at.until(lambda: isinstance(at.app.screen, Files))
        assert other.exists()
        await at.press("ctrl+x")
        await at.shows("Take every change back?")
        await at.press("y")
        await at.until(lambda: not other.exists())
        await at.press("ctrl+y")
        await at.until(lambda: poem.exists() and other.exists())
        assert poem.read_text() == "roses\nviolets\n"


async def test_undo_takes_back_what_the_last_run_did_and_redo_does_it_again() -> None:
    async with at_home(*WRITES) as at:
        await at.say("write")
        for command, is_there in (("undo", False), ("redo", True)):
            await at.type(f"/{command}")
            await at.press("enter")
            await at.until(lambda: (at.project / "poem.txt").exists() is is_there)  # noqa: B023 - at once


@presses("jobs.kill")
async def test_a_command_in_the_background_is_heard_and_stopped() -> None:
    starts = turn(
        CallTool(
            "c1",
            "bash",
            {"command": "echo begun; exec sleep 600", "description": "wait", "run_in_background": True},
        )
    )
    async with at_home(starts, turn(Say("Started."))) as at:
        await at.say("start it")
        await at.type("/jobs")
        await at.press("enter")
        await at.until(lambda: isinstance(at.app.screen, Jobs))
        await at.shows("exec sleep 600", "begun", "running")
        await at.press("ctrl+x")
        await at.until(lambda: "running," not in at.screen_text())


async def test_a_conversation_is_exported_and_nothing_is_written_over_unasked() -> None:
    async with at_home(turn(Say("An answer to keep."))) as at:
        await at.say("ask")
        target = at.project / "talk.md"
        target.write_text("something else")
        await at.type("/export")
        await at.press("enter")
        await at.shows("Export this conversation")
        await at.press("ctrl+u")
        await at.type(str(target))
        await at.press("enter")
        await at.shows("enter again writes over")
        assert target.read_text() == "something else"
        await at.press("enter")
        await at.until(lambda: isinstance(at.app.screen, Main))
        (session,) = await at.workspace.sessions.list()
        assert target.read_text() == markdown(session, await at.workspace.messages.list(session.id))


async def test_a_name_without_a_known_ending_is_refused(tmp_path: Path) -> None:
    async with at_home(turn(Say("An answer."))) as at:
        await at.say("ask")
        await at.type("/export")
        await at.press("enter")
        await at.shows("Export this conversation")
        await at.press("ctrl+u")
        await at.type(str(tmp_path / "talk.doc"))
        await at.press("enter")
        await at.shows("The name has to end with .md, .html, .json.")


@presses("app.suspend")
async def test_the_terminal_can_be_put_aside() -> None:
    async with at_home() as at:
        # Under a pilot there is no shell to go back to; that is said, and nothing else happens.
        await at.press("ctrl+z")
        await at.until(lambda: isinstance(at.app.screen, Main))
