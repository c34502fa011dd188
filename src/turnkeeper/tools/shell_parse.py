"""Reading a command line: which simple commands it may run, what it writes, and what about it is not plain.

A `Line` is complete in one direction only: every command that is spelled out anywhere in the text (in a pipe, a
substitution, a function, a here-document) is among its commands. Whatever is not understood is a doubt, and a line
with a doubt is never called safe.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from turnkeeper.tools.shell_line import Command, Line, given, said
from turnkeeper.tools.shell_pieces import WordReader
from turnkeeper.tools.shell_words import UNKNOWN, Word, as_bash_joins, names, shown

NESTING_MAX = 40
PLAIN_ASSIGNMENT = re.compile(r"(?!.*_proxy)[a-z_][a-z0-9_]*|LANG|LC_[A-Z]+|TZ|COLUMNS|NO_COLOR|CLICOLOR|FORCE_COLOR")
UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]|(?! )(?=\s)[^\n\t]")
NOWHERE = {"/dev/null", "/dev/stdout", "/dev/stderr"}
TEST_OPERATORS = names("""
    -d -e -ef -f -h -L -n -nt -ot -r -s -w -x -z = == != ! && || [ ] [[ ]] ( ) "
""")
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


@cache
def _language() -> Language:
    return Language(tree_sitter_bash.language())


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
        root = Parser(_language()).parse(self.words.source).root_node
        if root.has_error:
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
        if node.is_named:
            self.doubts.append(
                f"it uses a {node.type.replace('_', ' ')}" if node.type != "ERROR" else "it cannot be read"
            )
        for child in node.children:
            if child.is_named:
                self.walk(child)

    def _command(self, node: Node, extra: Sequence[Word], stdin: tuple[str, ...] = ()) -> None:
        words: list[Word] = []
        end = node.start_byte
        for child in node.children:
            between = self.words.source[end : child.start_byte]
            if b"\n" in between or (not between and child.start_byte > node.start_byte and _is_word(child)):
                # The grammar ends a word before a backquote, and bash does not.
                self.doubts.append("it cannot be read")
            end = child.end_byte
            match child.type:
                case "variable_assignment" if node.type == "command":
                    self._assignment(child)
                case "file_redirect":
                    words += self.redirect(child)
                case "herestring_redirect":
                    stdin += self._here(child)
                case "command_name":
                    words.insert(0, self.words.word(child.children[0]))
                case _:
                    words.append(self.words.word(child))
        self._add((*words, *extra), stdin)

    def _here(self, node: Node) -> tuple[str, ...]:
        return given([self.words.word(part) for part in node.named_children])

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
                    stdin += self._here(child)
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
            self._hides_substitutions(bodies)
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

    def _hides_substitutions(self, bodies: Sequence[Node]) -> None:
        """Behind `<<-` the grammar takes substitutions for text."""
        for body in bodies:
            substitutes = any(child.type == "command_substitution" for child in body.named_children)
            if not substitutes and re.search(r"`|\$\(", self.words.text(body)):
                self.doubts.append("it cannot be read")

    def redirect(self, node: Node) -> list[Word]:
        """A redirect's words after the first belong to the command, though the grammar gives them to the redirect."""
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
        """`[ … ]` and `[[ … ]]`: plain when it only looks at files and compares texts."""
        single = node.children[0].type == "["
        for part in _descendants(node):
            if part.type in ("raw_string", "string") and "[" in self.words.text(part):
                self.values.append(self.words.text(part)[1:-1])
            match part.type:
                case "simple_expansion" | "expansion" | "command_substitution":
                    self.words.word(part)
                    if single and part.parent is not None and part.parent.type != "string":
                        self.doubts.append("its test depends on an unquoted variable")
                case "unary_expression" | "binary_expression" | "parenthesized_expression":
                    pass
                case "word" | "number" | "string" | "string_content" | "raw_string" | "variable_name" | "concatenation":
                    pass
                case _ if self.words.text(part) not in TEST_OPERATORS:
                    self.doubts.append(f"its test uses {self.words.text(part)}")
                case _:
                    pass
        self.commands.append(Command((Word(node.children[0].type),), self.words.text(node)))


def _is_word(node: Node) -> bool:
    return node.is_named and "redirect" not in node.type


def _descendants(node: Node) -> Iterator[Node]:
    """Everything below a node, but for what is inside expansions and substitutions."""
    for child in node.children:
        yield child
        if child.type not in ("simple_expansion", "expansion", "command_substitution"):
            yield from _descendants(child)
