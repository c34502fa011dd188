"""Pastes, pictures and chips in the editor."""

import os
from pathlib import Path

import pytest
from anyio import Event, to_thread

from tests.tui.editor.scene import At, editor
from tests.tui.scene import presses
from turnkeeper.protocol.config import ModelEntry
from turnkeeper.protocol.runs import Attachment
from turnkeeper.protocol.wire_workspaces import AgentInfo
from turnkeeper.tui.editor import clipboard
from turnkeeper.tui.editor.composer import Composer

PNG = b"\x89PNG\r\n\x1a\n and more"


def attached(*names: str) -> tuple[Attachment, ...]:
    return tuple(Attachment(name, name, "text/plain", name.encode()) for name in names)


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder


def tool(tools: Path, script: str) -> dict[str, str]:
    """A clipboard's program, and the environment in which it is found."""
    program = tools / "wl-paste"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return {"PATH": f"{tools}:/usr/bin:/bin", "WAYLAND_DISPLAY": "wayland-0"}


async def said(at: At) -> str:
    await at.until(lambda: at.app.said)
    return at.app.said[-1]


async def test_a_small_paste_is_written_and_a_large_one_becomes_an_attachment() -> None:
    async with editor() as at:
        await at.type("see ")
        await at.paste("two\r\nlines")
        assert at.text == "see two\nlines|"
        text = "\n".join(map(str, range(30)))
        await at.paste(text)
        await at.until(lambda: at.names == ["paste_1.txt"])
        await at.paste("x" * 1001)
        await at.until(lambda: at.names == ["paste_1.txt", "paste_2.txt"])
        assert at.text == "see two\nlines|"
        await at.shows("paste_1.txt 79 B ×")
        await at.press("enter")
        sent = await at.told()
        assert (sent.text, sent.attachments[0].content.decode()) == ("see two\nlines", text)
        assert at.names == []


async def test_what_is_still_being_read_when_enter_is_pressed_is_sent_along(tools: Path, tmp_path: Path) -> None:
    (tmp_path / "picture").write_bytes(PNG)
    go = tmp_path / "go"
    os.mkfifo(go)
    async with editor(env=tool(tools, f"read line < {go}; exec cat {tmp_path}/picture")) as at:
        await at.type("see")
        await at.press("ctrl+v", "enter")
        assert at.app.told == []
        await to_thread.run_sync(go.write_text, "now\n")
        sent = await at.told()
        assert (sent.text, [one.file_name for one in sent.attachments]) == ("see", ["paste_1.png"])


async def test_attachments_alone_can_be_sent() -> None:
    async with editor() as at:
        at.composer.put("", attached("a"))
        await at.press("enter")
        assert await at.told() == Composer.Sent("", attached("a"))


async def test_the_paths_of_pictures_that_are_pasted_attach_them(tmp_path: Path) -> None:
    (tmp_path / "my cat.png").write_bytes(PNG)
    (tmp_path / "b.jpg").write_bytes(b"jpg")
    async with editor() as at:
        await at.paste(f"'{tmp_path}/my cat.png' file://{tmp_path}/b.jpg")
        await at.until(lambda: at.names == ["my cat.png", "b.jpg"])
        assert [one.mime_type for one in at.chips.attachments] == ["image/png", "image/jpeg"]
        assert at.text == "|"
        await at.paste(f"{tmp_path}/gone.png")
        await at.until(lambda: at.text == f"{tmp_path}/gone.png|")


async def test_it_is_said_where_the_model_does_not_see_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.png").write_bytes(PNG)
    async with editor() as at:
        await at.paste(f"{tmp_path}/a.png")
        assert await said(at) == "Scripted reads text only: it is told that there is a picture, and does not see it."
        at.app.said.clear()
        seeing = AgentInfo(is_ready=True, model=ModelEntry(id="seer", supports_attachments=True))
        asked = Event()

        async def info() -> AgentInfo:
            asked.set()
            return seeing

        monkeypatch.setattr(at.app.live.workspace.agent, "info", info)
        await at.paste(f"{tmp_path}/a.png")
        await asked.wait()
        await at.pilot.pause()
        assert (at.names, at.app.said) == (["a.png"], [])


@presses("editor.attachments", "chips.remove", "chips.clear", "chips.leave")
async def test_chips_are_removed_by_their_number_or_all_at_once() -> None:
    async with editor() as at:
        at.composer.put("text", attached("a", "b", "c"))
        await at.press("ctrl+r")
        assert at.chips.has_focus
        await at.shows("a number removes one")
        await at.press("2")
        assert at.names == ["a", "c"]
        await at.press("9", "escape")
        assert at.names == ["a", "c"]
        await at.until(lambda: at.area.has_focus)
        await at.press("ctrl+r", "r")
        await at.until(lambda: at.area.has_focus)
        assert at.names == []
        await at.press("ctrl+r")
        assert at.area.has_focus
        assert at.text == "text|"


async def test_a_chip_is_removed_with_the_mouse() -> None:
    async with editor() as at:
        at.composer.put("", attached("a", "b"))
        await at.shows("b 1 B ×")
        line = at.screen().split("\n")[at.chips.region.y]
        await at.pilot.click(offset=(line.index("×"), at.chips.region.y))
        await at.until(lambda: at.names == ["b"])


async def test_no_more_is_attached_than_may_be() -> None:
    async with editor() as at:
        at.composer.put("", attached(*map(str, range(20))))
        await at.paste("x\n" * 20)
        assert await said(at) == "No more than 20 files can be attached"
        assert len(at.names) == 20


@presses("editor.paste-image")
async def test_the_picture_in_the_clipboard_is_attached(tools: Path, tmp_path: Path) -> None:
    (tmp_path / "picture").write_bytes(PNG)
    async with editor(env=tool(tools, f"cat {tmp_path}/picture")) as at:
        await at.press("ctrl+v")
        await at.until(lambda: at.names == ["paste_1.png"])
        assert at.chips.attachments[0].content == PNG
        await at.shows("▣ paste_1.png")


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("exit 1", "The clipboard holds no picture; paste text with your terminal's own key"),
        ("echo text", "The clipboard holds no picture; paste text with your terminal's own key"),
        ("exec head -c 6000000 /dev/zero", "The picture is larger than 5.0 MB"),
    ],
)
async def test_a_clipboard_without_a_picture_that_can_be_attached_is_said(tools: Path, script: str, why: str) -> None:
    async with editor(env=tool(tools, script)) as at:
        await at.press("ctrl+v")
        assert await said(at) == why
        assert at.names == []


async def test_a_clipboard_that_does_not_answer_is_given_up(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clipboard, "SECONDS", 0.1)
    async with editor(env=tool(tools, "exec sleep 60")) as at:
        await at.press("ctrl+v")
        assert (await said(at)).endswith("did not answer within 0.1 seconds")


async def test_where_no_program_reads_the_clipboard_it_is_said_which_would(tools: Path) -> None:
    async with editor(env={"PATH": str(tools)}) as at:
        await at.press("ctrl+v")
        assert "install wl-paste, xclip or pngpaste" in await said(at)


def test_the_program_is_the_one_of_the_screen_there_is(tools: Path) -> None:
    for name in ("wl-paste", "xclip", "pngpaste"):
        (tools / name).write_text("")
        (tools / name).chmod(0o755)

    def found(**env: str) -> str:
        return Path(clipboard.reader({"PATH": str(tools), **env})[0]).name

    assert found(WAYLAND_DISPLAY="w", DISPLAY=":0") == "wl-paste"
    assert found(DISPLAY=":0") == "xclip"
    assert found() == "pngpaste"
