"""Markdown: how it reads, and that what is written bit by bit ends as what is read at once."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from textual.style import Style

from tests.tui.chat.gallery import MARKDOWN
from turnkeeper.tui.chat.ink import Drawn, Ink
from turnkeeper.tui.chat.inline import is_safe
from turnkeeper.tui.chat.items import Said
from turnkeeper.tui.chat.markdown import markdown
from turnkeeper.tui.chat.sheet import Sheet
from turnkeeper.tui.chat.streaming import Stream, stream, whole
from turnkeeper.tui.glyphs import ASCII, UNICODE

INK = Ink(60, UNICODE)
PLAIN = Ink(60, ASCII, plain=True)


def reads(text: str, ink: Ink = INK) -> list[str]:
    return [line.plain.rstrip() for line in markdown(text, ink).lines]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("# One\n\nTwo\n===\n\n### Three", ["# One", "", "# Two", "", "### Three"]),
        ("a **b** *c* `d` ~~e~~", ["a b c d e"]),
        ("- a\n- b\n  - c\n- d", ["• a", "• b", "  • c", "• d"]),
        ("9. a\n10. b", [" 9. a", "10. b"]),
        ("- a\n\n- b", ["• a", "", "• b"]),
        ("- [ ] open\n- [x] done", ["• ◌ open", "• ✓ done"]),
        ("> a\n>\n> b", ["│ a", "│", "│ b"]),
        ("```py\nx = 1\n\ny = 2\n```", ["  x = 1", "", "  y = 2"]),
        ("    indented", ["  indented"]),
        ("a  \nb\nc", ["a", "b c"]),
        ("---", ["─" * 40]),
        ("| a | b |\n|---|--:|\n| one | 2 |", ["a   │ b", "────┼──", "one │ 2"]),
        ("<b>raw</b> &amp; so", ["<b>raw</b> & so"]),
        ("[x](https://a.b/c) <https://a.b> https://a.b/d.", ["x (https://a.b/c) https://a.b https://a.b/d."]),
        ("![a picture](https://a.b/p.png)", ["a picture (https://a.b/p.png)"]),
        ("", []),
    ],
)
def test_markdown_reads_well(text: str, lines: list[str]) -> None:
    assert reads(text) == lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("```py\nx = 1\n```", ["code, py:", "  x = 1", "end of code"]),
        ("- [x] done", ["- [x] done"]),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |", ["row 1: a: 1; b: 2", "row 2: a: 3; b: 4"]),
        ("> said", ["> said"]),
        ("---", ["(a line)"]),
    ],
)
def test_to_a_screen_reader_markdown_is_words(text: str, lines: list[str]) -> None:
    assert reads(text, PLAIN) == lines


def test_text_is_never_wider_than_is_good_to_read() -> None:
    assert max(map(len, reads("word " * 200, Ink(300, UNICODE)))) <= 120


def test_a_table_that_is_too_wide_is_broken_within_its_cells() -> None:
    rows = reads("| name | text |\n|---|---|\n| a | " + "word " * 30 + "|")
    assert max(map(len, rows)) <= 60
    assert all("│" in row or "┼" in row for row in rows)


def links_of(text: str) -> list[str]:
    return [
        span.style.link
        for line in markdown(text, INK).lines
        for span in line.spans
        if isinstance(span.style, Style) and span.style.link
    ]


def test_a_link_leads_where_it_says_and_nowhere_else() -> None:
    assert links_of("[a](https://example.org/a) and https://example.org/b") == [
        "https://example.org/a",
        "https://example.org/b",
    ]
    assert "(https://evil.example)" in " ".join(reads("[https://good.example](https://evil.example)"))
    assert links_of("[a](javascript:alert(1)) [b](file:///etc/passwd)") == []


@pytest.mark.parametrize("url", ["javascript:x", "file:///x", "http://a\x1b]8;;", "x" * 3000, "", "http://[", "a b"])
def test_what_a_terminal_should_not_open_is_no_link(url: str) -> None:
    assert not is_safe(url)


@pytest.mark.parametrize("text", ["> " * 80 + "deep", "- " * 80 + "deep", "[" * 500, "*" * 999, "`" * 999])
def test_whatever_is_nested_is_drawn(text: str) -> None:
    assert markdown(text, INK).lines is not None


# Written bit by bit

BLOCKS = (
    "A paragraph with **bold** words and `code`.",
    "# A heading",
    "- one\n- two\n\n  more of two\n- three",
    "1. first\n2. second",
    "```python\ndef f():\n    return '''a\n\nb'''\n```",
    "~~~\nno language\n~~~",
    "> a quote\n> of two lines",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "[ref]: https://example.org/ref\n\nSee [it][ref].",
    "Two\n===",
    "---",
    "<div>\n\nhtml\n\n</div>",
)
documents = some.lists(some.sampled_from(BLOCKS), max_size=6).map("\n\n".join)


def shown(drawn: Drawn) -> list[tuple[str, Any]]:
    return [(line.content.plain.rstrip(), line.content.spans) for line in drawn.lines]


@settings(max_examples=80)
@given(documents, some.lists(some.integers(1, 40), min_size=1, max_size=60))
def test_what_was_written_in_pieces_ends_as_what_is_read_at_once(text: str, sizes: list[int]) -> None:
    known: Stream | None = None
    end = 0
    for size in sizes:
        end += size
        known, _ = stream(text[:end], INK, known)
    _, drawn = stream(text, INK, known)
    assert shown(drawn) == shown(whole(text, INK))


@settings(max_examples=80)
@given(documents, some.lists(some.integers(1, 20), min_size=1, max_size=60))
def test_what_is_above_the_last_block_is_drawn_once_and_stays(text: str, sizes: list[int]) -> None:
    known, end, count = Stream(INK), 0, 0
    for size in sizes:
        end += size
        before, (known, drawn) = known, stream(text[:end], INK, known)
        assert list(drawn.lines[: len(before.lines)]) == list(before.lines)
        assert len(known.lines) >= count
        count = len(known.lines)


def test_what_only_the_end_tells_of_the_beginning_is_right_once_the_text_is_whole() -> None:
    sheet = Sheet(INK)
    for end in range(0, 60, 3):
        sheet.put((Said("k", "See [it][ref].\n\nAnd more.\n\n[ref]: https://example.org/ref"[:end], writing=True),))
        sheet.lines(0)
    sheet.put((Said("k", "See [it][ref].\n\nAnd more.\n\n[ref]: https://example.org/ref"),))
    assert sheet.lines(0)[1].content.plain.strip() == "See it (https://example.org/ref)."


def test_an_open_code_block_is_finished_line_by_line() -> None:
    text = "Look:\n\n```python\n" + "".join(f"x{n} = {n}\n" for n in range(400))
    known, drawn = stream(text, INK)
    assert known.source.count("\n") > 300
    assert [line.content.plain for line in drawn.lines] == [line.content.plain for line in whole(text, INK).lines]
    again, _ = stream(text + "x400 = 400\n", INK, known)
    assert all(one is other for one, other in zip(known.lines, again.lines, strict=False))


@pytest.mark.parametrize("mark", ["- ", "1. "])
def test_a_long_list_is_finished_item_by_item(mark: str) -> None:
    items = [f"{mark if mark == '- ' else f'{n + 100}. '}item {n}\n" for n in range(200)]
    known, drawn = stream("", INK)
    for count in range(1, 201):
        known, drawn = stream("Look:\n\n" + "".join(items[:count]), INK, known)
        assert len(drawn.lines) - len(known.lines) <= 40
    assert shown(drawn) == shown(whole("Look:\n\n" + "".join(items), INK))
    _, drawn = stream("Look:\n\n" + "".join(items) + "\nSo.", INK, known)
    assert shown(drawn) == shown(whole("Look:\n\n" + "".join(items) + "\nSo.", INK))


@pytest.mark.parametrize(
    ("half", "line"),
    [("some **bo", "some bo"), ("some `co", "some co"), ("some **", "some"), ("see [", "see"), ("a *", "a")],
)
def test_half_a_sign_is_not_shown_and_then_taken_away(half: str, line: str) -> None:
    _, drawn = stream(half, INK)
    assert [row.content.plain.rstrip() for row in drawn.lines] == [line]


def test_the_code_and_the_links_of_a_text_can_be_taken() -> None:
    drawn = whole(MARKDOWN, INK)
    assert [block.split("\n")[0] for block in drawn.code] == ["def flush(self) -> Iterator[Token]:"]
    assert drawn.links == ["https://example.org/reports/77"]
    assert drawn.text == MARKDOWN
