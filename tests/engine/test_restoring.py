"""Going back in a file never goes over what somebody wrote at that very moment."""

from pathlib import Path

import pytest
from anyio import fail_after

from turnkeeper.engine import restoring
from turnkeeper.engine.restoring import Back
from turnkeeper.house.files import DiskFiles, FileChanged
from turnkeeper.models.scripted import CallTool, Say, turn
from turnkeeper.testing.scene import MemoryFiles, PlainTool, scene
from turnkeeper.tools.tool import Call, Hands

PATH = Path("/f")


class SavedMeanwhile(MemoryFiles):
    """Somebody's editor saves each file right after it was looked at."""

    async def read(self, path: Path) -> str | None:
        found = await super().read(path)
        self.contents[str(path)] = "a person's"
        return found


@pytest.mark.parametrize("before", ["old", None], ids=["changed", "new"])
async def test_what_is_written_while_a_change_is_taken_back_is_kept(before: str | None) -> None:
    files = SavedMeanwhile({"/f": "by the run"})

    async def change(_: Call, hands: Hands) -> str:
        await hands.begin_change(PATH, before=before)
        await hands.changed(PATH, after="by the run", digest="", mtime_ns=0)
        return "changed"

    tool = PlainTool("change", change)
    with fail_after(10):
        async with scene(turn(CallTool("c", "change", {})), turn(Say("done")), tools=[tool], files=files) as stage:
            session = await stage.session()
            await stage.run("go", session)
            (restored,) = await restoring.take_back(stage.workspace, session, Back())
    assert "changed at this very moment" in restored.problem
    assert files.contents == {"/f": "a person's"}


async def test_a_file_on_disk_is_written_only_over_what_it_was_when_that_was_decided(tmp_path: Path) -> None:
    path, files = tmp_path / "f", DiskFiles()
    path.write_text("a person's\n")
    for content in ("old\n", None):
        for over in ("by the run\n", None):
            with pytest.raises(FileChanged):
                await files.write(path, content, over=over)
    assert path.read_text() == "a person's\n"
    await files.write(path, None, over="a person's\n")
    await files.write(path, "old\n", over=None)
    assert path.read_text() == "old\n"
