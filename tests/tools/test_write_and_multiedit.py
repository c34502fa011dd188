"""write and multiedit: what is theirs alone; what every change has in common is in test_changing_files."""

from pathlib import Path

from tests.tools.scene import deeds, metadata, use
from turnkeeper.testing.hands import FakeHands, deny
from turnkeeper.tools.multiedit import multiedit_tool
from turnkeeper.tools.tool import Answer
from turnkeeper.tools.view import view_tool
from turnkeeper.tools.write import write_tool


async def write(hands: FakeHands, name: str, content: str) -> Answer:
    return await use(write_tool(), hands, file_path=name, content=content)


async def test_a_new_file_is_written_with_its_folders_and_may_be_empty(tmp_path: Path) -> None:
    hands = FakeHands(tmp_path)
    answer = await write(hands, "a/b/empty", "")
    assert not answer.is_error
    assert (tmp_path / "a/b/empty").read_bytes() == b""
    assert answer.content == f"<result>\nFile written: {tmp_path / 'a/b/empty'}\n</result>"
    assert deeds(hands) == ["permit", "begin", "changed"]


async def test_an_existing_file_must_have_been_seen(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x\n")
    hands = FakeHands(tmp_path)
    assert (await write(hands, "file", "y\n")).is_error
    await use(view_tool(), hands, file_path="file")
    assert not (await write(hands, "file", "y\n")).is_error
    assert (tmp_path / "file").read_text() == "y\n"


async def test_a_write_that_changes_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x\n")
    hands = FakeHands(tmp_path)
    await use(view_tool(), hands, file_path="file")
    answer = await write(hands, "file", "x\n")
    assert answer.is_error
    assert "already contains" in answer.content


async def test_a_directory_is_not_written(tmp_path: Path) -> None:
    answer = await write(FakeHands(tmp_path), ".", "x")
    assert answer.is_error
    assert "directory" in answer.content


async def test_the_diff_of_a_write_is_told_also_when_it_was_denied(tmp_path: Path) -> None:
    done = await write(FakeHands(tmp_path), "new", "a\nb\n")
    assert metadata(done) == {"additions": 2, "removals": 0, "diff": "--- a/new\n+++ b/new\n@@ -0,0 +1,2 @@\n+a\n+b\n"}
    denied = await write(FakeHands(tmp_path, judge=deny), "newer", "a\n")
    assert denied.stop_turn
    assert metadata(denied)["additions"] == 1
    assert not (tmp_path / "newer").exists()


def step(old: str, new: str, *, everywhere: bool = False) -> dict[str, object]:
    return {"old_string": old, "new_string": new, "replace_all": everywhere}


async def multiedit(folder: Path, text: str, *edits: dict[str, object]) -> tuple[Answer, str]:
    (folder / "file").write_text(text)
    hands = FakeHands(folder)
    await use(view_tool(), hands, file_path="file")
    answer = await use(multiedit_tool(), hands, file_path="file", edits=list(edits))
    return answer, (folder / "file").read_text()


async def test_each_edit_works_on_the_result_of_those_before(tmp_path: Path) -> None:
    answer, text = await multiedit(tmp_path, "a\n", step("a", "b"), step("b", "c c"), step("c", "d", everywhere=True))
    assert text == "d d\n"
    assert "Applied 3 edits" in answer.content
    assert metadata(answer)["edits_applied"] == 3
    assert "edits_failed" not in metadata(answer)


async def test_edits_that_fail_are_told_and_the_others_are_kept(tmp_path: Path) -> None:
    answer, text = await multiedit(tmp_path, "a\nb\n", step("zzz", "x"), step("b", "B"), step("b", "again"))
    assert text == "a\nB\n"
    assert not answer.is_error
    assert "Applied 1 of 3 edits" in answer.content
    assert "(2 failed)" in answer.content
    failed = metadata(answer)["edits_failed"]
    assert [one["index"] for one in failed] == [1, 3]
    assert failed[0]["edit"] == {"old_string": "zzz", "new_string": "x", "replace_all": False}
    assert "not found" in failed[0]["error"]


async def test_when_all_edits_fail_nothing_is_asked_or_written(tmp_path: Path) -> None:
    answer, text = await multiedit(tmp_path, "a\n", step("x", "y"), step("z", "y"))
    assert answer.is_error
    assert "none of the 2 edits" in answer.content
    assert text == "a\n"


async def test_edits_that_cancel_out_are_refused(tmp_path: Path) -> None:
    answer, _ = await multiedit(tmp_path, "a\n", step("a", "b"), step("b", "a"))
    assert answer.is_error
    assert "no changes" in answer.content


async def test_a_first_edit_without_old_string_creates_the_file_the_others_work_on(tmp_path: Path) -> None:
    hands = FakeHands(tmp_path)
    edits = [step("", "one\ntwo\n"), step("two", "2"), step("three", "3")]
    answer = await use(multiedit_tool(), hands, file_path="new/file", edits=edits)
    assert (tmp_path / "new/file").read_text() == "one\n2\n"
    assert "Applied 2 of 3" in answer.content
    assert deeds(hands) == ["permit", "begin", "changed"]
    again = await use(multiedit_tool(), hands, file_path="new/file", edits=edits)
    assert again.is_error
    assert "already exists" in again.content


async def test_a_later_edit_without_old_string_is_named_by_its_number(tmp_path: Path) -> None:
    answer, text = await multiedit(tmp_path, "a\n", step("a", "b"), step("", "x"))
    assert answer.is_error
    assert "edit 2" in answer.content
    assert text == "a\n"


async def test_there_is_at_least_one_edit_and_the_file_is_there(tmp_path: Path) -> None:
    answer, _ = await multiedit(tmp_path, "a\n")
    assert answer.is_error
    gone = await use(multiedit_tool(), FakeHands(tmp_path), file_path="gone", edits=[step("a", "b")])
    assert gone.is_error
    assert "not found" in gone.content


async def test_one_permission_covers_all_edits_and_a_no_keeps_the_diff(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a\nb\n")
    hands = FakeHands(tmp_path)
    await use(view_tool(), hands, file_path="file")
    hands.judge = deny
    answer = await use(multiedit_tool(), hands, file_path="file", edits=[step("a", "1"), step("b", "2")])
    assert answer.stop_turn
    told = metadata(answer)
    assert (told["additions"], told["removals"], told["edits_applied"]) == (2, 2, 2)
    assert [asking.tool for asking in hands.asked] == ["view", "multiedit"]
