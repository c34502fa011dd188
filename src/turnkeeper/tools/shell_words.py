"""A word of a command line: what bash will see, as far as it can be known without running anything.

`literal` is said only when bash sees exactly this one word, whatever the variables, the files and the user are.
"""

import re
import shlex
from collections.abc import Mapping, Sequence

import msgspec

ANSI_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|c.|.)", re.DOTALL)
ANSI_LETTERS = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}
BACKSLASH = re.compile(r"\\(.)", re.DOTALL)
QUOTED_BACKSLASH = re.compile(r'\\([$`"\\])')
GLOB = re.compile(r"(?<!\\)[*?\[]")
BRACES = re.compile(r"(?<!\\)\{[^{}]*(,|\.\.)[^{}]*\}|(?<!\\)\{[^}]*\{")
FIRST_OF_BRACES = re.compile(r"\{([^{},]*),[^{}]*\}")
UNQUOTED = re.compile(r"(?!#)(\\.|[^\s;&|<>()\\\"'`])*", re.DOTALL)
PLAIN = re.compile(r"[\w@%+=:,./~^!#-]+|\[\[?|\]\]?")
BEFORE_COMMENTS = " \t\n;&|()<>"
WORD_CHARACTER = "_"
"""It stands for what is escaped, which is part of a word whatever it would be otherwise."""
UNICODE_MAX = 0x10FFFF


def names(text: str) -> frozenset[str]:
    """A set of names, written as one text."""
    return frozenset(text.split())


class Word(msgspec.Struct, frozen=True):
    text: str
    """What bash sees; expansions stay as they are written."""
    literal: bool = True
    splits: bool = False
    """It may become several words, or none."""
    lead: str = ""
    """The first character, if that is certain."""
    pattern: bool = False
    """Nothing about it is uncertain but which files it matches."""

    @property
    def may_be_option(self) -> bool:
        return self.text.startswith("-") if self.literal else self.splits or self.lead in ("", "-")


UNKNOWN = Word("...", literal=False, splits=True)
"""Words that come from elsewhere, such as those `xargs` reads."""


class Piece(msgspec.Struct, frozen=True):
    """A stretch of a word that is written in one manner."""

    text: str
    literal: bool = True
    splits: bool = False
    glob: bool = False
    bare: str = ""
    """How it is written, if it is not quoted."""


def joined(pieces: Sequence[Piece]) -> Word:
    """The word that these pieces make when nothing stands between them."""
    text = "".join(piece.text for piece in pieces)
    braces = "{" in text and bool(BRACES.search("".join(piece.bare or "_" for piece in pieces)))
    if not braces and all(piece.literal for piece in pieces):
        return Word(text, lead=text[:1])
    known = next((piece for piece in pieces if piece.text), None)
    lead = known.text[0] if known and (known.literal or known.glob) and known.text[0] not in "*?[{" else ""
    return Word(
        text,
        literal=False,
        splits=braces or any(piece.splits for piece in pieces),
        lead=lead,
        pattern=not braces and all(piece.literal or piece.glob for piece in pieces),
    )


def bare(source: str, *, first: bool) -> Piece:
    """An unquoted stretch."""
    text = BACKSLASH.sub(r"\1", source) if "\\" in source else source
    if GLOB.search(source):
        return Piece(text, literal=False, glob=True, bare=source)
    return Piece(text, literal=not (first and source.startswith("~")), bare=source)


def is_unquoted(source: str) -> bool:
    """Whether bash, too, reads this as a stretch of one word."""
    return UNQUOTED.fullmatch(source) is not None


def double_quoted(source: str) -> Piece:
    text = source.replace("\\\n", "")
    return Piece(QUOTED_BACKSLASH.sub(r"\1", text) if "\\" in text else text)


def ansi_quoted(source: str) -> Piece:
    """What stands between `$'` and `'`."""
    return Piece(ANSI_ESCAPE.sub(_ansi_character, source).split("\0")[0])


def _ansi_character(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] in "01234567":
        return chr(int(code, 8) & 0xFF)
    if code[0] in "xuU" and len(code) > 1:
        number = int(code[1:], 16)
        return chr(number) if number <= UNICODE_MAX else ""
    if code[0] == "c" and len(code) > 1:
        return chr(ord(code[1]) & 0x1F)
    return ANSI_LETTERS.get(code, code)


def first_of_braces(text: str) -> str:
    """`{a,b}` becomes `a`: what bash would make the first word."""
    for _ in range(8):
        text, changes = FIRST_OF_BRACES.subn(r"\1", text)
        if not changes:
            break
    return text


def as_run(words: Sequence[Word], assigned: Mapping[str, str]) -> list[str]:
    """The words, with the command's own name spelled out where the line itself tells what it is."""
    first, rest = words[0], [word.text for word in words[1:]]
    if first.literal:
        return [first.text, *rest]
    values = {"IFS": " ", **assigned}
    text = re.sub(r"\$(?:(\w+)|\{(\w+)\})", lambda match: values.get(match[1] or match[2], match[0]), first.text)
    return [*first_of_braces(text).split(), *rest]


def shown(words: Sequence[Word]) -> str:
    """The words as one line that rules can match: single spaces, and quotes only where they are needed."""
    return " ".join(
        word.text if not word.literal or PLAIN.fullmatch(word.text) else shlex.quote(word.text) for word in words
    )


def as_bash_joins(source: str) -> str:
    """The line without its comments, and with the lines joined that end in a backslash."""
    result: list[str] = []
    quote, before = "", "\n"
    at = 0
    while at < len(source):
        character, following = source[at], source[at + 1 : at + 2]
        if character == "\\" and quote not in ("'", "#"):
            if following != "\n" or quote == "$'":
                result.append(character + following)
                before = WORD_CHARACTER
            at += 2
            continue
        quote = _quote_after(character, quote, before)
        if quote != "#":
            result.append(character)
        # The second of `$$` begins nothing: together they are the number of the process.
        before = WORD_CHARACTER if before == character == "$" else character
        at += 1
    return "".join(result)


def _quote_after(character: str, quote: str, before: str) -> str:
    if quote == "#":
        return "" if character == "\n" else "#"
    if quote:
        return "" if character == quote[-1] else quote
    if character == "'":
        return "$'" if before == "$" else "'"
    if character == '"' or (character == "#" and before in BEFORE_COMMENTS):
        return character
    return ""
