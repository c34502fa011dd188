"""A file's bytes as text and back, without a byte changing that nobody asked to change.

The encoding is guessed once and kept, a byte order mark stays where it is, and every line keeps its own ending: a
replacement takes the ending of the line it replaces. What holds NUL bytes in no order known to us is binary, and
has no text. A text is never written as bytes that would be read as another.
"""

import codecs
import re
from bisect import bisect_left
from dataclasses import dataclass

BINARY_PROBE_BYTES = 8192
MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

MARK = "\ufeff"


class NotText(Exception):
    """The bytes are not text in an encoding we know."""


class CannotEncode(Exception):
    """The text cannot be written so that it reads the same again; why is said."""


@dataclass(frozen=True, slots=True)
class Coding:
    """How a file's text is written as bytes."""

    encoding: str = "utf-8"
    mark: bytes = b""

    def encode(self, text: str) -> bytes:
        try:
            data = self.mark + text.encode(self.encoding)
        except UnicodeEncodeError as error:
            letter = error.object[error.start]
            raise CannotEncode(f"the file is encoded as {self.encoding}, which cannot hold {letter!r}") from error
        # Nobody takes UTF-8 for anything else, unless it holds NUL or begins with a mark.
        if self.encoding != "utf-8" or "\0" in text or text.startswith(MARK):
            require_same(data, text, self.encoding)
        return data

    def decode(self, data: bytes) -> str:
        try:
            return data.removeprefix(self.mark).decode(self.encoding)
        except UnicodeDecodeError as error:
            raise NotText(str(error)) from error


UTF_8 = Coding()


def require_same(data: bytes, text: str, encoding: str) -> None:
    try:
        read, coding = decoded(data)
    except NotText as error:
        raise CannotEncode(f"encoded as {encoding}, this could not be read as text again ({error})") from error
    if read != text:
        raise CannotEncode(f"encoded as {encoding}, this would be read as another text (as {coding.encoding})")


def marked(text: str, coding: Coding) -> tuple[str, Coding]:
    """A text that begins with a byte order mark, without it: the mark belongs to how the file is written."""
    if not text.startswith(MARK):
        return text, coding
    mark = coding.mark or next((mark for mark, encoding in MARKS if encoding == coding.encoding), b"")
    return (text[1:], Coding(coding.encoding, mark)) if mark else (text, coding)


def coding_of(data: bytes, *, whole: bool = True) -> Coding:
    """How these bytes are to be read; with `whole` false they may end within a letter."""
    for mark, encoding in MARKS:
        if data.startswith(mark):
            return Coding(encoding, mark)
    if b"\0" in data[:BINARY_PROBE_BYTES]:
        return Coding(wide_encoding(data[:BINARY_PROBE_BYTES]))
    if is_encoded("utf-8", data, whole=whole):
        return UTF_8
    # Every byte is a letter of latin-1, so that whatever else it was, it is written back as it came.
    return Coding("cp1252" if is_encoded("cp1252", data, whole=whole) else "latin-1")


def is_encoded(encoding: str, data: bytes, *, whole: bool) -> bool:
    try:
        codecs.getincrementaldecoder(encoding)().decode(data, final=whole)
    except UnicodeDecodeError:
        return False
    return True


def wide_encoding(probe: bytes) -> str:
    """Two bytes a letter, known by where the zeros stand; anything else with zeros in it is binary."""
    even, odd = probe[0::2], probe[1::2]
    if odd and odd.count(0) > len(odd) * 0.7 and even.count(0) < len(even) * 0.05:
        return "utf-16-le"
    if even and even.count(0) > len(even) * 0.7 and odd.count(0) < len(odd) * 0.05:
        return "utf-16-be"
    raise NotText("it holds NUL bytes")


def decoded(data: bytes) -> tuple[str, Coding]:
    coding = coding_of(data)
    return coding.decode(data), coding


def newline_of(text: str) -> str:
    """The ending that most lines have."""
    crlf = text.count("\r\n")
    bare = text.count("\n") - crlf
    if not crlf and not bare:
        return "\r" if "\r" in text else "\n"
    return "\r\n" if crlf > bare else "\n"


def with_newline(text: str, newline: str) -> str:
    return re.sub(r"\r\n|\n", lambda _: newline, text) if newline != "\r" else re.sub(r"\r\n|\n", "\r", text)


class Lined:
    """A text with LF endings for matching, which knows where each of its letters stands in the original."""

    def __init__(self, original: str) -> None:
        self.original = original
        self.newline = newline_of(original)
        self.text = original.replace(self.newline if self.newline == "\r" else "\r\n", "\n")
        # Where in the LF text a line feed stands for two letters of the original.
        self._pairs: list[int] = []
        if len(self.text) != len(original):
            for count, found in enumerate(re.finditer("\r\n", original)):
                self._pairs.append(found.start() - count)

    def place(self, offset: int) -> int:
        """The original's offset of an offset in `text`."""
        return offset + bisect_left(self._pairs, offset)

    def ending_at(self, start: int) -> str:
        """The ending used at a place of `text`: that of its own line, else of the line before, else of the file."""
        nearest = self.text.find("\n", start)
        if nearest < 0:
            nearest = self.text.rfind("\n", 0, start)
        if nearest < 0:
            return self.newline
        at = self.place(nearest)
        return "\r\n" if self.original[at : at + 2] == "\r\n" else self.original[at]

    def replaced(self, changes: list[tuple[int, int, str]]) -> str:
        """The original with stretches of `text` replaced; they are in order and do not overlap."""
        parts: list[str] = []
        done = 0
        for change in changes:
            start, end, text = self._narrowed(*change)
            parts.append(self.original[done : self.place(start)])
            parts.append(with_newline(text, self.ending_at(start)))
            done = self.place(end)
        parts.append(self.original[done:])
        return "".join(parts)

    def _narrowed(self, start: int, end: int, text: str) -> tuple[int, int, str]:
        """The same change without what stays the same at both its ends."""
        text = text.replace("\r\n", "\n")
        before = self.text[start:end]
        head = common(before, text)
        tail = common(before[head:][::-1], text[head:][::-1])
        return start + head, end - tail, text[head : len(text) - tail]


def common(one: str, other: str) -> int:
    """How many letters both begin with."""
    if one == other:
        return len(one)
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
