"""A command line as it was read: the simple commands it may run, and what else it does."""

from collections.abc import Sequence

import msgspec

from turnkeeper.tools.shell_words import UNKNOWN, Word


class Command(msgspec.Struct, frozen=True):
    """One simple command that the line may run."""

    words: tuple[Word, ...]
    text: str
    stdin: tuple[str, ...] = ()
    """Text that is given to it as input, where that is spelled out; with `...`, where more than that is given."""

    @property
    def told(self) -> tuple[str, ...]:
        """What of its input is known."""
        return tuple(text for text in self.stdin if text != UNKNOWN.text)


class Line(msgspec.Struct, frozen=True):
    commands: tuple[Command, ...]
    reads: tuple[Word, ...]
    writes: tuple[str, ...]
    doubts: tuple[str, ...]
    assigned: dict[str, str]
    values: tuple[str, ...] = ()
    """Every text that a variable may hold, or that is compared with one."""
    source: str = ""


def given(words: Sequence[Word]) -> tuple[str, ...]:
    """The words as one text, and whether expansions make it another."""
    text = " ".join(word.text for word in words).replace("\\n", "\n")
    return (text,) if all(word.literal for word in words) else (text, UNKNOWN.text)


def said(commands: Sequence[Command]) -> tuple[str, ...]:
    """What `echo`, `printf` and `cat` hand on, where it is spelled out."""
    texts: list[str] = []
    for command in commands:
        match command.words[0].text:
            case "echo" | "printf":
                texts += given(command.words[1:])
            case "cat" | "tee":
                texts += command.stdin
            case _:
                pass
    return tuple(texts)
