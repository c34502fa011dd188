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
from turnkeeper.tools.shell_words import Word, names

SHOWS = names("""
    awk cat cksum cmp column comm cut diff egrep expand fgrep fmt fold grep head hexdump jq md5sum nl od paste rev rg
    sed sha1sum sha256sum sha512sum sort strings tac tail unexpand uniq
""")
"""Safe commands that show what is in the files they are given."""
RECURSES = re.compile(r"-[A-Za-z]*[rR][A-Za-z]*|--recursive|--dereference-recursive|--directories=recurse")
FOLLOWS = re.compile(r"-[A-Za-z]*[RLS][A-Za-z]*|--dereference-recursive|--follow")
UNCOVERS = re.compile(r"-[A-Za-z]*[u.g][A-Za-z]*|--hidden|--no-ignore.*|--unrestricted|--glob.*|--iglob.*")
VALUED = {"rg": "ABCEMTdefgjmrt"}
VALUED_USUALLY = "ABCDdefm"
"""The letters that take the next word, of ripgrep and of grep."""
LONG_FLAGS = names("""
    --recursive --dereference-recursive --ignore-case --line-number --files-with-matches --count --word-regexp
    --fixed-strings --extended-regexp --only-matching --invert-match --no-messages --hidden --no-ignore --follow
""")
NOBODYS = names(".git .hg .svn .venv __pycache__ node_modules site-packages vendor venv")
"""What other people's packages bring along, keys for their tests too, is no secret of the project."""
MATCHES_MAX = 2_000
ENTRIES_MAX = 20_000


class Shown(msgspec.Struct, frozen=True):
    """What one command shows: the files and folders its words name, and how far it goes into the folders."""

    words: tuple[str, ...]
    below: bool = False
    hidden: bool = True
    follows: bool = False


def shown_by(words: Sequence[Word]) -> Shown | None:
    """None for a command that shows nothing of what is in files."""
    name, rest = words[0].text.rpartition("/")[2], [word.text for word in words[1:]]
    if name not in SHOWS:
        return None
    options = [text for text in rest if text.startswith("-")]
    values = [text.partition("=")[2] or text[2:] for text in options]
    below = name == "rg" or (name in ("grep", "egrep", "fgrep", "diff") and any(map(RECURSES.fullmatch, options)))
    return Shown(
        words=tuple(filter(None, [*rest, *values, *(["."] if below and not _names_places(name, rest) else [])])),
        below=below,
        hidden=name != "rg" or any(map(UNCOVERS.fullmatch, options)),
        follows=any(map(FOLLOWS.fullmatch, options)),
    )


def _names_places(name: str, rest: Sequence[str]) -> bool:
    """Whether it is certain that the command is told where to look: else it looks here."""
    plain: list[str] = []
    is_value = pattern_given = False
    for text in rest:
        if is_value or not text.startswith("-"):
            plain += [] if is_value else [text]
            is_value = False
        elif text.startswith("--"):
            if "=" not in text and text not in LONG_FLAGS:
                return False
        else:
            is_value = text[-1] in VALUED.get(name, VALUED_USUALLY)
            pattern_given |= "e" in text or "f" in text
    return len(plain) > (0 if pattern_given or name == "diff" else 1)


def strays(shown: Sequence[Shown], moves: Sequence[str], *, workdir: str, workspace: str) -> str:
    """The first thing that somebody should know of, in words; nothing, if all is inside and no secret."""
    border = os.path.realpath(workspace)
    for base in bases(moves, workdir):
        for one in shown:
            for word in one.words:
                for path in matches(word, base):
                    if told := amiss(path, border) or (below(path, one, border) if one.below else ""):
                        return told
    return ""


def bases(moves: Sequence[str], workdir: str) -> list[str]:
    """The folders in which a command of the line may run: each `cd` may be in a branch that is not taken."""
    found = [workdir]
    for move in moves:
        found += [folder for base in found if (folder := os.path.normpath(os.path.join(base, move))) not in found]  # noqa: PTH118
    return found


def matches(word: str, base: str) -> Iterator[str]:
    if re.search(r"[*?\[]", word):
        yield from (os.path.join(base, path) for path in islice(iglob(word, root_dir=base), MATCHES_MAX))  # noqa: PTH118, PTH207
    elif len(word) < 4096:
        yield os.path.join(base, word)  # noqa: PTH118


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
