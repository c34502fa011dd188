"""Both stores, opened and closed around each test."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from turnkeeper.store.memory import MemoryStore
from turnkeeper.store.sqlite import SqliteStore, open_store
from turnkeeper.store.store import Store


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Store]:
    """Each test of the contract is told to both."""
    if request.param == "memory":
        yield MemoryStore()
        return
    async with open_store(tmp_path / "data") as opened:
        yield opened


@pytest.fixture
async def sqlite(tmp_path: Path) -> AsyncGenerator[SqliteStore]:
    async with open_store(tmp_path / "data", address="unix:/here", version="1") as opened:
        yield opened
