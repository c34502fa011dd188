"""Reading a command line: which simple commands it may run, what it writes, and what about it is not plain.

A `Line` is complete in one direction only: every command that is spelled out anywhere in the text (in a pipe, a
substitution, a function, a here-document) is among its commands. Whatever is not understood is a doubt, and a line
with a doubt is never called safe.
"""

import re
from collections.abc import Sequence

from tree_sitter import Node

from turnkeeper.tools.shell_line import Command, Line, given, said
from turnkeeper.tools.shell_pieces import WordReader
from turnkeeper.tools.shell_tree import descendants, is_one_line, misreads, tree
from turnkeeper.tools.shell_words import UNKNOWN, Word, as_bash_joins, names, shown

NESTING_MAX = 40
PLAIN_ASSIGNMENT = re.compile(r"(?!.*_proxy)[a-z_][a-z0-9_]*|LANG|LC_[A-Z]+|TZ|COLUMNS|NO_COLOR|CLICOLOR|FORCE_COLOR")
UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]|(?! )(?=\s)[^\n\t]")
NOWHERE = {"/dev/null", "/dev/stdout", "/dev/stderr"}
TEST_OPERATORS = names("""
    -d -e -ef -f -h -L -n -nt -ot -r -s -w -x -z = == != ! && || [[ ]] ( ) "
""")
AFTER_TEST = (b"", b" ", b"\t", b"\n", b";", b"&", b"|", b")", b"`", b"<", b">")
NESTING = re.compile(r"[`]|\$[({]|<<|\(\(|\[\[")
CALCULATION = re.compile(r"\$?\(\((?:[^()'\"\\`]|\([^()'\"\\`]*\))*\)\)")
"""What can be nothing else: the brackets are closed together, and nothing is quoted."""
RESERVED = names("! { if elif else for while until case then do")
PREFIX = re.compile(r"!(?=\s+(\{|if|for|while|until|case)\s)|\btime(\s+-p)?(?=\s+(!|\{|if|for|while|until|case)\s)")
PASSED_THROUGH = {
    "program",
    "list",
    "pipeline",
    "subshell",
    "compound_statement",
    "do_group",
    "negated_command",
    "if_statement",
    "elif_clause",
    "else_clause",
    "redirected_statement",
}
PUNCTUATION = names("""
    ; && || | |& ( ) { } ! if then elif else fi for in do done
""") | {"\n"}


def parse(text: str) -> Line:
    source = as_bash_joins(text) if "\\\n" in text or "#" in text else text
    reader = _read(source)
    if any(word.text.partition(" ")[0] in RESERVED for word in (command.words[0] for command in reader.commands)):
        # The grammar knows no `! {` and no `time {`, and neither changes what is run.
        reader = _read(PREFIX.sub(lambda match: " " * len(match[0]), source))
        reader.doubts.append("it negates or times several commands")
    if reader.doubts and "((" in CALCULATION.sub("", source):
        # Bash takes `((` for two subshells where it cannot be a calculation; the grammar, for an error at best.
        reader.add(_read(source.replace("((", "( (").replace("((", "( (")))
    if source != text and NESTING.search(text):
        # What looks like a comment may stand in quotes inside of quotes, so the text counts as it is written, too.
        reader.add(_read(text))
        reader.doubts.append("it has comments or joined lines near quotes")
    if UNPRINTABLE.search(text):
        reader.doubts.append("it has unprintable characters")
    return Line(
        tuple(reader.commands),
        tuple(reader.reads),
        tuple(reader.writes),
        tuple(dict.fromkeys(reader.doubts)),
        reader.assigned,
        tuple(dict.fromkeys(reader.values)),
        source,
    )


def _read(source: str) -> "_Reader":
    reader = _Reader(source.encode("utf-8", "replace"))
    reader.read()
    return reader


class _Reader:
    """Walks the tree of one text once."""

    def __init__(self, source: bytes) -> None:
        self.doubts: list[str] = []
        self.words = WordReader(source, walk=self.walk, redirect=self.redirect, doubts=self.doubts)
        self.commands: list[Command] = []
        self.reads: list[Word] = []
        self.writes: list[str] = []
        self.assigned: dict[str, str] = {}
        self.values: list[str] = []
        self.depth = 0

    def read(self) -> None:
        root = tree(self.words.source)
        if root.has_error or misreads(root, self.words.source):
            self.doubts.append("it cannot be read")
        self.walk(root)

    def add(self, other: "_Reader") -> None:
        """Whatever another reading of the text has found counts as well."""
        self.commands += [command for command in other.commands if command not in self.commands]
        self.reads += [word for word in other.reads if word not in self.reads]
        self.writes += [write for write in other.writes if write not in self.writes]
        self.doubts += other.doubts
        self.assigned |= other.assigned
        self.values += other.values

    def walk(self, node: Node) -> None:
        self.depth += 1
        if self.depth > NESTING_MAX:
            self.doubts.append("it is nested too deeply")
        else:
            self._walk(node)
        self.depth -= 1

    def _walk(self, node: Node) -> None:
        match node.type:
            case "command" | "declaration_command" | "unset_command":
                self._command(node, ())
            case "redirected_statement":
                self._redirected(node)
            case "pipeline":
                self._pipeline(node)
            case "variable_assignment":
                self._assignment(node)
            case "test_command":
                self._test(node)
            case "for_statement":
                self._loop(node)
            case "comment":
                pass
            case kind if kind in PASSED_THROUGH:
                self._children(node)
            case _:
                self._other(node)

    def _children(self, node: Node) -> None:
        for child in node.children:
            if child.is_named:
                self.walk(child)
            elif child.type not in PUNCTUATION:
                self.doubts.append("it runs in the background" if child.type == "&" else f"it uses {child.type!r}")

    def _other(self, node: Node) -> None:
        """Whatever has no rule of its own: not plain, but what it contains is read."""
        self.words.unescaped(node)
        if node.is_named:
            self.doubts.append(
                f"it uses a {node.type.replace('_', ' ')}" if node.type != "ERROR" else "it cannot be read"
            )
        for child in node.children:
            if child.is_named:
                self.walk(child)

    def _command(self, node: Node, extra: Sequence[Word], stdin: tuple[str, ...] = ()) -> None:
        words: list[Word] = []
        self._on_one_line(node)
        for child in node.children:
            match child.type:
                case "variable_assignment" if node.type == "command":
                    self._assignment(child)
                case "file_redirect":
                    words += self.redirect(child)
                case "herestring_redirect":
                    stdin += self._herestring(child)
                case "command_name":
                    words.insert(0, self.words.word(child.children[0]))
                case _:
                    words.append(self.words.word(child))
        self._add((*words, *extra), stdin)

    def _on_one_line(self, node: Node) -> None:
        if not is_one_line(node, self.words.source):
            self.doubts.append("it cannot be read")

    def _add(self, words: tuple[Word, ...], stdin: tuple[str, ...]) -> None:
        if words:
            self.commands.append(Command(words, shown(words), stdin))

    def _redirected(self, node: Node) -> None:
        extra: list[Word] = []
        stdin: list[str] = []
        for child in node.children_by_field_name("redirect"):
            match child.type:
                case "file_redirect":
                    extra += self.redirect(child)
                case "herestring_redirect":
                    stdin += self._herestring(child)
                case _:
                    extra += self._document(child, stdin)
        body = node.child_by_field_name("body")
        if body is not None and body.type in ("command", "declaration_command", "unset_command"):
            self._command(body, extra, tuple(stdin))
        else:
            before = len(self.commands)
            if body is not None:
                self.walk(body)
            self._hand_down(before, tuple(extra), tuple(stdin))

    def _hand_down(self, before: int, extra: tuple[Word, ...], stdin: tuple[str, ...]) -> None:
        """The grammar hangs what follows the last command of several on all of them."""
        given = self.commands[before:]
        if not given:
            self._add(extra, stdin)
            return
        last = len(given) - 1
        self.commands[before:] = [
            Command(words, shown(words) if extra else command.text, command.stdin + stdin)
            for at, command in enumerate(given)
            for words in [(*command.words, *extra) if at == last else command.words]
        ]

    def _document(self, node: Node, stdin: list[str]) -> list[Word]:
        """A here-document. What follows its mark on the same line hangs below it in the tree."""
        self.doubts.append("it uses a here-document")
        words: list[Word] = []
        bodies = [child for child in node.named_children if child.type == "heredoc_body"]
        stdin += [self.words.text(body) for body in bodies]
        mark = "".join(self.words.text(child) for child in node.children if child.type == "heredoc_start")
        if not re.search(r"[\\'\"]", mark):
            stdin += [UNKNOWN.text] if re.search(r"[$`]", "".join(stdin)) else []
        self._hides_substitutions(node)
        for child in node.named_children:
            match child.type:
                case "heredoc_start" | "heredoc_end" | "file_descriptor" | "heredoc_content":
                    pass
                case "heredoc_body":
                    for part in child.named_children:
                        if part.type != "heredoc_content":
                            self.walk(part)
                case "pipeline":
                    self._pipeline(child, stdin)
                case "file_redirect":
                    words += self.redirect(child)
                case "word" | "string" | "raw_string" | "ansi_c_string" | "concatenation" | "number":
                    words.append(self.words.word(child))
                case _:
                    self.walk(child)
        return words

    def _hides_substitutions(self, node: Node) -> None:
        """The grammar takes substitutions for text behind `<<-`, behind a variable, and where there is no end."""
        mark = "".join(self.words.text(child) for child in node.children if child.type == "heredoc_start")
        parts = [child for child in node.named_children if child.type in ("heredoc_body", "heredoc_end")]
        if not re.search(r"[\\'\"]", mark) and re.search(r"`|\$\(", "".join(map(self._unexpanded, parts))):
            self.doubts.append("it cannot be read")

    def _unexpanded(self, node: Node) -> str:
        """A text without what is known to be expanded in it."""
        text, at = "", node.start_byte
        for child in node.named_children:
            if child.type != "heredoc_content":
                text += self.words.source[at : child.start_byte].decode("utf-8", "replace")
                at = child.end_byte
        return text + self.words.source[at : node.end_byte].decode("utf-8", "replace")

    def _herestring(self, node: Node) -> tuple[str, ...]:
        self._on_one_line(node)
        return given([self.words.word(part) for part in node.named_children])

    def redirect(self, node: Node) -> list[Word]:
        """A redirect's words after the first belong to the command, though the grammar gives them to the redirect."""
        self._on_one_line(node)
        target, *rest = [self.words.word(child) for child in node.children_by_field_name("destination")] or [Word("-")]
        operator = next((child.type for child in node.children if not child.is_named), "")
        duplicates = operator in (">&", "<&") and (target.text == "-" or target.text.rstrip("-").isdigit())
        if operator == "<":
            self.reads.append(target)
        elif not duplicates and not (target.literal and target.text in NOWHERE):
            self.writes.append(f"{operator} {target.text}")
        return rest

    def _pipeline(self, node: Node, stdin: Sequence[str] = ()) -> None:
        """What one command is known to say is the input of the next, which may be a shell."""
        given = tuple(stdin)
        for child in node.named_children:
            before = len(self.commands)
            if child.type == "command":
                self._command(child, (), given)
            else:
                self.walk(child)
            given = said(self.commands[before:])

    def _assignment(self, node: Node) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None or name.type != "variable_name" or any(child.type == "+=" for child in node.children):
            self.doubts.append(f"it sets {self.words.text(name or node).partition('[')[0]}")
            self._other(node)
            return
        if not PLAIN_ASSIGNMENT.fullmatch(self.words.text(name)):
            self.doubts.append(f"it sets {self.words.text(name)}")
        self.assigned[self.words.text(name)] = self._value(value) if value is not None else ""

    def _value(self, node: Node) -> str:
        """What a variable is set to. An option in a variable is as good as an option."""
        if node.type == "array":
            self.values.append(" ".join(self.words.word(child).text for child in node.named_children))
        word = self.words.word(node)
        self.values.append(word.text)
        if word.text.startswith("-"):
            self.doubts.append("it hides an option in a variable")
        return word.text

    def _loop(self, node: Node) -> None:
        for child in node.children:
            match child.type:
                case "variable_name":
                    if not re.fullmatch(r"[a-z_][a-z0-9_]*", self.words.text(child)):
                        self.doubts.append(f"it sets {self.words.text(child)}")
                case "do_group":
                    self.walk(child)
                case "select":
                    self.doubts.append("it asks for input")
                case kind if child.is_named or kind not in PUNCTUATION:
                    self._value(child)
                case _:
                    pass

    def _test(self, node: Node) -> None:
        """`[[ … ]]`: plain when it only looks at files and compares texts."""
        after = self.words.source[node.end_byte : node.end_byte + 1]
        if node.children[0].type == "[" or after not in AFTER_TEST:
            self.doubts.append("it cannot be read")
        for part in descendants(node):
            if part.type in ("raw_string", "string") and "[" in self.words.text(part):
                self.values.append(self.words.text(part)[1:-1])
            match part.type:
                case "simple_expansion" | "expansion" | "command_substitution":
                    self.words.word(part)
                case "unary_expression" | "binary_expression" | "parenthesized_expression":
                    pass
                case "word" | "number" | "string" | "string_content" | "raw_string" | "variable_name" | "concatenation":
                    pass
                case _ if self.words.text(part) not in TEST_OPERATORS:
                    self.doubts.append(f"its test uses {self.words.text(part)}")
                case _:
                    pass
        self.commands.append(Command((Word(node.children[0].type),), self.words.text(node)))
