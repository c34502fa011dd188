"""Markdown that is still being written: what can no longer change is drawn once, and only the end is drawn again.

A block is finished when a whole line of another one has come after it; only the last one of a text can still become
something else. An open code block is finished line by line, and a long list item by item. Once the text is whole it is
drawn as a whole, so it ends as if it had been read from a file.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from textual.content import Content

from turnkeeper.tui.chat.ink import Drawn, Ink, Line, cleaned, lines_of
from turnkeeper.tui.chat.markdown import draw_blocks, markdown, parsed

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode

OPEN_CODE_LINES_MAX = 64
"""How many lines of an open code block are coloured again with each one that comes."""
OPEN_LIST_ITEMS_MAX = 16
"""How many items of a list are drawn again with each one that comes."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[^`]*$")
_HALF = re.compile(r"[*_~`\[(]+$")


@dataclass(frozen=True)
class Stream:
    """A text as far as it cannot change any more."""

    ink: Ink | None = None
    source: str = ""
    lines: Sequence[Line] = ()
    code: Sequence[str] = ()
    links: Sequence[str] = ()
    opened: str = ""
    """The line that opened the code block in the midst of which the source ends."""
    is_within: bool = False
    """Whether the source ends within a block: no empty line comes before the rest of it."""
    references: dict[str, Any] = field(default_factory=dict[str, Any])


def stream(text: str, ink: Ink, before: Stream | None = None) -> tuple[Stream, Drawn]:
    """The text so far, drawn on from what was drawn before."""
    whole = cleaned(text)
    known = before if before is not None and before.ink == ink and whole.startswith(before.source) else Stream(ink)
    known = _finished(known, whole, ink)
    rest = known.opened + whole[len(known.source) :]
    paper = draw_blocks(parsed(_closed(rest), {"references": dict(known.references)}), ink)
    tail = lines_of(paper.lines)
    lines = [*known.lines, *_gap(known, tail), *tail]
    return known, Drawn(lines, text, code=[*known.code, *paper.code], links=[*known.links, *paper.links])


def whole(text: str, ink: Ink) -> Drawn:
    paper = markdown(text, ink)
    return Drawn(lines_of(paper.lines), text, code=paper.code, links=paper.links)


def _finished(known: Stream, text: str, ink: Ink) -> Stream:
    """With everything but the last block, and of an open code block everything but its last lines."""
    text = text[: text.rfind("\n") + 1]
    rest = known.opened + text[len(known.source) :]
    env: dict[str, Any] = {"references": dict(known.references)}
    nodes = parsed(rest, env)
    if len(nodes) > 1:
        known = _with(known, nodes[:-1], _start(nodes[-1], rest), rest, env, ink)
        rest = text[len(known.source) :]
        nodes = nodes[-1:]
    if nodes and nodes[-1].type == "fence" and rest.count("\n") > 2 * OPEN_CODE_LINES_MAX:
        return _with_code(known, rest, ink)
    if nodes and nodes[-1].type.endswith("_list") and len(nodes[-1].children) > 2 * OPEN_LIST_ITEMS_MAX:
        items = nodes[-1].children
        end = _start(items[len(items) - OPEN_LIST_ITEMS_MAX], rest)
        taken = parsed(rest[:end], dict(env))
        return replace(_with(known, taken, end, rest, env, ink), is_within=True)
    return known


def _gap(known: Stream, lines: Sequence[Line]) -> list[Line]:
    """The empty line between what is known and what comes after it."""
    return [Line(Content(""))] if known.lines and lines and not known.is_within else []


def _start(node: "SyntaxTreeNode", text: str) -> int:
    """Where a block begins, in characters."""
    line = node.map[0] if node.map else 0
    at = 0
    for _ in range(line):
        at = text.index("\n", at) + 1
    return at


def _with(
    known: Stream, nodes: Sequence["SyntaxTreeNode"], end: int, rest: str, env: dict[str, Any], ink: Ink
) -> Stream:
    paper = draw_blocks(nodes, ink)
    lines = lines_of(paper.lines)
    return Stream(
        ink,
        known.source + rest[len(known.opened) : end],
        [*known.lines, *_gap(known, lines), *lines],
        [*known.code, *paper.code],
        [*known.links, *paper.links],
        references=dict(env.get("references", {})),
    )


def _with_code(known: Stream, rest: str, ink: Ink) -> Stream:
    """The first lines of an open code block are put away, as a block of their own."""
    lines = rest.split("\n")
    opening = _FENCE.match(lines[0])
    if opening is None or any(line.strip().startswith(opening[1]) for line in lines[1:]):
        return known
    taken = lines[: len(lines) - OPEN_CODE_LINES_MAX]
    length = sum(len(line) + 1 for line in taken)
    begun = _with(known, parsed("\n".join(taken), {}), length, rest, {"references": known.references}, ink)
    return replace(begun, opened=lines[0] + "\n", is_within=True)


def _closed(text: str) -> str:
    """What is half written at the end is shown as what it will most likely become, not as signs that vanish again."""
    block = text.rpartition("\n\n")[2]
    if _FENCE.match(block.partition("\n")[0]) or text.count("```") % 2:
        return text
    text = _HALF.sub("", text)
    block = _HALF.sub("", block)
    if block.count("`") % 2:
        return text + "`"
    return text + "**" if block.count("**") % 2 else text
