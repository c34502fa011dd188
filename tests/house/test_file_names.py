"""Which files of a real workspace a person is offered to name."""

from pathlib import Path
from typing import Any

import pytest
from anyio import fail_after

from tests.settings.scene import Scene
from turnkeeper.testing.house import house


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


async def names(scene: Scene) -> Any:
    with fail_after(30):
        async with house() as door:
            client = await door.client(scene.project, env=scene.env)
            answered = await client.http.get(client.path("/files"))
            assert answered.status == 200, answered.body
            return answered.json()


async def test_files_are_named_nearest_first_without_hidden_and_ignored_ones(scene: Scene) -> None:
    scene.write("project", ".gitignore", "*.secret\n")
    scene.write("project", "src/.crushignore", "generated\n")
    for name in (
        *("README.md", "src/main.py", "src/deep/er/x.py"),
        *("key.secret", ".env", "src/.hidden/y.py", "src/generated/z.py", "node_modules/a/b.js", "app.log"),
    ):
        scene.write("project", name, "x")
    assert await names(scene) == {"paths": ["README.md", "src/main.py", "src/deep/er/x.py"], "truncated": False}


async def test_the_settings_say_how_deep_and_how_many(scene: Scene) -> None:
    for name in ("a.py", "b.py", "one/c.py", "one/two/d.py"):
        scene.write("project", name, "x")
    scene.write("user", "turnkeeper.toml", "[options.tui.completions]\nmax_depth = 2\n")
    assert await names(scene) == {"paths": ["a.py", "b.py", "one/c.py"], "truncated": False}
    scene.write("user", "turnkeeper.toml", "[options.tui.completions]\nmax_items = 2\n")
    assert await names(scene) == {"paths": ["a.py", "b.py"], "truncated": True}
