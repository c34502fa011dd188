"""What the sources say of each setting, for the JSON Schema: the sentence that stands under a field describes it."""

import ast
from collections.abc import Iterator, Mapping
from inspect import cleandoc
from itertools import pairwise
from pathlib import Path
from types import ModuleType


def sentences(*modules: ModuleType) -> dict[str, dict[str, str]]:
    """By class and field what stands under the field, what the class inherits included; base classes come first."""
    found: dict[str, dict[str, str]] = {}
    for module in modules:
        if module.__file__ is None:
            continue
        for node in ast.parse(Path(module.__file__).read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef):
                bases = [found.get(base.id, {}) for base in node.bases if isinstance(base, ast.Name)]
                found[node.name] = merged(*bases, dict(_said(node)))
    return found


def merged(*said: Mapping[str, str]) -> dict[str, str]:
    return {name: sentence for one in said for name, sentence in one.items()}


def _said(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, under in pairwise(node.body):
        match field, under:
            case ast.AnnAssign(target=ast.Name(name)), ast.Expr(ast.Constant(str(sentence))):
                yield name, " ".join(cleandoc(sentence).split())
            case _:
                pass
