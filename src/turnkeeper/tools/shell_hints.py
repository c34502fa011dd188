"""Why a command failed that nobody was there to answer."""

import re

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


def hint(output: str) -> str:
    """What to do differently, if the output tells that somebody was waited for."""
    tail = output[-TAIL_CHARACTERS:]
    return next((advice for pattern, advice in HINTS if pattern.search(tail)), "")
