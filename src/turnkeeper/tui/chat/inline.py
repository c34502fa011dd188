"""Markdown within a paragraph: emphasis, code, links, and bare addresses that a terminal can open."""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from textual.content import Content, Span
from textual.style import Style

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode

ADDRESS = re.compile(r"https?://[^\s<>\"'`|\\^{}\[\]]+")
AFTER_AN_ADDRESS = ".,;:!?)*_"
SCHEMES = ("http", "https", "mailto")
URL_CHARACTERS_MAX = 2000

_STYLES = {"em": "emphasis", "strong": "strong", "s": "struck"}


class Inline:
    """Owns the text and the spans of one paragraph while it is put together."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.spans: list[Span] = []
        self.links: list[str] = []
        self._length = 0

    @property
    def content(self) -> Content:
        return Content("".join(self.pieces), sorted(self.spans, key=lambda span: (span.start, -span.end)))

    def add(self, nodes: Iterable["SyntaxTreeNode"]) -> None:
        for node in nodes:
            start = self._length
            match node.type:
                case "text":
                    self._text(node.content)
                case "softbreak":
                    self._put(" ")
                case "hardbreak":
                    self._put("\n")
                case "code_inline":
                    self._put(node.content)
                    self._style(start, "code")
                case "em" | "strong" | "s":
                    self.add(node.children)
                    self._style(start, _STYLES[node.type])
                case "link":
                    self.add(node.children)
                    self._link(start, str(node.attrs.get("href", "")))
                case "image":
                    self._put(node.content or "image")
                    self._link(start, str(node.attrs.get("src", "")))
                case _:
                    self._put(node.content)

    def _put(self, text: str) -> None:
        self.pieces.append(text)
        self._length += len(text)

    def _style(self, start: int, style: str | Style) -> None:
        if self._length > start:
            self.spans.append(Span(start, self._length, style))

    def _text(self, text: str) -> None:
        at = 0
        for found in ADDRESS.finditer(text):
            url = found[0].rstrip(AFTER_AN_ADDRESS)
            self._put(text[at : found.start()])
            start = self._length
            self._put(url)
            self._link(start, url, tell=False)
            at = found.start() + len(url)
        self._put(text[at:])

    def _link(self, start: int, url: str, *, tell: bool = True) -> None:
        """A link the terminal opens. Where its text is not its address, the address is told too: it may be another."""
        text = "".join(self.pieces)[start:]
        self._style(start, "link")
        if not is_safe(url):
            return
        self.links.append(url)
        self._style(start, Style(link=url))
        if tell and text != url and not self._is_inside_told(text, url):
            at = self._length
            self._put(f" ({url})")
            self._style(at, "muted")

    @staticmethod
    def _is_inside_told(text: str, url: str) -> bool:
        return text.strip("/") == urlsplit(url).netloc or f"mailto:{text}" == url


def is_safe(url: str) -> bool:
    """Whether a terminal may be handed this address."""
    if len(url) > URL_CHARACTERS_MAX or not url.isprintable() or " " in url:
        return False
    try:
        return urlsplit(url).scheme in SCHEMES
    except ValueError:
        return False


def inline(nodes: Sequence["SyntaxTreeNode"]) -> tuple[Content, list[str]]:
    """The text of some inline nodes, and the addresses in it."""
    made = Inline()
    made.add(nodes)
    return made.content, made.links
