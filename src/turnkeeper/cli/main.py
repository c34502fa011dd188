"""The door of the command line: what is asked for most often is answered before anything is imported."""

import sys
from collections.abc import Sequence

from turnkeeper import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Answer `arguments` (the process's own, when none are given) and return the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given == ["--version"]:
        print(f"turnkeeper {__version__}")
        return 0
    from turnkeeper.cli.frame import start

    return start(given)
