"""Single keys set and removed in files that people write by hand."""

import json
import os
import stat
import sys
import tomllib
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tests.settings.scene import Scene, messages
from turnkeeper.protocol.config import Scope
from turnkeeper.settings import atomic, editing
from turnkeeper.settings.editing import KeyProblem, edited, put, remove_in_scope, set_fields, set_in_scope
from turnkeeper.settings.reading import ConfigProblem, parse

TOML = """# My settings.

[options]   # the usual
debug = true      # while I look for it
disabled_tools = [
    "bash",  # never
]

[providers.box]
api_key = "$BOX_KEY"
"""
JSON = """// My settings.
{
  "options": {
    "debug": true, // while I look for it
    "disabled_tools": ["bash" /* never */],
  },
  "providers": {
    "box": {"api_key": "$BOX_KEY"}
  }
}
"""
BOTH = [("x.toml", TOML), ("x.json", JSON)]


def after(path: str, text: str, key: str, value: Any) -> str:
    tree = parse(path, text).tree
    return edited(path, text, [(editing._path_of(key, tree), value)])


@pytest.mark.parametrize(("path", "text"), BOTH)
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("options.debug", False),
        ("options.initialize_as", "X.md"),
        ("options.tui.completions.max_depth", 3),
        ("providers.box.api_key", "sk-1"),
        ("providers.other.base_url", "http://x"),
        ("providers.a\\.b", {"name": "dotted", "models": [{"id": "m"}]}),
        ("options.disabled_tools.0", "view"),
        ("options.disabled_tools.-1", "fetch"),
        ("options.disabled_tools", []),
        ("models.large", {"model": "m", "provider": "p", "temperature": 0.5}),
        ("hooks.PreToolUse.-1", {"command": "x"}),
        ("permissions.allowed_tools", ["view"]),
    ],
)
def test_a_key_is_set_and_every_comment_stays(path: str, text: str, key: str, value: Any) -> None:
    result = after(path, text, key, value)
    expected = parse(path, text).tree
    put(expected, editing._path_of(key, expected), value)
    assert parse(path, result).tree == expected
    kept = ["# My settings." if path.endswith("toml") else "// My settings.", "while I look for it"]
    kept += [] if key == "options.disabled_tools" else ["never"]
    assert [comment for comment in kept if comment not in result] == []


@pytest.mark.parametrize(("path", "text"), BOTH)
@pytest.mark.parametrize(
    "key", ["options.debug", "options.disabled_tools", "options.disabled_tools.0", "options", "providers.box.api_key"]
)
def test_a_key_is_removed_and_the_rest_stays_valid(path: str, text: str, key: str) -> None:
    result = after(path, text, key, editing.REMOVED)
    expected = parse(path, text).tree
    put(expected, editing._path_of(key, expected), editing.REMOVED)
    assert parse(path, result).tree == expected
    assert "My settings." in result


@pytest.mark.parametrize(("path", "text"), BOTH)
@pytest.mark.parametrize(
    "key", ["nothing", "options.nothing.deeper", "options.debug.deeper", "options.disabled_tools.5"]
)
def test_removing_what_is_not_there_changes_nothing(path: str, text: str, key: str) -> None:
    assert after(path, text, key, editing.REMOVED) == text


def test_setting_and_removing_a_key_again_leaves_the_text_as_it_was() -> None:
    for path, text in BOTH:
        there = after(path, text, "options.progress", True)
        assert parse(path, after(path, there, "options.progress", editing.REMOVED)).tree == parse(path, text).tree
    there = after("x.json", JSON, "providers.new", {"name": "n"})
    assert after("x.json", there, "providers.new", editing.REMOVED) == JSON


names = some.text(min_size=1, max_size=5).filter(lambda name: not name.startswith(":"))
values = some.recursive(
    some.booleans() | some.integers(-(2**53), 2**53) | some.text(max_size=5),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
trees = some.dictionaries(names, values, max_size=3)


@given(trees, some.lists(names, min_size=1, max_size=3), values, some.sampled_from(["x.json", "x.toml"]))
def test_whatever_is_set_in_whatever_file_is_what_is_read_afterwards(
    tree: dict[str, Any], keys: list[str], value: Any, path: str
) -> None:
    import tomlkit

    text = tomlkit.dumps(tree) if path.endswith("toml") else json.dumps(tree, indent=2)
    expected = json.loads(json.dumps(tree))
    try:
        put(expected, keys, value)
    except KeyProblem:
        return
    result = edited(path, text, [(list(keys), value)])
    assert editing._says(path, result, expected)
    put(expected, keys, editing.REMOVED)
    assert editing._says(path, edited(path, result, [(list(keys), editing.REMOVED)]), expected)


def test_removing_the_last_key_of_a_table_keeps_the_comments_of_all_others() -> None:
    text = "# first\n[providers.box]\nname = 'b' # mine\n\n[options] # last\ndebug = true\n"
    result = after("x.toml", text, "providers.box", editing.REMOVED)
    assert ("# first" in result, "# last" in result, "name" in result) == (True, True, False)


OUT_OF_ORDER = """[options]
debug = true # kept
[providers.a]
name = "x"
[options.tui]
compact_mode = true
[providers.b]
name = "y"
options = 1
[[rules]]
verdict = "deny"
[[rules]]
verdict = "ask"
"""


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("options.progress", True),
        ("options.tui.diff_mode", "split"),
        ("providers.c.name", "z"),
        ("providers.a.name", "z"),
        ("rules.1.verdict", "allow"),
        ("rules.-1", {"verdict": "allow"}),
        ("reset", ["options.debug"]),
        ("options.debug", editing.REMOVED),
        ("providers.b", editing.REMOVED),
        ("rules.0", editing.REMOVED),
    ],
)
def test_tables_in_any_order_are_edited_where_they_are(key: str, value: Any) -> None:
    result = after("x.toml", OUT_OF_ORDER, key, value)
    expected = tomllib.loads(OUT_OF_ORDER)
    put(expected, editing._path_of(key, expected), value)
    assert tomllib.loads(result) == expected
    assert ("# kept" in result) == (key != "options.debug")


@pytest.mark.parametrize(("path", "text"), BOTH)
@pytest.mark.parametrize("result", ["", "[", '{"options": {"debug": true}}', "options.debug = true"])
def test_an_edit_that_went_wrong_is_written_afresh_rather_than_wrongly(
    monkeypatch: pytest.MonkeyPatch, path: str, text: str, result: str
) -> None:
    def wrong(text: str, changes: Any) -> str:
        return result

    monkeypatch.setattr(editing, "_edited_toml", wrong)
    monkeypatch.setattr(editing, "_edited_json", wrong)
    expected = parse(path, text).tree
    expected["options"]["debug"] = False
    assert parse(path, after(path, text, "options.debug", False)).tree == expected


@pytest.mark.parametrize("key", ["", ".", "a..b", "options.disabled_tools.7", "options.disabled_tools.name"])
def test_a_key_that_leads_nowhere_is_refused(key: str) -> None:
    with pytest.raises(KeyProblem):
        after("x.toml", TOML, key, 1)


def test_a_number_is_a_place_in_a_list_and_elsewhere_a_name() -> None:
    assert json.loads(after("x.json", "{}", "providers.302.name", "n")) == {"providers": {"302": {"name": "n"}}}
    assert json.loads(after("x.json", "{}", "providers.:0.name", "n")) == {"providers": {"0": {"name": "n"}}}
    assert json.loads(after("x.json", "{}", "hooks.PreToolUse.0.command", "c")) == {
        "hooks": {"PreToolUse": [{"command": "c"}]}
    }


def test_a_change_that_makes_the_file_unusable_is_refused_and_nothing_is_written(scene: Scene) -> None:
    path = scene.write("machine", "turnkeeper.toml", TOML)
    with pytest.raises(ConfigProblem, match=r"options\.debug: true or false was expected"):
        set_fields(path, {"options.initialize_as": "X.md", "options.debug": "perhaps"})
    assert path.read_text() == TOML


def test_a_file_that_is_broken_already_is_not_written_over(scene: Scene) -> None:
    path = scene.write("machine", "turnkeeper.toml", "options = [")
    with pytest.raises(ConfigProblem, match="not valid TOML"):
        set_fields(path, {"options.debug": True})
    assert path.read_text() == "options = ["


def test_several_keys_are_set_in_one_step_and_null_removes(scene: Scene) -> None:
    path = scene.write("machine", "turnkeeper.toml", TOML)
    set_fields(path, {"options.debug": None, "models.large": {"model": "m", "provider": "p", "top_k": None}})
    tree = tomllib.loads(path.read_text())
    assert tree["models"] == {"large": {"model": "m", "provider": "p"}}
    assert "debug" not in tree["options"]


def test_a_file_is_made_with_its_directory_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "turnkeeper.toml"
    set_fields(path, {"providers.box.api_key": "sk-1"})
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sorted(found.name for found in path.parent.iterdir()) == ["turnkeeper.toml", "turnkeeper.toml.lock"]


def test_a_file_that_others_could_read_is_closed_to_them_when_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "turnkeeper.toml"
    path.write_text("")
    path.chmod(0o644)
    set_fields(path, {"options.debug": True})
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "dotfiles.toml", tmp_path / "turnkeeper.toml"
    real.write_text("# mine\n")
    link.symlink_to(real)
    set_fields(link, {"options.debug": True})
    assert link.is_symlink()
    assert real.read_text() == "# mine\n\n[options]\ndebug = true\n"


def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "turnkeeper.toml"
    path.write_text("# mine\n")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ConfigProblem, match="cannot be written: No space left on device"):
        set_fields(path, {"options.debug": True})
    assert path.read_text() == "# mine\n"
    assert sorted(found.name for found in tmp_path.iterdir()) == ["turnkeeper.toml", "turnkeeper.toml.lock"]


def test_what_is_already_so_is_not_written_again(tmp_path: Path) -> None:
    path = tmp_path / "turnkeeper.toml"
    set_fields(path, {"options.debug": True})
    before = path.stat()
    set_fields(path, {"options.debug": True})
    assert path.stat() == before


WRITER = """
import sys
from pathlib import Path
from turnkeeper.settings.editing import set_fields
for number in range(25):
    set_fields(Path(sys.argv[1]), {f"providers.{sys.argv[2]}{number}.name": "x"})
"""


def test_two_writers_at_once_lose_nothing_of_each_other(tmp_path: Path) -> None:
    path = tmp_path / "turnkeeper.toml"
    writers = [Popen([sys.executable, "-c", WRITER, str(path), name]) for name in "ab"]
    assert [writer.wait(50) for writer in writers] == [0, 0]
    names = tomllib.loads(path.read_text())["providers"].keys()
    assert names == {f"{name}{number}" for name in "ab" for number in range(25)}


def test_a_file_that_somebody_else_holds_is_busy_and_not_waited_for_without_end(tmp_path: Path) -> None:
    path = tmp_path / "turnkeeper.toml"
    with atomic.locked(path), pytest.raises(atomic.FileBusy, match="being written by another program"):
        atomic.change(path, str.upper, lock_seconds=0.1)
    assert atomic.change(path, lambda text: text + "# now\n") == "# now\n"


def test_each_scope_has_its_file(scene: Scene) -> None:
    loaded = scene.load()
    set_in_scope(loaded, Scope.GLOBAL, {"options.initialize_as": "A.md", "options.debug": True})
    set_in_scope(loaded, Scope.WORKSPACE, {"options.initialize_as": "B.md"})
    assert "A.md" in (scene.places["machine"] / "turnkeeper.toml").read_text()
    assert "B.md" in (scene.places["workspace"] / "turnkeeper.toml").read_text()
    options = scene.settings().config.options
    assert (options.initialize_as, options.debug) == ("B.md", True)
    remove_in_scope(loaded, Scope.WORKSPACE, ["options.initialize_as"])
    assert scene.settings().config.options.initialize_as == "A.md"


@pytest.mark.parametrize(
    ("scope", "ours", "theirs"),
    [(Scope.GLOBAL, "machine", "crush machine"), (Scope.WORKSPACE, "workspace", "crush workspace")],
)
def test_a_key_that_the_originals_file_holds_is_forgotten_and_its_file_left_alone(
    scene: Scene, scope: Scope, ours: str, theirs: str
) -> None:
    original = scene.write(theirs, "crush.json", '{"providers": {"box": {"api_key": "sk", "name": "b"}}}')
    loaded = scene.load()
    keys = ["providers.box.api_key", "providers.box.oauth"]
    remove_in_scope(loaded, scope, keys)
    box = scene.settings().config.providers["box"]
    assert (box.api_key, box.name) == ("", "b")
    assert "sk" in original.read_text()
    remove_in_scope(loaded, scope, keys)
    written = tomllib.loads((scene.places[ours] / "turnkeeper.toml").read_text())
    assert written == {"reset": ["providers.box.api_key"]}
    set_in_scope(loaded, scope, {"providers.box.api_key": "sk-new"})
    assert scene.settings().config.providers["box"].api_key == "sk-new"


def test_what_is_set_through_us_in_a_trusted_file_is_trusted(scene: Scene) -> None:
    path, machine = scene.places["workspace"] / "turnkeeper.toml", scene.places["machine"]
    set_fields(path, {"mcp.files.command": "x"}, trust_dir=machine)
    assert messages(scene.load()) == []
    set_fields(path, {"mcp.files.command": "y"}, trust_dir=machine)
    assert scene.settings().config.mcp["files"].command == "y"


def test_a_file_that_was_not_trusted_does_not_become_so_by_another_change(scene: Scene) -> None:
    path, machine = scene.write("workspace", "turnkeeper.toml", '[mcp.evil]\ncommand = "x"\n'), scene.places["machine"]
    set_fields(path, {"options.debug": True}, trust_dir=machine)
    loaded = scene.load()
    assert [waiting.keys for waiting in loaded.waiting] == [("mcp.evil",)]
    assert loaded.settings.config.options.debug
