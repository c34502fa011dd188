"""The list of promises speaks of tests that exist."""

import ast
from pathlib import Path

from tests.protocol.promises_protocol import PROMISES

ROOT = Path(__file__).parent.parent.parent


def test_every_promise_of_the_wire_names_tests_that_exist() -> None:
    named = {node for nodes in PROMISES.values() for node in nodes}
    assert named - {node for file in {node.split("::")[0] for node in named} for node in names_in(file)} == set()


def names_in(file: str) -> set[str]:
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    return {f"{file}::{node.name}" for node in tree.body if isinstance(node, ast.FunctionDef)}
