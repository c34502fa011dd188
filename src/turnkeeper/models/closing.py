"""The end of an answer, wanted or not: its connection is closed before anybody goes on."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio

from turnkeeper.models.connection import CLOSE_SECONDS


@asynccontextmanager
async def closing(answer: Any) -> AsyncGenerator[None, None]:
    """Close a stream of an SDK however its reading ends, a cancelled reader included."""
    try:
        yield
    finally:
        with anyio.move_on_after(CLOSE_SECONDS, shield=True):
            close = getattr(answer, "close", None) or answer.aclose
            await close()
