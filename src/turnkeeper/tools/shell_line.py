"""A command line as it was read: the simple commands it may run, and what else it does."""

from collections.abc import Sequence

import msgspec

from turnkeeper.tools.shell_words import Word


class Command(msgspec.Struct, frozen=True):
    """One simple command that the line may run."""

    words: tuple[Word, ...]
    text: str
    stdin: tuple[str, ...] = ()
    """Text that is given to it as input, where that is spelled out."""


class Line(msgspec.Struct, frozen=True):
    commands: tuple[Command, ...]
    reads: tuple[Word, ...]
    writes: tuple[str, ...]
    doubts: tuple[str, ...]
    assigned: dict[str, str]
    values: tuple[str, ...] = ()
    """Every text that a variable may hold, or that is compared with one."""
    source: str = ""


def said(commands: Sequence[Command]) -> tuple[str, ...]:
    """What `echo`, `printf` and `cat` hand on, where it is spelled out."""
    texts: list[str] = []
    for command in commands:
        match command.words[0].text:
            case "echo" | "printf":
                texts.append(" ".join(word.text for word in command.words[1:]).replace("\\n", "\n"))
            case "cat" | "tee":
                texts += command.stdin
            case _:
                pass
    return tuple(texts)
