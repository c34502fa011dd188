"""What can be attached, how it is read, and what is said of the rest."""

import os
from pathlib import Path

import pytest

from turnkeeper.protocol.runs import Attachment
from turnkeeper.tui.editor.attaching import (
    ATTACHMENTS_MAX,
    BYTES_MAX,
    NotAttached,
    added,
    first_pictures,
    next_number,
    pasted,
    picture,
    read_file,
    size,
)


def named(*names: str) -> tuple[Attachment, ...]:
    return tuple(Attachment(name, name, "text/plain", b"x") for name in names)


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.md", b"# hi", "text/markdown"),
        ("a.json", b"{}", "text/plain"),
        ("Makefile", b"all:\n", "text/plain"),
        ("a.png", b"\x89PNG\r\n", "image/png"),
        ("A.JPG", b"\xff\xd8", "image/jpeg"),
        ("empty", b"", "text/plain"),
    ],
)
def test_texts_and_pictures_are_read_whole(tmp_path: Path, name: str, content: bytes, kind: str) -> None:
    (tmp_path / name).write_bytes(content)
    assert read_file(tmp_path / name, f"sub/{name}") == Attachment(f"sub/{name}", name, kind, content)


def test_what_cannot_be_attached_is_said_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with (tmp_path / "large").open("wb") as file:
        file.truncate(BYTES_MAX + 1)
    said: dict[str, str] = {}
    for name in ("folder", "pipe", "binary", "large", "missing"):
        with pytest.raises(NotAttached) as refused:
            read_file(tmp_path / name, name)
        said[name] = refused.value.message
    assert said == {
        "folder": "Is a directory: folder",
        "pipe": "this is no file: pipe",
        "binary": "this is neither a text nor a picture: binary",
        "large": "larger than 5.0 MB, so the model has to read it by its path: large",
        "missing": "No such file or directory: missing",
    }


def test_the_first_reading_whose_pictures_are_all_there_counts(tmp_path: Path) -> None:
    for name in ("a.png", "b.png", "my cat.png"):
        (tmp_path / name).write_bytes(b"\x89PNG")
    both = (str(tmp_path / "a.png"), str(tmp_path / "b.png"))
    whole = (str(tmp_path / "my cat.png"),)
    missing = (str(tmp_path / "a.png"), str(tmp_path / "c.png"))
    assert [one.file_name for one in first_pictures((missing, both))] == ["a.png", "b.png"]
    assert [one.file_name for one in first_pictures((missing, whole))] == ["my cat.png"]
    assert first_pictures((missing,)) == ()


def test_pastes_are_numbered_on_and_bounded() -> None:
    already = named("paste_5.txt", "x.txt")
    assert next_number(()) == 1
    assert pasted("text", already).file_name == "paste_6.txt"
    assert picture(b"png", already).file_name == "paste_6.png"
    with pytest.raises(NotAttached, match=r"the paste is larger than 5\.0 MB"):
        pasted("x" * (BYTES_MAX + 1), ())


def test_a_file_is_attached_once_as_it_is_now_and_there_are_not_too_many() -> None:
    again = Attachment("a", "a", "text/plain", b"new")
    assert added(named("a", "b"), (again,)) == (again, *named("b"))
    full = named(*map(str, range(ATTACHMENTS_MAX)))
    assert added((), full) == full
    with pytest.raises(NotAttached, match="no more than 20"):
        added(full, named("one more"))


@pytest.mark.parametrize(
    ("count", "said"),
    [(0, "0 B"), (999, "999 B"), (1000, "1 kB"), (12_345, "12 kB"), (1_023_999, "1000 kB"), (5_242_880, "5.0 MB")],
)
def test_a_size_is_said_for_people(count: int, said: str) -> None:
    assert size(count) == said
