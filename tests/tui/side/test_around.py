"""What stands around a conversation: how many lines a file gained and lost."""

from turnkeeper.protocol.wire_changes import ChangeView
from turnkeeper.tui.side.around import LINES_MAX, Change, counted


def test_lines_are_counted_as_a_diff_counts_them() -> None:
    assert counted(ChangeView("a", "1\n2\n3\n", "1\ntwo\n3\n4\n")) == Change("a", 2, 1)


def test_a_file_that_came_or_went_is_all_of_its_lines() -> None:
    assert counted(ChangeView("a", None, "1\n2\n")) == Change("a", 2, 0)
    assert counted(ChangeView("a", "1\n2\n", None)) == Change("a", 0, 2)


def test_of_a_huge_file_only_the_difference_in_length_is_told() -> None:
    assert counted(ChangeView("a", "x\n" * LINES_MAX, "x\n" * (LINES_MAX + 7))) == Change("a", 7, 0)
