"""What was judged is what is opened: a link that somebody puts in the way afterwards leads nobody out."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tools.scene import names, use
from tests.tools.test_web import page, pages
from turnkeeper.house.files import DiskFiles, FileOutOfReach
from turnkeeper.testing.hands import FakeHands
from turnkeeper.tools import opening
from turnkeeper.tools.download import download_tool
from turnkeeper.tools.edit import edit_tool
from turnkeeper.tools.files import remove_now, snapshot_now
from turnkeeper.tools.opening import LeadsElsewhere, opened, opened_folder, reading
from turnkeeper.tools.tool import Asking, Denied, Tool
from turnkeeper.tools.view import view_tool
from turnkeeper.tools.write import write_tool

ELSEWHERE = "the path leads elsewhere now"


@pytest.fixture(params=[True, False], ids=["told by the system", "walked"])
def places(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """A workspace and what is outside of it, on a system that says where an open file is and on one that does not."""
    if not request.param:
        monkeypatch.setattr(opening, "stands_at", silent)
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        (folder / "docs").mkdir(parents=True)
        (folder / "docs" / "file").write_text("the same\n")
        (folder / "docs" / "image.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"\0" * 8)
    (outside / "docs" / "secret").write_text("secret\n")
    return inside, outside


def silent(_descriptor: int) -> str:
    return ""


def swapping(inside: Path, outside: Path, name: str) -> Callable[[Asking], Denied | None]:
    """Somebody who agrees, while something else puts a link to the outside where there was none."""

    def judge(_: Asking) -> Denied | None:
        (inside / name).rename(inside / "aside")
        (inside / name).symlink_to(outside / name)
        return None

    return judge


@pytest.mark.parametrize("swapped", ["docs", "docs/file"])
@pytest.mark.parametrize(
    ("tool", "given"),
    [
        (view_tool(), {}),
        (write_tool(), {"content": "ours\n"}),
        (edit_tool(), {"old_string": "same", "new_string": "ours"}),
    ],
    ids=["view", "write", "edit"],
)
async def test_a_link_that_appears_after_the_judgement_is_not_followed(
    places: tuple[Path, Path], swapped: str, tool: Tool, given: dict[str, str]
) -> None:
    inside, outside = places
    hands = FakeHands(inside)
    await use(view_tool(), hands, file_path="docs/file")
    hands.judge = swapping(inside, outside, swapped)
    answer = await use(tool, hands, file_path="docs/file", **given)
    assert answer.is_error
    assert "the same" not in answer.content
    assert (outside / "docs" / "file").read_text() == "the same\n"
    assert names(outside / "docs") == ["file", "image.png", "secret"]


async def test_an_image_behind_a_link_that_appeared_is_not_shown(places: tuple[Path, Path]) -> None:
    hands = FakeHands(places[0], judge=swapping(*places, "docs"))
    answer = await use(view_tool(), hands, file_path="docs/image.png")
    assert ELSEWHERE in answer.content
    assert not answer.data


@pytest.mark.parametrize("name", ["docs/authorized_keys", "docs/new/deep/file"])
async def test_nothing_is_created_behind_a_link_that_appeared(places: tuple[Path, Path], name: str) -> None:
    inside, outside = places
    hands = FakeHands(inside, judge=swapping(inside, outside, "docs"))
    answer = await use(write_tool(), hands, file_path=name, content="ours\n")
    assert ELSEWHERE in answer.content
    assert names(outside / "docs") == ["file", "image.png", "secret"]


@pytest.mark.parametrize("name", ["docs/file", "docs/new/file"])
async def test_nothing_is_downloaded_behind_a_link_that_appeared(places: tuple[Path, Path], name: str) -> None:
    inside, outside = places
    hands = FakeHands(inside, judge=swapping(inside, outside, "docs"))
    tool = download_tool(pages(file=page(b"theirs\n")))
    answer = await use(tool, hands, url="http://site.test/file", file_path=name)
    assert ELSEWHERE in answer.content
    assert (outside / "docs" / "file").read_text() == "the same\n"
    assert names(outside / "docs") == ["file", "image.png", "secret"]


async def test_a_link_in_the_history_s_path_is_a_conflict_and_not_followed(places: tuple[Path, Path]) -> None:
    inside, outside = places
    swapping(inside, outside, "docs")(Asking("", "", "", "", ""))
    for content in ("old\n", None):
        with pytest.raises(FileOutOfReach, match=ELSEWHERE):
            await DiskFiles().write(inside / "docs" / "file", content, over="the same\n")
    (inside / "link").symlink_to(outside / "docs" / "file")
    (inside / "dangling").symlink_to(outside / "nothing")
    for path, over in ((inside / "link", "the same\n"), (inside / "dangling", None), (Path("file"), None)):
        with pytest.raises(FileOutOfReach, match=f"{ELSEWHERE}|No such file"):
            await DiskFiles().write(path, "old\n", over=over)
    assert (outside / "docs" / "file").read_text() == "the same\n"
    assert not (outside / "nothing").exists()


def test_what_has_no_links_on_its_way_is_opened_and_missing_folders_are_made(places: tuple[Path, Path]) -> None:
    inside, _ = places
    with reading(inside / "docs" / "file") as file:
        assert file.read() == b"the same\n"
    made: list[Path] = []
    os.close(opened_folder(inside / "a" / "b", made))
    assert made == [inside / "a", inside / "a" / "b"]
    opening.remove_empty(made)
    assert names(inside) == ["docs"]
    os.close(opened_folder(Path("/")))


def test_what_is_not_there_and_what_is_no_folder_are_told_as_such(places: tuple[Path, Path]) -> None:
    inside, _ = places
    for path, problem in (
        ("none", FileNotFoundError),
        ("none/x", FileNotFoundError),
        ("docs/file/x", NotADirectoryError),
    ):
        with pytest.raises(problem) as told:
            opened(inside / path)
        assert str(told.value.filename).startswith(str(inside))
    (inside / "link").symlink_to("docs")
    for path in ("link", "link/file"):
        with pytest.raises(LeadsElsewhere):
            opened(inside / path)


def test_a_folder_that_cannot_be_read_can_be_gone_through(places: tuple[Path, Path]) -> None:
    inside, _ = places
    (inside / "docs").chmod(0o311)
    try:
        found = snapshot_now(inside / "docs" / "file")
        remove_now(inside / "docs" / "file", found, 0)
    finally:
        (inside / "docs").chmod(0o755)
    assert names(inside / "docs") == ["image.png"]
