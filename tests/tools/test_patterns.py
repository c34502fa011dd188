"""Patterns of names: what they match, and that none of them, and no ignore file, holds anybody up."""

import os
from fnmatch import fnmatchcase
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as some

from tests.tools.scene import tree, use
from turnkeeper.testing.hands import FakeHands
from turnkeeper.tools.globs import compiled
from turnkeeper.tools.ls import ls_tool
from turnkeeper.tools.making import Refusal


def test_stars_are_matched_as_people_expect_them() -> None:
    for pattern, name, wanted in (
        ("*a*b", "xaxbxb", True),
        ("*a*b", "xaxbx", False),
        ("a*a", "a", False),
        ("a*a", "aa", True),
        ("*.t?t.*", "x.tat.txt.gz", True),
        ("[ab]*[cd]*", "bxc", True),
        ("*/x*y", "a/xzy", True),
        ("*/x*y", "a/b/xy", False),
        ("a**b", "axb", True),
        ("**/**/c", "a/b/c", True),
    ):
        assert bool(compiled(pattern).fullmatch(name)) is wanted, (pattern, name)


@given(some.text("ab*", min_size=1, max_size=8), some.text("ab", max_size=10))
def test_stars_are_matched_as_fnmatch_matches_them(pattern: str, name: str) -> None:
    if "**" not in pattern:
        assert bool(compiled(pattern).fullmatch(name)) is fnmatchcase(name, pattern)


def test_a_pattern_of_many_stars_is_no_riddle() -> None:
    """Tried everywhere, this would take longer than anybody lives."""
    assert compiled("*a" * 40 + "*b").fullmatch("a" * 255) is None
    with pytest.raises(Refusal, match="at most 3 times"):
        compiled("**/a/" * 9)


@pytest.mark.parametrize("kind", ["pipe", "link to a pipe", "folder", "riddle"])
async def test_an_ignore_file_that_is_none_holds_nothing_up(kind: str, tmp_path: Path) -> None:
    tree(tmp_path, "a.txt", "a" * 120)
    ignore = tmp_path / ".gitignore"
    match kind:
        case "pipe":
            os.mkfifo(ignore)
        case "link to a pipe":
            os.mkfifo(tmp_path / "pipe")
            ignore.symlink_to("pipe")
        case "folder":
            ignore.mkdir()
        case _:
            ignore.write_text("*a*a*a*a*a*a*a*a*b\n")
    with anyio.fail_after(5):
        answer = await use(ls_tool(), FakeHands(tmp_path))
    assert "a.txt" in answer.content
