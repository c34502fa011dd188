"""The scene in which settings are loaded."""

from pathlib import Path

import pytest

from tests.settings.scene import Scene


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)
