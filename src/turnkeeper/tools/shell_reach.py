"""What a line that only looks would look at, once its patterns and links are followed on this disk.

Whether a command only looks is told by its text alone. Where a link leads, which files a pattern matches and what lies
below a folder is not: here the words of commands that show what is in files are looked up. What is found outside the
workspace, or may hold secrets, is for somebody to decide, as with the tools for files.
"""

import os
import re
from collections.abc import Iterator, Sequence
from glob import iglob
from itertools import islice

import msgspec

from turnkeeper.protocol.secretfiles import is_secret
from turnkeeper.tools.shell_searches import GREPS, Search, search_of
from turnkeeper.tools.shell_words import Word, names

SHOWS = names("""
    awk cat cksum cmp column comm cut diff expand fmt fold head hexdump jq md5sum nl od paste rev sed sha1sum sha256sum
    sha512sum sort strings tac tail unexpand uniq
""")
"""Safe commands that show what is in the files they are given."""
MEASURES = names("du wc")
"""Safe commands that tell no more of files than their sizes."""
SHOWS_OF_GIT = names("annotate blame diff diff-files diff-index grep")
NOBODYS = names(".git .hg .svn .venv __pycache__ node_modules site-packages vendor venv")
"""What other people's packages bring along, keys for their tests too, is no secret of the project."""
GLOB = re.compile(r"[*?\[]")
BRACKETS = re.compile(r"\[[^/]*\]")
MATCHES_MAX = 2_000
ENTRIES_MAX = 20_000


class Shown(msgspec.Struct, frozen=True):
    """What one command shows: the files and folders its words name, and how far it goes into the folders."""

    words: tuple[str, ...]
    below: bool = False
    hidden: bool = True
    follows: bool = False
    contents: bool = True
    """False for a command that shows nothing of what is in its files, unless a file's name is an option to it."""
    operands: tuple[str, ...] = ()
    """Where these are not all on disk, it goes into no folder."""


def shown_by(words: Sequence[Word]) -> Shown | None:
    """None for a command that shows nothing of what is in files."""
    name, rest = words[0].text.rpartition("/")[2], [word.text for word in words[1:]]
    if name in MEASURES:
        return Shown(words=tuple(rest), contents=False)
    if name == "git":
        return _shown_by_git(rest[1:] if rest[:1] in (["--no-pager"], ["-P"]) else rest)
    if name == "rg" or name in GREPS:
        return _searched(search_of(name, rest), rest)
    if name not in SHOWS:
        return None
    is_diff = name == "diff"
    return Shown(_with_values(rest), below=is_diff, follows=is_diff and "--no-dereference" not in rest)


def _with_values(texts: Sequence[str]) -> tuple[str, ...]:
    options = [text for text in texts if text.startswith("-")]
    return tuple(filter(None, [*texts, *(text.partition("=")[2] or text[2:] for text in options)]))


def _searched(search: Search, texts: Sequence[str]) -> Shown:
    here = ["."] if search.recurses and not search.names_places else []
    return Shown(
        words=(*_with_values(texts), *search.values, *here),
        below=search.recurses,
        hidden=search.uncovers,
        follows=search.follows,
    )


def _shown_by_git(texts: Sequence[str]) -> Shown | None:
    """Where there is no repository, `git diff` of two files or folders shows what is in them."""
    if not texts or texts[0] not in SHOWS_OF_GIT:
        return None
    operands = tuple(text for text in texts[1:] if not text.startswith("-"))
    compares = texts[0] == "diff" and (len(operands) == 2 or any(map(GLOB.search, operands)))
    return Shown(_with_values(texts[1:]), below=compares, operands=operands)


def strays(shown: Sequence[Shown], moves: Sequence[str], *, workdir: str, workspace: str) -> str:
    """The first thing that somebody should know of, in words; nothing, if all is inside and no secret."""
    border = os.path.realpath(workspace)
    found = (_stray(word, one, base, border) for base in bases(moves, workdir) for one in shown for word in one.words)
    return next(filter(None, found), "")


def _stray(word: str, one: Shown, base: str, border: str) -> str:
    goes_below = one.below and all(GLOB.search(text) or _is_there(base, text) for text in one.operands)
    for count, path in enumerate(matches(word, base)):
        if count > MATCHES_MAX:
            return f"{word} names too many files to know whether one of them holds secrets"
        if count and GLOB.match(word) and path.removeprefix(base).startswith("/-"):
            return f"{path} would be taken for an option"
        if one.contents and (told := amiss(path, border) or (below(path, one, border) if goes_below else "")):
            return told
    return ""


def _is_there(base: str, text: str) -> bool:
    return os.path.lexists(os.path.join(base, text))  # noqa: PTH118


def bases(moves: Sequence[str], workdir: str) -> list[str]:
    """The folders in which a command of the line may run: each `cd` may be in a branch that is not taken."""
    found = [workdir]
    for move in moves:
        found += [folder for base in found if (folder := os.path.normpath(os.path.join(base, move))) not in found]  # noqa: PTH118
    return found


def matches(word: str, base: str) -> Iterator[str]:
    """The word itself, which may be quoted, and whatever it may match, up to one more than can be looked at.

    What bash makes of brackets depends on quotes and on the language, so they may stand for anything.
    """
    if len(word) < 4096:
        yield os.path.join(base, word)  # noqa: PTH118
    if GLOB.search(word):
        found = iglob(BRACKETS.sub("*", word), root_dir=base)  # noqa: PTH207
        yield from (os.path.join(base, path) for path in islice(found, MATCHES_MAX + 1))  # noqa: PTH118


def amiss(path: str, border: str) -> str:
    if "\0" in path or not os.path.lexists(path):
        return ""
    real = os.path.realpath(path)
    if real not in ("/dev/null", border) and not real.startswith(border.rstrip("/") + "/"):
        return f"{path} leads out of the workspace, to {real}"
    return f"{path} may hold secrets" if is_secret(path) or is_secret(real) else ""


def below(folder: str, one: Shown, border: str) -> str:
    left = ENTRIES_MAX
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in NOBODYS and (one.hidden or not name.startswith("."))]
        left -= len(folders) + len(files)
        if left < 0:
            return f"{folder} holds too many files to know whether one of them holds secrets"
        for path in (f"{parent}/{name}" for name in (*files, *(folders if one.follows else ()))):
            told = amiss(path, border) if is_worth_a_look(path, one) else ""
            if told:
                return told
    return ""


def is_worth_a_look(path: str, one: Shown) -> bool:
    name = path.rpartition("/")[2]
    if name.startswith(".") and not one.hidden:
        return False
    return is_secret(path) or (one.follows and os.path.islink(path))  # noqa: PTH114 - a walk makes no Path of each
