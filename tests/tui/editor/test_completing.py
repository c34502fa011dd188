"""Naming files and commands in the editor."""

from pathlib import Path

import pytest

from tests.tui.editor.scene import At, editor
from tests.tui.scene import presses
from turnkeeper.client.asking import Unsupported
from turnkeeper.protocol.hosts import Host
from turnkeeper.tui.editor.completing import quoted
from turnkeeper.tui.editor.composer import Composer


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("README.md", "src/main.py", "src/domain.py", "notes/our plan.txt", ".hidden.py", "app.log"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"this is {name}\n")
    (tmp_path / ".gitignore").write_text("secret*\n")
    (tmp_path / "secret.txt").write_text("psst")
    return tmp_path


async def naming(at: At, text: str) -> None:
    await at.type(text)
    await at.until(lambda: at.offers)


@presses("completions.choose")
async def test_a_file_that_is_chosen_is_written_and_attached_and_the_session_has_seen_it(project: Path) -> None:
    async with editor(cwd=project) as at:
        session = await at.workspace.sessions.create()
        at.composer.session_id = session.id
        await naming(at, "read @ma")
        assert at.offers == ["src/main.py", "src/domain.py"]
        await at.press("enter")
        assert at.text == "read src/main.py |"
        await at.until(lambda: at.names)
        (attached,) = at.chips.attachments
        assert (attached.file_path, attached.mime_type) == ("src/main.py", "text/x-python")
        assert attached.content == b"this is src/main.py\n"
        await at.until(lambda: not at.is_offering)
        with_seen = []
        while not with_seen:
            with_seen = await at.workspace.files.seen(session.id)
        assert with_seen == [str(project / "src/main.py")]
        await at.press("enter")
        assert await at.told() == Composer.Sent("read src/main.py", (attached,))
        assert at.names == []


@presses("completions.choose")
@pytest.mark.parametrize("key", ["tab", "ctrl+y"])
async def test_other_keys_choose_as_well(project: Path, key: str) -> None:
    async with editor(cwd=project) as at:
        await naming(at, "@read")
        await at.press(key)
        assert at.text == "README.md |"


async def test_hidden_and_ignored_files_are_not_offered(project: Path) -> None:
    async with editor(cwd=project) as at:
        await naming(at, "@")
        assert at.offers == ["README.md", "notes/our plan.txt", "src/domain.py", "src/main.py"]


@presses("completions.next", "completions.previous")
async def test_up_and_down_choose_among_what_is_offered_and_move_no_cursor(project: Path) -> None:
    async with editor(cwd=project) as at:
        await naming(at, "@ma")
        await at.press("down", "enter")
        assert at.text == "src/domain.py |"
        await naming(at, "@ma")
        await at.press("down", "up", "enter")
        assert at.text == "src/domain.py src/main.py |"


@presses("completions.insert-next", "completions.insert-previous")
async def test_a_name_can_be_written_while_one_goes_on_choosing(project: Path) -> None:
    async with editor(cwd=project) as at:
        await naming(at, "@ma")
        await at.press("ctrl+n")
        assert (at.text, at.offers) == ("@src/domain.py|", ["src/main.py", "src/domain.py"])
        await at.press("ctrl+p")
        assert (at.text, at.is_offering) == ("@src/main.py|", True)
        await at.press("enter")
        assert at.text == "src/main.py |"


@presses("completions.close")
async def test_esc_closes_what_is_offered_until_something_else_is_written(project: Path) -> None:
    async with editor(cwd=project) as at:
        await naming(at, "@ma")
        await at.press("escape")
        assert (at.is_offering, at.text, at.app.told) == (False, "@ma|", [])
        await at.press("enter")
        assert await at.told() == Composer.Sent("@ma")
        await naming(at, "@ma")
        await at.press("escape")
        await at.type("i")
        await at.until(lambda: at.is_offering)


async def test_enter_sends_where_nothing_fits(project: Path) -> None:
    async with editor(cwd=project) as at:
        await at.type("mail @nobody-there")
        await at.shows("no file is called that")
        await at.press("enter")
        assert await at.told() == Composer.Sent("mail @nobody-there")


async def test_a_file_can_be_chosen_with_the_mouse(project: Path) -> None:
    async with editor(cwd=project) as at:
        await naming(at, "@ma")
        await at.pilot.click(at.popup, offset=(5, 1))
        await at.until(lambda: at.text == "src/domain.py |")
        assert at.area.has_focus


async def test_a_path_with_a_space_is_written_in_quotes(project: Path) -> None:
    async with editor(cwd=project) as at:
        await naming(at, "@plan")
        await at.press("enter")
        assert at.text == '"notes/our plan.txt" |'
        await at.until(lambda: at.names == ["our plan.txt"])
    assert quoted("plain") == "plain"


@presses("editor.attach")
async def test_a_key_begins_to_name_a_file(project: Path) -> None:
    async with editor(cwd=project) as at:
        await at.type("see")
        await at.press("ctrl+f")
        await at.until(lambda: len(at.offers) == 4)
        assert at.text == "see @|"


async def test_where_the_server_is_elsewhere_the_path_is_written_and_it_is_said_that_nothing_is_attached(
    project: Path,
) -> None:
    async with editor(cwd=project) as at:
        at.app.live.client.host = Host("tcp", "far.example:4096")
        await naming(at, "@ma")
        await at.press("enter")
        await at.until(lambda: at.app.said)
        assert "the server is on another computer" in at.app.said[0].lower()
        assert (at.text, at.names) == ("src/main.py |", [])


async def test_a_server_that_does_not_tell_its_files_is_said_to_be_one(monkeypatch: pytest.MonkeyPatch) -> None:
    async with editor() as at:

        async def unsupported() -> None:
            raise Unsupported("no such route")

        monkeypatch.setattr(at.app.live.workspace.files, "names", unsupported)
        await at.type("@ma")
        await at.shows("this server does not tell which files there are")


async def test_what_is_neither_text_nor_picture_is_named_and_not_attached(project: Path) -> None:
    (project / "data.bin2").write_bytes(b"\xff\xfe\x00")
    async with editor(cwd=project) as at:
        await naming(at, "@data")
        await at.press("enter")
        await at.until(lambda: at.app.said)
        assert at.app.said == ["This is neither a text nor a picture: data.bin2"]
        assert (at.text, at.names) == ("data.bin2 |", [])


@presses("completions.choose", "completions.next")
async def test_a_slash_offers_commands_with_what_they_do_and_enter_asks_for_one() -> None:
    async with editor() as at:
        await at.type("/")
        await at.shows("Begin a new session")
        await at.type("ses")
        assert at.offers[0] == "sessions"
        await at.press("enter")
        assert await at.told() == Composer.Wanted("sessions")
        assert (at.text, at.is_offering) == ("|", False)


async def test_a_command_is_found_by_its_other_name() -> None:
    async with editor() as at:
        await at.type("/clear")
        await at.press("enter")
        assert await at.told() == Composer.Wanted("new")


async def test_a_path_at_the_beginning_is_no_command() -> None:
    async with editor() as at:
        await at.type("/usr/bin is full")
        assert not at.is_offering
        await at.press("enter")
        assert await at.told() == Composer.Sent("/usr/bin is full")
