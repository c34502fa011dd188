"""Why a command failed that nobody was there to answer."""

import re
from collections.abc import Mapping, Sequence

TAIL_CHARACTERS = 4_000
NOBODY = "nobody is there to answer a prompt"
HINTS: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(r"sudo: (a terminal is required|a password is required|no tty|.*askpass)"),
        f"sudo wanted a password, and {NOBODY}.",
    ),
    (
        re.compile(r"Host key verification failed|Permission denied \(publickey|ssh_askpass"),
        f"ssh wanted a key or an answer, and {NOBODY}; keys have to be loaded in an agent beforehand.",
    ),
    (
        re.compile(r"terminal prompts disabled|could not read (Username|Password)|Authentication failed for"),
        f"git wanted credentials, and {NOBODY}; use a credential helper, a token or ssh.",
    ),
    (
        re.compile(r"(problem with the editor|error: There was a problem with the editor|editor) .?false|EDITOR unset"),
        "An editor was to be opened; give the text with an option instead (for git commit: -m).",
    ),
    (
        re.compile(
            r"EOFError|EOF when reading a line|inappropriate ioctl for device|not a (tty|terminal)|TTY", re.IGNORECASE
        ),
        (
            f"The command wanted input from a terminal, and {NOBODY}; look for an option such as --yes, or give the "
            "input in a file or a pipe."
        ),
    ),
)


EDITORS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("vi", "vim", "view", "nvim", "gvim", "vimdiff"), frozenset({"-es", "-Es", "-s", "--headless"})),
    **dict.fromkeys(("emacs", "emacsclient"), frozenset({"-batch", "--batch", "--script", "-e", "--eval"})),
    **dict.fromkeys(("nano", "pico", "micro", "joe", "mcedit", "ne", "hx", "kak"), frozenset[str]()),
}
"""Programs that look for a person past their input, with the options by which they need none."""
ABOUT_ITSELF = frozenset({"--version", "--help", "-h"})


def editor_in(parts: Sequence[str]) -> str:
    """The editor that a part of a line would open for nobody; empty, if there is none."""
    for part in parts:
        name, _, rest = part.partition(" ")
        name = name.rpartition("/")[2]
        if name in EDITORS and not (EDITORS[name] | ABOUT_ITSELF).intersection(rest.split()):
            return name
    return ""


def hint(output: str) -> str:
    """What to do differently, if the output tells that somebody was waited for."""
    tail = output[-TAIL_CHARACTERS:]
    return next((advice for pattern, advice in HINTS if pattern.search(tail)), "")
