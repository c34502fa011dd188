"""Every key of the map does what it says: a test presses it, and it stands on the page about keys."""

import importlib
from pathlib import Path

from tests.tui.scene import PRESSED, WRITES_SNAPSHOTS
from turnkeeper.tui.commands import COMMANDS
from turnkeeper.tui.keymap import BY_ID, KEYS, TITLES, grouped, shown_keys
from turnkeeper.tui.keys import Key

HERE = Path(__file__).parent
PAGE = HERE.parent.parent / "docs" / "terminal.md"


def pressed() -> set[str]:
    """The ids that tests say they prove."""
    for path in HERE.rglob("test_*.py"):
        importlib.import_module(".".join(("tests.tui", *path.relative_to(HERE).with_suffix("").parts)))
    return {id for ids in PRESSED.values() for id in ids}


def test_every_key_of_the_map_is_pressed_by_a_test() -> None:
    assert sorted(set(BY_ID) - pressed()) == []


def test_no_test_presses_a_key_that_is_not_in_the_map() -> None:
    assert sorted(pressed() - set(BY_ID)) == []


def test_every_context_has_a_name_people_understand() -> None:
    assert set(grouped()) - set(TITLES) == set()


def test_every_key_a_command_names_is_in_the_map() -> None:
    assert {command.key for command in COMMANDS if command.key} - set(BY_ID) == set()


def test_a_key_is_shown_as_it_is_bound_now() -> None:
    key = Key("app.help", "ctrl+g,f1", "Help")
    assert shown_keys(key, {}) == "ctrl+g, f1"
    assert shown_keys(key, {"app.help": "f2"}) == "f2"
    assert shown_keys(Key("x.y", "left_square_bracket", "", display="["), {}) == "["


def test_within_a_context_no_key_means_two_things() -> None:
    for context, keys in grouped().items():
        # What cannot be done at once is not asked of the same key: a list's take and a line's save are two dialogs.
        taken: dict[str, str] = {}
        for key in keys:
            for one in key.keys.split(","):
                assert taken.setdefault(one, key.id) == key.id, f"{context}: {one}"


def test_there_are_no_two_rows_of_one_name() -> None:
    assert len(KEYS) == len(BY_ID)


def key_tables() -> str:
    """Every key as the page has it."""
    lines: list[str] = []
    for context, keys in grouped().items():
        lines += [f"### {TITLES[context]}", "", "| key | does | id |", "|---|---|---|"]
        lines += [f"| `{shown_keys(key, {})}` | {key.about} | `{key.id}` |".replace("\\", "\\\\") for key in keys]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def test_the_page_about_the_terminal_has_every_key() -> None:
    """`TURNKEEPER_SNAPSHOTS=write` writes the tables anew."""
    before, heading, kept = PAGE.read_text("utf-8").partition("## Every key\n\n")
    if WRITES_SNAPSHOTS:
        kept = key_tables()
        PAGE.write_text(before + heading + kept, "utf-8")
    assert kept == key_tables()
