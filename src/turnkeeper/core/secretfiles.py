"""Whether a command line names a file that holds keys or passwords."""

import re

from turnkeeper.core.commandline import scan
from turnkeeper.protocol.secretfiles import is_secret


def names_secret(command: str) -> bool:
    """Whether any word of a command line names such a file, also as the value of an option (`--file=.env`)."""
    words = (word for words in scan(command).commands for word in words)
    return any(is_secret(piece) for word in words for piece in re.split(r"[=:@,]", word) if piece)
