"""Finding what was said: which texts hold all the words that somebody looks for, whatever their case."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from turnkeeper.protocol.messages import Role, Text
from turnkeeper.store import rows
from turnkeeper.store.database import Row
from turnkeeper.store.store import Found

SPOKEN = frozenset({Role.USER, Role.ASSISTANT})
"""Whose texts are looked at: what people and models said, not what tools read."""


def folded(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(word.casefold() for word in words if word)


def holds(text: str, words: Sequence[str]) -> bool:
    """Whether every word, already folded, is somewhere in the text."""
    text = text.casefold()
    return all(word in text for word in words)


def sieve(words: Sequence[str]) -> str:
    """A LIKE pattern for parts as they are kept, which is as JSON: every plain one that holds the words fits."""
    plain = max((word for word in words if word.isascii()), key=len, default="")
    quoted = msgspec.json.encode(plain)[1:-1].decode()
    for sign in "\\%_":
        quoted = quoted.replace(sign, f"\\{sign}")
    return f"%{quoted}%"


def found(sifted: Iterable[Row], words: Sequence[str]) -> Iterator[Found]:
    """Of the rows that the sieve let through, those that do hold the words."""
    for session_id, message_id, role, created_at, body in sifted:
        part = rows.part(body)
        if isinstance(part, Text) and holds(part.text, words):
            yield Found(session_id, message_id, Role(role), created_at, part.text)
