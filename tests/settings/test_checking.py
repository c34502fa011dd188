"""What is said of a file that cannot be used, or that says something nobody knows."""

import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema_rs
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some

from tests.settings.scene import Scene, messages
from turnkeeper.settings import checking, marks
from turnkeeper.settings.checking import schema
from turnkeeper.settings.reading import ConfigProblem, JsonError, TomlError, Tree, line_numbers, parse
from turnkeeper.settings.settings import Log, Runs, Server, Waits

TOML = """
[models.large]
provider = "box"
model = "m"
temperature = 0.5

[providers.box]
base_url = "http://localhost"
models = [{ id = "m", name = "M", context_window = 10 }]

[options]
debug = true
disabled_tools = ["bash"]

[[hooks.PreToolUse]]
command = "true"
matcher = "^bash$"

[waits]
connect_seconds = 2.5

[[rules]]
verdict = "deny"
tool = "bash"

[agents.reviewer]
model = "small"
allowed_tools = ["view"]
"""


def test_both_formats_say_the_same(scene: Scene) -> None:
    scene.write("user", "turnkeeper.toml", TOML)
    from_toml = scene.settings()
    scene.write("user", "turnkeeper.toml", "")
    scene.write("crush user", "crush.json", json.dumps(tomllib.loads(TOML)))
    from_json = scene.settings()
    assert from_json == msgspec.structs.replace(from_toml, sources=from_json.sources)
    assert from_json.agents["reviewer"].allowed_tools == ("view",)
    assert from_json.rules[0].verdict == "deny"
    assert from_json.waits.connect_seconds == 2.5


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("turnkeeper.toml", "[options]\ndebug = = true\n", 2),
        ("turnkeeper.toml", "[options]\ndebug = true\n[options]\n", 3),
        ("crush.json", '{\n "options": {\n  "debug": }\n}', 3),
        ("crush.json", '\n{\n "options": {}\n', 2),
        ("crush.json", '{"a": 1\n,\n "b" 2}', 3),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_its_line(scene: Scene, name: str, text: str, line: int) -> None:
    path = scene.write("project", name, text)
    with pytest.raises((TomlError, JsonError)) as caught:
        scene.load()
    assert str(caught.value).startswith(f"{path}:{line}: not valid ")


def test_a_file_of_json_that_is_no_object_is_refused(scene: Scene) -> None:
    path = scene.write("project", "crush.json", "[1]")
    with pytest.raises(JsonError, match="an object was expected") as caught:
        scene.load()
    assert str(caught.value).startswith(f"{path}:1:")


@pytest.mark.parametrize("text", ["", "  \n", "{}"])
def test_an_empty_file_says_nothing(scene: Scene, text: str) -> None:
    scene.write("project", "crush.json", text)
    assert messages(scene.load()) == []


def test_bytes_that_are_no_text_are_told_with_their_line(scene: Scene) -> None:
    path = scene.write("project", "crush.json", "")
    path.write_bytes(b'{\n"a": "\xff"}')
    with pytest.raises(ConfigProblem) as caught:
        scene.load()
    assert str(caught.value) == f"{path}:2: is not UTF-8"


def test_json_may_hold_comments_and_trailing_commas(scene: Scene) -> None:
    scene.write("project", "crush.json", "// mine\n{options: {debug: true, /* really */},}\n")
    assert scene.settings().config.options.debug


def test_all_that_is_wrong_is_said_at_once_with_key_and_line(scene: Scene) -> None:
    path = scene.write(
        "user",
        "turnkeeper.toml",
        """[options]
debug = "yes"
context_paths = "A.md"
[waits]
connect_seconds = -1
[runs]
queue_after_crash = "sleep"
[providers.box]
models = [{ id = "m", context_window = 1.5 }]
[[rules]]
tool = "bash"
[log]
retention_days = true
""",
    )
    with pytest.raises(ConfigProblem) as caught:
        scene.load()
    assert str(caught.value).splitlines() == [
        f"{path}:2: options.debug: true or false was expected, not a text",
        f"{path}:3: options.context_paths: a list was expected, not a text",
        f"{path}:5: waits.connect_seconds: a number from 0.001 to 86,400 was expected, not -1",
        f'{path}:7: runs.queue_after_crash: "go on" or "wait" was expected, not a text',
        f"{path}:9: providers.box.models.0.context_window: a whole number was expected, not 1.5",
        f"{path}:10: rules.0: verdict is missing",
        f"{path}:13: log.retention_days: a whole number from 1 to 3,650 was expected, not true",
    ]


def test_a_wrong_value_is_not_repeated_since_it_may_be_a_secret(scene: Scene) -> None:
    scene.write("user", "turnkeeper.toml", 'providers.box = "sk-secret"\n[providers]\n')
    with pytest.raises(ConfigProblem) as caught:
        scene.load()
    assert "sk-secret" not in str(caught.value)


def test_an_unknown_key_is_told_with_the_nearest_known_one_and_the_rest_holds(scene: Scene) -> None:
    path = scene.write("user", "turnkeeper.toml", "[options]\ndebgu = true\ndebug = true\n\n[provider.x]\n[zzz]\n")
    loaded = scene.load()
    assert loaded.settings.config.options.debug
    assert list(map(str, loaded.notices)) == [
        f"{path}:2: options.debgu is not known and was ignored; did you mean debug?",
        f"{path}:5: provider is not known and was ignored; did you mean providers?",
        f"{path}:6: zzz is not known and was ignored",
    ]


def test_null_says_nothing(scene: Scene) -> None:
    scene.write("project", "crush.json", '{"options": null, "providers": {"x": null}, "tools": {"ls": null}}')
    assert messages(scene.load()) == []


def test_what_is_free_in_form_is_kept_as_it_is(scene: Scene) -> None:
    scene.write("user", "turnkeeper.toml", "[providers.box.extra_body]\nanything = [1, {deep = true}]\n")
    assert scene.settings().config.providers["box"].extra_body == {"anything": [1, {"deep": True}]}


@pytest.mark.parametrize(
    ("hook", "message"),
    [
        ({"command": "x", "matcher": "("}, "hooks.PreToolUse.0.matcher: not a regular expression"),
        ({"matcher": "x"}, "hooks.PreToolUse.0.command: a hook needs a command"),
        ({"command": "  "}, "hooks.PreToolUse.0.command: a hook needs a command"),
    ],
)
def test_a_hook_that_cannot_work_is_refused_when_it_is_read(scene: Scene, hook: dict[str, str], message: str) -> None:
    scene.write("crush user", "crush.json", json.dumps({"hooks": {"PreToolUse": [hook]}}))
    with pytest.raises(ConfigProblem, match=message.replace(".", r"\.")):
        scene.load()


def test_hook_events_may_be_spelled_as_one_likes(scene: Scene) -> None:
    spelled = ["PreToolUse", "pre_tool_use", "pretooluse", "PRE_TOOL_USE", "pre-tool-use"]
    hooks = {name: [{"command": name}] for name in spelled}
    scene.write("crush user", "crush.json", json.dumps({"hooks": hooks}))
    config = scene.settings().config
    assert [hook.command for hook in config.hooks["PreToolUse"]] == spelled
    assert list(config.hooks) == ["PreToolUse"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"attribution": {"co_authored_by": True}}, "co-authored-by"),
        ({"attribution": {"co_authored_by": False}}, "none"),
        ({"attribution": {"co_authored_by": False, "trailer_style": "assisted-by"}}, "assisted-by"),
        ({}, "assisted-by"),
    ],
)
def test_the_earlier_way_to_set_attribution_is_understood(scene: Scene, options: Any, expected: str) -> None:
    scene.write("crush user", "crush.json", json.dumps({"options": options}))
    attribution = scene.settings().config.options.attribution
    assert attribution is not None
    assert (attribution.trailer_style, attribution.generated_with) == (expected, True)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"disable_notifications": True}, "disabled"),
        ({"disable_notifications": False}, "auto"),
        ({"notification_style": "bell"}, "bell"),
        ({"notification_style": "bell", "notifications": "osc"}, "osc"),
    ],
)
def test_the_earlier_words_for_notifications_are_understood(scene: Scene, options: Any, expected: str) -> None:
    scene.write("crush user", "crush.json", json.dumps({"options": options}))
    loaded = scene.load()
    assert loaded.settings.config.options.notifications == expected
    assert messages(loaded) == []


def test_with_no_file_at_all_everything_has_its_default(scene: Scene) -> None:
    settings = scene.settings()
    assert (settings.waits, settings.runs, settings.server, settings.log) == (Waits(), Runs(), Server(), Log())
    assert sorted(settings.agents) == ["coder", "task"]
    wire = msgspec.to_builtins(settings.config)
    assert wire["providers"] == {}
    assert wire["options"]["tui"] == {}
    assert "AGENTS.md" in wire["options"]["context_paths"]


def test_the_schema_accepts_what_we_accept_and_refuses_a_key_that_nobody_knows() -> None:
    found = schema()
    jsonschema_rs.meta.validate(found)
    validator = jsonschema_rs.Draft202012Validator(found)
    assert validator.is_valid(tomllib.loads(TOML))
    refused: list[Tree] = [{"optoins": {}}, {"waits": {"connect_seconds": 0}}, {"options": {"debug": 1}}]
    for wrong in refused:
        assert not validator.is_valid(wrong)


def test_the_schema_names_nothing_that_is_not_in_it() -> None:
    found = schema()
    text = json.dumps(found)
    named = {part.partition('"')[0] for part in text.split('"#/$defs/')[1:]}
    assert named <= found["$defs"].keys()
    assert found["$defs"]["Shape"]["properties"]["providers"]["additionalProperties"]


names = some.text(min_size=1, max_size=6)
values = some.recursive(
    some.booleans() | some.integers() | some.floats(allow_nan=False, allow_infinity=False) | some.text(max_size=8),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(names, inner, max_size=3),
    max_leaves=12,
)


@given(some.dictionaries(names, values, max_size=4), some.sampled_from([None, 2]))
def test_every_key_of_a_json_text_is_found_where_it_stands(tree: dict[str, Any], indent: int | None) -> None:
    text = json.dumps(tree, indent=indent)
    for path, mark in marks.json_marks(text).items():
        held: Any = tree
        for key in path:
            held = held[key]
        assert json.loads(text[mark.start : mark.end]) == held
    assert len(marks.json_marks(text)) == 1 + sum(1 for _ in everything(tree))


@given(some.dictionaries(names, values, max_size=4))
def test_every_key_of_a_toml_text_has_a_line_that_names_it(tree: dict[str, Any]) -> None:
    import tomlkit

    text = tomlkit.dumps(tree)
    numbers = line_numbers(parse("x.toml", text))
    for path in everything(tomllib.loads(text)):
        assert path in numbers


def everything(value: Any, at: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The path of every value inside."""
    parts: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        parts = list(value.items())  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(value, list):
        parts = list(enumerate(value))  # pyright: ignore[reportUnknownArgumentType]
    return [found for key, item in parts for found in [(*at, key), *everything(item, (*at, key))]]


def test_the_schema_says_of_each_of_our_settings_what_it_is_for() -> None:
    definitions = schema()["$defs"]
    assert definitions["Waits"]["properties"]["connect_seconds"]["description"] == (
        "For a connection to a model's provider."
    )
    ours = ("Waits", "Runs", "Server", "Log", "Database", "Agent", "PermissionRule", "Shell")
    silent = [
        (group, key)
        for group in ours
        for key, setting in definitions[group]["properties"].items()
        if not setting.get("description")
    ]
    assert silent == []


def test_no_setting_is_described_with_its_neighbours_words() -> None:
    options = schema()["$defs"]["Options"]["properties"]
    assert "description" in options["debug"]
    assert "description" not in options["debug_lsp"]


def test_the_published_schema_is_the_one_of_the_types() -> None:
    path = Path(checking.__file__).with_name("turnkeeper.schema.json")
    assert json.loads(path.read_text()) == schema(), "run scripts/schema"
