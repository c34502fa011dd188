"""Every test that is named as a proof exists."""

import ast
from pathlib import Path

from tests.core.promises_core import PROMISES

ROOT = Path(__file__).parent.parent.parent


def test_every_promise_names_tests_that_exist() -> None:
    missing = [node for nodes in PROMISES.values() for node in nodes if not exists(node)]
    assert missing == []
    assert all(PROMISES.values())


def exists(node_id: str) -> bool:
    path, name = node_id.split("::")
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    return any(isinstance(node, ast.FunctionDef) and node.name == name for node in tree.body)
