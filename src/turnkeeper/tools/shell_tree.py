"""The tree of a command line, and where the grammar and bash disagree about it.

The grammar takes `[` for syntax of its own and passes over what it has no name for. For bash the one is a command like
any other, and the other is part of a word: whoever reads the tree has to know.
"""

from collections.abc import Iterator
from functools import cache
from itertools import pairwise

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

TESTS_NESTED_MAX = 8
COMMAND_LETTER = b"_"
OPAQUE = {"string", "raw_string", "ansi_c_string", "heredoc_redirect", "heredoc_body", "expansion", "regex"}
"""What is between the children of these is text."""

WHOLE = {"command_name", "concatenation", "simple_expansion"}
"""A word, or a part of one, in which there is no space."""
OF_WORDS = {
    "array",
    "case_statement",
    "command",
    "declaration_command",
    "file_redirect",
    "for_statement",
    "herestring_redirect",
    "redirected_statement",
    "unset_command",
}
WORDS = {
    "ansi_c_string",
    "arithmetic_expansion",
    "command_name",
    "command_substitution",
    "concatenation",
    "expansion",
    "file_descriptor",
    "number",
    "process_substitution",
    "raw_string",
    "simple_expansion",
    "string",
    "variable_assignment",
    "word",
}


@cache
def _language() -> Language:
    return Language(tree_sitter_bash.language())


def tree(source: bytes) -> Node:
    """The tree in which `[` is a command. It has the places of the source, and a letter where each `[` was."""
    parser = Parser(_language())
    root = parser.parse(source).root_node
    for _ in range(TESTS_NESTED_MAX if b"[" in source else 0):
        starts = _single_tests(root)
        if not starts:
            break
        source = b"".join(COMMAND_LETTER if at in starts else source[at : at + 1] for at in range(len(source)))
        root = parser.parse(source).root_node
    return root


def _single_tests(root: Node) -> set[int]:
    return {node.start_byte for node in _all(root) if node.type == "test_command" and node.children[0].type == "["}


def _all(root: Node) -> Iterator[Node]:
    unseen = [root]
    while unseen:
        node = unseen.pop()
        yield node
        unseen += node.children


def misreads(root: Node, source: bytes) -> bool:
    """Whether bash finds other words: in what is in no node, or where two nodes are one word."""
    if source[: root.start_byte].strip() or source[root.end_byte :].strip():
        return True
    return any(_passes_over(node, source) or _splits_a_word(node) for node in _all(root))


def _passes_over(node: Node, source: bytes) -> bool:
    if node.type in WHOLE and not (node.parent and node.parent.type in OPAQUE):
        return any(_gaps(node, source))
    return node.type not in OPAQUE and any(gap.strip() for gap in _gaps(node, source))


def _splits_a_word(node: Node) -> bool:
    """Whether two words touch, of which one ends where the grammar did not know how to go on."""
    return node.type in OF_WORDS and any(
        first.end_byte == second.start_byte and first.type in WORDS and _beginning(second) in WORDS
        for first, second in pairwise(node.children)
    )


def _beginning(node: Node) -> str:
    return node.children[0].type if node.type == "file_redirect" else node.type


def is_one_line(node: Node, source: bytes) -> bool:
    """Whether nothing is between the words of a command that would end it for bash."""
    return not any(b"\n" in gap for gap in _gaps(node, source))


def _gaps(node: Node, source: bytes) -> Iterator[bytes]:
    at = node.start_byte
    for child in node.children:
        if child.start_byte > at:
            yield source[at : child.start_byte]
        at = child.end_byte
    if node.children and node.end_byte > at:
        yield source[at : node.end_byte]


def descendants(node: Node) -> Iterator[Node]:
    """Everything below a node, but for what is inside expansions and substitutions."""
    for child in node.children:
        yield child
        if child.type not in ("simple_expansion", "expansion", "command_substitution"):
            yield from descendants(child)
