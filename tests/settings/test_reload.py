"""Files that change while the server works."""

import os
import pickle

import pytest

from tests.settings.scene import Scene
from turnkeeper.protocol.config import SelectedModel
from turnkeeper.settings import editing
from turnkeeper.settings.load import load, reload, stale, with_model
from turnkeeper.settings.reading import ConfigProblem

BOX = SelectedModel(provider="box", model="m1")


def test_new_files_take_the_place_of_the_old(scene: Scene) -> None:
    before = scene.load()
    scene.write("user", "turnkeeper.toml", "options.debug = true\n")
    after = reload(before, scene.read())
    assert (before.settings.config.options.debug, after.settings.config.options.debug) == (False, True)
    assert after.problem is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("turnkeeper.toml", "options = ["),
        ("turnkeeper.toml", "options.debug = 1\n"),
        ("crush.json", '{"hooks": {"PreToolUse": [{}]}}'),
        ("crush.json", "\x00"),
    ],
)
def test_a_wrong_file_changes_nothing_and_tells_why(scene: Scene, name: str, text: str) -> None:
    scene.write("user", "turnkeeper.toml", "waits.connect_seconds = 3\n")
    before = scene.load()
    path = scene.write("project", name, text)
    after = reload(before, scene.read())
    assert after.settings == before.settings
    assert str(after.problem).startswith(str(path))
    with pytest.raises(ConfigProblem):
        scene.load()


def test_a_failing_script_changes_nothing_and_a_mended_one_is_used(scene: Scene) -> None:
    before = scene.load()
    scene.write("crush user", "crushrc", "option debug\nexit 1\n")
    kept = reload(before, scene.read())
    assert kept.settings == before.settings
    assert kept.problem is not None
    scene.write("crush user", "crushrc", "option debug\n")
    mended = reload(kept, scene.read())
    assert mended.settings.config.options.debug
    assert mended.problem is None


def test_a_wrong_file_is_not_stale_until_it_changes_again(scene: Scene) -> None:
    before = scene.load()
    path = scene.write("project", "crush.json", "{")
    assert stale(before.stamps) == (path,)
    kept = reload(before, scene.read())
    assert stale(kept.stamps) == ()


def test_a_file_that_came_changed_or_went_makes_the_settings_stale(scene: Scene) -> None:
    path = scene.write("project", "crush.json", '{"options": {"debug": true}}')
    loaded = scene.load()
    assert stale(loaded.stamps) == ()
    scene.write("project", "crush.json", '{"options": {"debug": false}}')
    assert stale(loaded.stamps) == (path,)
    loaded = scene.load()
    came = scene.write("workspace", "turnkeeper.toml", "")
    path.unlink()
    assert stale(loaded.stamps) == (path, came)
    assert stale(scene.load().stamps) == ()


def test_a_file_replaced_by_one_of_the_same_size_and_time_is_noticed(scene: Scene) -> None:
    path = scene.write("project", "crush.json", '{"options": {"debug": true}} ')
    loaded, found = scene.load(), path.stat()
    other = scene.write("project", "other.json", '{"options": {"debug": false}}')
    os.utime(other, ns=(found.st_atime_ns, found.st_mtime_ns))
    other.replace(path)
    assert stale(loaded.stamps) == (path,)


def test_a_model_chosen_here_stays_when_somebody_else_writes_another(scene: Scene) -> None:
    scene.write("user", "turnkeeper.toml", '[models.large]\nprovider = "box"\nmodel = "m0"\nthink = true\n')
    untouched = scene.load()
    pinned = with_model(untouched, "large", BOX)
    assert pinned.settings.selected("large") == BOX
    scene.write("machine", "turnkeeper.toml", '[models.large]\nprovider = "box"\nmodel = "m2"\n')
    assert reload(pinned, scene.read()).settings.selected("large") == BOX
    from_disk = reload(untouched, scene.read()).settings.selected("large")
    assert from_disk == SelectedModel(provider="box", model="m2", think=True)


def test_without_a_small_model_the_large_one_speaks(scene: Scene) -> None:
    assert scene.settings().selected("small") is None
    scene.write("user", "turnkeeper.toml", '[models.large]\nprovider = "box"\nmodel = "m1"\n')
    assert scene.settings().selected("small") == BOX


def test_setting_a_key_and_reloading_shows_it(scene: Scene) -> None:
    before = scene.load()
    path = scene.places["workspace"] / "turnkeeper.toml"
    editing.set_fields(path, {"options.debug": True, "waits.connect_seconds": 7})
    assert stale(before.stamps) == (path,)
    after = reload(before, scene.read()).settings
    assert (after.config.options.debug, after.waits.connect_seconds) == (True, 7)
    editing.remove_fields(path, ["options.debug"])
    assert not reload(before, scene.read()).settings.config.options.debug


def test_nothing_secret_is_printed(scene: Scene) -> None:
    scene.env["OPENAI_API_KEY"] = "sk-from-environment"
    scene.write("user", "turnkeeper.toml", 'env.A = "sk-in-env"\nproviders.box.api_key = "sk-in-file"\n')
    scene.write("machine", "turnkeeper.toml", 'mcp.x.headers.Authorization = "sk-in-header"\n')
    assert "sk-" not in repr(scene.load())
    assert "sk-" not in repr(scene.read())


def test_settings_can_be_sent_to_another_process(scene: Scene) -> None:
    settings = scene.settings()
    assert pickle.loads(pickle.dumps(settings)) == settings


def test_a_relative_directory_is_made_absolute(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(scene.project)
    from pathlib import Path

    assert load(Path(), env=scene.env).settings.workdir == scene.project
