"""How far a search goes, as its options tell: into folders, after links, and to what is hidden.

Letters are read as the commands read them, one by one up to the first that takes a value: `-rA1` is `-r -A 1`, while
the `r` in `-er` is a pattern. Long options may be shortened. What is not certain counts as going further.
"""

from collections.abc import Iterator, Sequence

import msgspec

from turnkeeper.tools.shell_words import names

GREPS = names("egrep fgrep grep")
VALUED = {"rg": "ABCEMTdefgjmrt"}
VALUED_USUALLY = "ABCDdefm"
"""The letters that take a value, of ripgrep and of grep."""
FLAGS = {"rg": "0.FHILNPSUVabchilnopqsuvwxz"}
FLAGS_USUALLY = "0123456789EFGHILPRSTUVZabchilnoqrsuvwxyz"
STAYS_SHALLOW = ("read", "skip")
LONG_FLAGS = names("""
    --recursive --dereference-recursive --ignore-case --line-number --files-with-matches --count --word-regexp
    --fixed-strings --extended-regexp --only-matching --invert-match --no-messages --hidden --no-ignore --follow
""")
UNCOVERING = names("glob glob-case-insensitive hidden iglob unrestricted")


class Given(msgspec.Struct, frozen=True):
    """One option that is given, by its letter or its name."""

    name: str
    value: str | None = None
    """None if it has none, and "" if that is in the next word."""


class Search(msgspec.Struct, frozen=True):
    """The options of a search, and its other words, as far as it can be known which is which."""

    name: str
    options: tuple[Given, ...]
    plain: tuple[str, ...]
    certain: bool

    @property
    def recurses(self) -> bool:
        return self.name == "rg" or any(map(_recurses, self.options))

    @property
    def follows(self) -> bool:
        letters = "L" if self.name == "rg" else "RS"
        return any(
            option.name in letters or _shortens(option.name, "dereference-recursive", "follow")
            for option in self.options
        )

    @property
    def uncovers(self) -> bool:
        """Whether it shows what is hidden. Only ripgrep does not without being told."""
        return self.name != "rg" or any(
            option.name in "u.g" or option.name.startswith("no-ignore") or option.name in UNCOVERING
            for option in self.options
        )

    @property
    def names_places(self) -> bool:
        """Whether it is certain that the search is told where to look: else it looks here."""
        has_pattern = any(option.name in ("e", "f") for option in self.options)
        return self.certain and len(self.plain) > (0 if has_pattern else 1)

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(option.value for option in self.options if option.value)


def search_of(name: str, texts: Sequence[str]) -> Search:
    """How grep, or ripgrep, understands its words."""
    options: list[Given] = []
    plain: list[str] = []
    certain, rest = True, iter(texts)
    for text in rest:
        if text == "--":
            plain += rest
        elif text == "-" or not text.startswith("-"):
            plain.append(text)
        else:
            found = list(_given(name, text))
            certain = certain and all(_is_known(name, text, option) for option in found)
            if found[-1].value == "":
                found[-1] = Given(found[-1].name, next(rest, ""))
            options += found
    return Search(name, tuple(options), tuple(plain), certain)


def _given(name: str, text: str) -> Iterator[Given]:
    if text.startswith("--"):
        option, is_assigned, value = text[2:].partition("=")
        yield Given(option, value if is_assigned else None)
        return
    for at, letter in enumerate(text[1:], start=2):
        if letter in VALUED.get(name, VALUED_USUALLY):
            yield Given(letter, text[at:])
            return
        yield Given(letter)


def _is_known(name: str, text: str, option: Given) -> bool:
    """Whether it is certain that the next word is no value of this option."""
    if text.startswith("--"):
        return option.value is not None or text in LONG_FLAGS
    return option.value is not None or option.name in FLAGS.get(name, FLAGS_USUALLY)


def _recurses(option: Given) -> bool:
    if option.name == "d" or _shortens(option.name, "directories"):
        return option.value not in STAYS_SHALLOW
    return option.name in ("r", "R") or _shortens(option.name, "recursive", "dereference-recursive")


def _shortens(name: str, *long: str) -> bool:
    return len(name) > 1 and any(option.startswith(name) for option in long)
