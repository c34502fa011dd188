"""Every knob that can be set is read by somebody: one that does nothing would be a promise that nobody keeps."""

import ast
from collections.abc import Iterator
from pathlib import Path

import turnkeeper
from turnkeeper.settings.environment import GROUPS
from turnkeeper.settings.settings import Shell

HOUSE = Path(turnkeeper.__file__).parent
KNOBS = [(group, key) for group, kind in {**GROUPS, "shell": Shell}.items() for key in kind.__struct_fields__]


def read_in(source: str) -> Iterator[tuple[str, str]]:
    """Every `waits.connect_seconds` and `settings.waits.connect_seconds`; and variables that stand for a knob."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(value, key):
                yield ast.unparse(value).rpartition(".")[2].removesuffix("()"), key
            case ast.Constant(str(text)) if text.startswith("TURNKEEPER_"):
                group, _, key = text.removeprefix("TURNKEEPER_").lower().partition("_")
                yield group, key
            case _:
                pass


def test_every_knob_is_read_by_somebody() -> None:
    readers = [path for path in HOUSE.rglob("*.py") if path.parent.name != "settings"]
    read = {found for path in readers for found in read_in(path.read_text("utf-8"))}
    assert [knob for knob in KNOBS if knob not in read] == []


def test_what_only_has_the_same_name_is_no_reading() -> None:
    source = 'knobs.connect_seconds, settings.waits.hook_seconds, database().archive, "TURNKEEPER_SERVER_READY_SECONDS"'
    assert {("waits", "hook_seconds"), ("database", "archive"), ("server", "ready_seconds")} <= set(read_in(source))
    assert ("waits", "connect_seconds") not in set(read_in(source))
