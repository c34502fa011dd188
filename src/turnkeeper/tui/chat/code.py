"""Source text in colours: each line with the names of its styles, from Pygments' tokens.

Pygments is imported when the first line of code is drawn: a terminal that shows none does not wait for it.
"""

from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any

from textual.content import Content, Span

from turnkeeper.tui.chat.ink import cleaned

CHARACTERS_MAX = 200_000
"""Longer texts are shown without colours."""
CACHED_TEXTS = 256
CACHED_CHARACTERS_MAX = 8_000

# By the beginning of a token's name; the longest counts.
_STYLES = {
    "Keyword": "code-keyword",
    "Keyword.Type": "code-type",
    "Operator.Word": "code-keyword",
    "Name.Builtin": "code-builtin",
    "Name.Function": "code-name",
    "Name.Class": "code-type",
    "Name.Decorator": "code-builtin",
    "Name.Exception": "code-type",
    "Name.Tag": "code-keyword",
    "Name.Attribute": "code-name",
    "Literal.String": "code-string",
    "Literal.Number": "code-number",
    "Literal.Date": "code-number",
    "Comment": "code-comment",
    "Generic.Inserted": "added",
    "Generic.Deleted": "removed",
    "Generic.Heading": "code-keyword",
    "Generic.Subheading": "code-keyword",
    "Generic.Strong": "strong",
    "Generic.Emph": "emphasis",
}


def highlighted(text: str, *, language: str = "", path: str = "") -> Sequence[Content]:
    """The lines of a text, in colours where its language is known. The text is one that was cleaned."""
    if not text:
        return ()
    if len(text) > CHARACTERS_MAX or not (language or path):
        return [Content(line) for line in text.split("\n")]
    if len(text) > CACHED_CHARACTERS_MAX:
        return _highlighted(text, language, path)
    return _cached(text, language, path)


def highlighted_raw(text: str, *, language: str = "", path: str = "") -> Sequence[Content]:
    return highlighted(cleaned(text), language=language, path=path)


@lru_cache(CACHED_TEXTS)
def _cached(text: str, language: str, path: str) -> Sequence[Content]:
    return _highlighted(text, language, path)


def _highlighted(text: str, language: str, path: str) -> Sequence[Content]:
    lexer = _lexer(language.lower(), "" if language else path.rpartition("/")[2])
    if lexer is None:
        return [Content(line) for line in text.split("\n")]
    lines: list[Content] = []
    pieces: list[str] = []
    spans: list[Span] = []
    length = 0
    for token, value in lexer.get_tokens(text):
        style = _style_of(token)
        for number, piece in enumerate(value.split("\n")):
            if number:
                lines.append(Content("".join(pieces), spans))
                pieces, spans, length = [], [], 0
            if piece:
                if style:
                    spans.append(Span(length, length + len(piece), style))
                pieces.append(piece)
                length += len(piece)
    # A lexer ends the text with a line feed that may not have been there.
    if length:
        lines.append(Content("".join(pieces), spans))
    count = text.count("\n") + 1
    return (lines + [Content("")] * count)[:count]


@lru_cache(256)
def _style_of(token: Any) -> str:
    name = str(token).removeprefix("Token.")
    while name:
        if name in _STYLES:
            return _STYLES[name]
        name = name.rpartition(".")[0]
    return ""


@lru_cache(128)
def _lexer(language: str, file_name: str) -> Any:
    lexers: Any = import_module("pygments.lexers")
    unknown: type[Exception] = import_module("pygments.util").ClassNotFound
    try:
        if language:
            return lexers.get_lexer_by_name(language, stripnl=False)
        return lexers.get_lexer_for_filename(file_name, stripnl=False)
    except unknown:
        return None
