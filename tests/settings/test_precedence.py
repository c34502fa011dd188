"""Which of two files is believed, for every two of them."""

from itertools import combinations

import pytest

from tests.settings.scene import Scene, messages
from turnkeeper.settings.trust import text_digest, trust

ORDER = [
    ("crush system", "crush.json"),
    ("system", "turnkeeper.toml"),
    ("crush user", "crush.json"),
    ("crush user", "crushrc"),
    ("user", "turnkeeper.toml"),
    ("crush machine", "crush.json"),
    ("machine", "turnkeeper.toml"),
    ("project", "crush.json"),
    ("project", ".crush.json"),
    ("project", "crushrc"),
    ("project", ".crushrc"),
    ("project", "turnkeeper.toml"),
    ("project", ".turnkeeper.toml"),
    ("crush workspace", "crush.json"),
    ("workspace", "crush.json"),
    ("workspace", "turnkeeper.toml"),
]


def saying(name: str, value: str) -> str:
    if name.endswith("crushrc"):
        return f"option initialize-as {value}"
    if name.endswith(".toml"):
        return f'[options]\ninitialize_as = "{value}"\n'
    return f'{{"options": {{"initialize_as": "{value}"}}}}'


@pytest.mark.parametrize(("lower", "higher"), list(combinations(ORDER, 2)), ids=lambda place: "/".join(place))
def test_the_higher_of_two_files_is_believed(scene: Scene, lower: tuple[str, str], higher: tuple[str, str]) -> None:
    for (place, name), value in ((higher, "HIGH.md"), (lower, "LOW.md")):
        text = saying(name, value)
        path = scene.write(place, name, text)
        if name.endswith("crushrc"):
            trust(scene.places["machine"], path, text_digest(text))
    assert scene.settings().config.options.initialize_as == "HIGH.md"


def test_a_file_nearer_to_the_working_directory_is_believed_over_one_at_the_projects_root(scene: Scene) -> None:
    scene.write("project", ".turnkeeper.toml", saying("x.toml", "ROOT.md"))
    scene.write("project", "inner/crush.json", saying("crush.json", "INNER.md"))
    (scene.project / "inner" / "deeper").mkdir()
    assert scene.load(scene.project / "inner" / "deeper").settings.config.options.initialize_as == "INNER.md"
    assert scene.settings().config.options.initialize_as == "ROOT.md"


def test_a_file_above_the_projects_root_says_nothing(scene: Scene) -> None:
    (scene.project.parent / "crush.json").write_text(saying("crush.json", "ABOVE.md"))
    assert scene.settings().config.options.initialize_as == "AGENTS.md"


def test_without_a_repository_only_the_working_directory_speaks(scene: Scene) -> None:
    bare = scene.project.parent / "bare" / "inner"
    bare.mkdir(parents=True)
    (bare.parent / "crush.json").write_text(saying("crush.json", "ABOVE.md"))
    assert scene.load(bare).settings.config.options.initialize_as == "AGENTS.md"
    (bare / "crush.json").write_text(saying("crush.json", "HERE.md"))
    assert scene.load(bare).settings.config.options.initialize_as == "HERE.md"


def test_what_was_asked_for_on_the_command_line_is_believed_over_every_file(scene: Scene) -> None:
    scene.write("workspace", "turnkeeper.toml", "[waits]\nconnect_seconds = 1\n")
    loaded = scene.load(overrides={"waits": {"connect_seconds": 2}})
    assert loaded.settings.waits.connect_seconds == 2


def test_a_variable_is_believed_over_files(scene: Scene) -> None:
    scene.write("workspace", "turnkeeper.toml", "[waits]\nconnect_seconds = 1\n")
    scene.env["TURNKEEPER_WAITS_CONNECT_SECONDS"] = "2.5"
    assert scene.settings().waits.connect_seconds == 2.5


def test_the_data_directory_is_as_told_then_as_written_then_the_nearest_then_beside_the_files(scene: Scene) -> None:
    inner = scene.project / "inner"
    inner.mkdir()
    assert scene.load(inner).settings.data_dir == inner / ".turnkeeper"
    (scene.project / ".turnkeeper").mkdir()
    assert scene.load(inner).settings.data_dir == scene.project / ".turnkeeper"
    scene.write("user", "turnkeeper.toml", 'options.data_directory = "kept"\n')
    assert scene.load(inner).settings.data_dir == inner / "kept"
    assert scene.load(inner, data_dir=scene.root / "told").settings.data_dir == scene.root / "told"
    assert scene.load(inner).settings.config.options.data_directory == str(inner / "kept")


def test_a_file_in_the_data_directory_that_was_told_is_read(scene: Scene) -> None:
    told = scene.root / "told"
    told.mkdir()
    (told / "crush.json").write_text(saying("crush.json", "TOLD.md"))
    assert scene.load(data_dir=told).settings.config.options.initialize_as == "TOLD.md"


def test_one_directory_that_says_a_thing_in_json_and_in_a_script_is_told_which_keys(scene: Scene) -> None:
    scene.write("crush user", "crush.json", '{"options": {"debug": false, "initialize_as": "A.md"}}')
    scene.write("crush user", "crushrc", "option initialize-as B.md\noption debug\n")
    loaded = scene.load()
    assert loaded.settings.config.options.initialize_as == "B.md"
    assert messages(loaded) == [
        "options.debug, options.initialize_as: also said in crush.json beside it, and decided here"
    ]


def test_every_value_says_where_it_comes_from(scene: Scene) -> None:
    user = scene.write("user", "turnkeeper.toml", '# mine\n[options]\ndebug = true\ninitialize_as = "A.md"\n')
    project = scene.write("project", "crush.json", '{\n  // ours\n  "options": {\n    "debug": false\n  }\n}')
    script = scene.write("crush user", "crushrc", "\n\nprovider add box --base-url http://localhost\n")
    sources = scene.settings().sources
    assert str(sources.of("options.debug")) == f"{project}:4"
    assert str(sources.of("options.initialize_as")) == f"{user}:4"
    assert str(sources.of("providers.box.base_url")) == f"{script}:3"
    assert sources.of("waits.connect_seconds") is None
