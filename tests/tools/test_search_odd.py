"""Searching among files that are odd: letters in no encoding we know, names of any bytes, lines without end."""

import os
from pathlib import Path

import pytest

from tests.tools.scene import metadata, use
from turnkeeper.testing.hands import FakeHands
from turnkeeper.tools.grep import grep_tool
from turnkeeper.tools.searching import MESSAGE_BYTES_MAX, TOO_LONG, PlainSearch, Ripgrep, Searcher, searcher


@pytest.fixture(params=["ripgrep", "plain"])
def search(request: pytest.FixtureRequest) -> Searcher:
    found = searcher() if request.param == "ripgrep" else PlainSearch()
    if request.param == "ripgrep":
        assert isinstance(found, Ripgrep), "ripgrep comes with the test tools"
    return found


async def test_a_line_in_another_encoding_hides_nothing(search: Searcher, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"caf\xe9 needle\n")
    (tmp_path / "b.txt").write_bytes(b"needle ok\n")
    os.utime(tmp_path / "a.txt", (2, 2))
    os.utime(tmp_path / "b.txt", (1, 1))
    answer = await use(grep_tool(search), FakeHands(tmp_path), pattern="needle")
    assert answer.content.splitlines()[2:] == [
        "  Line 1, Char 6: caf� needle",
        "",
        f"{tmp_path}/b.txt:",
        "  Line 1, Char 1: needle ok",
    ]


async def test_a_name_of_any_bytes_can_be_searched(search: Searcher, tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"odd\xff.txt")).write_text("needle\n")
    answer = await use(grep_tool(search), FakeHands(tmp_path), pattern="needle")
    assert not answer.is_error
    assert metadata(answer)["number_of_matches"] == 1


async def test_letters_are_counted_in_letters_also_behind_where_a_line_is_cut(search: Searcher, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("é" * 10_000 + "needle\n")
    answer = await use(grep_tool(search), FakeHands(tmp_path), pattern="needle")
    assert "Line 1, Char 10001: ééé" in answer.content
    assert len(answer.content) < 2_000


async def test_a_line_without_end_takes_no_other_file_along(tmp_path: Path) -> None:
    (tmp_path / "big.json").write_text("x" * (MESSAGE_BYTES_MAX + 1024 * 1024) + "needle\n" + "needle too\n")
    (tmp_path / "small.py").write_text("needle\n")
    answer = await use(grep_tool(searcher()), FakeHands(tmp_path), pattern="needle")
    assert metadata(answer)["number_of_matches"] == 3
    assert f"{tmp_path}/big.json:\n  {TOO_LONG}\n  Line 2, Char 1: needle too" in answer.content
    assert f"{tmp_path}/small.py:\n  Line 1, Char 1: needle" in answer.content
