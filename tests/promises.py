"""Every promise of the house, where it comes from, and the tests that prove it.

Each room lists its own beside its tests, in files named `promises_*.py`; here they are one list. A promise is named by
its place in the description of the original (a section, a trap, a weakness, one of its tests) or by its own sentence;
a proof is the name of a test. The same promise may be proved by several rooms.

    python -m tests.promises [WORD]    prints the list, or the promises that contain the word
"""

import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import cast

TESTS = Path(__file__).parent


def rooms() -> list[Path]:
    return sorted(TESTS.glob("**/promises_*.py"))


def promises_of(room: Path) -> Mapping[str, list[str]]:
    spec = importlib.util.spec_from_file_location(f"promises.{room.parent.name}.{room.stem}", room)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return cast("Mapping[str, list[str]]", module.PROMISES)


def all_promises() -> dict[str, list[str]]:
    together: dict[str, list[str]] = {}
    for room in rooms():
        for promise, proofs in promises_of(room).items():
            together.setdefault(promise, []).extend(proofs)
    return together


def main(word: str = "") -> None:
    for promise, proofs in sorted(all_promises().items()):
        if word.lower() in promise.lower():
            sys.stdout.write("\n    ".join((promise, *proofs)) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:2])
