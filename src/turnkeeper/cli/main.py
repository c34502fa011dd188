"""The door of the command line: what is asked for most often is answered before anything is imported."""

import sys
from collections.abc import Sequence

from turnkeeper import __version__

HELP = """\
Usage: turnkeeper [OPTIONS]

A coding agent whose server keeps the runs, so that any number of clients can share them.

Options:
  --version  Show the version and exit.
  --help     Show this message and exit.
"""

EXIT_USAGE = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Answer `arguments` (the process's own, when none are given) and return the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given == ["--version"]:
        print(f"turnkeeper {__version__}")
    elif given in ([], ["--help"], ["-h"]):
        print(HELP, end="")
    else:
        print(f"turnkeeper: there is no {given[0]!r}. Try 'turnkeeper --help'.", file=sys.stderr)
        return EXIT_USAGE
    return 0
