"""Models and the keys of their providers: found, chosen for either slot, asked a key for; and no key is ever shown."""

from typing import Any

import pytest
from textual.widgets import Input

from tests.tui.dialogs.scene import Table, table
from tests.tui.scene import presses, snapshot
from turnkeeper.protocol.config import Config, ModelEntry, ProviderConfig, ProviderEntry, Scope
from turnkeeper.protocol.wire_overview import ProviderState
from turnkeeper.tui.dialogs.ask import AskDialog
from turnkeeper.tui.dialogs.models import Models, offers
from turnkeeper.tui.dialogs.providers import Providers

BIG = ModelEntry("big", "Big One", 3, 15, context_window=200_000, can_reason=True, supports_attachments=True)
TINY = ModelEntry("tiny", "Tiny One", 1, 2, context_window=64_000)
CATALOG = (ProviderEntry("Acme", "acme", models=(BIG, TINY)), ProviderEntry("Zenith", "zenith", models=(TINY,)))


async def config(at: Table) -> Config:
    return await at.workspace.config.get()


async def has_chosen(at: Table, slot: str, model: str) -> None:
    chosen: list[str] = []
    while chosen != [model]:
        await at.pilot.pause(0.01)
        chosen = [(await config(at)).models[slot].model]


async def models(at: Table) -> list[Any]:
    left = await at.open(Models(at.live))
    await at.shows("Big One")
    return left


async def test_models_stand_by_provider_with_what_they_hold_and_cost_and_why_they_cannot_be_asked() -> None:
    async with table(catalog=CATALOG) as at:
        await models(at)
        await at.shows("Scripted", "Acme", "Zenith", "needs a key")
        await at.workspace.config.set_provider_key(Scope.GLOBAL, "acme", "sk-secret")
        await at.press("escape")
        await models(at)
        await at.shows("$3/$15", "200k", "reasons")


@presses("models.slot", "ask.done")
async def test_a_model_without_a_key_asks_for_it_and_is_chosen_then() -> None:
    async with table(catalog=CATALOG) as at:
        left = await models(at)
        await at.press("tab")
        await at.shows("titles and summaries")
        await at.type("bigone")
        await at.press("enter")
        assert isinstance(at.app.screen, AskDialog)
        await at.type("sk-secret")
        assert "sk-secret" not in at.screen_text()
        await at.press("enter")
        await has_chosen(at, "small", "big")
        await at.until(lambda: left == [None])
        assert "acme" in (await config(at)).providers


@presses("models.key")
async def test_a_key_can_be_set_without_choosing_the_model() -> None:
    async with table(catalog=CATALOG) as at:
        await models(at)
        await at.type("big")
        await at.press("ctrl+e")
        await at.type("sk-secret")
        await at.press("enter")
        await at.until(lambda: isinstance(at.app.screen, Models))
        while "acme" not in (await config(at)).providers:
            await at.pilot.pause(0.01)
        assert (await config(at)).models["large"].model == "scripted"


def test_each_model_is_offered_once_and_those_that_can_be_asked_first() -> None:
    mine = ProviderConfig("acme", "My Acme", models=(TINY,))
    states = [ProviderState("acme", "My Acme", state="unavailable", why="it does not answer", key="ACME_API_KEY")]
    known, order = offers(Config(providers={"acme": mine}), CATALOG, [*states, ProviderState("zenith", state="ready")])
    assert order == ["zenith/tiny", "acme/big", "acme/tiny"]
    assert (known["acme/big"].why, known["acme/big"].needs_key) == ("it does not answer", False)
    assert known["acme/big"].provider_name == "My Acme"


@presses("providers.remove", "providers.update")
async def test_a_provider_is_given_a_key_and_it_is_taken_away_again() -> None:
    async with table(catalog=CATALOG) as at:
        await at.open(Providers(at.live))
        await at.shows("1 ready", "Acme")
        await at.type("acme")
        await at.press("enter")
        await at.until(lambda: isinstance(at.app.screen, AskDialog))
        assert at.app.screen.query_one(Input).password
        await at.type("sk-secret")
        await at.press("enter")
        await at.until(lambda: isinstance(at.app.screen, Providers))
        await at.press("ctrl+r")
        await at.shows("2 ready", "key from the settings")
        assert "sk-secret" not in at.screen_text()
        await at.press("ctrl+x")
        await at.press("y")
        while "acme" in (await config(at)).providers:
            await at.pilot.pause(0.01)
        await at.press("ctrl+r")
        await at.shows("1 ready")


@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=lambda size: f"{size[0]}")
@pytest.mark.parametrize("theme", ["turnkeeper-dark", "turnkeeper-light"])
async def test_how_it_looks(size: tuple[int, int], theme: str) -> None:
    async with table(catalog=CATALOG, size=size) as at:
        await at.blank()
        await at.workspace.config.set_provider_key(Scope.GLOBAL, "acme", "sk-secret")
        await at.until(lambda: at.live.view.config_revision)
        await models(at)
        at.app.theme = theme
        await at.press("down")
        await at.pilot.pause()
        snapshot(at.app, f"models-{size[0]}-{theme.removeprefix('turnkeeper-')}")
        await at.press("escape")
        await at.open(Providers(at.live))
        await at.shows("2 ready")
        await at.pilot.pause()
        snapshot(at.app, f"providers-{size[0]}-{theme.removeprefix('turnkeeper-')}")


def test_what_is_set_up_needs_no_key_where_nobody_says_otherwise() -> None:
    offline = ProviderConfig("offline", "Offline", models=(TINY,))
    known, _ = offers(Config(providers={"offline": offline}), CATALOG, [])
    assert (known["offline/tiny"].why, known["offline/tiny"].needs_key) == ("", False)
    assert known["acme/big"].needs_key
