"""`turnkeeper doctor`: what is wrong is found, told in its place and with what mends it; what is well is told too."""

from pathlib import Path

import pytest

from tests.cli.alone import Alone, alone
from tests.cli.inside import inside
from turnkeeper.cli import doctor


@pytest.fixture
def at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Alone:
    return alone(tmp_path, monkeypatch)


async def test_a_house_in_order_is_well(at: Alone) -> None:
    async with inside(cwd=at.project) as house:
        told = await house.tk("doctor")
        assert (told.code, told.out.splitlines()[-1]) == (0, "It works; what is marked with ! could be better.")
        found = {one["what"]: one for one in (await house.tk("doctor", "--json")).json()}
    assert {name: found[name]["state"] for name in ("version", "directories", "settings", "database", "model")} == {
        "version": "well",
        "directories": "well",
        "settings": "well",
        "database": "well",
        "model": "well",
    }
    assert found["model"]["said"] == "scripted/scripted answers"
    assert (found["server"]["state"], "another build" in found["server"]["said"]) == ("strange", True)


async def test_what_is_broken_is_told_with_what_mends_it(at: Alone) -> None:
    settings = at.write(at.everywhere, "[waits]\nconnect_seconds = 'x'\n")
    keys = at.write(at.keys, "[providers.openai]\napi_key = 'x'\n")
    keys.chmod(0o644)
    async with inside(cwd=at.project) as house:
        told = await house.tk("doctor")
    assert told.code == 1
    assert f"✗ keys: others can read {keys}\n    chmod 600 {keys}\n" in told.out
    assert f"✗ settings: {settings}:2: waits.connect_seconds: a number" in told.out
    assert told.out.endswith("\n2 things to mend.\n")


async def test_what_has_no_effect_is_told_though_it_works(at: Alone) -> None:
    at.write(at.everywhere, "[wait]\nconnect_seconds = 3\n")
    at.write(at.project / "crushrc", "option debug true\n")
    async with inside(cwd=at.project) as house:
        told = await house.tk("doctor")
    assert told.code == 0
    assert f"! trust: {at.project / 'crushrc'} waits to be trusted: a script\n    turnkeeper config trust" in told.out
    assert "wait is not known and was ignored; did you mean waits?" in told.out


def test_a_server_that_is_not_there_is_what_is_wrong(at: Alone) -> None:
    told = at.tk("doctor", "--host", "tcp://127.0.0.1:1")
    assert told.code == 1
    assert "✗ server: no server answers at tcp://127.0.0.1:1" in told.out
    assert "database" not in told.out


def test_a_disk_that_is_full_is_found_before_a_run_finds_it(at: Alone) -> None:
    at.patch.setattr(doctor, "DISK_BYTES_MIN", 1 << 70)
    said = [(one.what, one.state.value, one.said) for one in doctor.places()]
    full = f"the disk of {at.home} is full"
    assert said == [("configuration", "broken", full), ("data", "broken", full), ("cache", "broken", full)]


def test_a_program_that_is_missing_is_named_with_what_it_is_for(at: Alone) -> None:
    at.patch.setenv("PATH", str(at.home))
    found = {one.what: one for one in doctor.programs()}
    assert (found["bash"].state, found["git"].state) == ("broken", "strange")
    assert found["git"].mend == "install git: changes are compared and committed with it"


@pytest.mark.parametrize(("id", "mend"), [("openai", "set OPENAI_API_KEY"), ("mine", "config get providers.mine")])
def test_a_provider_that_cannot_be_asked_is_mended_by_its_key_or_by_its_settings(id: str, mend: str) -> None:
    assert mend in doctor.mend_provider(id)
