"""What every test stands on: one event loop, and a home that belongs to nobody."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

# How long an example takes says more about the machine than about the code.
hypothesis.settings.register_profile("house", deadline=None)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "house")

HOMES = {
    "HOME": "",
    "XDG_CACHE_HOME": "cache",
    "XDG_CONFIG_HOME": "config",
    "XDG_DATA_HOME": "data",
    "XDG_RUNTIME_DIR": "run",
    "XDG_STATE_HOME": "state",
}
PERSONAL_PREFIXES = ("TURNKEEPER_", "CRUSH_", "ANTHROPIC_", "OPENAI_", "GEMINI_", "GOOGLE_", "AWS_", "AZURE_")
PERSONAL_SUFFIXES = ("_API_KEY", "_TOKEN")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Turnkeeper runs on asyncio alone."""
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def nobodys_home() -> Iterator[Path]:
    """An empty home, and no key, setting or git identity of the person who runs the tests.

    The path is short, since a socket may have to fit in it (104 bytes on some systems).
    """
    home = Path(tempfile.mkdtemp(prefix="tk-")).resolve()
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(PERSONAL_PREFIXES) or name.endswith(PERSONAL_SUFFIXES):
                patch.delenv(name)
        for name, folder in HOMES.items():
            (home / folder).mkdir(mode=0o700, exist_ok=True)
            patch.setenv(name, str(home / folder))
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        yield home
    shutil.rmtree(home, ignore_errors=True)
