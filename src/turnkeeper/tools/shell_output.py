"""What a command says: bounded in memory, whole on disk, and cut for the model without breaking a character.

The first and the last part are kept; once there is more than the model may see, everything goes to a file as well,
up to its own bound. Positions are counted in bytes from the beginning.
"""

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

CELLS_MAX = 30_000
HEAD_BYTES_MAX = 65_536
TAIL_BYTES_MAX = 65_536
SPILL_BYTES_MIN = 30_000
FILE_BYTES_MAX = 67_108_864
FILES_MAX = 200
SINCE_BYTES_MAX = 65_536
CONTROL = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[@-Z\\-_])|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
)
ZERO_WIDTH_JOINER = "\u200d"
SKIN_TONES = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
FLAG_LETTERS = ("\U0001f1e6", "\U0001f1ff")


class Output:
    """One stream of bytes. Whoever feeds it closes it; its file stays."""

    def __init__(self, file: Path | None = None) -> None:
        self.total_bytes = 0
        self.file_is_whole = True
        self._newlines = 0
        self._head = bytearray()
        self._tail = bytearray()
        self._path = file
        self._file: BinaryIO | None = None
        self._written_bytes = 0

    @property
    def file(self) -> Path | None:
        """Where all of it is, if there is more than the model is shown."""
        return self._path if self._written_bytes else None

    def feed(self, data: bytes) -> None:
        self._spill(data)
        self.total_bytes += len(data)
        self._newlines += data.count(b"\n")
        room = HEAD_BYTES_MAX - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room > 0 else data
        if len(self._tail) > 2 * TAIL_BYTES_MAX:
            del self._tail[:-TAIL_BYTES_MAX]

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def text(self, cells_max: int = CELLS_MAX) -> str:
        """What the model is shown."""
        head, tail = bytes(self._head), bytes(self._tail[-TAIL_BYTES_MAX:])
        if len(head) + len(tail) == self.total_bytes:
            return shortened(readable((head + tail).decode("utf-8", "replace")), cells_max)
        first = first_cells(readable(_without_half_an_end(head)), cells_max // 2)
        last = last_cells(readable(_without_half_a_beginning(tail)), cells_max - cells_max // 2)
        return _marked(first, self._newlines - first.count("\n") - last.count("\n"), last)

    def since(self, position: int) -> tuple[str, int]:
        """What came after a position, and the next position. What is no longer kept is told as missing."""
        position = max(0, min(position, self.total_bytes))
        data, start = self._from(position)
        missing = f"[{start - position} bytes are no longer kept]\n" if start > position else ""
        return missing + readable(data.decode("utf-8", "replace")), start + len(data)

    def latest(self, position: int, characters_max: int) -> tuple[str, int]:
        """What is newest after a position, for somebody who watches; what is too much is left out."""
        tail = bytes(self._tail[-TAIL_BYTES_MAX:]) or bytes(self._head)
        new = tail[-min(self.total_bytes - position, 4 * characters_max, len(tail)) :]
        return readable(_without_half_a_beginning(new))[-characters_max:], self.total_bytes

    def _from(self, position: int) -> tuple[bytes, int]:
        if position < len(self._head):
            whole = len(self._head) + len(self._tail) == self.total_bytes
            kept = bytes(self._head[position:]) + (bytes(self._tail) if whole else b"")
            return kept[:SINCE_BYTES_MAX], position
        tail_start = self.total_bytes - len(self._tail)
        if position < tail_start and self._path is not None and position < self._written_bytes:
            return self._from_file(self._path, position), position
        start = max(position, tail_start)
        return bytes(self._tail[start - tail_start :][:SINCE_BYTES_MAX]), start

    def _from_file(self, path: Path, position: int) -> bytes:
        if self._file is not None:
            self._file.flush()
        try:
            with path.open("rb") as file:
                file.seek(position)
                return file.read(SINCE_BYTES_MAX)
        except OSError:
            return b""

    def _spill(self, data: bytes) -> None:
        if self._path is None or self.total_bytes + len(data) <= SPILL_BYTES_MIN:
            return
        try:
            if self._file is None and not self._written_bytes:
                self._file = _opened(self._path)
                self._written_bytes = self._file.write(self._head)
            if self._file is not None:
                room = FILE_BYTES_MAX - self._written_bytes
                self.file_is_whole &= room >= len(data)
                self._written_bytes += self._file.write(data[: max(room, 0)])
        except OSError:
            # A full disk costs the file, not the command.
            self.close()
            self.file_is_whole = False
            self._path = None


def _opened(path: Path) -> BinaryIO:
    """A new file among the newest of its folder; the oldest make room for it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    old = sorted(path.parent.glob(f"*{path.suffix}"), key=lambda one: one.stat().st_mtime_ns)
    for one in old[: max(0, len(old) - FILES_MAX + 1)]:
        one.unlink(missing_ok=True)
    return path.open("wb")


def readable(text: str) -> str:
    """Without colours and other commands to a terminal, and of a line that was drawn again only the last state."""
    return CONTROL.sub("", redrawn(text))


def redrawn(text: str) -> str:
    """Of a line that was drawn again and again, as progress is shown, only the last state."""
    if "\r" not in text:
        return text
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))


def shortened(text: str, cells_max: int = CELLS_MAX) -> str:
    """The text, or its first and last half with the number of lines that were between them."""
    if len(text) <= cells_max and (text.isascii() or width(text) <= cells_max):
        return text
    first = first_cells(text, cells_max // 2)
    last = last_cells(text[len(first) :], cells_max - cells_max // 2)
    dropped = text[len(first) : len(text) - len(last)]
    return _marked(first, dropped.count("\n"), last) if dropped else text


def _marked(first: str, lines: int, last: str) -> str:
    return f"{first}\n\n... [{max(lines, 1)} lines truncated] ...\n\n{last}"


def first_cells(text: str, cells_max: int) -> str:
    """As much of the beginning as fits in so many columns of a terminal; no character is broken."""
    window = text[: 4 * cells_max]
    if window.isascii():
        return text[:cells_max]
    used = end = last = 0
    for cluster in clusters(window):
        used += width(cluster)
        if used > cells_max:
            return text[:end]
        end, last = end + len(cluster), end
    # The window may have cut through its last character.
    return text[:last] if len(window) < len(text) else text


def last_cells(text: str, cells_max: int) -> str:
    window = text[-4 * cells_max :]
    if window.isascii():
        return text[-cells_max:]
    used = 0
    start = last = len(window)
    for cluster in reversed(list(clusters(window))):
        used += width(cluster)
        if used > cells_max:
            return window[start:]
        start, last = start - len(cluster), start
    # The window may have cut through its first character.
    return window[last:] if len(window) < len(text) else text


def width(text: str) -> int:
    """Columns of a terminal; what is joined into one picture counts as one."""
    if text.isascii():
        return len(text)
    return sum(_cluster_width(cluster) for cluster in clusters(text))


def _cluster_width(cluster: str) -> int:
    first = cluster[0]
    if unicodedata.category(first) in ("Mn", "Me", "Cf"):
        return 0
    wide = (
        unicodedata.east_asian_width(first) in "WF"
        or "\ufe0f" in cluster
        or FLAG_LETTERS[0] <= first <= FLAG_LETTERS[1]
    )
    return 2 if wide else 1


def clusters(text: str) -> Iterator[str]:
    """What a reader sees as one character each."""
    start = 0
    flags = 0
    for at in range(1, len(text)):
        before, character = text[at - 1], text[at]
        flags = flags + 1 if FLAG_LETTERS[0] <= before <= FLAG_LETTERS[1] else 0
        joins = character > "\u02ff" and (
            character in SKIN_TONES
            or character == ZERO_WIDTH_JOINER
            or (flags % 2 == 1 and FLAG_LETTERS[0] <= character <= FLAG_LETTERS[1])
            or unicodedata.category(character) in ("Mn", "Me", "Mc")
        )
        if not joins and before != ZERO_WIDTH_JOINER:
            yield text[start:at]
            start = at
    if text:
        yield text[start:]


def _without_half_an_end(data: bytes) -> str:
    """The data may end in the middle of a character."""
    for cut in range(min(4, len(data) + 1)):
        try:
            return data[: len(data) - cut].decode("utf-8")
        except UnicodeDecodeError:
            continue
    return data.decode("utf-8", "replace")


def _without_half_a_beginning(data: bytes) -> str:
    start = next((at for at in range(min(4, len(data))) if data[at] & 0xC0 != 0x80), 0)
    return data[start:].decode("utf-8", "replace")
