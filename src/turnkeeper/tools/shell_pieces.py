"""Reading the words of a command line from its tree: quotes, escapes and expansions.

What a word contains that is a command of its own is handed to `walk`, so that no command hides in a word.
"""

import re
from collections.abc import Callable, Iterator

from tree_sitter import Node

from turnkeeper.tools.shell_env import may_be_secret
from turnkeeper.tools.shell_words import Piece, Word, ansi_quoted, bare, double_quoted, is_unquoted, joined

PLAIN_EXPANSION = re.compile(r"\$\{[A-Za-z_]\w*(:?-[\w./ ]*)?\}|\$\{#\w+\}|\$\w+|\$[?#$!@*-]")
PLAIN_ARITHMETIC = re.compile(r"\$\(\([\d\s+*/%()-]*\)\)")


class WordReader:
    """The words of one source text. Doubts about them are added to the list of whoever reads the line."""

    def __init__(
        self,
        source: bytes,
        *,
        walk: Callable[[Node], None],
        redirect: Callable[[Node], list[Word]],
        doubts: list[str],
    ) -> None:
        self.source = source
        self.walk = walk
        self.redirect = redirect
        self.doubts = doubts

    def text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def word(self, node: Node) -> Word:
        if node.type == "word":
            source = self.text(node)
            if source.isalnum() or source == "[":
                return Word(source, lead=source[:1])
            return joined((self.bare(node.start_byte, node.end_byte, first=True),))
        return joined(tuple(self.pieces(node, first=True)))

    def pieces(self, node: Node, *, first: bool, quoted: bool = False) -> Iterator[Piece]:
        match node.type:
            case "word" | "number" | "variable_name":
                yield self.bare(node.start_byte, node.end_byte, first=first)
            case "raw_string":
                yield Piece(self.text(node)[1:-1])
            case "ansi_c_string":
                yield ansi_quoted(self.text(node)[2:-1])
            case "concatenation":
                yield from self.concatenated(node, first=first)
            case "string":
                yield from self.string(node)
            case "simple_expansion" | "expansion" | "arithmetic_expansion":
                yield self.expansion(node, quoted=quoted)
            case "command_substitution" | "process_substitution":
                if node.children[0].type == ">(":
                    self.doubts.append("it writes to a command")
                yield from self.substitution(node, quoted=quoted)
            case _ if not node.is_named:
                # Backquotes around nothing are no substitution to the grammar, and vanish in bash.
                yield Piece(self.text(node), literal="`" not in self.text(node), bare=self.text(node))
            case _:
                self.walk(node)
                yield Piece(self.text(node), literal=False, splits=True)

    def bare(self, start: int, end: int, *, first: bool) -> Piece:
        source = self.source[start:end].decode("utf-8", "replace")
        if not is_unquoted(source):
            self.doubts.append("it cannot be read")
        return bare(source, first=first)

    def concatenated(self, node: Node, *, first: bool) -> Iterator[Piece]:
        at = node.start_byte
        for child in node.children:
            if child.start_byte > at:
                yield self.bare(at, child.start_byte, first=False)
            yield from self.pieces(child, first=first and at == node.start_byte)
            at = child.end_byte

    def string(self, node: Node) -> Iterator[Piece]:
        """What is between the expansions is taken from the source, since the tree leaves out some white space."""
        at, end = node.start_byte + 1, node.end_byte - 1
        for child in node.named_children:
            if child.type != "string_content":
                yield double_quoted(self.source[at : child.start_byte].decode("utf-8", "replace"))
                yield from self.pieces(child, first=False, quoted=True)
                at = child.end_byte
        yield double_quoted(self.source[at:end].decode("utf-8", "replace"))

    def expansion(self, node: Node, *, quoted: bool) -> Piece:
        text = self.text(node)
        if node.type == "arithmetic_expansion" and PLAIN_ARITHMETIC.fullmatch(text):
            return Piece(text, literal=False)
        if not PLAIN_EXPANSION.fullmatch(text):
            self.doubts.append("it uses an expansion that may do more than look up a variable")
        elif may_be_secret(text.lstrip("${#").partition(":")[0].rstrip("}")):
            self.doubts.append(f"it may show the secret in {text}")
        for child in node.named_children:
            if child.type not in ("variable_name", "special_variable_name", "word", "number"):
                self.walk(child)
        return Piece(text, literal=False, splits=not quoted or text in ("$@", "${@}"))

    def unescaped(self, node: Node) -> None:
        """Bash goes to the next backquote, whatever is quoted, takes the backslashes away, and reads only then."""
        text = self.text(node)
        if text.startswith("`") and re.search(r"[\\`]", text[1:-1]):
            self.doubts.append("it cannot be read")

    def substitution(self, node: Node, *, quoted: bool) -> Iterator[Piece]:
        self.unescaped(node)
        for child in node.children_by_field_name("redirect"):
            self.redirect(child)
        for child in node.named_children:
            if child.type != "file_redirect":
                self.walk(child)
            if any(part.type == "&" for part in node.children):
                self.doubts.append("it runs in the background")
        # The name of a process substitution is a pipe's, which is nobody's file.
        pipe = node.type == "process_substitution"
        yield Piece(self.text(node), literal=False, splits=not quoted and not pipe, glob=pipe)
