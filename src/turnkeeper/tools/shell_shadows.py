"""What a command line may run beside the commands it spells out: for prohibitions alone to look at.

An allowance is about what is written; a prohibition is about what may happen. A *shadow* is a text that may come to be
run: an argument of a command that runs its arguments, a script given to an interpreter, the value of a variable. Where
not even that is known (`$(…) x`, a shell that reads a pipe, another `PATH`), the line *hides* what it runs. Shadows are
found widely: to think that `sed 's/a/rm b/'` may run `rm` costs a question, to overlook it costs the file.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from turnkeeper.tools.shell_line import Command, Line
from turnkeeper.tools.shell_options import prints_only
from turnkeeper.tools.shell_words import Word, as_run, names, shown
from turnkeeper.tools.shell_wrappers import SHELLS, WRAPPERS

SHADOWS_MAX = 400
SUFFIXES_MAX = 16
RUN_SUBCOMMANDS = names("""
    bundle conda direnv distrobox docker kubectl lxc mise nerdctl nix npm oc perf pipx pnpm podman poetry tox uv vagrant
    yarn
""")
"""Commands that may run what their words after the first name."""
RUN_WORDS = WRAPPERS.keys() | names("""
    bunx bwrap capsh catatonit cgexec chpst daemonize dbus-launch dbus-run-session dotenv dumb-init fakeroot firejail
    gdb gdbserver gosu hash heaptrack hyperfine i386 inotifywait ld.so linux32 linux64 nix-shell nodemon npx osascript
    pkexec prlimit proot rlwrap rr run-parts runcon s6-setuidgid schroot script setarch sg softlimit ssh-agent stap
    start-stop-daemon su-exec systemd-inhibit tini torsocks trickle tsocks uvx watchexec wine winpty wsl x86_64 xdotool
    xvfb-run
""")
"""Commands that may run what their words name."""
RUN_TEXTS = names("""
    R Rscript alias at awk batch bind bsdtar bun busybox capsh clisp compgen complete cpio crontab csh dd deno docker
    dtach ed elixir elvish emacs entr erl es eval ex expect fd fdfind find flock ftp gawk gdb ghc git-shell gmake groovy
    gsed guile hyperfine ip julia just less lftp lldb lua luajit make man mapfile mawk mksh more mysql nano nawk nc
    ncat netcat nix nix-shell nmap node nodejs nodemon nu nvim openssl osascript osqueryi parallel perl php pkexec
    podman powershell psql pwsh pypy pypy3 python python2 python3 racket rake rc readarray redis-cli rsync ruby runghc
    runuser sbcl scala screen script sed sftp sg socat sort split sqlite3 ssh su swift tar tclsh tcpdump tcsh tmux trap
    unzip vi view vim watch watchexec wish xdotool xonsh yash zip
""")
"""Commands that may run what stands in their words."""
EVALUATES = names("printf test [ read unset let declare typeset local export readonly mapfile readarray")
"""Builtins that evaluate the index of an array, and what is substituted in it."""
GIT_RUNS = names("""
    archive bisect clone config daemon difftool fetch filter-branch grep help instaweb ls-remote mergetool p4 pull push
    rebase remote send-email submodule svn web--browse worktree
""")
"""Subcommands of git that can be told to run something."""
HIDING = (
    "it runs text that is not spelled out",
    "it is nested too deeply",
    "it cannot be read",
)
STEERING = re.compile(
    r"PATH|LD_\w+|DYLD_\w+|BASH_ENV|ENV|IFS|SHELLOPTS|BASHOPTS|PS[0-4]|BASH_FUNC\w*|GLOBIGNORE"
    r"|PYTHON(PATH|STARTUP|HOME)|PERL5(LIB|OPT|DB)|RUBY(OPT|LIB)|NODE_(OPTIONS|PATH)|GIT_(EXEC_PATH|CONFIG\w*)"
)
"""Variables by which one name comes to run something else."""
UNNAMED_FILE = re.compile(r"[<>]\(.*|/dev/(stdin|fd/\d+)|/proc/(self|\d+)/fd/\d+|-", re.DOTALL)
KNOWN_NAME = re.compile(r"(.*/)?[\w.+@:%,-]+|\[\[?|[{}!:.]", re.DOTALL)
PLAIN_WORD = re.compile(r"[\w./@%+~^-]*")
CHUNKS = re.compile(r"\$\(|[;&|\n(){}`<>!,'\"=:\[\]@%]")
FINER_CHUNKS = re.compile(r"\$\(|[;&|\n(){}`<>!,'\"=:\[\]@%/+]")


def hidden_by(line: Line) -> Iterator[str]:
    """Why it cannot be known what the line runs."""
    yield from (doubt for doubt in line.doubts if doubt in HIDING)
    for name in line.assigned:
        if STEERING.fullmatch(name):
            yield f"it sets {name}, by which another command may be run"


def hidden_in(command: Command, assigned: Mapping[str, str], doubts: Sequence[str]) -> Iterator[str]:
    """Why it cannot be known what the command runs; `doubts` are those its wrapper left."""
    yield from (doubt for doubt in doubts if doubt in HIDING)
    first = command.words[0]
    texts = as_run(command.words, assigned)
    if not first.literal and not (texts and KNOWN_NAME.fullmatch(texts[0])):
        yield f"the name of the command is not spelled out: {first.text}"
    name = texts[0].rpartition("/")[2] if texts else ""
    rest = command.words[1:]
    if name in SHELLS and "a shell reads its input" in doubts and not _is_spelled_out(command.stdin):
        yield "a shell reads its input"
    unnamed = bool(rest) and UNNAMED_FILE.fullmatch(rest[0].text) is not None
    if name in ("source", ".", *SHELLS) and unnamed and not _is_spelled_out(command.stdin):
        yield "a shell reads its input"
    if name == "parallel" or (name == "xargs" and any(re.match(r"-[IiJ]|--replace", word.text) for word in rest)):
        yield "the words of a command come from elsewhere"
    if name == "enable" or (name == "git" and any(word.text.startswith("--exec-path=") for word in rest)):
        yield f"{name} is told where its commands are"
    if name == "printf" and _steers(rest, assigned):
        yield "printf may set a variable by which another command may be run"


def _steers(words: Sequence[Word], assigned: Mapping[str, str]) -> bool:
    texts = [*(word.text.removeprefix("-v") for word in words), *assigned.values()]
    return not prints_only(words) and any(map(STEERING.fullmatch, texts))


def told_by_variables(command: Command, values: Sequence[str]) -> Iterator[str]:
    """What the variables of a line may tell a command that runs what stands in its words."""
    name = command.words[0].text.rpartition("/")[2].lower()
    if name in RUN_TEXTS and not all(word.literal for word in command.words[1:]):
        yield from (chunk for value in values for chunk in _chunks(value))


def _is_spelled_out(stdin: Sequence[str]) -> bool:
    """One text, and nothing in it that whoever prints it would change."""
    return len(stdin) == 1 and not re.search(r"[\\%]", stdin[0])


def shadows_of(command: Command, assigned: Mapping[str, str]) -> Iterator[str]:
    texts = as_run(command.words, assigned)
    if not texts:
        return
    if not command.words[0].literal:
        yield " ".join(texts)
    name = texts[0].rpartition("/")[2].lower().removesuffix(".exe")
    words = command.words[1:]
    if name == "git":
        yield from _of_git(words)
    if name == "set":
        yield shown([word for word in words if not word.text.startswith(("-", "+"))])
    if name in RUN_WORDS or name.startswith("ld-linux"):
        yield from _suffixes(words)
    if name in RUN_SUBCOMMANDS:
        yield from _suffixes(words[1:])
    if name in RUN_TEXTS or name in SHELLS:
        yield from _within(words)
        yield from (chunk for text in command.stdin for chunk in _chunks(text))
    if name in EVALUATES:
        yield from _within([word for word in words if "[" in word.text])
    if name in SHELLS or name in ("source", "."):
        yield from command.stdin


def _suffixes(words: Sequence[Word]) -> Iterator[str]:
    for at in range(min(len(words), SUFFIXES_MAX)):
        yield shown(words[at:])


def _within(words: Sequence[Word]) -> Iterator[str]:
    for word in words:
        if not PLAIN_WORD.fullmatch(word.text):
            yield from _chunks(word.text)


def _chunks(text: str) -> Iterator[str]:
    """Wherever a command may begin in a text of whatever language."""
    yield text
    for pattern in (CHUNKS, FINER_CHUNKS):
        for chunk in pattern.split(text):
            pieces = chunk.replace("\\", "").split()
            for at in range(min(len(pieces), SUFFIXES_MAX)):
                yield " ".join(pieces[at:])


def _of_git(words: Sequence[Word]) -> Iterator[str]:
    """Settings given with `-c`, and subcommands that can be told to run something."""
    at = 0
    while at < len(words) and words[at].text.startswith("-"):
        if words[at].text in ("-c", "--config-env") and at + 1 < len(words):
            yield from _chunks(words[at + 1].text)
            at += 1
        elif words[at].text in ("-C", "--git-dir", "--work-tree", "--namespace"):
            at += 1
        at += 1
    if at < len(words) and words[at].text in GIT_RUNS:
        rest = words[at + 1 :]
        yield from _suffixes(rest)
        yield from _within(rest)
        yield from (word.text[2:] for word in rest if re.match(r"-[Oxu].", word.text))
