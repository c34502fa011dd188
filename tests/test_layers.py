"""Imports run one way. This is the table of docs/house.md, held against every file."""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src"
MAP = Path(__file__).parent.parent / "docs" / "house.md"
PORTS = {"store.store", "broker.broker", "models.model", "tools.tool", "settings.settings"}
FACES = {"cli", "tui", "web", "acp"}
WITHIN = {"protocol", "core", "settings", "store", "broker", "models", "tools", "engine"}

# Whoever is named on the left may import itself and what is named on the right: a room, or one file of a room.
# The longest name on the left that fits a file decides.
MAY_IMPORT: dict[str, set[str]] = {
    "protocol": set(),
    "core": {"protocol"},
    "settings": {"protocol"},
    "store": {"protocol"},
    "broker": {"protocol"},
    "models": {"protocol", "settings.settings"},
    "tools": {"protocol", "settings.settings"},
    "engine": {"protocol", "core", *PORTS},
    "server": {"protocol", "engine", "settings.settings"},
    "client": {"protocol"},
    # Where this user's server listens, and which build it should be, is known in one place.
    "client.local": {"protocol", "settings.dirs", "settings.build"},
    # The command line opens the other faces, checks and edits settings where there is no server, and one of its
    # commands opens the house.
    "cli": {"protocol", "client", "settings", *FACES},
    "cli.serve": {"protocol", "client", "house"},
    "tui": {"protocol", "client"},
    "web": {"protocol", "client"},
    "acp": {"protocol", "client"},
    "testing": WITHIN | {"client", "house", "server"},
    "house": WITHIN | FACES - {"cli"} | {"server", "client", "testing"},
    "__init__": {"client"},
    "__main__": {"cli"},
}

# Who may know these by name; for everybody else they are behind a port.
MAY_KNOW: dict[str, set[str]] = {
    "anthropic": {"models"},
    "apsw": {"store"},
    "asyncpg": {"store"},
    "click": {"cli"},
    "google": {"models"},
    "nats": {"broker"},
    "openai": {"models"},
    "pydantic_ai": {"models"},
    "starlette": {"server", "testing"},
    "textual": {"tui"},
    "uvicorn": {"server", "house"},
}


def test_every_import_points_the_way_the_house_allows() -> None:
    assert sorted(broken_rules(SOURCE)) == []


def test_the_page_with_the_map_tells_the_same() -> None:
    entrances = {"__init__", "__main__"}
    held = {rule: allowed - {rule} for rule, allowed in MAY_IMPORT.items() if rule not in entrances}
    assert told_on(MAP.read_text("utf-8")) == held


def told_on(page: str) -> dict[str, set[str]]:
    """What the rows of the page's table allow, in the words of the table here."""
    everything = WITHIN | FACES | {"server", "client", "house", "testing"}
    told: dict[str, set[str]] = {}
    for line in page.splitlines():
        if not line.startswith("| `"):
            continue
        rules, _, may_import, _ = (cell.strip() for cell in line.strip("|").split("|"))
        named = {as_rule(name) for name in re.findall("`([^`]+)`", may_import)} | (
            FACES if "faces" in may_import else set[str]()
        )
        for rule in map(as_rule, re.findall("`([^`]+)`", rules)):
            also = told[rule.split(".")[0]] if may_import.startswith("also") else set[str]()
            told[rule] = (everything - named if may_import.startswith("everything but") else named | also) - {rule}
    return told


def as_rule(name: str) -> str:
    """`store/store.py` is `store.store`, and `tui/` is `tui`."""
    return name.removesuffix(".py").strip("/").replace("/", ".")


def test_an_import_against_the_table_is_found_however_it_is_written(tmp_path: Path) -> None:
    for room in ("core", "store", "tui"):
        (tmp_path / "turnkeeper" / room).mkdir(parents=True)
    (tmp_path / "turnkeeper" / "store" / "sqlite.py").write_text("import apsw, turnkeeper.tui\n")
    (tmp_path / "turnkeeper" / "core" / "session.py").write_text("from turnkeeper.store import sqlite\n")
    (tmp_path / "turnkeeper" / "core" / "step.py").write_text("def late():\n    from turnkeeper import store\n")
    (tmp_path / "turnkeeper" / "tui" / "app.py").write_text("import apsw\nLATER = 'turnkeeper.store.sqlite'\n")
    assert sorted(broken_rules(tmp_path)) == [
        "core.session may not import store.sqlite",
        "core.step may not import store",
        "store.sqlite may not import tui",
        "tui.app may not import store.sqlite",
        "tui.app may not know apsw",
    ]


def broken_rules(source: Path) -> Iterator[str]:
    for path in sorted(source.glob("turnkeeper/**/*.py")):
        name = ".".join(path.relative_to(source / "turnkeeper").with_suffix("").parts)
        rule = max((known for known in MAY_IMPORT if covers(name, {known})), default=None)
        if rule is None:
            yield f"{name} is in no room of the table"
            continue
        room = rule.split(".")[0]
        for imported in imports(ast.parse(path.read_text("utf-8")), source):
            package, _, target = imported.partition(".")
            if package == "turnkeeper" and target and not covers(target, {room} | MAY_IMPORT[rule]):
                yield f"{name} may not import {target}"
            if package in MAY_KNOW and room not in MAY_KNOW[package]:
                yield f"{name} may not know {package}"


def imports(tree: ast.AST, source: Path) -> Iterator[str]:
    """Every module that a file names: in an import, or in a string from which one is imported later."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module), names=names):
                inner = [f"{module}.{alias.name}" for alias in names]
                yield from {name if is_module(name, source) else module for name in inner}
            case ast.Constant(value=str(text)) if re.fullmatch(r"turnkeeper(\.\w+)+", text) and is_module(text, source):
                yield text
            case _:
                pass


def is_module(name: str, source: Path) -> bool:
    path = source.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


def covers(name: str, allowed: Iterable[str]) -> bool:
    return any(name == one or name.startswith(f"{one}.") for one in allowed)
