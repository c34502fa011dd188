"""One edit: what it matches, what it refuses, and in which order it acts."""

from pathlib import Path

import pytest

from tests.tools.scene import deeds, metadata, use
from turnkeeper.testing.hands import FakeHands, deny
from turnkeeper.tools.edit import edit_tool
from turnkeeper.tools.multiedit import multiedit_tool
from turnkeeper.tools.tool import Answer, Tool
from turnkeeper.tools.view import view_tool


async def edit(folder: Path, text: str, old: str, new: str, *, replace_all: bool = False) -> tuple[Answer, str]:
    path = folder / "file.py"
    path.write_bytes(text.encode())
    hands = FakeHands(folder)
    await use(view_tool(), hands, file_path="file.py")
    answer = await use(edit_tool(), hands, file_path="file.py", old_string=old, new_string=new, replace_all=replace_all)
    return answer, path.read_bytes().decode()


async def test_a_unique_text_is_replaced_and_counted(tmp_path: Path) -> None:
    answer, text = await edit(tmp_path, "one\ntwo\nthree\n", "two", "2")
    assert text == "one\n2\nthree\n"
    assert not answer.is_error
    assert answer.content == f"<result>\nContent replaced in file: {tmp_path / 'file.py'}\n</result>"
    told = metadata(answer)
    assert (told["additions"], told["removals"]) == (1, 1)
    assert (told["old_content"], told["new_content"]) == ("one\ntwo\nthree\n", "one\n2\nthree\n")
    assert told["diff"] == "--- a/file.py\n+++ b/file.py\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"


async def test_an_empty_new_string_deletes_the_text(tmp_path: Path) -> None:
    answer, text = await edit(tmp_path, "one\ntwo\nthree\n", "two\n", "")
    assert text == "one\nthree\n"
    assert "deleted from" in answer.content


@pytest.mark.parametrize("new", ["c", ""])
async def test_a_text_that_stands_twice_is_refused_unless_all_are_meant(tmp_path: Path, new: str) -> None:
    answer, text = await edit(tmp_path, "b b\n", "b", new)
    assert answer.is_error
    assert "2 times" in answer.content
    assert text == "b b\n"
    answer, text = await edit(tmp_path, "b b\n", "b", new, replace_all=True)
    assert not answer.is_error
    assert text == f"{new} {new}\n"


@pytest.mark.parametrize("text", ["}\n}\n}\n", "}\n}  \n}\t\n"], ids=["exact", "apart from white space"])
async def test_places_that_overlap_are_two_places(tmp_path: Path, text: str) -> None:
    answer, after = await edit(tmp_path, text, "}\n}\n", "X\n")
    assert answer.is_error
    assert "2 times" in answer.content or "2 places" in answer.content
    assert after == text
    answer, after = await edit(tmp_path, text, "}\n}\n", "X\n", replace_all=True)
    assert after.startswith("X\n}")


async def test_an_edit_that_changes_nothing_is_refused(tmp_path: Path) -> None:
    answer, _ = await edit(tmp_path, "same\n", "same", "same")
    assert answer.is_error
    assert "no changes" in answer.content


async def test_an_empty_old_string_creates_a_file_and_its_folders(tmp_path: Path) -> None:
    hands = FakeHands(tmp_path)
    answer = await use(edit_tool(), hands, file_path="a/b/new.txt", old_string="", new_string="hello\n")
    assert not answer.is_error
    assert (tmp_path / "a/b/new.txt").read_text() == "hello\n"
    assert deeds(hands) == ["permit", "begin", "changed"]
    assert [(v.version, v.content, v.absent) for v in await hands.history(tmp_path / "a/b/new.txt")] == [
        (0, "", True),
        (1, "hello\n", False),
    ]


async def test_creating_what_exists_is_refused_file_and_folder_alike(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    hands = FakeHands(tmp_path)
    file = await use(edit_tool(), hands, file_path="file", old_string="", new_string="y")
    folder = await use(edit_tool(), hands, file_path="folder", old_string="", new_string="y")
    assert file.is_error
    assert "already exists" in file.content
    assert folder.is_error
    assert "directory" in folder.content
    assert deeds(hands) == []


@pytest.mark.parametrize("tool", [edit_tool(), multiedit_tool()], ids=["edit", "multiedit"])
async def test_an_empty_file_that_was_seen_is_filled_by_an_empty_old_string(tmp_path: Path, tool: Tool) -> None:
    path, hands = tmp_path / "file", FakeHands(tmp_path)
    path.touch()
    step = {"old_string": "", "new_string": "x\n"}
    given = {"file_path": "file", **(step if tool.name == "edit" else {"edits": [step]})}
    assert "must read the file" in (await use(tool, hands, **given)).content
    await use(view_tool(), hands, file_path="file")
    assert not (await use(tool, hands, **given)).is_error
    assert path.read_text() == "x\n"
    assert "already exists" in (await use(tool, hands, **given)).content


async def test_an_empty_file_that_is_filled_with_nothing_is_told_of(tmp_path: Path) -> None:
    answer, _ = await edit(tmp_path, "", "", "")
    assert "no changes" in answer.content


async def test_no_folder_is_made_before_somebody_agreed(tmp_path: Path) -> None:
    hands = FakeHands(tmp_path, judge=deny)
    answer = await use(edit_tool(), hands, file_path="a/b/new.txt", old_string="", new_string="hello\n")
    assert answer.stop_turn
    assert not (tmp_path / "a").exists()


async def test_a_file_nobody_looked_at_is_not_edited(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x\n")
    answer = await use(edit_tool(), FakeHands(tmp_path), file_path="file", old_string="x", new_string="y")
    assert answer.is_error
    assert "must read the file" in answer.content


async def test_a_missing_file_is_an_answer_not_an_exception(tmp_path: Path) -> None:
    answer = await use(edit_tool(), FakeHands(tmp_path), file_path="gone", old_string="x", new_string="y")
    assert answer.is_error
    assert "not found" in answer.content
    assert not answer.stop_turn


async def test_a_denial_ends_the_turn_and_still_shows_the_change(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x\n")
    hands = FakeHands(tmp_path)
    await use(view_tool(), hands, file_path="file")
    hands.judge = deny
    answer = await use(edit_tool(), hands, file_path="file", old_string="x", new_string="y")
    assert answer.is_error
    assert answer.stop_turn
    assert metadata(answer)["new_content"] == "y\n"
    assert (tmp_path / "file").read_text() == "x\n"


async def test_permission_is_asked_with_both_texts_before_anything_happens(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x\n")
    hands = FakeHands(tmp_path)
    await use(view_tool(), hands, file_path="file")
    await use(edit_tool(), hands, file_path="file", old_string="x", new_string="y")
    assert deeds(hands) == ["permit", "seen", "permit", "begin", "changed"]
    asking = hands.asked[-1]
    assert (asking.tool, asking.action, asking.path, asking.safe) == ("edit", "write", str(tmp_path), False)
    assert asking.subject == str(tmp_path / "file")
    assert asking.params == {"file_path": str(tmp_path / "file"), "old_content": "x\n", "new_content": "y\n"}


async def test_a_file_outside_the_workspace_is_asked_for_by_its_own_path(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    hands = FakeHands(inside)
    await use(edit_tool(), hands, file_path="../out.txt", old_string="", new_string="y")
    assert hands.asked[-1].path == str(tmp_path / "out.txt")
    assert "outside" in hands.asked[-1].description


async def test_white_space_is_forgiven_when_one_place_fits_and_the_answer_says_so(tmp_path: Path) -> None:
    answer, text = await edit(
        tmp_path,
        "class A:\n\tdef one(self):\n\t\treturn 1\n",
        "def one(self):\n    return 1",
        "def one(self):\n    if True:\n        return 2",
    )
    assert text == "class A:\n\tdef one(self):\n\t\tif True:\n\t\t\treturn 2\n"
    assert "white space was ignored" in answer.content


async def test_an_exact_match_carries_no_note(tmp_path: Path) -> None:
    answer, _ = await edit(tmp_path, "a = 1\n", "a = 1", "a = 2")
    assert "white space" not in answer.content


@pytest.mark.parametrize(
    ("text", "old", "new", "wanted"),
    [
        ("if a:\n  b()\n", "if a:\n    b()", "if a:\n    b()\n    c()", "if a:\n  b()\n  c()\n"),
        ("if a:\n    b()\n", "if a:\n\tb()", "if a:\n\tb()\n\tc()", "if a:\n    b()\n    c()\n"),
        ("if a:\n\tb()\n", "if a:\n  b()", "if a:\n  b()\n  c()", "if a:\n\tb()\n\tc()\n"),
        ("x\n    y = 1\n", "y  =  1\n", "y = 2\n", "x\n    y = 2\n"),
    ],
)
async def test_a_replacement_takes_the_indentation_of_the_file(
    tmp_path: Path, text: str, old: str, new: str, wanted: str
) -> None:
    answer, after = await edit(tmp_path, text, old, new)
    assert not answer.is_error
    assert after == wanted


async def test_two_places_that_fit_apart_from_white_space_are_refused(tmp_path: Path) -> None:
    answer, text = await edit(tmp_path, "a =  1\nb\na   = 1\n", "a = 1", "a = 2")
    assert answer.is_error
    assert "2 places" in answer.content
    assert text == "a =  1\nb\na   = 1\n"


async def test_all_places_that_fit_apart_from_white_space_are_replaced_when_all_are_meant(tmp_path: Path) -> None:
    _, text = await edit(tmp_path, "a =  1\nb\na   = 1\n", "a = 1", "a = 2", replace_all=True)
    assert text == "a = 2\nb\na = 2\n"


async def test_what_is_not_found_is_answered_with_the_closest_place(tmp_path: Path) -> None:
    answer, _ = await edit(
        tmp_path, "start\n\tfirst()\n\tsecond()\n  third()\nend\n", "first()\nsecond()\nfourth()", "x"
    )
    assert answer.is_error
    assert "closest text is on lines 1-5" in answer.content
    assert "→second()" in answer.content
    assert "··third()" in answer.content


async def test_a_match_within_lines_that_differs_in_white_space_is_shown(tmp_path: Path) -> None:
    answer, _ = await edit(tmp_path, "call(a,   b)  # note\n", "call(a, b)", "x")
    assert answer.is_error
    assert "differs in white space alone" in answer.content


async def test_what_resembles_nothing_says_so(tmp_path: Path) -> None:
    answer, _ = await edit(tmp_path, "alpha\nbeta\n", "zzzzzz\nyyyyyy\nwwwwww", "x")
    assert "Nothing in the file is close to it" in answer.content


async def test_what_language_servers_say_is_appended(tmp_path: Path) -> None:
    async def diagnose(path: Path, hands: object) -> str:
        return f"<file_diagnostics>\nError: {path.name}\n</file_diagnostics>"

    answer = await use(
        edit_tool(diagnose), FakeHands(tmp_path), file_path="new.py", old_string="", new_string="x = 1\n"
    )
    assert answer.content.endswith("</result>\n<file_diagnostics>\nError: new.py\n</file_diagnostics>")
