"""Writing in one's own editor."""

from pathlib import Path

import pytest

from tests.tui.editor.scene import editor
from tests.tui.scene import presses
from turnkeeper.tui.editor.outside import NotEdited
from turnkeeper.tui.editor.outside import editor as chosen


def program(folder: Path, script: str) -> str:
    path = folder / "ed it"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return f"'{path}' --flag"


@presses("editor.outside")
async def test_the_draft_goes_to_the_editor_and_the_text_comes_back(tmp_path: Path) -> None:
    script = f'cp "$2" {tmp_path}/given; stat -c "%a %n" "$2" > {tmp_path}/how; printf "new\\ntext\\n" > "$2"'
    async with editor(env={"EDITOR": program(tmp_path, script), "PATH": "/usr/bin:/bin"}, suspends=True) as at:
        await at.type("my draft")
        await at.press("ctrl+o")
        await at.until(lambda: at.text == "new\ntext|")
        assert (tmp_path / "given").read_text() == "my draft"
        mode, _, path = (tmp_path / "how").read_text().strip().partition(" ")
        assert mode == "600"
        assert Path(path).match("msg_*.md")
        assert list(Path(path).parent.glob(Path(path).name)) == []
        await at.press("ctrl+underscore")
        assert at.text.replace("|", "") == "my draft"


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ('echo ruined > "$2"; exit 3', "The editor ed it ended with 3; the draft is as it was"),
        ('rm "$2"', "The text cannot be read"),
        ("printf '\\377' > \"$2\"", "The text cannot be read"),
        ('truncate -s 6000000 "$2"', "The text came back too large; the draft is as it was"),
    ],
)
async def test_an_editor_that_fails_changes_nothing_and_it_is_said(tmp_path: Path, script: str, why: str) -> None:
    async with editor(env={"VISUAL": program(tmp_path, script), "PATH": "/usr/bin:/bin"}, suspends=True) as at:
        await at.type("my draft")
        await at.press("ctrl+o")
        await at.until(lambda: at.app.said)
        assert at.app.said[0].startswith(why)
        assert at.text == "my draft|"


async def test_an_editor_that_is_not_there_is_said(tmp_path: Path) -> None:
    async with editor(env={"EDITOR": str(tmp_path / "gone")}, suspends=True) as at:
        await at.press("ctrl+o")
        await at.until(lambda: at.app.said)
        assert at.app.said == ["The editor gone cannot be started: No such file or directory; the draft is as it was"]


async def test_a_screen_that_cannot_be_lent_is_said(tmp_path: Path) -> None:
    async with editor(env={"EDITOR": "true"}) as at:
        await at.type("my draft")
        await at.press("ctrl+o")
        await at.until(lambda: at.app.said)
        assert (at.app.said, at.text) == (["This terminal cannot be lent to an editor"], "my draft|")


def test_the_editor_is_the_one_that_was_asked_for_else_one_that_is_there(tmp_path: Path) -> None:
    for name in ("nano", "vi"):
        (tmp_path / name).write_text("")
    (tmp_path / "vi").chmod(0o755)
    here = {"PATH": str(tmp_path)}
    assert chosen({"VISUAL": "code -w", "EDITOR": "ed", **here}) == ["code", "-w"]
    assert chosen({"VISUAL": " ", "EDITOR": "ed", **here}) == ["ed"]
    assert chosen(here) == [str(tmp_path / "vi")]
    (tmp_path / "nano").chmod(0o755)
    assert chosen(here) == [str(tmp_path / "nano")]
    with pytest.raises(NotEdited, match="there is no editor"):
        chosen({"PATH": "/nowhere"})
    with pytest.raises(NotEdited, match="cannot read the editor's name"):
        chosen({"EDITOR": "'half"})
