"""The pages keep their word: every link leads somewhere, and every command the README shows works."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
COMMAND_SECONDS_MAX = 30


def commands(page: Path) -> list[str]:
    """Every line of every `bash` block: what a reader is told to run."""
    blocks = re.findall(r"^```bash\n(.*?)^```$", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in block.splitlines() if line.strip()]


README_COMMANDS = commands(ROOT / "README.md")


def test_the_readme_begins_with_running_it_and_then_with_testing_it() -> None:
    assert README_COMMANDS[0].startswith("scripts/install && .venv/bin/turnkeeper ")
    assert README_COMMANDS[1] == "scripts/test"


def test_what_a_change_must_pass_ends_with_the_command_the_readme_gives() -> None:
    lines = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    assert lines[-3:] == ["scripts/install --dev", "scripts/check", README_COMMANDS[1]]


@pytest.mark.parametrize("command", README_COMMANDS)
def test_every_command_of_the_readme_works(command: str, checkout: Path) -> None:
    for step in command.split(" && "):
        if step.split()[0] in {"scripts/install", "scripts/test"}:
            # These are what brought us here: .ci/run proves them from nothing, and running them again would recurse.
            run(f"{step.split()[0]} --help", checkout)
        else:
            run(step, checkout)


@pytest.mark.parametrize("script", sorted(path.name for path in (ROOT / "scripts").iterdir() if path.is_file()))
def test_every_script_says_what_it_does_and_uses_no_colours_in_a_pipe(script: str) -> None:
    said = run(f"scripts/{script} --help", ROOT)
    assert said.startswith("Usage: ") or f"usage: scripts/{script}" in said.lower()
    assert "\x1b" not in said


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_of_every_page_leads_somewhere(page: Path) -> None:
    assert list(dead_links(page)) == []


def test_a_dead_link_is_found_whether_its_file_or_its_heading_is_missing(tmp_path: Path) -> None:
    (tmp_path / "there.md").write_text("# The House, and its `rooms`\n")
    page = tmp_path / "page.md"
    page.write_text(
        "[a](there.md#the-house-and-its-rooms) [b](there.md#cellar) [c](gone.md) [d](https://example.com)\n"
    )
    assert list(dead_links(page)) == ["there.md#cellar", "gone.md"]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A directory that looks to a command like a fresh checkout in which `scripts/install` has been run."""
    for name in ("scripts", "requirements", "README.md", "pyproject.toml"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    return tmp_path


def run(command: str, directory: Path) -> str:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=directory,
        capture_output=True,
        env=os.environ | {"TURNKEEPER_VENV": sys.prefix},
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=COMMAND_SECONDS_MAX,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def dead_links(page: Path) -> Iterator[str]:
    prose = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    for link in re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", prose):
        path, _, anchor = link.partition("#")
        if re.match(r"\w+:", link):
            continue
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in headings(target)):
            yield link


def headings(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}
