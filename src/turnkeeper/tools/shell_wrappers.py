"""Commands that run other commands, and how to find those in their arguments.

A wrapper is seen through only as far as its options are known. Where one is not, what remains is kept as it is and
the doubt is told, so that nothing behind it is called safe.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Literal

import msgspec

from turnkeeper.tools.shell_line import Command
from turnkeeper.tools.shell_parse import PLAIN_ASSIGNMENT
from turnkeeper.tools.shell_words import UNKNOWN, Word, names

Kind = Literal["words", "text", "shell"]
SHELLS = frozenset({"ash", "bash", "dash", "fish", "ksh", "rbash", "sh", "zsh"})
FIND_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
FD_RUNS = frozenset({"-x", "-X", "--exec", "--exec-batch"})
ASSIGNMENT = re.compile(r"([^=]*)=.*", re.DOTALL)
"""To `env`, whatever has a sign of equality in it."""
UNSPELLED = "it runs text that is not spelled out"


class Wrapper(msgspec.Struct, frozen=True):
    valued: frozenset[str] = frozenset()
    """Options that take the next word, single letters without their dash."""
    flags: frozenset[str] = frozenset()
    skip: int = 0
    """Words of its own before the command."""
    kind: Kind = "words"
    plain: bool = False
    """Harmless in itself: as safe as what it runs."""
    risky: frozenset[str] = frozenset()
    """The options with which it is not harmless."""
    more: bool = False
    """It adds words that come from elsewhere."""


class Inner(msgspec.Struct, frozen=True):
    """What a wrapper runs: words as they are, or texts to be read as command lines."""

    words: tuple[tuple[Word, ...], ...] = ()
    texts: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


def _wrapper(
    valued: str = "",
    flags: str = "",
    *,
    skip: int = 0,
    kind: Kind = "words",
    plain: bool = False,
    risky: str = "",
    more: bool = False,
) -> Wrapper:
    return Wrapper(names(valued), names(flags), skip, kind, plain, names(risky), more)


WRAPPERS: Mapping[str, Wrapper] = {
    # The grammar takes a reserved word for a command's name in a few places.
    **dict.fromkeys(names("{ ! if then elif else while until do"), _wrapper()),
    "arch": _wrapper(),
    "builtin": _wrapper(plain=True),
    "busybox": _wrapper(),
    "caffeinate": _wrapper("t w", "d i m s u"),
    "catchsegv": _wrapper(),
    "chronic": _wrapper(flags="e v"),
    "chroot": _wrapper("groups userspec", "skip-chdir", skip=1),
    "chrt": _wrapper("T P D", "b f i o r a", skip=1),
    "command": _wrapper(flags="p", plain=True),
    "coproc": _wrapper(),
    "doas": _wrapper("u C a", "n s L"),
    "entr": _wrapper(flags="a c d n p r s z"),
    "env": _wrapper("u unset C chdir P", "i ignore-environment 0 null v debug", plain=True, risky="C chdir P"),
    "eval": _wrapper(kind="text", plain=True),
    "exec": _wrapper("a", "c l"),
    "faketime": _wrapper("f", skip=1),
    "flock": _wrapper("w E timeout conflict-exit-code", "s x e n u o F", skip=1),
    "gtimeout": _wrapper("k s kill-after signal", "preserve-status foreground v verbose", skip=1),
    "ionice": _wrapper("c n p P u class classdata", "t ignore", plain=True),
    "ltrace": _wrapper("e o p s u n", "f c C i r t T"),
    "nice": _wrapper("n adjustment", "0 1 2 3 4 5 6 7 8 9", plain=True),
    "nohup": _wrapper(plain=True),
    "nsenter": _wrapper("t S G", "a m u i n p U C r w"),
    "numactl": _wrapper("N C m i p", "l a"),
    "parallel": _wrapper("j I a", "k u X m", more=True),
    "proxychains": _wrapper("f", "q"),
    "runuser": _wrapper("u g G", ""),
    "script": _wrapper("c", "a q e f", kind="shell"),
    "setpriv": _wrapper(),
    "setsid": _wrapper(flags="c f w ctty fork wait"),
    "ssh": _wrapper(
        "b c D E e F I i J L l m O o p Q R S W w", "4 6 A a C f G g K k M N n q s T t V v X x Y y", skip=1, kind="text"
    ),
    "stdbuf": _wrapper("i o e input output error", plain=True),
    "strace": _wrapper("e o p s u a b E I O P S X", "f F c C d h i k n q r t T v V w x y Y z Z"),
    "su": _wrapper("c g G s", "f l m p", skip=1, kind="shell"),
    "sudo": _wrapper("C D g h p R r t T U u", "A b B E e H i K k l n P S s V v preserve-env non-interactive"),
    "systemd-run": _wrapper("p E u", "t P q G user scope pty wait pipe quiet"),
    "taskset": _wrapper(flags="a p c", skip=1),
    "time": _wrapper("f o", "p a v", plain=True, risky="o"),
    "timeout": _wrapper("k s kill-after signal", "preserve-status foreground v verbose", skip=1, plain=True),
    "toybox": _wrapper(),
    "trap": _wrapper(flags="l p", kind="text"),
    "unbuffer": _wrapper(flags="p"),
    "unshare": _wrapper("S G R w", "i m n p u U C T r f"),
    "valgrind": _wrapper(),
    "watch": _wrapper(
        "n d interval", "b c e g p t x differences beep color errexit chgexit precise no-title", kind="text"
    ),
    "xargs": _wrapper(
        "I d a E L n P s arg-file delimiter max-args max-lines max-procs max-chars replace",
        "0 r t null no-run-if-empty verbose",
        plain=True,
        risky="a arg-file",
        more=True,
    ),
}

RUNNERS = WRAPPERS.keys() | SHELLS | names("find gfind fd fdfind")
"""Commands that may run what their words name."""


def unwrap(command: Command) -> Inner | None:
    """What the command runs, or None when it runs nothing but itself."""
    words = command.words
    name = words[0].text.rpartition("/")[2]
    if name in SHELLS:
        return _shell(command)
    if name in ("find", "gfind"):
        return _running(words, FIND_RUNS, ends=(";", "+")) if _names_any(words, FIND_RUNS) else None
    if name in ("fd", "fdfind"):
        return _running(words, FD_RUNS, ends=(";",)) if _names_any(words, FD_RUNS) else None
    if name in ("source", "."):
        return Inner(texts=command.told, doubts=("it runs a file",))
    if name == "git":
        return _git_aliases(words)
    if name == "command" and len(words) > 1 and re.fullmatch(r"-p?[vV]", words[1].text):
        return None
    wrapper = WRAPPERS.get(name)
    return None if wrapper is None else _through(name, wrapper, words)


def _through(name: str, wrapper: Wrapper, words: Sequence[Word]) -> Inner:
    doubts = [] if wrapper.plain else [f"{name} runs another command"]
    scripts: list[str] = []
    at = 1
    while at < len(words) and words[at].may_be_option and (words[at].text != "-" or name == "env"):
        if words[at].text == "--":
            at += 1
            break
        is_known = words[at].literal or _is_own_word(wrapper, words[at])
        doubts += [] if is_known else [UNSPELLED]
        if is_known and not words[at].literal:
            doubts.append(f"{name} is given {words[at].text}")
            break
        at, doubt = _option(wrapper, words, at, scripts)
        if doubt:
            doubts.append(f"{name} is given {doubt}")
    at += wrapper.skip
    if name == "env":
        at = _environment(words, at, doubts)
    rest = tuple(words[at:])
    if wrapper.kind == "shell":
        return Inner(texts=tuple(scripts), doubts=tuple(doubts))
    if wrapper.kind == "text":
        return _spoken(rest[:1] if name == "trap" else rest, doubts)
    if not rest:
        return Inner(texts=tuple(scripts), doubts=(*doubts, f"{name} is given no command"))
    inner = (*rest, UNKNOWN) if wrapper.more else rest
    return Inner(words=(inner,), texts=tuple(scripts), doubts=tuple(doubts))


def _is_own_word(wrapper: Wrapper, word: Word) -> bool:
    """Whether this word, although it is not spelled out, can only be what is expected here: no option that runs text,
    and no command of which nothing is known."""
    if wrapper.kind != "words":
        return False
    return not word.splits if wrapper.skip else re.fullmatch(r"\$[{\w}]+/(.*/)?[\w.+-]+", word.text) is not None


def _option(wrapper: Wrapper, words: Sequence[Word], at: int, scripts: list[str]) -> tuple[int, str]:
    """Where the next word is, and what is not known about this one."""
    word = words[at]
    if not word.literal:
        return at + 1, word.text
    name, is_assigned, value = word.text.lstrip("-").partition("=")
    if word.text.startswith("--"):
        if name in ("split-string", "command"):
            scripts.append(value if is_assigned else _text_at(words, at + 1))
            return at + (1 if is_assigned else 2), word.text
        known = (name in wrapper.valued or name in wrapper.flags) and name not in wrapper.risky
        return at + (2 if name in wrapper.valued and not is_assigned else 1), "" if known else word.text
    letters = word.text[1:]
    for index, letter in enumerate(letters):
        rest = letters[index + 1 :]
        if letter == "S" and "chdir" in wrapper.valued:
            scripts.append(" ".join([rest, *(following.text for following in words[at + 1 :])]))
            return len(words), "-S"
        if letter in wrapper.valued:
            if letter == "c" and wrapper.kind == "shell":
                scripts.append(rest or _text_at(words, at + 1))
            return at + (1 if rest else 2), f"-{letter}" if letter in wrapper.risky else ""
        if letter not in wrapper.flags:
            return at + 1, word.text
    return at + 1, ""


def _text_at(words: Sequence[Word], at: int) -> str:
    return words[at].text if at < len(words) else ""


def _environment(words: Sequence[Word], at: int, doubts: list[str]) -> int:
    """`env` takes assignments before the command."""
    while at < len(words) and (match := ASSIGNMENT.fullmatch(words[at].text)):
        if not PLAIN_ASSIGNMENT.fullmatch(match[1]) or words[at].splits:
            doubts.append(f"it sets {match[1]}")
        if words[at].splits:
            doubts.append(UNSPELLED)
        at += 1
    return at


def _spoken(words: Sequence[Word], doubts: list[str]) -> Inner:
    if not all(word.literal for word in words):
        doubts.append(UNSPELLED)
    return Inner(texts=(" ".join(word.text for word in words),), doubts=tuple(doubts))


def _shell(command: Command) -> Inner:
    """`sh -c TEXT`, and texts that a shell is given as its input."""
    words = command.words
    doubts: list[str] = [] if words[0].text in ("sh", "bash") else ["it runs another shell"]
    for at, word in enumerate(words[1:], start=1):
        if not word.literal:
            return Inner(texts=command.told, doubts=(UNSPELLED,))
        if not word.text.startswith(("-", "+")):
            previous = words[at - 1].text
            if re.fullmatch(r"[-+]\w*[oO]", previous) and "c" not in previous:
                continue
            return Inner(texts=command.told, doubts=("it runs a file",))
        if re.fullmatch(r"-\w*c\w*", word.text):
            if word.text != "-c":
                doubts.append(f"a shell is given {word.text}")
            return _script(words[at + 1 :], doubts)
    return Inner(texts=command.told, doubts=("a shell reads its input",))


def _script(words: Sequence[Word], doubts: list[str]) -> Inner:
    """The first word after `-c` that is not an option is the text."""
    for at, word in enumerate(words):
        if not word.literal:
            return Inner(doubts=(*doubts, UNSPELLED))
        if not word.text.startswith(("-", "+")):
            named = ["the text is given words"] if len(words) > at + 1 and "$" in word.text else []
            return Inner(texts=(word.text,), doubts=(*doubts, *named))
        doubts.append(f"a shell is given {word.text}")
    return Inner(doubts=(*doubts, "a shell is given no text"))


def _names_any(words: Sequence[Word], names: frozenset[str]) -> bool:
    return any(word.text in names for word in words)


def _running(words: Sequence[Word], names: frozenset[str], *, ends: tuple[str, ...]) -> Inner:
    """`find … -exec COMMAND ;`"""
    return Inner(words=tuple(_runs(words, names, ends)), doubts=("it runs a command for each file",))


def _runs(words: Sequence[Word], names: frozenset[str], ends: tuple[str, ...]) -> Iterator[tuple[Word, ...]]:
    at = 0
    while at < len(words):
        if words[at].text in names:
            start = at + 1
            while at + 1 < len(words) and words[at + 1].text not in ends:
                at += 1
            if words[start : at + 1]:
                yield tuple(words[start : at + 1])
        at += 1


def _git_aliases(words: Sequence[Word]) -> Inner | None:
    """`git -c alias.x='!COMMAND' x` runs the command."""
    texts = tuple(
        word.text.partition("=!")[2] for option, word in pairwise(words) if option.text == "-c" and "=!" in word.text
    )
    return Inner(texts=texts, doubts=("git runs a command",)) if texts else None
