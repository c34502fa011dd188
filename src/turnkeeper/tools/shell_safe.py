"""Commands that only look: what they are called, and which of their options would make them do more.

Options are matched as the commands themselves match them: long ones by any beginning, short ones anywhere in a
cluster. When a word may become an option, a command that has options to fear is not safe. Commands that show what is
in files are safe within the workspace only; elsewhere somebody is asked, as for the file tools.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

import msgspec

from turnkeeper.tools.shell_env import is_open
from turnkeeper.tools.shell_git import git_is_safe
from turnkeeper.tools.shell_options import forbidden_option, prints_only, stays_inside
from turnkeeper.tools.shell_searches import search_of
from turnkeeper.tools.shell_words import Word, names

FIND_ACTS = names("-delete -exec -execdir -files0-from -fls -fprint -fprint0 -fprintf -ok -okdir")
SED_SCRIPT = re.compile(r"(\d+|\$)(,(\d+|\$))?p(;(\d+|\$)(,(\d+|\$))?p)*")
AWK_SCRIPT = re.compile(r"(NR *[=<>!]=? *\d+ *)?(\{ *print *(\$(\d+|NF) *,? *)* *\})?")
HARMLESS_SET = re.compile(r"[-+][eux]*o?|pipefail|errexit|nounset|xtrace")
VERSIONS = names("""
    bash bun cmake deno docker g++ gcc gem gh git java javac make mypy node npm npx perl php pip pip3 pyright python
    python3 rg ruby ruff tsc uv
""")
"""Those that tell their version without running what the folder tells them to: pytest and cargo do."""


class Look(msgspec.Struct, frozen=True):
    """A command that only looks, unless one of these options is given."""

    short: str = ""
    long: tuple[str, ...] = ()
    content: bool = False
    """It shows what is in files."""
    words_max: int | None = None


ALWAYS = names("""
    : arch basename break cal command continue dirname df echo exit false free getconf groups id locale ls
    nproc pwd readlink realpath return seq sleep stat tr true tty type uname uptime whereis which whoami
""")
SHOWING = names("""
    cat cksum cmp column comm diff expand fmt fold head md5sum nl od paste rev sha1sum sha256sum
    sha512sum strings tac tail unexpand
""")
LOOKS: Mapping[str, Look] = {
    **dict.fromkeys(ALWAYS, Look()),
    **dict.fromkeys(SHOWING, Look(content=True)),
    "date": Look("sf", ("set", "file")),
    "file": Look("CmfzZ", ("compile", "magic-file", "files-from", "uncompress")),
    "hexdump": Look("f", ("format-file",), content=True),
    "hostname": Look("Fb", ("file", "boot"), words_max=0),
    "jq": Look("fL", ("from-file", "rawfile", "slurpfile"), content=True),
    "rg": Look("z", ("pre", "hostname-bin", "search-zip"), content=True),
    "sort": Look("oTS", ("output", "compress-program", "temporary-directory", "files0-from"), content=True),
    "tree": Look("oR", ("output", "fromfile", "fromtabfile", "info", "gitfile", "hintro", "houtro")),
    "uniq": Look(content=True, words_max=1),
    "whatis": Look("C", ("config-file",)),
}


def is_safe(words: Sequence[Word], inside: str) -> bool:
    """Whether the command only looks. `inside` is the workspace."""
    name = _name(words[0])
    if name in VERSIONS and [word.text for word in words[1:]] in (["--version"], ["-V"]):
        return True
    if name == "git":
        return git_is_safe(words[1:], inside)
    if name in SPECIAL:
        return SPECIAL[name](words[1:])
    if name in SPECIAL_INSIDE:
        return SPECIAL_INSIDE[name](words[1:], inside)
    look = LOOKS.get(name)
    if look is None or not _only_looks(look, words[1:], inside):
        return False
    return name not in EXTRA or EXTRA[name](words[1:])


def _name(word: Word) -> str:
    """A name that is looked up in the usual places; a path of the workspace's own is none."""
    text = word.text.removeprefix("/usr").removeprefix("/bin/")
    return text if word.literal and "/" not in text else ""


def _only_looks(look: Look, words: Sequence[Word], inside: str) -> bool:
    if look.short or look.long or look.words_max is not None:
        if any(word.may_be_option and not word.literal for word in words):
            return False
        if any(forbidden_option(word.text, look.short, look.long) for word in words if word.literal):
            return False
    if look.words_max is not None:
        shown = list(_operands(words))
        if len(shown) > look.words_max or any(not word.literal for word in shown):
            return False
    return not look.content or all(stays_inside(word, inside) for word in words)


def _operands(words: Sequence[Word]) -> Iterator[Word]:
    """The words that are no options: `-` is none, and nothing is one after `--`."""
    ended = False
    for word in words:
        if ended or word.text == "-" or not word.text.startswith("-"):
            yield word
        ended = ended or word.text == "--"


def _grep(words: Sequence[Word], inside: str, name: str = "grep") -> bool:
    """The pattern may look like a path anywhere; with `-e` and `-f` it is an ordinary word."""
    pattern_given = any(re.match(r"-\w*[ef]|--[rf]", word.text) for word in words)
    rest = list(words)
    for word in words:
        if not pattern_given and not word.may_be_option and not word.splits:
            rest.remove(word)
            break
    rest += [Word(value) for value in search_of(name, [word.text for word in words]).values]
    return all(stays_inside(word, inside) for word in rest)


def _cut(words: Sequence[Word], inside: str) -> bool:
    """A lone slash is where to cut."""
    return not any(word.splits for word in words) and all(
        word.text == "/" or re.match(r"-[dfcb]", word.text) or stays_inside(word, inside) for word in words
    )


def _rg(words: Sequence[Word], inside: str) -> bool:
    return _only_looks(msgspec.structs.replace(LOOKS["rg"], content=False), words, inside) and _grep(
        words, inside, "rg"
    )


def _cd(words: Sequence[Word], inside: str) -> bool:
    return len(words) == 1 and words[0].literal and words[0].text not in ("", "-") and stays_inside(words[0], inside)


def _date(words: Sequence[Word]) -> bool:
    """A word that is no format sets the clock, unless it belongs to the option before it."""
    takes = ("-d", "-r", "--date", "--reference")
    return all(
        word.lead in ("+", "-") or (at > 0 and words[at - 1].text in takes) for at, word in enumerate(words)
    ) and not any(word.splits for word in words)


def _strings(words: Sequence[Word]) -> bool:
    """`@FILE` stands for the words that are in the file."""
    return not any(word.lead in ("", "@") for word in words)


def _ps(words: Sequence[Word]) -> bool:
    """`ps e` shows the environment of every program, and what is secret in it."""
    return all(word.literal and (word.text.startswith("-") or "e" not in word.text) for word in words)


def _printenv(words: Sequence[Word]) -> bool:
    return bool(words) and all(word.literal and is_open(word.text) for word in words)


def _set(words: Sequence[Word]) -> bool:
    return bool(words) and all(word.literal and HARMLESS_SET.fullmatch(word.text) for word in words)


def _find(words: Sequence[Word]) -> bool:
    for word in words:
        if word.literal:
            if word.text in FIND_ACTS:
                return False
        elif word.pattern:
            if any(fnmatchcase(act, word.text) for act in FIND_ACTS):
                return False
        elif word.may_be_option:
            return False
    return True


def _sed(words: Sequence[Word], inside: str) -> bool:
    """`sed -n 10,20p FILE`: everything else that sed can do may write or run."""
    if len(words) < 2 or not (words[0].literal and words[1].literal):
        return False
    if words[0].text != "-n" or not SED_SCRIPT.fullmatch(words[1].text):
        return False
    return all(not word.may_be_option and stays_inside(word, inside) for word in words[2:])


def _awk(words: Sequence[Word], inside: str) -> bool:
    """`awk '{print $1}' FILE`, with or without a separator."""
    if words and re.fullmatch(r"-F.?", words[0].text) and words[0].literal:
        words = words[2:] if words[0].text == "-F" else words[1:]
    if not words or not words[0].literal or not words[0].text or not AWK_SCRIPT.fullmatch(words[0].text):
        return False
    return all(not word.may_be_option and "=" not in word.text and stays_inside(word, inside) for word in words[1:])


def _tar(words: Sequence[Word]) -> bool:
    """`tar tf FILE`: a colon would name another computer."""
    if len(words) != 2 or not re.fullmatch(r"-?t[vzjJ]*f", words[0].text):
        return False
    return words[1].literal and words[1].lead != "-" and ":" not in words[1].text


def _test(words: Sequence[Word]) -> bool:
    """A test of files and texts. Numbers and `-v` are evaluated, and what is evaluated may run something."""
    rest = list(words[1:] if len(words) > 1 and words[0].text == "!" else words)
    if any(word.splits or word.pattern for word in words):
        return False
    match [word.text for word in rest]:
        case [_]:
            return True
        case [operator, _]:
            return re.fullmatch(r"-[defhLnrswxz]", operator) is not None and rest[0].literal
        case [_, operator, _]:
            return operator in ("=", "==", "!=", "-nt", "-ot", "-ef") and rest[1].literal
        case _:
            return False


def _bracket(words: Sequence[Word]) -> bool:
    """`[ … ]` is `test …`; without its end it only complains."""
    return bool(words) and words[-1].text == "]" and _test(words[:-1])


def _wc(words: Sequence[Word]) -> bool:
    """It only counts, unless it is told to take the names of files from a file, which it then complains about."""
    return not any("files0" in word.text or word.text.startswith("--f") for word in words) and not any(
        word.may_be_option and not word.literal and not word.pattern for word in words
    )


def _du(words: Sequence[Word]) -> bool:
    return _wc(words) and not any(forbidden_option(word.text, "X", ("exclude-from",)) for word in words)


def _jq(words: Sequence[Word]) -> bool:
    return not any(re.search(r"env|import|include|input", word.text, re.IGNORECASE) for word in words)


SPECIAL: Mapping[str, Callable[[Sequence[Word]], bool]] = {
    "[": _bracket,
    # The syntax was judged where it was read. Words has only a command that is quoted to look like it.
    "[[": lambda words: not words,
    "du": _du,
    "find": _find,
    "printenv": _printenv,
    "printf": prints_only,
    "ps": _ps,
    "set": _set,
    "tar": _tar,
    "test": _test,
    "wc": _wc,
}
SPECIAL_INSIDE: Mapping[str, Callable[[Sequence[Word], str], bool]] = {
    "awk": _awk,
    "cd": _cd,
    "cut": _cut,
    "egrep": _grep,
    "fgrep": _grep,
    "grep": _grep,
    "rg": _rg,
    "sed": _sed,
}
EXTRA: Mapping[str, Callable[[Sequence[Word]], bool]] = {"date": _date, "jq": _jq, "strings": _strings}
