"""What a made tool makes of what goes wrong: always an answer."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tools.scene import use
from turnkeeper.testing.hands import FakeHands
from turnkeeper.tools.ls import Limits, file_names, ls_tool
from turnkeeper.tools.making import Made, Parameters
from turnkeeper.tools.tool import Answer, Hands

DEEP = 1400
"""Folders in each other: more than Python calls in each other."""


class Nothing(Parameters, frozen=True):
    pass


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OSError(28, "No space left on device", "/f"), "No space left on device: /f"),
        (UnicodeEncodeError("utf-8", "\udcff", 0, 1, "no \udcff"), "can't encode character '\\udcff' in position 0"),
        (ValueError(), "ValueError"),
        (RecursionError("too deep"), "too deep"),
    ],
)
async def test_what_fails_below_a_tool_is_an_answer(tmp_path: Path, error: Exception, told: str) -> None:
    async def act(asked: Nothing, hands: Hands) -> Answer:
        raise error

    answer = await use(Made("try", Nothing, act), FakeHands(tmp_path))
    assert (answer.is_error, answer.content.startswith("try failed: ")) == (True, True)
    assert told in answer.content
    assert answer.content.encode()


@pytest.fixture
def abyss(tmp_path: Path) -> Iterator[Path]:
    """Made and removed by hand: what makes and removes trees calls itself for each folder, too."""
    (tmp_path / ".git").mkdir()
    folders = [tmp_path / ("d/" * depth) for depth in range(1, DEEP + 1)]
    for folder in folders:
        folder.mkdir()
    yield tmp_path
    (folders[-1] / "f").unlink(missing_ok=True)
    for folder in reversed(folders):
        folder.rmdir()


async def test_a_tree_deeper_than_calls_can_be_is_listed(abyss: Path) -> None:
    answer = await use(ls_tool(items_max=2 * DEEP), FakeHands(abyss), ignore=[".git"])
    lines = answer.content.splitlines()
    assert not answer.is_error
    assert lines[0] == f"- {abyss}/"
    assert lines[1:] == [f"{'  ' * level}- d/" for level in range(1, DEEP + 1)]


def test_files_in_such_a_tree_are_named(abyss: Path) -> None:
    name = "d/" * DEEP + "f"
    (abyss / name).write_text("")
    assert file_names(abyss, Limits(depth=0, items=2 * DEEP), env=dict(os.environ)) == ((name,), False)
