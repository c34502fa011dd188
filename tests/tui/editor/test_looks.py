"""How the editor looks, in two sizes and two themes. Each was looked at before it was kept."""

from pathlib import Path

import pytest

from tests.tui.editor.scene import editor
from tests.tui.editor.test_attachments import attached
from tests.tui.scene import snapshot
from turnkeeper.models.scripted import Hold, turn
from turnkeeper.protocol.runs import Attachment
from turnkeeper.tui.themes import DARK, LIGHT

LOOKS = pytest.mark.parametrize(
    ("theme", "size"), [(DARK.name, (80, 24)), (LIGHT.name, (120, 40))], ids=["dark-80x24", "light-120x40"]
)
PICTURE = Attachment("cat.png", "cat.png", "image/png", b"\x89PNG" * 3000)


@LOOKS
async def test_files_are_offered_above_the_text(theme: str, size: tuple[int, int], tmp_path: Path) -> None:
    for name in ("src/main.py", "src/domain.py", "docs/manual.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    async with editor(cwd=tmp_path, theme=theme, size=size) as at:
        await at.type("look at @ma")
        await at.until(lambda: at.offers)
        await at.press("down")
        snapshot(at.app, f"editor-files-{theme}")


@LOOKS
async def test_commands_are_offered_with_what_they_do(theme: str, size: tuple[int, int]) -> None:
    async with editor(theme=theme, size=size) as at:
        await at.type("/")
        await at.shows("Begin a new session")
        snapshot(at.app, f"editor-commands-{theme}")


@LOOKS
async def test_attachments_stand_above_the_text(theme: str, size: tuple[int, int]) -> None:
    async with editor(turn(Hold("work")), theme=theme, size=size) as at:
        session = await at.workspace.sessions.create()
        at.composer.session_id = session.id
        await at.workspace.runs.submit(session.id, "go")
        at.composer.put("", (*attached("paste_1.txt"), PICTURE))
        await at.shows("enter puts it in line", "cat.png 12 kB")
        await at.press("ctrl+r")
        await at.shows("a number removes one")
        snapshot(at.app, f"editor-attached-{theme}")
        await at.workspace.runs.cancel_session(session.id)


@LOOKS
async def test_a_shell_line_in_vi_s_normal_mode_says_both(theme: str, size: tuple[int, int]) -> None:
    async with editor(theme=theme, size=size) as at:
        at.composer.vi = True
        await at.type("!git log --oneline\n| head")
        await at.press("escape", "v", "b")
        await at.shows("visual", "shell")
        snapshot(at.app, f"editor-shell-{theme}")
