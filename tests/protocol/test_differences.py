"""Where two texts differ: exact whatever they hold, and soon told even where all lines are alike."""

from hypothesis import given
from hypothesis import strategies as some

from turnkeeper.protocol.differences import Block, changed

LINES = some.lists(some.sampled_from(["a", "b", "c", "", "}"]), max_size=30)


def applied(old: list[str], new: list[str], blocks: list[Block]) -> list[str]:
    """The old lines with the blocks carried out; what lies between has to be alike."""
    result: list[str] = []
    i = j = 0
    for i1, i2, j1, j2 in blocks:
        assert old[i:i1] == new[j:j1]
        result += [*old[i:i1], *new[j1:j2]]
        i, j = i2, j2
    assert old[i:] == new[j:]
    return [*result, *old[i:]]


@given(LINES, LINES)
def test_the_old_text_and_what_changed_are_the_new_one(old: list[str], new: list[str]) -> None:
    blocks = changed(old, new)
    assert applied(old, new, blocks) == new
    assert (blocks == []) == (old == new)
    assert all(i1 < i2 or j1 < j2 for i1, i2, j1, j2 in blocks)


def test_changes_far_apart_are_told_apart() -> None:
    old = [f"line {number}" for number in range(3000)]
    new = [*old[:10], "new", *old[10:2000], *old[2001:]]
    assert changed(old, new) == [(10, 10, 10, 11), (2000, 2001, 2001, 2001)]


def test_a_stretch_that_moved_went_and_came() -> None:
    old = ["a", "b", "c", "d", "e"]
    assert changed(old, ["d", "e", "a", "b", "c"]) == [(0, 0, 0, 2), (3, 5, 5, 5)]


def test_thousands_of_lines_that_are_all_alike_are_no_riddle() -> None:
    """Compared closely, this would take more than an hour."""
    old, new = ["}"] * 20_000, ["{", "}"] * 20_000
    assert applied(old, new, changed(old, new)) == new


def test_small_changes_among_lines_that_are_all_alike_are_still_told_closely() -> None:
    old = ["}"] * 30
    assert changed(old, [*old[:10], "x", *old[:20], "y"]) == [(10, 10, 10, 11), (30, 30, 31, 32)]
