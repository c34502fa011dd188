"""Changes as rows: read from a diff or found by comparing, the same rows; bounded, whatever they are made from."""

import difflib

from hypothesis import given
from hypothesis import strategies as some

from tests.tui.chat.gallery import DIFF
from turnkeeper.tui.chat.diff_view import draw_change
from turnkeeper.tui.chat.diffs import ROWS_MAX, Change, Row, compared, looks_like_a_diff, read_diff
from turnkeeper.tui.chat.ink import Ink
from turnkeeper.tui.glyphs import UNICODE

texts = some.lists(some.sampled_from(("a", "b", "c", "def f():", "    return 1", "")), max_size=30).map(
    lambda lines: "".join(f"{line}\n" for line in lines)
)


def kinds(change: Change) -> str:
    return "".join(row.kind for row in change.rows)


def test_a_unified_diff_is_read_with_its_numbers() -> None:
    change = read_diff(DIFF)
    assert kinds(change) == "   -+  ++ "
    assert (change.added, change.removed, change.is_cut) == (3, 1, False)
    assert [(row.old, row.new) for row in change.rows][2:6] == [(14, 14), (15, 0), (0, 15), (16, 16)]


def test_several_places_of_a_file_stand_apart() -> None:
    old = [str(n) for n in range(60)]
    new = [*old[:5], "five", *old[6:50], "fifty", *old[51:]]
    text = "\n".join(difflib.unified_diff(old, new, "a/x", "b/x", lineterm=""))
    assert kinds(read_diff(text)) == "   -+   @   -+   "
    assert kinds(compared("\n".join(old), "\n".join(new))) == "   -+   @   -+   "


def test_a_diff_that_was_cut_says_so() -> None:
    assert read_diff(f"{DIFF}... (the diff goes on)\n").is_cut


@given(texts, texts)
def test_comparing_finds_what_a_diff_of_the_same_texts_tells(before: str, after: str) -> None:
    diff = difflib.unified_diff(before.split("\n")[:-1], after.split("\n")[:-1], "a/x", "b/x", lineterm="")
    told, found = read_diff("\n".join(diff)), compared(before, after)
    assert (found.added - found.removed) == (told.added - told.removed)
    assert applied(before, found) == after


def applied(before: str, change: Change) -> str:
    """What a change makes of a text."""
    lines = before.split("\n")[:-1]
    came = {row.new: row.text for row in change.rows if row.kind == "+"}
    gone = {row.old for row in change.rows if row.kind == "-"}
    kept = iter([line for number, line in enumerate(lines, 1) if number not in gone])
    count = len(lines) - len(gone) + len(came)
    return "".join(f"{came[number] if number in came else next(kept)}\n" for number in range(1, count + 1))


@given(some.text(max_size=60), some.text(max_size=60))
def test_what_is_marked_as_differing_is_what_differs(old: str, new: str) -> None:
    for row in compared(old, new).rows:
        assert all(0 <= start < end <= len(row.text) for start, end in row.marks)


def test_words_that_differ_are_marked_and_lines_with_little_in_common_are_not() -> None:
    one, other = compared("total = price * count\n", "total = price * amount\n").rows
    assert (one.marks, other.marks) == (((16, 21),), ((16, 22),))
    one, other = compared("import os\n", "class Parser(Base):\n").rows
    assert (one.marks, other.marks) == ((), ())


def test_a_change_of_a_huge_file_takes_bounded_work_and_rows() -> None:
    change = compared("\n".join(f"a{n}" for n in range(20_000)), "\n".join(f"b{n}" for n in range(20_000)))
    assert len(change.rows) == ROWS_MAX
    assert change.is_cut
    assert (change.added, change.removed) == (20_000, 20_000)


def test_side_by_side_what_went_stands_beside_what_came_in_its_place() -> None:
    rows = (Row("-", "one", 1), Row("-", "two", 2), Row("+", "uno", 0, 1), Row(" ", "same", 3, 2))
    lines, count = draw_change(Change(rows, 1, 2), Ink(43, UNICODE, split=True), path="", width=43, rows_max=99)
    assert count == 3
    assert [line.content.plain.rstrip() for line in lines] == [
        "1 - one              │ 1 + uno",
        "2 - two              │",
        "3   same             │ 2   same",
    ]


def test_only_what_is_a_diff_is_taken_for_one() -> None:
    assert looks_like_a_diff(DIFF)
    assert not looks_like_a_diff("@@ -1 +1 @@ in a sentence")
    assert not looks_like_a_diff("--- a line of dashes\n+++ and one of crosses")
