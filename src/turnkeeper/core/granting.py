"""What a person allows who says “and from now on” to one call: its shape, and not one thing more.

| call | shape |
|---|---|
| `git commit -m x` | `git commit`, with any arguments |
| `npm run test -- -v` | `npm run test`, with any arguments |
| `rm -rf build`, `sudo …`, `python -c …`, `git push`, `cd sub` | this very command |
| `rm "$x"`, `xargs rm`, `python -` | none, since what it does stands elsewhere: it can be allowed once only |
| a line with operators, redirections or substitutions | none |
| an edit of `src/a.py` | that file; or, if asked for, the files directly beside it, or every file of the workspace |
| a fetch of `https://example.com/x` | that host |
| a tool of an MCP server | that tool |
"""

import re
from collections.abc import Sequence
from shlex import quote

from turnkeeper.core.commandline import SHELLS, WRAPPERS, scan
from turnkeeper.core.patterns import AMBIGUOUS_ADDRESS, DOMAIN, absolute, escaped, split
from turnkeeper.core.permission import EDITING_TOOLS
from turnkeeper.core.reading import Words, words_of
from turnkeeper.core.ruletext import kind_of
from turnkeeper.protocol.requests import Rule, Verdict
from turnkeeper.protocol.secretfiles import is_secret, is_steering

SUBCOMMANDS = words_of(
    "apt brew bun bundle cargo composer conda deno docker dotnet flutter gcloud gem gh git go gradle helm just kubectl "
    "mix mvn npm nx pip pip3 pnpm podman poetry rails rake rustup swift task terraform turbo uv yarn"
)
"""Commands whose second word says what they do."""
RUNNERS = frozenset(
    (name, sub)
    for name, subs in {
        "bun": "run",
        "bundle": "exec",
        "cargo": "run",
        "deno": "run task",
        "go": "run",
        "npm": "exec run",
        "nx": "run",
        "pnpm": "dlx exec run",
        "poetry": "run",
        "uv": "pip run tool",
        "yarn": "run",
    }.items()
    for sub in subs.split()
)
"""Subcommands that run whatever their third word names."""
ANYTHING = frozenset(
    (name, sub)
    for name, subs in {
        "cargo": "watch",
        "conda": "run",
        "docker": "buildx compose exec run",
        "gh": "alias api extension",
        "git": "am archive bisect clone config daemon difftool fetch filter-branch grep help instaweb ls-remote "
        "mergetool p4 pull push rebase remote send-email submodule svn web--browse worktree",
        "go": "generate",
        "kubectl": "debug exec run",
        "npm": "config",
        "podman": "exec run",
    }.items()
    for sub in subs.split()
)
"""Subcommands that can be told by an option to run something else, or to reach somewhere else."""
RUNTIME = re.compile(
    r"(python|pypy|perl|ruby|node|nodejs|php|lua|luajit)[\d.]*|tsx|ts-node|pwsh|powershell|npx|bunx|uvx|pipx"
)
"""What runs the program that is named to it; most run what is given as input where none is."""
EXACT = (
    SHELLS
    | WRAPPERS
    | words_of(
        ". alias awk bind bsdtar cd chgrp chmod chown cmake complete cp cross-env curl dd declare direnv "
        "dotenv ed emacs enable entr eval ex expect export fd fdfind find gawk gdb getopts gmake gsed hash "
        "hatch hyperfine kill killall lldb ln local make mapfile mawk mise mkfs mount mv nano nawk nc ncat "
        "nix nix-shell nvim pdm pipenv pkill printf pushd read readarray readonly rg rm rmdir rsync scp "
        "screen script sed set shopt shred socat source ssh tar tee tmux trap truncate typeset umount unalias "
        "unset unzip vi view vim watchexec wget zip"
    )
)
"""Commands that can do anything, or undo nothing: one use says nothing about the next."""
UNKNOWN = "..."
"""Stands in a command for words that come from elsewhere, as those that `xargs` adds."""
ABOUT_ITSELF = frozenset({"--version", "-V", "-v", "--help", "-h"})


def grant_for(
    *, tool: str, action: str, subjects: Sequence[str], workdir: str, whole_directory: bool = False
) -> tuple[Rule, ...]:
    """A rule for each part of the call; none at all if any part is of no shape that could be told."""
    patterns = [pattern_for(tool, subject, workdir, whole_directory=whole_directory) for subject in subjects or ("",)]
    if None in patterns:
        return ()
    return tuple(Rule(Verdict.ALLOW, tool, action, pattern or "") for pattern in dict.fromkeys(patterns))


def edits_for(*, tool: str, subjects: Sequence[str], workdir: str) -> tuple[Rule, ...]:
    """Every edit of a file of the workspace, by whichever tool; none at all if this call is of another kind.

    A grant never covers a file with secrets, a hook or a setting that it does not name: these are still asked about.
    """
    root = absolute(".", workdir).rstrip("/")
    inside = all(subject and absolute(subject, workdir).startswith(f"{root}/") for subject in subjects)
    if (
        tool not in EDITING_TOOLS
        or not subjects
        or not inside
        or any(is_secret(one) or is_steering(one) for one in subjects)
    ):
        return ()
    return tuple(Rule(Verdict.ALLOW, name, "", "**") for name in sorted(EDITING_TOOLS))


def pattern_for(tool: str, subject: str, workdir: str, *, whole_directory: bool) -> str | None:
    """None: there is no shape. Nothing: the tool itself is the shape."""
    match kind_of(tool, subject):
        case "command":
            return command_pattern(subject)
        case "address":
            return address_pattern(subject)
        case "name":
            return ""
        case "path":
            return path_pattern(subject, workdir, whole_directory=whole_directory) if subject else ""


def command_pattern(command: str) -> str | None:
    line = scan(command)
    if not line.plain or stands_elsewhere(line.commands[0]):
        return None
    words = line.commands[0]
    depth = shape_depth(words)
    shape = " ".join(quote(escaped(word)) for word in words[:depth])
    return f"{shape}:*" if depth is not None else shape


def stands_elsewhere(words: Words) -> bool:
    """Whether the words do not tell what the command does: a variable does, or what it is given as its input."""
    if any("$" in word or word == UNKNOWN for word in words):
        return True
    name = words[0].rpartition("/")[2]
    is_fed = all(word.startswith("-") for word in words[1:]) and not ABOUT_ITSELF.intersection(words[1:])
    return is_fed and (name in SHELLS or RUNTIME.fullmatch(name) is not None)


def shape_depth(words: Words) -> int | None:
    """How many words make the shape, whatever follows them; None: all of them, and nothing may follow."""
    name = words[0].rpartition("/")[2]
    if name in EXACT or "=" in name or (name, *words[1:2]) in ANYTHING:
        return None
    if RUNTIME.fullmatch(name):
        depth = 3 if words[1:2] == ("-m",) else 2
    elif name in SUBCOMMANDS:
        depth = 3 if (name, *words[1:2]) in RUNNERS else 2
    else:
        return 1
    told = words[1:depth] if words[1:2] != ("-m",) else words[2:depth]
    if len(words) < depth or any(word.startswith("-") for word in told):
        return None
    inner = words[depth - 1].rpartition("/")[2]
    return None if depth == 3 and (inner in EXACT | SUBCOMMANDS or RUNTIME.fullmatch(inner)) else depth


def address_pattern(address: str) -> str | None:
    parts = split(address)
    if parts is None or AMBIGUOUS_ADDRESS.search(address) or re.search(r"[*?\[]", parts.netloc):
        return None
    return f"{DOMAIN}{parts.hostname}" + (f":{parts.port}" if parts.port is not None else "")


def path_pattern(path: str, workdir: str, *, whole_directory: bool) -> str:
    """Relative to the workspace where it can be."""
    full, root = absolute(path, workdir), absolute(".", workdir)
    inside = full.startswith(f"{root.rstrip('/')}/")
    told = escaped(full.removeprefix(f"{root.rstrip('/')}/") if inside else full)
    if not whole_directory:
        return told
    parent = told.rpartition("/")[0]
    return f"{parent or ('.' if inside else '')}/*"
