"""The names by which the terminal can be told what to do."""

from collections import Counter

from turnkeeper.tui.commands import COMMANDS, named
from turnkeeper.tui.keymap import BY_ID


def test_every_name_means_one_command() -> None:
    names = Counter(name for command in COMMANDS for name in (command.name, *command.aliases))
    assert [name for name, count in names.items() if count > 1] == []


def test_a_command_is_found_by_its_name_and_by_its_other_names() -> None:
    assert all(named(name) is command for command in COMMANDS for name in (command.name, *command.aliases))
    assert named("EXIT") is named("quit")
    assert named("nothing") is None


def test_every_command_says_what_it_does_in_a_line() -> None:
    assert [command.name for command in COMMANDS if not 0 < len(command.about) <= 72] == []


def test_every_key_a_command_names_is_in_the_key_map() -> None:
    assert {command.key for command in COMMANDS if command.key} <= set(BY_ID)
