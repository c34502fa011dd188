"""What a command line may run beside the commands it spells out: for prohibitions alone to look at.

An allowance is about what is written; a prohibition is about what may happen. A *shadow* is a text that may come to be
run: an argument of a command that runs its arguments, a script given to an interpreter, the value of a variable. Where
not even that is known (`$(…) x`, a shell that reads a pipe, another `PATH`), the line *hides* what it runs. Shadows are
found widely: to think that `sed 's/a/rm b/'` may run `rm` costs a question, to overlook it costs the file.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from turnkeeper.tools.shell_line import Command, Line
from turnkeeper.tools.shell_naming import DECLARES, as_assigned, is_told, sets_unnamed, sets_variables, why_unnamed
from turnkeeper.tools.shell_options import prints_only
from turnkeeper.tools.shell_words import UNKNOWN, Word, ansi_quoted, as_run, names, shown
from turnkeeper.tools.shell_wrappers import FD_RUNS, FIND_RUNS, SHELLS, UNSPELLED, WRAPPERS

SHADOWS_MAX = 400
SUFFIXES_MAX = 16
RUN_SUBCOMMANDS = names("""
    asdf bundle cmake conda direnv distrobox docker goenv hatch jenv kubectl lxc mamba micromamba mise nerdctl nix
    nodenv npm oc pdm perf pipenv pipx pixi pnpm podman poetry pyenv rbenv rvm rye tox uv vagrant volta yarn
""")
"""Commands that may run what their words after the first name."""
RUN_WORDS = WRAPPERS.keys() | names("""
    abduco alacritty asciinema bunx bwrap capsh catatonit cgexec chpst concurrently cpulimit cross-env daemonize
    dbus-launch dbus-run-session dotenv dumb-init eatmydata envdir envuidgid fakechroot fakeroot firejail foot gdb
    gdbserver gnome-terminal gosu hash heaptrack hyperfine i386 ifne inotifywait kitty konsole lckdo ld.so linux32
    linux64 nix-shell nodemon npx nq osascript pkexec prlimit proot proxychains4 rlwrap rr run-parts runcon
    s6-setuidgid schroot script setarch setlock sg softlimit ssh-agent stap start-stop-daemon su-exec systemd-inhibit
    tini torify torsocks trickle ts tsocks tsp uvx watchexec wezterm wine winpty wsl x86_64 xdotool xterm xvfb-run
""")
"""Commands that may run what their words name."""
RUN_TEXTS = names("""
    R Rscript alias asciinema at awk bat batcat batch bind bsdtar bun bunx busybox capsh clisp compgen complete
    concurrently cpio crontab csh dc dd deno docker dtach ed elixir elvish emacs emacsclient entr erl es eval ex expect
    fd fdfind find flock ftp fzf gawk gdb ghc git-shell gm4 gmake gnuplot groovy gsed guile hyperfine ip jshell julia
    just less lftp lldb lua luajit m4 make man mapfile mawk mispipe mksh more mysql nano nawk nc ncat netcat nix
    nix-shell nmap node nodejs nodemon npm npx nu nvim ocaml octave octave-cli openssl osascript osqueryi parallel pee
    perl php pkexec pnpm podman powershell psql pwsh pypy pypy3 python python2 python3 racket rake rc readarray
    redis-cli rsync ruby runghc runuser sbcl scala screen script sed sftp sg sk socat sort split sqlite3 ssh su swift
    swipl tar tclsh tcpdump tcsh tmux trap ts-node tsx unzip vi view vim watch watchexec wish xdotool xonsh yarn yash
    zip
""")
"""Commands that may run what stands in their words."""
OPTIONS_RUN = names("""
    --call --checkpoint-action --command --compress-program --diff-program --editor --exec --exec-batch --extcmd
    --hostname-bin --info-script --new-volume-script --pager --pre --preview --receive-pack --rmt-command --rsh
    --rsh-command --rsync-path --shell --to-command --upload-pack --use-compress-program
""")
"""Options by which one command is told to run another, whatever the command."""
SHORTENED_MIN = len("--pre")
SHORT_OPTIONS_RUN: Mapping[str, frozenset[str]] = {
    "cargo": names("-- -s -x"),
    "man": names("-P"),
    "rsync": names("-e"),
    "split": names("--filter"),
    "tar": names("-F -I"),
    "zip": names("-TT"),
    **dict.fromkeys(names("npm npx pnpm yarn"), names("-c")),
}
SETTERS = DECLARES | names("cross-env doas dotenv env sudo")
"""Commands that set the variables which their words name."""
VALUED: Mapping[str, frozenset[str]] = {
    "cargo": names("--config --manifest-path"),
    "docker": names("--config --context --host -H -c"),
    "git": names("--git-dir --namespace --work-tree -C"),
    "kubectl": names("--context --kubeconfig --namespace -n"),
    "npm": names("--prefix --workspace -w"),
}
"""Options of which it is known that the next word is theirs, and so no subcommand."""
SOURCES = names("source .")
FINDERS = names("fd fdfind find gfind")
EVALUATES = names("printf test [ read unset let declare typeset local export readonly mapfile readarray")
"""Builtins that evaluate the index of an array, and what is substituted in it."""
GIT_RUNS = names("""
    archive bisect clone config daemon difftool fetch filter-branch grep help instaweb ls-remote mergetool p4 pull push
    rebase remote send-email submodule svn web--browse worktree
""")
"""Subcommands of git that can be told to run something."""
RUNS_NEXT: Mapping[str, frozenset[str]] = {
    "bundle": names("exec"),
    "cmake": names("-E"),
    "npm": names("exec x"),
    **dict.fromkeys(names("hatch pdm pipenv pipx poetry rye uv"), names("run")),
    **dict.fromkeys(names("pnpm yarn"), names("dlx exec")),
    **dict.fromkeys(names("asdf direnv goenv jenv mise nodenv pyenv rbenv"), names("exec")),
}
"""Subcommands of which the next word is the command they run."""
SETS = "it sets "
HIDING = (
    UNSPELLED,
    "it is nested too deeply",
    "it cannot be read",
)
STEERING = re.compile(
    r"PATH|LD_\w+|DYLD_\w+|BASH_ENV|ENV|IFS|SHELLOPTS|BASHOPTS|PS[0-4]|BASH_FUNC.*|GLOBIGNORE"
    r"|PYTHON(PATH|STARTUP|HOME)|PERL5(LIB|OPT|DB)|RUBY(OPT|LIB)|NODE_(OPTIONS|PATH)|GIT_(EXEC_PATH|CONFIG\w*)|RIPGREP_CONFIG_PATH",
    re.DOTALL,
)
"""Variables by which one name comes to run something else."""
UNNAMED_FILE = re.compile(r"[<>]\(.*|/dev/(stdin|fd/\d+)|/proc/(self|\d+)/fd/\d+|-", re.DOTALL)
NAMED_TOOL = re.compile(r"[^$`]*\$[{\w}]+/(.*/)?[\w.+-]+")
"""One that is named, wherever it lies."""
KNOWN_BEGINNING = re.compile(r"[^$`{*?\[<>]*")
VARIABLE_PART = re.compile(r"\$\S*")
ALIAS = re.compile(r"alias\.[^=]+(?:=(.*))?", re.DOTALL | re.IGNORECASE)
PLAIN_WORD = re.compile(r"[\w./@%+~^-]*")
CHUNKS = re.compile(r"\$\(|[;&|\n(){}`<>!,'\"=:\[\]@%]")
FINER_CHUNKS = re.compile(r"\$\(|[;&|\n(){}`<>!,'\"=:\[\]@%/+]")


def hidden_by(line: Line) -> Iterator[str]:
    """Why it cannot be known what the line runs."""
    yield from (doubt for doubt in line.doubts if doubt in HIDING)
    for doubt in line.doubts:
        if doubt.startswith(SETS) and STEERING.fullmatch(doubt.removeprefix(SETS)):
            yield f"{doubt}, by which another command may be run"


def hidden_in(command: Command, line: Line, doubts: Sequence[str]) -> Iterator[str]:
    """Why it cannot be known what the command runs; `doubts` are those its wrapper left."""
    yield from (doubt for doubt in doubts if doubt in HIDING)
    if reason := why_unnamed(command, line):
        yield reason
    texts = as_run(command.words, line.assigned)
    name = texts[0].rpartition("/")[2] if texts else ""
    rest = command.words[1:]
    if name in SHELLS and "a shell reads its input" in doubts and not _is_spelled_out(command.stdin):
        yield "a shell reads its input"
    unnamed = any(UNNAMED_FILE.fullmatch(word.text) for word in as_assigned(rest[:1], line))
    if name in SHELLS | SOURCES and unnamed and not _is_spelled_out(command.stdin):
        yield "a shell reads its input"
    if name == "parallel" or (name == "xargs" and any(re.match(r"-[IiJ]|--replace", word.text) for word in rest)):
        yield "the words of a command come from elsewhere"
    if name == "enable" or (name == "git" and any(word.text.startswith("--exec-path=") for word in rest)):
        yield f"{name} is told where its commands are"
    if name == "printf" and _steers(rest, line.assigned):
        yield "printf may set a variable by which another command may be run"
    if name in FINDERS and any(_may_run(rest, at, line) for at in range(len(rest))):
        yield UNSPELLED
    if any(not word.literal and not NAMED_TOOL.fullmatch(word.text) for word in _run_first(name, rest)):
        yield UNSPELLED
    yield from _steering(command)


def _run_first(name: str, words: Sequence[Word]) -> Sequence[Word]:
    """The word that is the command which a command without a rule of its own runs."""
    if name in RUNS_NEXT and words and words[0].text in RUNS_NEXT[name]:
        words = words[1:]
    elif name not in RUN_WORDS - WRAPPERS.keys():
        return ()
    return [word for word in words if not (word.literal and word.text.startswith("-"))][:1]


def _steering(command: Command) -> Iterator[str]:
    """Why what is run may be another command: the command sets a variable by which names are found, or any at all."""
    name, words = command.words[0].text, command.words[1:]
    if sets_unnamed(command) and name != "unset":
        yield "it sets a variable that is not spelled out"
    if name == "set" and any(re.fullmatch(r"-\w*k\w*|keyword", word.text) for word in words):
        yield "it takes words for variables"
    if name in SETTERS or sets_variables(command):
        steered = _steered(words, bare=name not in SETTERS and name != "unset")
        yield from (f"{SETS}{variable}, by which another command may be run" for variable in steered)


def _may_run(words: Sequence[Word], at: int, line: Line) -> bool:
    """Whether a word of `find` that is not spelled out may be `-exec` and a command, or the first of these."""
    word = words[at]
    if word.literal or word.pattern or not word.may_be_option or is_told(word, line):
        return False
    return word.splits or not any(near.literal and near.text.startswith("-") for near in words[max(at - 1, 0) : at + 2])


def _steered(words: Sequence[Word], *, bare: bool) -> Iterator[str]:
    """Such variables among the words: set to a value, or named by another variable; and `bare`, merely named."""
    for word in words:
        variable, is_set, value = word.text.removeprefix("-v").partition("=")
        named = (variable.rstrip("+"), value) if is_set else (variable,) if bare else ()
        yield from (one for one in named if STEERING.fullmatch(one))


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


def shadows_of(command: Command, line: Line) -> Iterator[str]:
    texts = as_run(command.words, line.assigned)
    if not texts:
        return
    name = texts[0].rpartition("/")[2].lower().removesuffix(".exe")
    words = command.words[1:]
    if not command.words[0].literal:
        yield " ".join(texts)
    if not all(word.literal for word in words):
        yield shown([*(Word(text) for text in texts[: len(texts) - len(words)]), *_as_far_as_known(name, words)])
        yield shown((command.words[0], *as_assigned(words, line)))
    yield from _of_words(name, words)
    yield from _of_texts(name, words, command.told)


def _of_words(name: str, words: Sequence[Word]) -> Iterator[str]:
    """What may be run because some of the words name it."""
    yield from _of_options(name, words)
    if name == "git":
        yield from _of_git(words)
    if name in FINDERS:
        yield from _of_files(words)
    if name == "set":
        yield shown([word for word in words if not word.text.startswith(("-", "+"))])
    if name in RUN_WORDS | SHELLS | SOURCES or name.startswith("ld-linux"):
        yield from _suffixes(words)
    if name in RUN_SUBCOMMANDS:
        yield from _suffixes(words[1:])


def _of_texts(name: str, words: Sequence[Word], stdin: Sequence[str]) -> Iterator[str]:
    """What may be run because it stands in a word, or in what the command reads."""
    if name in RUN_TEXTS or name in SHELLS:
        yield from _within(words)
        yield from (chunk for text in stdin for chunk in _chunks(text))
        yield from (chunk for text in stdin if "\\" in text for chunk in _chunks(ansi_quoted(text).text))
    if name in EVALUATES:
        yield from _within([word for word in words if "[" in word.text or (name in DECLARES and _opens(word.text))])
    if name in SETTERS:
        yield from (word.text.partition("=")[2] for word in words)
    if name in SHELLS | SOURCES:
        yield from stdin


def _opens(text: str) -> bool:
    """Whether something may be substituted in it."""
    return "(" in text or "`" in text


def _as_far_as_known(name: str, words: Sequence[Word]) -> Iterator[Word]:
    """The words, and of those that are not spelled out the beginning alone."""
    valued = VALUED.get(name, frozenset())
    for at, word in enumerate(words):
        known = KNOWN_BEGINNING.match(word.text)
        is_value = at > 0 and words[at - 1].text in valued and not word.splits
        if word.literal or is_value or known is None:
            yield word
        else:
            yield Word((known[0] if word.lead else "") + UNKNOWN.text)


def _of_options(name: str, words: Sequence[Word]) -> Iterator[str]:
    """What options are given that name a command; long ones may be shortened."""
    short = SHORT_OPTIONS_RUN.get(name, frozenset())
    for at, word in enumerate(words):
        option, _, value = word.text.partition("=")
        if option in short or (len(option) >= SHORTENED_MIN and any(known.startswith(option) for known in OPTIONS_RUN)):
            yield from _chunks(value)
            yield from (chunk for following in words[at + 1 : at + 2] for chunk in _chunks(following.text))
            yield shown(words[at + 1 :])
        elif option[:2] in short:
            yield from _chunks(word.text[2:])


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
                yield VARIABLE_PART.sub(UNKNOWN.text, " ".join(pieces[at:]))


def _of_files(words: Sequence[Word]) -> Iterator[str]:
    """What is run for each file, whose name may be any word."""
    named = [Word(UNKNOWN.text) if "{}" in word.text else word for word in words]
    yield from (shown(named[at + 1 :]) for at, word in enumerate(words) if word.text in FIND_RUNS | FD_RUNS)


def _of_git(words: Sequence[Word]) -> Iterator[str]:
    """Settings given with `-c`, and subcommands that can be told to run something."""
    yield from _of_aliases(words)
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


def _of_aliases(words: Sequence[Word]) -> Iterator[str]:
    """What an alias stands for is a subcommand with its words, whether it is set for once or for good."""
    for at, word in enumerate(words):
        match = ALIAS.fullmatch(word.text.removeprefix("--config-env="))
        if match is None:
            continue
        is_elsewhere = word.text.startswith("--config-env=") or (at > 0 and words[at - 1].text == "--config-env")
        value = word if match[1] is not None else next(iter(words[at + 1 :]), word)
        is_told = value.literal and not is_elsewhere
        yield f"git {(match[1] or value.text) if is_told else UNKNOWN.text}"
