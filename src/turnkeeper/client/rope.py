"""Text that grows at its end: adding to it costs what is added, and what was there before is not copied.

Frozen, so that yesterday's view still shows yesterday's text. Pieces are joined as in a binary counter: each is at
least twice as long as the next, so there are never more than a few dozen.
"""

from typing import NamedTuple


class Rope(NamedTuple):
    pieces: tuple[str, ...] = ()
    length: int = 0

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def plus(self, text: str) -> "Rope":
        if not text:
            return self
        pieces = self.pieces
        length = self.length + len(text)
        while pieces and len(pieces[-1]) < 2 * len(text):
            text = pieces[-1] + text
            pieces = pieces[:-1]
        return Rope((*pieces, text), length)


def rope(text: str) -> Rope:
    return Rope((text,), len(text)) if text else Rope()
