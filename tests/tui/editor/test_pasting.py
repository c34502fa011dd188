"""What is made of a paste."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnkeeper.tui.editor.pasting import COLUMNS_MAX, LINES_MAX, Attach, Insert, Pictures, picture_paths, understood


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("hello", "hello"),
        ("two\r\nlines\rthree", "two\nlines\nthree"),
        ("a\ttab", "a\ttab"),
        ("\x1b[31mred\x1b[0m\x00", "[31mred[0m"),
        ("see a.png for more", "see a.png for more"),
        ("a.png", "a.png"),
        ("/notes.txt", "/notes.txt"),
        ("/a.png and text", "/a.png and text"),
        ("", ""),
        ("'unclosed.png", "'unclosed.png"),
    ],
)
def test_a_little_text_is_inserted_without_what_steers_a_terminal(raw: str, text: str) -> None:
    assert understood(raw) == Insert(text)


def test_text_over_the_limits_is_attached_and_text_at_them_is_not() -> None:
    full = "\n".join(["x"] * LINES_MAX)
    assert understood(full) == Insert(full)
    assert understood(full + "\nx") == Attach(full + "\nx")
    wide = "x" * COLUMNS_MAX
    assert understood(wide) == Insert(wide)
    assert understood(wide + "x") == Attach(wide + "x")


@pytest.mark.parametrize(
    ("raw", "paths"),
    [
        ("/tmp/a.png", ("/tmp/a.png",)),
        ("/tmp/a.png \n", ("/tmp/a.png",)),
        ("/tmp/a.PNG /tmp/b.jpeg", ("/tmp/a.PNG", "/tmp/b.jpeg")),
        ("/tmp/my\\ cat.jpg", ("/tmp/my cat.jpg",)),
        ("'/tmp/my cat.jpg' \"/b c.png\"", ("/tmp/my cat.jpg", "/b c.png")),
        ("~/a.png", ("~/a.png",)),
        ("file:///tmp/my%20cat.jpg", ("/tmp/my cat.jpg",)),
        ("file:///tmp/a.png\r\nfile:///tmp/b.png", ("/tmp/a.png", "/tmp/b.png")),
        (r"C:\Users\me\a.png", (r"C:\Users\me\a.png",)),
        (r'"C:\my pictures\a.png" D:/b.jpg', (r"C:\my pictures\a.png", "D:/b.jpg")),
        ("file:///C:/a.png", ("C:/a.png",)),
    ],
)
def test_paths_of_pictures_are_read_however_a_terminal_writes_them(raw: str, paths: tuple[str, ...]) -> None:
    found = understood(raw)
    assert isinstance(found, Pictures)
    assert found.readings[0] == paths


def test_a_bare_path_with_a_space_is_a_second_reading() -> None:
    assert picture_paths("/tmp/my cat.jpg") == (("/tmp/my cat.jpg",),)
    assert picture_paths("/tmp/a.png /tmp/b.png") == (("/tmp/a.png", "/tmp/b.png"), ("/tmp/a.png /tmp/b.png",))


@given(st.text())
def test_whatever_is_pasted_is_understood(raw: str) -> None:
    match understood(raw):
        case Insert(text) | Attach(text):
            assert not set(text) & {chr(code) for code in (*range(9), 11, 12, 13, *range(14, 32), 127)}
        case Pictures(readings, _):
            assert readings
            assert all(readings)
