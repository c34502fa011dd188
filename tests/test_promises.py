"""Whoever names a test as a proof names one that exists."""

import ast
from functools import cache
from pathlib import Path

import pytest

from tests.promises import TESTS, all_promises, promises_of, rooms

ROOT = TESTS.parent


@pytest.mark.parametrize("room", rooms(), ids=lambda room: room.stem)
def test_every_promise_names_tests_that_exist(room: Path) -> None:
    promises = promises_of(room)
    assert [promise for promise, proofs in promises.items() if not proofs] == []
    assert [proof for proofs in promises.values() for proof in proofs if not exists(proof)] == []


def test_the_promises_of_the_machine_are_among_them() -> None:
    assert "one ending per accepted run" in all_promises()


def test_a_proof_that_is_not_there_is_noticed() -> None:
    assert not exists("tests/test_promises.py::test_nobody_wrote_this")
    assert not exists("tests/test_nowhere.py::test_a_proof_that_is_not_there_is_noticed")
    assert exists("tests/test_promises.py::test_a_proof_that_is_not_there_is_noticed")


def exists(proof: str) -> bool:
    """Whether the test is there: `file::name`, with a parameter's id ignored."""
    path, _, name = proof.partition("::")
    return name.split("[")[0] in names_in(path)


@cache
def names_in(path: str) -> set[str]:
    if not (ROOT / path).is_file():
        return set()
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    found = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            within = {each.name for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}
            # A state machine of a searcher's is collected through what it assigns.
            found |= {f"{node.name}::{each}" for each in within} | {node.name}
        if isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return found
