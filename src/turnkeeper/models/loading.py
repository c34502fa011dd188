"""Providers' libraries, imported when the first question needs them and never on the event loop's time."""

import importlib
import sys
from functools import partial
from types import ModuleType

import anyio.to_thread

from turnkeeper.models.model import ModelTrouble, Trouble

LIBRARIES = {"chat": "openai", "responses": "openai", "anthropic": "anthropic", "google": "google.genai"}


async def library(name: str) -> ModuleType:
    """The module of this name. Importing takes up to seconds, so a thread does it."""
    if name in sys.modules and not getattr(sys.modules[name].__spec__, "_initializing", False):
        return sys.modules[name]
    try:
        return await anyio.to_thread.run_sync(partial(importlib.import_module, name), abandon_on_cancel=True)
    except ImportError as error:
        raise ModelTrouble(
            Trouble.REFUSED,
            f"the library {error.name or name} is not installed; install turnkeeper[models]",
            title="Library Missing",
        ) from error


async def warm(dialect: str) -> None:
    """Import what this dialect needs ahead of its first question."""
    if dialect in LIBRARIES:
        await library(LIBRARIES[dialect])
