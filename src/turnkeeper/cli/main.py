"""The door of the command line: what is asked for most often is answered before anything is imported.

Whoever comes in here with no arguments of their own is the process's program, and leaves it by `leave`.
"""

import sys

from turnkeeper import TYPE_CHECKING, __version__

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

YOUNG_OBJECTS_MAX = 50_000
"""How many objects are made before Python looks for garbage: importing makes many, and none of them is garbage."""


def main(arguments: "Sequence[str] | None" = None) -> int:
    """Answer `arguments` and return the exit code; without them answer the process's own, and leave with the code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given == ["--version"]:
        print(f"turnkeeper {__version__}")
        return 0
    if arguments is None:
        import gc

        gc.set_threshold(YOUNG_OBJECTS_MAX)
    from turnkeeper.cli.frame import start

    code = start(given)
    return code if arguments is not None else leave(code)


def leave(code: int) -> "NoReturn":
    """Go at once, when everything that was to be closed has been, and what was printed is out.

    Python would take apart every module first, and wait for whatever thread somebody's code has left behind.
    """
    import os

    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # whoever reads it has left, or it was closed
            continue
    os._exit(code)
