"""Markdown as lines: headings, lists, quotes, tables and code, in a column that is never wider than is good to read."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from textual.content import Content

from turnkeeper.tui.chat.code import highlighted
from turnkeeper.tui.chat.copied import drawing
from turnkeeper.tui.chat.ink import Ink, cleaned, folded, indented, joined, styled, wrapped
from turnkeeper.tui.chat.inline import inline
from turnkeeper.tui.chat.table import Cell, table

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

DEPTH_MAX = 12
WIDTH_MIN = 12
CODE_MARGIN = drawing("  ")


@dataclass
class Paper:
    """What was drawn of a text: its lines, and what can be taken from it."""

    lines: list[Content] = field(default_factory=list[Content])
    code: list[str] = field(default_factory=list[str])
    links: list[str] = field(default_factory=list[str])


def markdown(text: str, ink: Ink) -> Paper:
    return draw_blocks(parsed(cleaned(text), {}), ink)


def parsed(text: str, env: dict[str, Any]) -> Sequence["SyntaxTreeNode"]:
    """The blocks of a text; what `env` knows of link definitions is known here, and what is defined here is added."""
    from markdown_it.tree import SyntaxTreeNode

    return SyntaxTreeNode(_parser().parse(text, env)).children


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def draw_blocks(nodes: Iterable["SyntaxTreeNode"], ink: Ink) -> Paper:
    paper = Paper()
    paper.lines = _Drawing(paper, ink).blocks(nodes, ink.text_width)
    return paper


@dataclass
class _Drawing:
    """Owns what is collected on the way; the lines are returned."""

    paper: Paper
    ink: Ink
    depth: int = 0

    def blocks(self, nodes: Iterable["SyntaxTreeNode"], width: int, *, tight: bool = False) -> list[Content]:
        lines: list[Content] = []
        for node in nodes:
            drawn = self.block(node, max(WIDTH_MIN, width))
            if drawn and lines and not tight:
                lines.append(Content(""))
            lines += drawn
        return lines

    def block(self, node: "SyntaxTreeNode", width: int) -> list[Content]:
        match node.type:
            case "heading":
                return self.heading(node, width)
            case "fence" | "code_block":
                return self.code(node, width)
            case "bullet_list" | "ordered_list":
                return self.listing(node, width)
            case "blockquote":
                return self.quote(node, width)
            case "table":
                return self.table(node, width)
            case "hr":
                sign = "" if self.ink.plain else self.ink.glyphs.rule * min(width, 40)
                return [styled(sign or "(a line)", "rule")]
            case "paragraph":
                return wrapped(self.inline(node), width)
            case _:
                return wrapped(Content(node.content.rstrip("\n")), width)

    def inline(self, node: "SyntaxTreeNode") -> Content:
        content, links = inline([leaf for child in node.children for leaf in child.children])
        self.paper.links += links
        return content

    def heading(self, node: "SyntaxTreeNode", width: int) -> list[Content]:
        level = len(node.markup) if node.markup.startswith("#") else 1 if node.markup == "=" else 2
        sign = "#" * level + " "
        text = self.inline(node).stylize_before("heading")
        return indented(wrapped(text, width - len(sign)), styled(sign, "rule"))

    def code(self, node: "SyntaxTreeNode", width: int) -> list[Content]:
        text = node.content.removesuffix("\n")
        self.paper.code.append(text)
        language = node.info.split(maxsplit=1)[0] if node.info.strip() else ""
        lines = [piece for line in highlighted(text, language=language) for piece in folded(line, width - 2)]
        told = [Content(f"code{', ' + language if language else ''}:")] if self.ink.plain else []
        return told + [joined(CODE_MARGIN, line) for line in lines] + ([Content("end of code")] if told else [])

    def listing(self, node: "SyntaxTreeNode", width: int) -> list[Content]:
        if self.depth >= DEPTH_MAX:
            return [styled("(nested too deeply to show)", "muted")]
        start = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else 0
        last = start + len(node.children) - 1
        tight = all(leaf.hidden for item in node.children for leaf in item.children if leaf.type == "paragraph")
        self.depth += 1
        lines: list[Content] = []
        for number, item in enumerate(node.children, start=start):
            marker = f"{number}." if node.type == "ordered_list" else self.ink.glyphs.bullet
            sign = f"{marker:>{len(str(last)) + 1}} " if node.type == "ordered_list" else f"{marker} "
            drawn = self.blocks(item.children, width - len(sign), tight=tight) or [Content("")]
            if lines and not tight:
                lines.append(Content(""))
            box, drawn[0] = self.task(drawn[0])
            lines += indented(drawn, joined((sign, "accent"), box), " " * len(sign))
        self.depth -= 1
        return lines

    def task(self, line: Content) -> tuple[Content, Content]:
        """The box of a task, and the rest of its first line."""
        for mark, sign, style in (("[ ] ", self.ink.glyphs.waiting, "muted"), ("[x] ", self.ink.glyphs.ok, "good")):
            if line.plain[:4].lower() == mark:
                return styled(f"{mark if self.ink.plain else sign + ' '}", style), line[4:]
        return Content(""), line

    def quote(self, node: "SyntaxTreeNode", width: int) -> list[Content]:
        if self.depth >= DEPTH_MAX:
            return [styled("(nested too deeply to show)", "muted")]
        self.depth += 1
        sign = "> " if self.ink.plain else f"{self.ink.glyphs.bar} "
        lines = [line.stylize_before("quote") for line in self.blocks(node.children, width - len(sign))]
        self.depth -= 1
        bar = drawing(styled(sign, "rule"))
        return indented(lines, bar, bar)

    def table(self, node: "SyntaxTreeNode", width: int) -> list[Content]:
        rows = [row for part in node.children for row in part.children]
        cells = [[Cell(self.inline(cell), str(cell.attrs.get("style", ""))) for cell in row.children] for row in rows]
        return table(cells, width, self.ink)
