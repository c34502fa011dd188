"""A session is called what its model says, else what its prompt says."""

import pytest

from turnkeeper.core.title import columns, title_of


@pytest.mark.parametrize(
    ("answer", "prompt", "title"),
    [
        ("Fix the parser", "please fix", "Fix the parser"),
        ('  "Fix\nthe\tparser"\n', "", "Fix the parser"),
        ("<think>What could\nit be?</think>\nFix it", "", "Fix it"),
        ("Fix it</think>", "", "Fix it"),
        ("<think>never ends", "please fix", "please fix"),
        ("", "please\nfix\x1b", "please fix"),
        ("   ", "x" * 51, "x" * 49 + "…"),
        ("", "x" * 50, "x" * 50),
        ("", "漢" * 30, "漢" * 24 + "…"),
        ("", "word " * 20, "word " * 9 + "word…"),
        ("", " \n", "Untitled Session"),
        ("", "", "Untitled Session"),
    ],
)
def test_a_title_is_one_short_line(answer: str, prompt: str, title: str) -> None:
    assert title_of(answer, prompt) == title
    assert columns(title) <= 50
