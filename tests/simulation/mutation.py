"""Break the machine on purpose, one line at a time, and see each breakage caught twice over.

A mutant is caught by the table tests, and separately by the simulation or the exploration; whoever survives either
makes this fail. Mutants live in a copy on a path of their own: the tree is never touched.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tests.simulation.mutants import MUTANTS, Mutant

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "turnkeeper"
ROOMS = ("core", "protocol")
AT_ONCE = 2
SECONDS_MAX = 120
TABLE_TESTS = ("-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--no-header", "--tb=line")
SEARCHES = (
    ("-m", "tests.simulation.exploration", "--prompts", "3"),
    ("-m", "tests.simulation.simulation", "--seeds", "0-149"),
)
CAUGHT = {1, 2}
"""How pytest and the searches end when something is wrong; 2 when a scene already fails to be built."""


class Unpatchable(Exception):
    """The text that a mutant replaces does not stand in the machine exactly once."""


class Verdict(NamedTuple):
    mutant: Mutant
    by_table: bool
    by_search: bool

    @property
    def is_caught(self) -> bool:
        return self.by_table and self.by_search


def source_of(mutant: Mutant) -> str:
    """The machine with this one defect; it still compiles."""
    text = (PACKAGE / "core" / "session.py").read_text("utf-8")
    if text.count(mutant.old) != 1:
        raise Unpatchable(f"{mutant.effect}: {mutant.old!r} stands there {text.count(mutant.old)} times")
    broken = text.replace(mutant.old, mutant.new)
    compile(broken, "session.py", "exec")
    return broken


def try_out(mutant: Mutant | None) -> Verdict:
    """Run everything against a copy of the machine; with no mutant, against a copy without a defect."""
    with tempfile.TemporaryDirectory(prefix="tk-mutant-") as overlay:
        package = Path(overlay) / "turnkeeper"
        for room in ROOMS:
            shutil.copytree(PACKAGE / room, package / room, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(PACKAGE / "__init__.py", package)
        if mutant:
            (package / "core" / "session.py").write_text(source_of(mutant), "utf-8")
        tables = sorted(str(path) for path in (ROOT / "tests" / "core").glob("test_session_*.py"))
        by_table = fails(overlay, (*TABLE_TESTS, *tables))
        by_search = any(fails(overlay, search) for search in SEARCHES)
        return Verdict(mutant or Mutant("no defect", "", ""), by_table, by_search)


def fails(overlay: str, program: Sequence[str]) -> bool:
    ended = subprocess.run(
        [sys.executable, *program],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": overlay, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    if ended.returncode not in CAUGHT | {0}:
        raise RuntimeError(f"{program} ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}")
    return ended.returncode != 0


def try_all(mutants: Sequence[Mutant]) -> list[Verdict]:
    """Verdicts in the order of the mutants, after the machine without a defect has passed everything."""
    for mutant in mutants:
        source_of(mutant)
    control = try_out(None)
    if control.by_table or control.by_search:
        raise RuntimeError("the machine fails without a defect; mend it first")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(try_out, mutants))


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="scripts/mutate", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("words", nargs="*", help="only mutants whose effect contains one of these")
    words: list[str] = parser.parse_args(arguments).words
    chosen = [mutant for mutant in MUTANTS if not words or any(word in mutant.effect for word in words)]
    try:
        verdicts = try_all(chosen)
    except Unpatchable as stale:
        sys.stdout.write(f"a patch no longer applies: {stale}\n")
        return 1
    for verdict in verdicts:
        table = "caught" if verdict.by_table else "MISSED"
        search = "caught" if verdict.by_search else "MISSED"
        sys.stdout.write(f"tables {table}, search {search}: {verdict.mutant.effect}\n")
    survivors = sum(not verdict.is_caught for verdict in verdicts)
    sys.stdout.write(f"{len(verdicts)} mutants, {survivors} survived\n")
    return 1 if survivors or not verdicts else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
