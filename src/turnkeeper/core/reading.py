"""The words of a shell command line, with what a shell would do with them noticed but not done.

Quotes and backslashes are taken away as a shell takes them away. Operators end a command; substitutions are noted by
where they begin, so that a reader can look into them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

Words = tuple[str, ...]


def words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


OPERATORS = frozenset(";|&()\n`")
SPACES = frozenset(" \t\r")


@dataclass(slots=True)
class Reading:
    """Where reading stands, and what was found. It lives as long as one call of `read`."""

    text: str
    at: int = 0
    commands: list[Words] = field(default_factory=list[Words])
    plain: bool = True
    """Whether it was words alone so far: no operator, redirection, substitution or comment."""
    inner: list[int] = field(default_factory=list[int])
    """Where substitutions inside double quotes begin."""
    words: list[str] = field(default_factory=list[str])
    letters: list[str] | None = None

    def add(self, letters: str) -> None:
        """Also nothing can be added: a quoted nothing is a word."""
        if self.letters is None:
            self.letters = []
        self.letters.append(letters)

    def end_word(self) -> None:
        if self.letters is not None:
            self.words.append("".join(self.letters))
            self.letters = None

    def end_command(self) -> None:
        self.end_word()
        if self.words:
            self.commands.append(tuple(self.words))
            self.words = []


def read(text: str, start: int = 0) -> Reading:
    reading = Reading(text, start)
    while reading.at < len(text):
        letter = text[reading.at]
        reading.at += 1
        SPECIAL.get(letter, ordinary)(reading, letter)
    reading.end_command()
    reading.plain = reading.plain and len(reading.commands) == 1
    return reading


def ordinary(reading: Reading, letter: str) -> None:
    if letter in SPACES:
        reading.end_word()
    elif letter in OPERATORS:
        reading.plain = False
        reading.end_command()
    else:
        reading.add(letter)


def redirection(reading: Reading, _: str) -> None:
    reading.plain = False
    reading.end_word()


def comment(reading: Reading, letter: str) -> None:
    if reading.letters is not None:
        reading.add(letter)
        return
    reading.plain = False
    end = reading.text.find("\n", reading.at)
    reading.at = len(reading.text) if end < 0 else end


def escaped(reading: Reading, _: str) -> None:
    if reading.at >= len(reading.text):
        reading.plain = False
    elif reading.text[reading.at] != "\n":
        reading.add(reading.text[reading.at])
    reading.at += 1


def dollar(reading: Reading, letter: str) -> None:
    # $'…' and $"…" are quotes of their own; $(…) ends the word at its bracket by itself.
    if reading.text[reading.at : reading.at + 1] in ("'", '"'):
        reading.plain = False
    else:
        reading.add(letter)


def single_quoted(reading: Reading, quote: str) -> None:
    end = reading.text.find(quote, reading.at)
    if end < 0:
        reading.plain = False
        end = len(reading.text)
    reading.add(reading.text[reading.at : end])
    reading.at = end + 1


def double_quoted(reading: Reading, quote: str) -> None:
    text = reading.text
    reading.add("")
    while reading.at < len(text) and (letter := text[reading.at]) != quote:
        reading.at += 1
        if letter == "\\" and text[reading.at : reading.at + 1] in ("$", "`", '"', "\\", "\n"):
            reading.add(text[reading.at].replace("\n", ""))
            reading.at += 1
            continue
        if letter == "`" or (letter == "$" and text.startswith("(", reading.at)):
            reading.plain = False
            reading.inner.append(reading.at)
        reading.add(letter)
    reading.plain = reading.plain and reading.at < len(text)
    reading.at += 1


SPECIAL: dict[str, Callable[[Reading, str], None]] = {
    "'": single_quoted,
    '"': double_quoted,
    "\\": escaped,
    "$": dollar,
    "<": redirection,
    ">": redirection,
    "#": comment,
}
