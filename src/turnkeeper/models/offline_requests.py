"""The plain requests the offline assistant understands, and the tool calls they become.

It acts on what it understands word for word and on nothing else: a request has to be in one of its phrases from its
first word to its last, and a file has to look like one. What it does not understand it says so; and a command is run
only if the whole text was understood, so that a text that was merely passed along runs nothing.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from turnkeeper.models.offline_calls import Call
from turnkeeper.models.offline_phrases import PHRASES

REQUESTS_MAX = 5
CHARACTERS_MAX = 1000

EXAMPLES = """- what is in this directory?
- find files named *.py
- search for "def main" in src
- show README.md · show the first 20 lines of README.md
- how many python files are there? · count lines in README.md · count TODOs
- git status
- run `python --version`"""

QUOTED = re.compile(r"(`[^`]*`|\"[^\"]*\")")
VERBS = "list|show|find|search|grep|count|how many|read|open|view|print|cat|run|execute|tell|what|which|where|git|ls"
JOINT = re.compile(rf"[;\n]+|,?\s+(?:and\s+)?then\s+|,?\s+and\s+(?=(?:{VERBS})\b)", re.IGNORECASE)
POLITE = (
    r"hi|hello|hey|ok|okay|so|now|please|kindly|just|first|finally|(?:can|could|would|will) you|(?:can|could|may) i|"
    r"i(?: want|'d like| would like)(?: you)? to|let'?s|let us|let me|help me(?: to)?|go ahead and|tell me|do you know"
)
BOTH = re.compile(r"(.*?\b(?:show|read|view|open|cat|print)(?: me)?) (\S+),? and (\S+)", re.IGNORECASE)
BEFORE = re.compile(rf"^(?:(?:{POLITE})[\s,!.:]+)+", re.IGNORECASE)
AFTER = re.compile(r"(?:[\s,]+(?:please|for me|now|thanks|thank you))*[\s?!.]*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Understood:
    """What a text asks for, in its order, and what of it was not understood."""

    calls: tuple[Call, ...] = ()
    left: tuple[str, ...] = ()


def understood(text: str) -> Understood:
    pieces = list(requests_in(text)) if len(text) <= CHARACTERS_MAX else []
    if not 0 < len(pieces) <= REQUESTS_MAX:
        return Understood(left=(text,))
    found = [(piece, call_for(piece)) for piece in pieces]
    whole = all(call is not None for _, call in found)
    kept = [(piece, call if call and (whole or not call.is_command) else None) for piece, call in found]
    return Understood(
        tuple(call for _, call in kept if call is not None), tuple(piece for piece, call in kept if call is None)
    )


def requests_in(text: str) -> Iterator[str]:
    """Requests may be joined by `then`, by `and`, by lines or by semicolons; what stands in quotes stays together."""
    kept: list[str] = []

    def put_away(found: re.Match[str]) -> str:
        kept.append(found[0])
        return f"\0{len(kept) - 1}\0"

    for piece in JOINT.split(QUOTED.sub(put_away, text)):
        whole = re.sub(r"\0(\d+)\0", lambda found: kept[int(found[1])], piece).strip()
        both = BOTH.fullmatch(whole)
        yield from (f"{both[1]} {both[2]}", f"{both[1]} {both[3]}") if both else [whole] if whole else []


def call_for(text: str) -> Call | None:
    """The call one request asks for: the first phrase that it is, if what the phrase names makes sense."""
    plain = AFTER.sub("", BEFORE.sub("", text.strip()))
    for pattern, become in PHRASES:
        found = pattern.fullmatch(plain)
        call = called(become, found) if found else None
        if call is not None:
            return call
    return None


def called(become: Callable[[dict[str, str]], Call | None], found: re.Match[str]) -> Call | None:
    return become({name: unquoted(said) for name, said in found.groupdict().items() if said is not None})


def unquoted(words: str) -> str:
    inside = re.fullmatch(r"([`\"'])(.+)\1", words.strip())
    return inside[2] if inside else words.strip()
