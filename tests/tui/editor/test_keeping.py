"""Drafts, as somebody at the terminal has them: kept for each session, and through the end of the terminal."""

import sys
from pathlib import Path

from anyio import fail_after, open_process

from tests.tui.editor.scene import editor
from tests.tui.editor.test_drafts import on_disk
from turnkeeper.protocol.runs import Attachment
from turnkeeper.tui.editor.composer import Composer
from turnkeeper.tui.editor.drafts import NOTHING, Draft, Drafts

PICTURE = Attachment("a.png", "a.png", "image/png", b"\x89PNG")


async def test_each_session_has_its_own_draft() -> None:
    """Also where nothing is kept on disk."""
    async with editor() as at:
        await at.type("for nobody yet")
        at.composer.session_id = "s1"
        await at.pilot.pause()
        assert at.text == "|"
        await at.type("for one")
        at.composer.session_id = "s2"
        await at.pilot.pause()
        assert at.text == "|"
        at.composer.session_id = "s1"
        await at.pilot.pause()
        assert at.text == "for one|"
        at.composer.session_id = ""
        await at.pilot.pause()
        assert at.text == "for nobody yet|"


async def test_a_draft_is_there_again_in_the_next_terminal(tmp_path: Path) -> None:
    async with editor(state_dir=tmp_path) as at:
        at.composer.session_id = "s1"
        await at.type("!make")
        at.chips.attachments = (PICTURE,)
    async with editor(state_dir=tmp_path) as at:
        assert at.text == "|"
        at.composer.session_id = "s1"
        await at.pilot.pause()
        assert (at.text, at.composer.is_shell, at.chips.attachments) == ("make|", True, (PICTURE,))


async def test_two_terminals_at_one_session_do_not_write_the_same_draft(tmp_path: Path) -> None:
    async with editor(state_dir=tmp_path) as first:
        await first.type("deploy it")
        await first.until(lambda: on_disk(tmp_path / "drafts", "/front", "").text == "deploy it")
        async with editor(state_dir=tmp_path) as second:
            assert second.text == "|"
            await second.type("something else")
        assert first.text == "deploy it|"
    async with editor(state_dir=tmp_path) as later:
        assert later.text == "deploy it|"


async def test_a_draft_is_on_disk_a_moment_after_it_was_written_and_gone_when_it_was_sent(tmp_path: Path) -> None:
    async with editor(state_dir=tmp_path) as at:
        await at.type("a thought")

        def kept() -> Draft:
            return on_disk(tmp_path / "drafts", "/front", "")

        await at.until(lambda: kept().text == "a thought")
        await at.press("enter")
        await at.until(lambda: kept() == NOTHING)
        assert list((tmp_path / "drafts").iterdir()) == []


async def test_what_is_written_while_a_session_begins_belongs_to_it(tmp_path: Path) -> None:
    async with editor(state_dir=tmp_path) as at:
        await at.type("first")
        await at.press("enter")
        assert await at.told() == Composer.Sent("first")
        await at.type("and then")
        at.composer.session_id = "s1"
        await at.pilot.pause()
        assert at.text == "and then|"
    assert Drafts(tmp_path / "drafts").load("/front", "s1").text == "and then"
    assert Drafts(tmp_path / "drafts").load("/front", "") == NOTHING


async def test_a_session_with_a_draft_of_its_own_keeps_it_whatever_was_sent_before(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path / "drafts")
    drafts.put("/front", "s1", Draft("an old thought"))
    assert drafts.write()
    drafts.close()
    async with editor(state_dir=tmp_path) as at:
        await at.type("first")
        await at.press("enter")
        await at.type("and then")
        at.composer.session_id = "s1"
        await at.pilot.pause()
        assert at.text == "an old thought|"
        at.composer.session_id = ""
        await at.pilot.pause()
        assert at.text == "and then|"


async def test_going_from_a_prompt_to_a_shell_line_mixes_nothing_on_disk(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path / "drafts")
    drafts.put("/front", "s1", Draft("make", is_shell=True, attachments=(PICTURE,)))
    assert drafts.write()
    drafts.close()
    async with editor(state_dir=tmp_path) as at:
        await at.type("text")
        at.composer.session_id = "s1"
        await at.until(lambda: on_disk(tmp_path / "drafts", "/front", "").text == "text")
        assert on_disk(tmp_path / "drafts", "/front", "s1") == Draft("make", is_shell=True, attachments=(PICTURE,))


async def test_a_prompt_that_was_given_back_stays_where_it_was_written(tmp_path: Path) -> None:
    async with editor(state_dir=tmp_path) as at:
        await at.type("first")
        await at.press("enter")
        at.composer.put("first", (PICTURE,))
        at.composer.session_id = "s1"
        await at.pilot.pause()
        assert (at.text, at.names) == ("|", [])
        at.composer.session_id = ""
        await at.pilot.pause()
        assert (at.text, at.names) == ("first|", ["a.png"])


KILLED = """
import os, sys, anyio
from pathlib import Path
from tests.tui.editor.scene import editor

async def main(folder):
    async with editor(state_dir=folder) as at:
        await at.type("a thought that was not")
        drafts = folder / "drafts"
        await at.until(lambda: drafts.is_dir() and any("was not" in path.read_text() for path in drafts.glob("*.json")))
        # Textual keeps for itself what is printed while it runs.
        os.write(1, b"written")
        await anyio.sleep_forever()

anyio.run(main, Path(sys.argv[1]))
"""


async def test_a_draft_survives_a_terminal_that_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    with fail_after(30):
        async with await open_process(command, cwd=Path(__file__).parents[3], stderr=None) as terminal:
            assert terminal.stdout
            assert b"written" in await terminal.stdout.receive()
            terminal.kill()
    async with editor(state_dir=tmp_path) as at:
        assert at.text == "a thought that was not|"


async def test_a_disk_that_takes_no_drafts_is_said_once(tmp_path: Path) -> None:
    (tmp_path / "drafts").write_text("in the way")
    async with editor(state_dir=tmp_path) as at:
        await at.type("one")
        await at.until(lambda: at.app.said)
        await at.type("two")
        await at.composer.put_away()
        assert at.app.said == ["Drafts cannot be written to disk; what you write is kept only here."]
        assert at.text == "onetwo|"
