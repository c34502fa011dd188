"""What a person allows who says “and from now on” to one call: its shape, and not one thing more.

| call | shape |
|---|---|
| `git commit -m x` | `git commit`, with any arguments |
| `npm run test -- -v` | `npm run test`, with any arguments |
| `rm -rf build`, `sudo …`, `python -c …` | this very command |
| a line with operators, redirections or substitutions | none: it can be allowed once only |
| an edit of `src/a.py` | that file; or, if asked for, the files directly beside it |
| a fetch of `https://example.com/x` | that host |
| a tool of an MCP server | that tool |
"""

import re
from collections.abc import Sequence
from shlex import quote

from turnkeeper.core.commandline import SHELLS, WRAPPERS, scan
from turnkeeper.core.patterns import AMBIGUOUS_ADDRESS, DOMAIN, absolute, escaped, split
from turnkeeper.core.reading import Words, words_of
from turnkeeper.core.ruletext import kind_of
from turnkeeper.protocol.requests import Rule, Verdict

SUBCOMMANDS = words_of(
    "apt brew bun bundle cargo composer conda deno docker dotnet flutter gcloud gem gh git go gradle helm just kubectl "
    "make mix mvn npm nx pip pip3 pnpm podman poetry rails rake rustup swift task terraform turbo uv yarn"
)
"""Commands whose second word says what they do."""
RUNNERS = frozenset(
    (name, sub)
    for name, subs in {
        "bun": "run",
        "bundle": "exec",
        "cargo": "run",
        "deno": "run task",
        "docker": "compose exec run",
        "gh": "api",
        "go": "run",
        "kubectl": "exec",
        "npm": "exec run",
        "nx": "run",
        "pnpm": "dlx exec run",
        "podman": "exec run",
        "poetry": "run",
        "uv": "pip run tool",
        "yarn": "run",
    }.items()
    for sub in subs.split()
)
"""Subcommands that run whatever their third word names."""
INTERPRETERS = words_of("python python2 python3 node perl ruby php lua deno tsx ts-node npx bunx uvx pipx")
EXACT = (
    SHELLS
    | WRAPPERS
    | words_of("eval source . find fd awk gawk sed ed ssh scp rsync nc curl wget")
    | words_of("rm rmdir mv cp dd ln shred truncate chmod chown chgrp kill killall pkill mkfs mount umount tee")
)
"""Commands that can do anything, or undo nothing: one use says nothing about the next."""


def grant_for(
    *, tool: str, action: str, subjects: Sequence[str], workdir: str, whole_directory: bool = False
) -> tuple[Rule, ...]:
    """A rule for each part of the call; none at all if any part is of no shape that could be told."""
    patterns = [pattern_for(tool, subject, workdir, whole_directory=whole_directory) for subject in subjects or ("",)]
    if None in patterns:
        return ()
    return tuple(Rule(Verdict.ALLOW, tool, action, pattern or "") for pattern in dict.fromkeys(patterns))


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
    if not line.plain:
        return None
    words = line.commands[0]
    depth = shape_depth(words)
    shape = " ".join(quote(escaped(word)) for word in words[:depth])
    return f"{shape}:*" if depth is not None else shape


def shape_depth(words: Words) -> int | None:
    """How many words make the shape, whatever follows them; None: all of them, and nothing may follow."""
    name = words[0].rpartition("/")[2]
    if name in EXACT or "=" in name or "$" in words[0]:
        return None
    if name in INTERPRETERS:
        depth = 3 if words[1:2] == ("-m",) else 2
    elif name in SUBCOMMANDS:
        depth = 3 if (name, *words[1:2]) in RUNNERS else 2
    else:
        return 1
    told = words[1:depth] if words[1:2] != ("-m",) else words[2:depth]
    if len(words) < depth or any(word.startswith("-") or "$" in word for word in told):
        return None
    inner = words[depth - 1].rpartition("/")[2]
    return None if depth == 3 and inner in EXACT | INTERPRETERS else depth


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
