"""What becomes of a key that two files say, by its type."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as some

from tests.settings.scene import Scene
from turnkeeper.settings.merging import merge, split_key
from turnkeeper.settings.reading import Tree

leaves = some.none() | some.booleans() | some.integers() | some.text(max_size=4)
names = some.sampled_from(["a", "b", "c", "args", "models"])
trees = some.dictionaries(
    names,
    some.recursive(leaves, lambda inner: some.lists(inner, max_size=3) | some.dictionaries(names, inner, max_size=3)),
    max_size=4,
)


def test_objects_are_merged_key_by_key_and_scalars_replaced() -> None:
    below: Tree = {"options": {"debug": True, "tui": {"compact_mode": True}}}
    above: Tree = {"options": {"debug": False, "tui": {"diff_mode": "split"}}}
    assert merge(below, above) == {"options": {"debug": False, "tui": {"compact_mode": True, "diff_mode": "split"}}}


def test_lists_add_up_and_nothing_is_said_twice() -> None:
    assert merge({"a": [1, 2]}, {"a": [2, 3]}) == {"a": [1, 2, 3]}


def test_a_command_line_is_replaced_and_not_lengthened() -> None:
    assert merge({"mcp": {"x": {"args": ["-a"]}}}, {"mcp": {"x": {"args": ["-b"]}}}) == {"mcp": {"x": {"args": ["-b"]}}}


def test_models_with_the_same_id_are_replaced_in_their_place() -> None:
    below: Tree = {"models": [{"id": "a", "name": "old"}, {"id": "b"}]}
    above: Tree = {"models": [{"id": "c"}, {"id": "a", "name": "new"}]}
    assert merge(below, above) == {"models": [{"id": "a", "name": "new"}, {"id": "b"}, {"id": "c"}]}


def test_recent_models_are_as_they_were_last_written() -> None:
    below: Tree = {"recent_models": {"large": [1, 2], "small": [3]}}
    assert merge(below, {"recent_models": {"large": [4]}}) == {"recent_models": {"large": [4], "small": [3]}}


def test_another_type_replaces_what_was_there() -> None:
    assert merge({"a": {"b": 1}, "c": [1]}, {"a": [1], "c": {"d": 1}}) == {"a": [1], "c": {"d": 1}}


def test_an_inherited_list_can_be_forgotten_before_adding_to_it() -> None:
    below: Tree = {"options": {"disabled_tools": ["bash"], "debug": True}, "providers": {"a.b": {"name": "x"}}}
    above: Tree = {"reset": ["options.disabled_tools", "providers.a\\.b"], "options": {"disabled_tools": ["fetch"]}}
    assert merge(below, above) == {"options": {"disabled_tools": ["fetch"], "debug": True}, "providers": {}}


def test_a_reset_in_a_file_reaches_what_the_files_below_it_said(scene: Scene) -> None:
    scene.write("crush user", "crush.json", '{"options": {"disabled_tools": ["bash", "fetch"]}}')
    scene.write("user", "turnkeeper.toml", 'reset = ["options.disabled_tools"]\n[options]\ndisabled_tools = ["view"]\n')
    assert scene.settings().config.options.disabled_tools == ("view",)


@given(trees, trees)
def test_merging_changes_neither_of_the_two(below: dict[str, Any], above: dict[str, Any]) -> None:
    before = repr(below), repr(above)
    merge(below, above)
    assert (repr(below), repr(above)) == before


@given(trees, trees)
def test_every_key_of_both_is_in_the_result_and_merging_again_changes_nothing(
    below: dict[str, Any], above: dict[str, Any]
) -> None:
    once = merge(below, above)
    assert once.keys() == below.keys() | above.keys()
    assert merge(once, above) == once


def test_a_dot_in_a_name_is_written_with_a_backslash() -> None:
    assert split_key("models.gpt-4\\.1.name") == ["models", "gpt-4.1", "name"]


def test_settings_of_two_loads_share_nothing_that_can_change(scene: Scene) -> None:
    scene.write("user", "turnkeeper.toml", '[providers.box]\nextra_headers = {a = "1"}\n')
    first, second = scene.settings(), scene.settings()
    first.config.providers["box"].extra_headers["a"] = "2"
    assert second.config.providers["box"].extra_headers == {"a": "1"}
    assert scene.settings().config.providers["box"].extra_headers == {"a": "1"}
