"""What is taken back and done again on disk: the same bytes, the same mode, and no folder that was not there."""

import stat
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from anyio import fail_after

from turnkeeper.engine import restoring
from turnkeeper.engine.restoring import Back
from turnkeeper.house.files import DiskFiles, FileOutOfReach
from turnkeeper.models.scripted import CallTool, Say, turn
from turnkeeper.protocol.ids import SessionId
from turnkeeper.protocol.runs import RunOptions
from turnkeeper.testing.scene import Stage, scene
from turnkeeper.tools.edit import edit_tool
from turnkeeper.tools.view import view_tool
from turnkeeper.tools.write import write_tool

HELLO = "hello\n"


@dataclass(frozen=True)
class Changed:
    """A session that changed one file of a folder."""

    stage: Stage
    session: SessionId
    path: Path

    @property
    def mode(self) -> int:
        return stat.S_IMODE(self.path.stat().st_mode)

    async def undo(self, *, over: bool = False) -> str:
        (restored,) = await restoring.take_back(self.stage.workspace, self.session, Back(over=over))
        return restored.problem

    async def redo(self) -> str:
        (restored,) = await restoring.do_again(self.stage.workspace, self.session)
        return restored.problem


def calls(path: Path, how: dict[str, str]) -> list[CallTool]:
    given = {"file_path": str(path)}
    if path.exists():
        return [CallTool("v", "view", given), CallTool("e", "edit", {**given, **how})]
    return [CallTool("w", "write", {**given, **how})]


@asynccontextmanager
async def changed(path: Path, **how: str) -> AsyncGenerator[Changed]:
    """By an edit where the file is there, else by writing it."""
    script = [*map(turn, calls(path, how)), turn(Say("done"))]
    tools = [view_tool(), edit_tool(), write_tool()]
    with fail_after(10):
        async with scene(*script, tools=tools, files=DiskFiles()) as stage:
            session = await stage.session()
            await stage.run("go", session, options=RunOptions(allow=("edit", "write", "view")))
            yield Changed(stage, session, path)


async def test_an_encoding_that_the_change_did_not_show_any_more_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"caf\xe9\nline2\n")
    async with changed(path, old_string="caf\u00e9", new_string="coffee") as one:
        assert path.read_bytes() == b"coffee\nline2\n"
        assert await one.undo() == ""
        assert path.read_bytes() == b"caf\xe9\nline2\n"


@pytest.mark.parametrize("before", ["\ufeffa\n".encode("utf-16-le"), "\ufeffa\n".encode(), b"a \xe9\n"])
async def test_a_file_that_comes_back_has_its_encoding_its_mark_and_its_mode(tmp_path: Path, before: bytes) -> None:
    path = tmp_path / ".env"
    path.write_bytes(before)
    path.chmod(0o600)
    async with changed(path, old_string="a", new_string="b") as one:
        path.unlink()
        assert await one.undo(over=True) == ""
        assert (path.read_bytes(), one.mode) == (before, 0o600)


async def test_a_creation_that_is_done_again_has_the_mode_it_was_left_with(tmp_path: Path) -> None:
    path = tmp_path / "run.sh"
    async with changed(path, content=HELLO) as one:
        path.chmod(0o4755)
        assert await one.undo() == ""
        assert await one.redo() == ""
        assert (path.read_text(), one.mode) == (HELLO, 0o755)


async def test_the_mode_of_a_file_that_is_there_is_nobody_s_to_take_back(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("a\n")
    async with changed(path, old_string="a", new_string="b") as one:
        path.chmod(0o755)
        assert await one.undo() == ""
        assert (path.read_text(), one.mode) == ("a\n", 0o755)


async def test_folders_that_were_made_for_a_file_go_with_it_and_others_stay(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    path = tmp_path / "empty" / "new" / "deep" / "x.txt"
    async with changed(path, content=HELLO) as one:
        for _ in range(2):
            assert await one.undo() == ""
            assert list((tmp_path / "empty").iterdir()) == []
            assert await one.redo() == ""
            assert path.read_text() == HELLO
        (path.parent / "theirs").touch()
        assert await one.undo() == ""
        assert [one.name for one in path.parent.iterdir()] == ["theirs"]


async def test_a_text_with_a_mark_is_taken_back_and_done_again(tmp_path: Path) -> None:
    path = tmp_path / "file"
    async with changed(path, content=f"\ufeff{HELLO}") as one:
        assert await one.undo() == ""
        assert await one.redo() == ""
        assert path.read_bytes() == b"\xef\xbb\xbfhello\n"


async def test_a_link_in_the_file_s_place_is_neither_followed_nor_replaced(tmp_path: Path) -> None:
    path, other = tmp_path / "file", tmp_path / "other"
    async with changed(path, content=HELLO) as one:
        path.rename(other)
        path.symlink_to(other)
        for over in (False, True):
            assert "the path leads elsewhere now" in await one.undo(over=over)
    assert path.is_symlink()
    assert other.read_text() == HELLO


async def test_what_nobody_noted_comes_back_readable_and_a_secret_to_its_owner_alone(tmp_path: Path) -> None:
    for name, mode in ((".env", 0o600), ("file", 0o644)):
        await DiskFiles().write(tmp_path / name, "caf\u00e9\n", over=None)
        assert await DiskFiles().read(tmp_path / name) == "caf\u00e9\n"
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == mode
    with pytest.raises(FileOutOfReach, match="could not be read as text again"):
        await DiskFiles().write(tmp_path / "NUL", "\0", over=None)
