"""The pages keep their word: every link leads somewhere, and every command the README shows works."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
COMMAND_SECONDS_MAX = 30


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)


def commands(page: Path) -> list[str]:
    """Every line of every `bash` block: what a reader is told to run."""
    return [line for block in blocks(page, "bash") for line in block.splitlines() if line.strip()]


README_COMMANDS = commands(ROOT / "README.md")


@dataclass(frozen=True)
class Newcomer:
    """Somebody with an empty home and a fresh checkout in which `scripts/install` has just been run."""

    home: Path

    @property
    def checkout(self) -> Path:
        return self.home / "turnkeeper"

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        own = {
            "HOME": str(self.home),
            "PATH": f"{self.home / '.local' / 'bin'}:{os.environ['PATH']}",
            "LANG": "C.UTF-8",
            "XDG_RUNTIME_DIR": str(self.home),
            "TURNKEEPER_VENV": sys.prefix,
        }
        return ran(command, self.checkout, own)


@pytest.fixture
def newcomer() -> Iterator[Newcomer]:
    # A short path, since a socket has to fit in it.
    with TemporaryDirectory(prefix="tk-") as folder:
        home = Path(folder)
        (home / "turnkeeper").mkdir()
        for name in ("scripts", "requirements", "README.md", "pyproject.toml"):
            (home / "turnkeeper" / name).symlink_to(ROOT / name)
        (home / "turnkeeper" / ".venv").symlink_to(sys.prefix)
        somebody = Newcomer(home)
        yield somebody
        somebody.run(".venv/bin/turnkeeper server stop --force")


def test_the_readme_begins_with_running_it_and_then_with_testing_it() -> None:
    assert README_COMMANDS[0].startswith("scripts/install && .venv/bin/turnkeeper ")
    assert README_COMMANDS[1] == "scripts/test"


def test_what_a_change_must_pass_ends_with_the_command_the_readme_gives() -> None:
    lines = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    assert lines[-3:] == ["scripts/install --dev", "scripts/check", README_COMMANDS[1]]


@pytest.mark.slow
def test_every_command_of_the_readme_works_for_somebody_who_has_just_come(newcomer: Newcomer) -> None:
    """In the order in which they stand, since a reader runs them one after another."""
    for command in README_COMMANDS:
        for step in command.split(" && "):
            if step.split()[0] in {"scripts/install", "scripts/test"}:
                # These are what brought us here: .ci/run proves them from nothing, and here they would recurse.
                newcomer.run(f"{step.split()[0]} --help")
            else:
                newcomer.run(step)


@pytest.mark.slow
def test_the_first_command_answers_what_it_was_asked_and_says_who_did(newcomer: Newcomer) -> None:
    done = newcomer.run(README_COMMANDS[0].partition(" && ")[2])
    assert "pyproject.toml" in done.stdout
    (line,) = done.stderr.splitlines()
    assert "no model is configured" in line
    assert "turnkeeper login PROVIDER" in line


@pytest.mark.slow
def test_every_program_of_the_readme_works(newcomer: Newcomer) -> None:
    (program,) = blocks(ROOT / "README.md", "python")
    (newcomer.checkout / "program.py").write_text(program)
    assert "program.py" in newcomer.run(".venv/bin/python program.py").stdout


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


def run(command: str, directory: Path) -> str:
    return ran(command, directory, os.environ | {"TURNKEEPER_VENV": sys.prefix}).stdout


def ran(command: str, directory: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=directory,
        capture_output=True,
        env=env,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=COMMAND_SECONDS_MAX,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done


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
