"""HTML as text or Markdown: with html-to-markdown where it is installed, plainly where it is not."""

import html
import re
from html.parser import HTMLParser

NOISE = frozenset({"script", "style", "noscript", "iframe", "svg", "template"})
FRAME = frozenset({"nav", "header", "footer", "aside"})
VOID = frozenset({"br", "img", "hr", "input", "meta", "link", "area", "base", "col", "embed", "source", "track", "wbr"})
BLOCKS = frozenset(
    {"p", "div", "section", "article", "main", "ul", "ol", "table", "tr", "blockquote", "pre", "dl", "dt", "dd", "form"}
    | {"h1", "h2", "h3", "h4", "h5", "h6", "header", "footer", "nav", "aside", "figure", "body"}
)


def to_text(page: str) -> str:
    """What a reader would see, without marks."""
    reader = Plain(marks=False, skipped=NOISE)
    return reader.read(page)


def to_markdown(page: str, *, whole: bool = True) -> str:
    """The page as Markdown; without `whole`, only what is not its frame."""
    skipped = NOISE if whole else NOISE | FRAME
    cleaned = without(page, skipped)
    try:
        from html_to_markdown import convert
    except ImportError:
        return Plain(marks=True, skipped=skipped).read(cleaned)
    try:
        content = convert(cleaned).content
    except Exception:  # noqa: BLE001 - a stranger's code on a stranger's page: the plain reader always can
        return Plain(marks=True, skipped=skipped).read(cleaned)
    return re.sub(r"\n{3,}", "\n\n", content or "").strip()


def body_of(page: str) -> str:
    """The body element, or the whole where there is none."""
    found = re.search(r"<body\b[^>]*>.*?(?:</body\s*>|\Z)", page, re.DOTALL | re.IGNORECASE)
    return f"<html>\n{found[0]}\n</html>" if found else page


class Cleaner(HTMLParser):
    """Writes a page again without some of its elements."""

    def __init__(self, skipped: frozenset[str]) -> None:
        super().__init__(convert_charrefs=False)
        self._skipped = skipped
        self._within: list[str] = []
        self.kept: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in self._skipped and tag not in VOID:
            self._within.append(tag)
        self._keep(self.get_starttag_text() or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self._skipped:
            self._keep(self.get_starttag_text() or "")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._within:
            while self._within.pop() != tag:
                pass
        else:
            self._keep(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self._keep(data)

    def handle_entityref(self, name: str) -> None:
        self._keep(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self._keep(f"&#{name};")

    def _keep(self, text: str) -> None:
        if not self._within:
            self.kept.append(text)


def without(page: str, skipped: frozenset[str]) -> str:
    cleaner = Cleaner(skipped)
    cleaner.feed(page)
    cleaner.close()
    return "".join(cleaner.kept)


class Plain(HTMLParser):
    """A page as lines; with marks, also headings, lists, links, emphasis and code."""

    def __init__(self, *, marks: bool, skipped: frozenset[str]) -> None:
        super().__init__(convert_charrefs=True)
        self._marks = marks
        self._skipped = skipped
        self._silent = 0
        self._verbatim = 0
        self._links: list[str] = []
        self._parts: list[str] = []

    def read(self, page: str) -> str:
        self.feed(page)
        self.close()
        text = "".join(self._parts)
        text = re.sub(r"[ \t]+\n", "\n", text)
        return re.sub(r"\n{3,}", "\n\n", text).strip()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in self._skipped or tag == "title":
            self._silent += tag not in VOID
            return
        if tag in BLOCKS or tag == "br":
            self._parts.append("\n" if tag in ("br", "tr", "dt", "dd") else "\n\n")
        if tag == "pre":
            self._verbatim += 1
        if tag == "li":
            self._parts.append("\n- " if self._marks else "\n")
        if tag == "a":
            self._links.append(dict(attrs).get("href") or "")
        if self._marks:
            self._parts.append(mark_before(tag))

    def handle_endtag(self, tag: str) -> None:
        if tag in self._skipped or tag == "title":
            self._silent = max(self._silent - 1, 0)
            return
        if tag == "pre":
            self._verbatim = max(self._verbatim - 1, 0)
        link = self._links.pop() if tag == "a" and self._links else ""
        if self._marks:
            self._parts.append(f"]({link})" if tag == "a" else mark_after(tag))
        if tag in ("td", "th"):
            self._parts.append(" | " if self._marks else "\t")
        if tag in BLOCKS:
            self._parts.append("\n")

    def handle_data(self, data: str) -> None:
        if self._silent:
            return
        text = data if self._verbatim else re.sub(r"\s+", " ", data)
        at_start = not self._parts or self._parts[-1].endswith(("\n", "\t"))
        self._parts.append(text.lstrip(" ") if at_start and not self._verbatim else text)


def mark_before(tag: str) -> str:
    if re.fullmatch(r"h[1-6]", tag):
        return "#" * int(tag[1]) + " "
    return {"a": "[", "strong": "**", "b": "**", "em": "*", "i": "*", "code": "`", "pre": "```\n"}.get(tag, "")


def mark_after(tag: str) -> str:
    return {"strong": "**", "b": "**", "em": "*", "i": "*", "code": "`", "pre": "\n```"}.get(tag, "")


def plain_text(fragment: str) -> str:
    """A piece of HTML on one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", fragment)).split())
