"""A shell command line, as far as rules need it: which commands it runs, and whether it is one plain command.

It is looked at with opposite caution. An allowance sees only a *plain* line: one command, word by word as it was
typed. A prohibition sees every command that may hide in the line: behind operators, in substitutions, after
assignments and wrappers (`env`, `timeout 5`), in `sh -c`. What is nested too deeply to be looked into counts as hiding
what was forbidden.
"""

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

import msgspec

from turnkeeper.core.reading import Words, read, words_of

STARTS_MAX = 64
"""How many substitutions and inner shells of one line are looked into."""
SUFFIXES_MAX = 64
"""How many words after a wrapper may be the command it wraps."""

ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
KEYWORDS = frozenset({"!", "{", "if", "then", "elif", "else", "while", "until", "do", "function"})
SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "ash", "fish"})
WRAPPERS = words_of(
    "builtin busybox chroot command coproc doas env exec flock ionice nice nohup parallel setsid stdbuf strace sudo "
    "time timeout unbuffer watch xargs"
)
UNSPELLED = "..."
"""Stands for words that nobody can know, and ends a word of which only the beginning is known."""
RUN_OPTIONS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})


class Line(msgspec.Struct, frozen=True):
    """What was found in a command line."""

    commands: tuple[Words, ...]
    plain: bool
    """One command and nothing else, so that its words are all there is to it: the first. More are those of a shell
    or of `eval`, which its words spell out."""
    opaque: bool = False
    """More is nested in it than was looked into."""


def scan(text: str) -> Line:
    first = read(text.strip())
    commands = list(first.commands)
    unread = [(first.text, start) for start in first.inner] + inner_shells(commands)
    looked_into = 0
    while unread and looked_into < STARTS_MAX:
        inside, start = unread.pop(0)
        looked_into += 1
        # What stands inside the inner text is noted by the reading of the outer one as well, unless it is a shell's.
        reading = read(inside, start)
        commands += reading.commands
        unread += inner_shells(reading.commands)
        if start == 0:
            unread += [(inside, inner) for inner in reading.inner]
    return Line(tuple(commands), first.plain, opaque=bool(unread))


def inner_shells(commands: Sequence[Words]) -> list[tuple[str, int]]:
    """The lines that `sh -c` and `eval` are told to run."""
    return [(line, 0) for words in commands for view in views(words) for line in lines_run_by(view)]


def lines_run_by(words: Words) -> Iterator[str]:
    if words[0] == "eval":
        yield " ".join(words[1:])
    elif words[0] in SHELLS:
        for at, word in enumerate(words[:-1]):
            if word.startswith("-") and not word.startswith("--") and "c" in word:
                yield words[at + 1]


def views(words: Words) -> Iterator[Words]:
    """The command by its plain name, and every command that may be wrapped in it."""
    while words and (words[0] in KEYWORDS or ASSIGNMENT.match(words[0])):
        words = words[1:]
    if not words:
        return
    name = words[0].rpartition("/")[2].removesuffix(".exe")
    yield (name, *words[1:])
    if name in WRAPPERS:
        for at in range(1, min(len(words), SUFFIXES_MAX)):
            yield (words[at].rpartition("/")[2], *words[at + 1 :])
    for at, word in enumerate(words[:-1]):
        if word in RUN_OPTIONS:
            yield (words[at + 1].rpartition("/")[2], *words[at + 2 :])


def allows(pattern: str, text: str) -> bool:
    """Whether this plain command is what the pattern describes; a line that is not plain only if it is the pattern."""
    line = scan(text)
    if not line.plain:
        return text.strip() == pattern.strip()
    wanted, open_end = shape_of(pattern)
    words = line.commands[0]
    if len(words) < len(wanted) or (len(words) > len(wanted) and not open_end):
        return False
    return bool(wanted) and all(map(fnmatchcase, words, wanted))


def forbids(pattern: str, text: str) -> bool:
    """Whether any command in the line may be what the pattern describes, whatever follows it."""
    line = scan(text)
    wanted, _ = shape_of(pattern)
    if line.opaque or fnmatchcase(text.strip(), pattern.strip()):
        return True
    return any(begins(view, wanted) for words in line.commands for view in views(words))


def may_be(pattern: str, text: str) -> bool:
    """Whether a command in the line, of which not every word is spelled out, may be what the pattern describes."""
    if UNSPELLED not in text:
        return False
    wanted, _ = shape_of(pattern)
    return any(begins(view, wanted, loosely=True) for words in scan(text).commands for view in views(words))


def shape_of(pattern: str) -> tuple[Words, bool]:
    """The words of a pattern, and whether more may follow: `git commit:*`, `npm run *`."""
    text = pattern.strip()
    closed = text.removesuffix(":*")
    words = next(iter(read(closed).commands), ())
    if closed != text:
        return words, True
    return (words[:-1], True) if words[-1:] == ("*",) else (words, False)


def begins(words: Words, wanted: Words, *, loosely: bool = False) -> bool:
    """Whether the words begin with the wanted ones, options (which may take a value) between them left aside."""
    if not wanted or not words or not fnmatchcase(words[0], wanted[0]):
        return bool(words) and not wanted
    fits = may_fit if loosely else fnmatchcase
    places = {1}
    for pattern in wanted[1:]:
        found = {
            at for at in past_options(words, places, loosely=loosely) if at < len(words) and fits(words[at], pattern)
        }
        # What is not spelled out may be several words, so that the next one may still be among them.
        places = {at + 1 for at in found} | {at for at in found if loosely and words[at] == UNSPELLED}
    return bool(places)


def past_options(words: Words, places: set[int], *, loosely: bool) -> set[int]:
    reached = set(places)
    for at in range(len(words)):
        if at in reached and (words[at].startswith("-") or (loosely and words[at] == UNSPELLED)):
            reached |= {at + 1, at + 2}
    return reached


def may_fit(word: str, pattern: str) -> bool:
    """Whether the word, or any word that begins as it does, is what the pattern describes."""
    if not word.endswith(UNSPELLED):
        return fnmatchcase(word, pattern)
    known, certain = word.removesuffix(UNSPELLED), re.split(r"[*?\[]", pattern)[0]
    return certain.startswith(known) or (certain != pattern and known.startswith(certain))
