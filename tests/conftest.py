"""What every test stands on: one event loop, and no settings of the person who runs the tests."""

import pytest


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Turnkeeper runs on asyncio alone."""
    return "asyncio"
