"""Whoever watches the machine is watched too: a defect put into it is caught, by the tables and by a search."""

import pytest

from tests.simulation.mutants import MUTANTS, Mutant
from tests.simulation.mutation import Unpatchable, source_of, try_all, try_out

MUTANTS_MIN = 14


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_every_defect_is_caught_by_the_tables_and_by_the_searches() -> None:
    verdicts = try_all(MUTANTS)
    assert [verdict for verdict in verdicts if not verdict.is_caught] == []
    assert len(verdicts) >= MUTANTS_MIN


@pytest.mark.slow
def test_a_change_without_an_effect_survives_and_would_be_reported() -> None:
    harmless = Mutant("nobody notices", "# Only what was accepted", "# Only who was accepted")
    verdict = try_out(harmless)
    assert (verdict.by_table, verdict.by_search) == (False, False)


def test_a_patch_that_no_longer_applies_is_an_error() -> None:
    for old in ("this never stood there", "return"):
        with pytest.raises(Unpatchable):
            source_of(Mutant("stale", old, "pass"))


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.effect)
def test_a_defect_applies_to_the_machine_as_it_is(mutant: Mutant) -> None:
    assert mutant.new in source_of(mutant)
