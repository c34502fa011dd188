"""Turns are taken on a clock that jumps: no test here waits for the time it speaks of, and every one can tell it."""

from typing import Any

import pytest

from turnkeeper.testing.clock import JUMPING


@pytest.fixture(scope="module")
def anyio_backend() -> tuple[str, dict[str, Any]]:
    return JUMPING
