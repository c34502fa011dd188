"""The environment in which commands run: nobody is there to answer, and nothing opens a pager or an editor."""

import re
import shutil
from collections.abc import Mapping

# What belongs to the terminal that the client runs in, and would be a lie in a command of ours.
REMOVED = frozenset({"HERDR_ENV", "HERDR_SOCKET_PATH", "HERDR_PANE_ID"})
MARKS: Mapping[str, str] = {
    "AGENT": "turnkeeper",
    "AI_AGENT": "turnkeeper",
    "CRUSH": "1",
    "TURNKEEPER": "1",
}
ALONE: Mapping[str, str] = {
    "DEBIAN_FRONTEND": "noninteractive",
    "EDITOR": "false",
    "GCM_INTERACTIVE": "never",
    "GIT_ASKPASS": "false",
    "GIT_EDITOR": "false",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "JJ_EDITOR": "false",
    "JJ_PAGER": "cat",
    "LESS": "-FRX",
    "MANPAGER": "cat",
    "NPM_CONFIG_YES": "true",
    "PAGER": "cat",
    "PIP_NO_INPUT": "1",
    "SSH_ASKPASS": "false",
    "SSH_ASKPASS_REQUIRE": "never",
    "SUDO_ASKPASS": "/bin/false",
    "SYSTEMD_PAGER": "cat",
    "TERM": "dumb",
    "VISUAL": "false",
}
COLOURED: Mapping[str, str] = {
    "CLICOLOR_FORCE": "1",
    "COLORTERM": "truecolor",
    "FORCE_COLOR": "1",
    "TERM": "xterm-256color",
}

OPEN = re.compile(
    r"BASH(PID|_VERSION)?|CI|COLORTERM|COLUMNS|DISPLAY|E?UID|EDITOR|GOPATH|HOSTNAME|HOSTTYPE|IFS|LANG|LC_\w+|LINENO|LINES"
    r"|LOGNAME|MACHTYPE|MANPATH|NODE_ENV|OSTYPE|PAGER|PATH|PIPESTATUS|PPID|(OLD)?PWD|RANDOM|SECONDS|SHELL|SHLVL|TERM"
    r"|TMPDIR|TZ|USER|VIRTUAL_ENV|VISUAL|XDG_\w+|([A-Z]+_)?HOME"
)
"""Variables that tell where things are and how to show them."""
SECRET = re.compile(r"AUTH|COOKIE|CRED|DSN|KEY|PASS|PROXY|SECRET|TOKEN", re.IGNORECASE)


def is_open(name: str) -> bool:
    """Whether everybody may see the variable."""
    return OPEN.fullmatch(name) is not None and not SECRET.search(name)


def may_be_secret(name: str) -> bool:
    """Names in capitals come from outside of the line; the others, unless they say what they hold, are the line's."""
    return SECRET.search(name) is not None or (any(map(str.isupper, name)) and not is_open(name))


def agent_env(base: Mapping[str, str]) -> dict[str, str]:
    """For a command of the model: plain text, and every question fails at once."""
    return {**{name: value for name, value in base.items() if name not in REMOVED}, **MARKS, **ALONE}


def person_env(base: Mapping[str, str]) -> dict[str, str]:
    """For a command that a person typed: as the model's, but in colour."""
    return {**agent_env(base), **COLOURED}


def shell_path(env: Mapping[str, str]) -> str:
    """The bash of whoever runs the command, or else the shell that every system has."""
    return shutil.which("bash", path=env.get("PATH") or None) or shutil.which("bash") or "/bin/sh"
