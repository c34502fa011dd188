"""The few rules of style that a machine can hold. The rest is in CONTRIBUTING.md, and is held by readers."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "turnkeeper"

FILE_LINES_MAX = 350
PUBLIC_METHODS_MAX = 15
PORT_METHODS_MAX = 30
ROOMS_WITH_PORTS = {"store", "broker", "models", "tools", "engine", "testing", "house"}
TEST_NAME_WORDS_MIN = 3

# A decision that knows the time, the disk or the dice cannot be told the same thing twice.
IMPURE_MODULES = {
    "anyio",
    "asyncio",
    "concurrent",
    "datetime",
    "io",
    "logging",
    "os",
    "pathlib",
    "random",
    "secrets",
    "shutil",
    "socket",
    "subprocess",
    "tempfile",
    "threading",
    "time",
    "uuid",
}
IMPURE_BUILTINS = {"open", "print", "input", "exec", "eval"}

# What is true of one computer, or of one tracker, is of no use to a reader elsewhere. Each is written so that this page
# does not find itself.
WORKPLACE = re.compile(
    r"(?<![\w.~-])[/](work|root)/|[/]opt/wheels|(pypi|pythonhosted)\.org|registry\.npmjs|artifactor[y]"
    r"|\b[Ii]ssues? #?\d+\b"
)


def test_no_source_file_is_longer_than_a_person_reads_at_once() -> None:
    lines = {shown(path): len(text.splitlines()) for path, text in source_files()}
    assert {name: count for name, count in lines.items() if count > FILE_LINES_MAX} == {}


def test_no_class_has_more_public_methods_than_a_person_can_name() -> None:
    asked_for = {name for _, node in classes() if is_port(node) for name in public_methods(node)}
    too_many: dict[str, int] = {}
    for name, node in classes():
        # What a port asks for is counted at the port, not again at everybody who answers it.
        answering = name.split("/")[2] in ROOMS_WITH_PORTS and not is_port(node)
        own = public_methods(node) - (asked_for if answering else set())
        if len(own) > (PORT_METHODS_MAX if is_port(node) else PUBLIC_METHODS_MAX):
            too_many[name] = len(own)
    assert too_many == {}


def test_the_core_knows_no_time_no_disk_no_dice_and_no_await() -> None:
    impurities = [
        f"{shown(path)}:{line} {what}" for path, text in source_files("core") for line, what in impure(ast.parse(text))
    ]
    assert impurities == []


def test_an_impure_decision_is_noticed() -> None:
    text = "import os.path\nfrom time import sleep\nasync def decide():\n    await later()\n    return open('x')\n"
    found = sorted(impure(ast.parse(text)))
    assert found == [(1, "os"), (2, "time"), (3, "AsyncFunctionDef"), (4, "Await"), (5, "open()")]


def test_no_file_tells_where_it_was_written() -> None:
    tells = [
        f"{shown(path)}:{number} {found[0]}"
        for path, text in repository_files()
        for number, line in enumerate(text.splitlines(), start=1)
        if (found := WORKPLACE.search(line))
    ]
    assert tells == []


def test_every_test_has_a_sentence_for_a_name() -> None:
    short = [
        f"{shown(path)}::{node.name}"
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
        and len(node.name.removeprefix("test_").split("_")) < TEST_NAME_WORDS_MIN
    ]
    assert short == []


def test_asking_for_the_version_imports_nothing_that_is_not_pythons_own() -> None:
    asked = modules_of("-m", "turnkeeper", "--version") - modules_of("-c", "pass")
    assert {name for name in asked if name not in sys.stdlib_module_names} == {"turnkeeper"}


def shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def source_files(room: str = "") -> Iterator[tuple[Path, str]]:
    for path in sorted((SOURCE / room).rglob("*.py")):
        yield path, path.read_text("utf-8")


def repository_files() -> Iterator[tuple[Path, str]]:
    """Every file of the repository that is text, whether it was committed yet or not."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    )
    for name in sorted(filter(None, listed.stdout.split("\0"))):
        path = ROOT / name
        if path.is_file():
            text = path.read_bytes()
            if b"\0" not in text:
                yield path, text.decode("utf-8", errors="replace")


def classes() -> Iterator[tuple[str, ast.ClassDef]]:
    for path, text in source_files():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef):
                yield f"{shown(path)}::{node.name}", node


def is_port(node: ast.ClassDef) -> bool:
    return any(isinstance(base, ast.Name) and base.id == "Protocol" for base in node.bases)


def public_methods(node: ast.ClassDef) -> set[str]:
    """Overloads are one method, and a property is an attribute rather than a method."""
    return {
        member.name
        for member in node.body
        if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef)
        and not member.name.startswith("_")
        and not any("property" in ast.unparse(mark) or ".setter" in ast.unparse(mark) for mark in member.decorator_list)
    }


def modules_of(*arguments: str) -> set[str]:
    """The top-level names of everything a Python process imports."""
    timed = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments], capture_output=True, check=True, text=True, timeout=30
    )
    lines = [line for line in timed.stderr.splitlines() if line.startswith("import time:")]
    return {line.split("|")[-1].strip().split(".")[0] for line in lines} - {"imported package"}


def impure(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                modules = [alias.name.split(".")[0] for alias in names]
                yield from ((node.lineno, module) for module in modules if module in IMPURE_MODULES)
            case ast.ImportFrom(module=str(module)) if module.split(".")[0] in IMPURE_MODULES:
                yield node.lineno, module.split(".")[0]
            case ast.Call(func=ast.Name(id=name)) if name in IMPURE_BUILTINS:
                yield node.lineno, f"{name}()"
            case ast.AsyncFunctionDef() | ast.AsyncFor() | ast.AsyncWith() | ast.Await():
                yield node.lineno, type(node).__name__
            case _:
                pass
