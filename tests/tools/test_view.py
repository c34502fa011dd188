"""What view shows: a window of a text, in constant memory, or an image."""

import base64
import tracemalloc
from functools import partial
from pathlib import Path

import anyio
import pytest

from tests.tools.scene import lines, metadata, use
from turnkeeper.testing.hands import FakeHands, only_safe
from turnkeeper.tools.tool import Answer, Asking
from turnkeeper.tools.view import IMAGE_BYTES_MAX, WINDOW_BYTES_MAX, Skill, view_tool
from turnkeeper.tools.windows import PROBE_BYTES

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 64


async def view(folder: Path, data: bytes | str, *, offset: int = 0, limit: int = 0, name: str = "file") -> Answer:
    (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)
    return await use(view_tool(), FakeHands(folder), file_path=name, offset=offset, limit=limit)


async def test_lines_are_numbered_from_one(tmp_path: Path) -> None:
    answer = await view(tmp_path, "a\nb\n")
    assert answer.content == "<file>\n     1|a\n     2|b\n</file>"
    assert metadata(answer) == {"file_path": str(tmp_path / "file"), "content": "a\nb"}


async def test_two_hundred_lines_are_shown_and_the_next_offset_is_told(tmp_path: Path) -> None:
    answer = await view(tmp_path, lines(201))
    assert "   200|line 200\n" in answer.content
    assert "|line 201" not in answer.content
    assert "Use offset 200 to read on from line 201" in answer.content
    rest = await view(tmp_path, lines(201), offset=200)
    assert rest.content == "<file>\n   201|line 201\n</file>"


@pytest.mark.parametrize(
    ("offset", "limit", "first", "last", "more"),
    [(0, 10, 1, 10, False), (0, 9, 1, 9, True), (9, 1, 10, 10, False), (8, 1, 9, 9, True), (3, 100, 4, 10, False)],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n", ""])
async def test_a_window_shows_exactly_its_lines(
    tmp_path: Path, offset: int, limit: int, first: int, last: int, more: bool, ending: str
) -> None:
    text = lines(10) if ending else lines(10).removesuffix("\n")
    answer = await view(tmp_path, text.replace("\n", ending or "\n"), offset=offset, limit=limit)
    shown = [line for line in answer.content.splitlines() if "|" in line]
    assert shown == [f"{number:6d}|line {number}" for number in range(first, last + 1)]
    assert ("has more lines" in answer.content) == more


@pytest.mark.parametrize("offset", [10, 11, 10_000])
async def test_an_offset_beyond_the_end_says_how_long_the_file_is(tmp_path: Path, offset: int) -> None:
    for text in (lines(10), lines(10).removesuffix("\n")):
        answer = await view(tmp_path, text, offset=offset)
        assert answer.is_error
        assert "the file has 10 lines" in answer.content


async def test_an_empty_file_is_no_mistake(tmp_path: Path) -> None:
    assert (await view(tmp_path, "")).content == "<file>\n</file>"


async def test_a_long_line_is_cut_at_its_bytes_and_never_through_a_letter(tmp_path: Path) -> None:
    exact = await view(tmp_path, "x" * 2000 + "\n")
    assert exact.content == "<file>\n     1|" + "x" * 2000 + "\n</file>"
    cut = await view(tmp_path, "x" * 2001 + "\nnext\n")
    assert cut.content == "<file>\n     1|" + "x" * 2000 + "...\n     2|next\n</file>"
    letters = await view(tmp_path, "x" + "é" * 1500)
    assert letters.content == "<file>\n     1|x" + "é" * 999 + "...\n</file>"


async def test_a_line_of_more_than_a_megabyte_is_read_past(tmp_path: Path) -> None:
    answer = await view(tmp_path, b"x" * 3_000_000 + b"\nlast\n")
    assert answer.content.endswith("...\n     2|last\n</file>")


async def test_a_window_of_exactly_the_limit_is_shown_and_one_byte_more_is_not(tmp_path: Path) -> None:
    line = "x" * 1023
    text = "\n".join([line] * (WINDOW_BYTES_MAX // 1024)) + "y"
    assert len(text) == WINDOW_BYTES_MAX
    assert not (await view(tmp_path, text + "\n", limit=1000)).is_error
    answer = await view(tmp_path, text + "z\n", limit=1000)
    assert answer.is_error
    assert f"{WINDOW_BYTES_MAX + 1} bytes; at most {WINDOW_BYTES_MAX}" in answer.content


async def test_a_small_window_of_a_huge_file_costs_constant_memory(tmp_path: Path) -> None:
    path = tmp_path / "huge"
    with path.open("wb") as file:
        file.write(b"first\n" * 20_000)
        file.seek(1024 * 1024 * 1024)
        file.write(b"\nlast\n")
    hands = FakeHands(tmp_path)
    tracemalloc.start()
    try:
        first = await use(view_tool(), hands, file_path="huge", offset=998, limit=2)
        last = await use(view_tool(), hands, file_path="huge", offset=20_001, limit=2)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert first.content.startswith("<file>\n   999|first\n  1000|first\n")
    assert last.content == "<file>\n 20002|last\n</file>"
    assert peak < 4 * 1024 * 1024


async def test_what_is_not_there_is_answered_with_names_alike(tmp_path: Path) -> None:
    for name in ("config.py", "config.pyi", "my_config.py", "config.py.bak", "other.py"):
        (tmp_path / name).write_text("")
    answer = await use(view_tool(), FakeHands(tmp_path), file_path="Config.py")
    assert answer.is_error
    alike = [tmp_path / name for name in ("config.py", "config.py.bak", "config.pyi")]
    assert answer.content.splitlines()[2:] == [str(path) for path in alike]
    directory = await use(view_tool(), FakeHands(tmp_path), file_path=".")
    assert directory.is_error
    assert "directory" in directory.content


async def test_looking_outside_is_asked_for_with_the_window_that_was_meant(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "out").write_text("x\n")
    hands = FakeHands(inside)
    assert not (await use(view_tool(), hands, file_path="../out", offset=0)).is_error
    asking = hands.asked[0]
    assert (asking.tool, asking.action, asking.safe, asking.path) == ("view", "read", False, str(tmp_path / "out"))
    assert asking.params == {"file_path": str(tmp_path / "out"), "offset": 0, "limit": 200}
    hands = FakeHands(inside, judge=only_safe)
    assert (await use(view_tool(), hands, file_path="../nothing-there")).is_error
    assert "not found" not in (await use(view_tool(), hands, file_path="../nothing-there")).content


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("a.png", PNG, "image/png"),
        ("a.jpg", b"\xff\xd8\xff\xe0" + b"\0" * 9, "image/jpeg"),
        ("a.jpeg", PNG, "image/png"),
        ("a.gif", b"GIF89a" + b"\0" * 9, "image/gif"),
        ("a.WEBP", b"RIFF\0\0\0\0WEBP", "image/webp"),
    ],
)
async def test_an_image_is_given_by_what_its_bytes_say(tmp_path: Path, name: str, data: bytes, kind: str) -> None:
    answer = await view(tmp_path, data, name=name)
    assert (answer.mime_type, base64.b64decode(answer.data), answer.is_error) == (kind, data, False)


async def test_an_image_that_cannot_be_shown_is_an_answer(tmp_path: Path) -> None:
    assert "too large" in (await view(tmp_path, PNG + b"\0" * IMAGE_BYTES_MAX, name="a.png")).content
    assert "not an image" in (await view(tmp_path, "<html>", name="a.png")).content
    (tmp_path / "b.png").write_bytes(PNG)
    blind = await use(view_tool(), FakeHands(tmp_path, supports_images=False), file_path="b.png")
    assert blind.is_error
    assert "cannot see images" in blind.content


async def test_a_binary_file_is_named_as_one(tmp_path: Path) -> None:
    answer = await view(tmp_path, b"\x7fELF\0\1\2\3\0\0\0\0")
    assert answer.is_error
    assert "binary file" in answer.content
    assert "12 bytes" in answer.content


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        ("\ufeffzwölf\r\nelf\r\n".encode("utf-16-le"), "utf-16-le"),
        ("zwölf\nelf\n".encode("latin-1"), "cp1252"),
        ("\ufeffzwölf\nelf\n".encode("utf-32-be"), "utf-32-be"),
    ],
)
async def test_other_encodings_are_shown_and_named(tmp_path: Path, data: bytes, encoding: str) -> None:
    answer = await view(tmp_path, data)
    assert answer.content == f"<file>\n     1|zwölf\n     2|elf\n\n(The file is encoded as {encoding}.)\n</file>"


async def test_a_skill_is_read_without_asking_and_whole(tmp_path: Path) -> None:
    folder, inside = tmp_path / "skills/brew", tmp_path / "inside"
    folder.mkdir(parents=True)
    inside.mkdir()
    (folder / "SKILL.md").write_text(lines(500))
    tool = view_tool([Skill("brew", "Makes tea", folder), Skill("own", text="# Own\n")])
    hands = FakeHands(inside, judge=only_safe)
    answer = await use(tool, hands, file_path=str(folder / "SKILL.md"))
    assert "line 500" in answer.content
    assert hands.asked == []
    told = metadata(answer)
    assert (told["resource_type"], told["resource_name"], told["resource_description"]) == (
        "skill",
        "brew",
        "Makes tea",
    )
    own = await use(tool, hands, file_path="crush://skills/own/SKILL.md")
    assert own.content == "<file>\n     1|# Own\n</file>"
    assert (await use(tool, hands, file_path="crush://skills/none/SKILL.md")).is_error


@pytest.mark.parametrize("path", ["", "a\0b", "x" * 5000])
async def test_what_is_no_path_is_an_answer(tmp_path: Path, path: str) -> None:
    assert (await use(view_tool(), FakeHands(tmp_path), file_path=path)).is_error


async def test_the_home_and_the_names_of_the_client_are_meant_not_the_servers(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home/file").write_text("at home\n")
    hands = FakeHands(tmp_path, env={"HOME": str(tmp_path / "home"), "WHERE": str(tmp_path / "home")})
    for path in ("~/file", "$WHERE/file", "${WHERE}/file"):
        assert "at home" in (await use(view_tool(), hands, file_path=path)).content
    (tmp_path / "$literal").write_text("a name\n")
    assert "a name" in (await use(view_tool(), hands, file_path="$literal")).content


async def test_a_look_far_into_a_file_without_end_is_given_up_at_once_when_it_is_cancelled(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    with log.open("wb") as file:
        file.write(b"a line\n" * PROBE_BYTES)
        file.truncate(64 * 1024**3)
    read = anyio.Event()

    class Noticed(FakeHands):
        async def permit(self, asking: Asking) -> None:
            await super().permit(asking)
            read.set()

    async with anyio.create_task_group() as calls:
        calls.start_soon(partial(use, view_tool(), Noticed(tmp_path), file_path="log.txt", offset=10**9))
        await read.wait()
        await anyio.wait_all_tasks_blocked()
        calls.cancel_scope.cancel()
