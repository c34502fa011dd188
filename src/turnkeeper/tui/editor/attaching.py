"""Files and pastes as attachments: read once, whole, within a limit.

What is attached is read where the terminal is. A file of the workspace is only there if the server is this computer's;
elsewhere its path is written, and the model reads it for itself.
"""

import mimetypes
import os
import re
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from turnkeeper.protocol.problems import Problem
from turnkeeper.protocol.runs import Attachment
from turnkeeper.tui.editor.pasting import picture_type

BYTES_MAX = 5 * 1024 * 1024
ATTACHMENTS_MAX = 20
TEXT = "text/plain"
_PASTED = re.compile(r"paste_(\d+)\.")


class NotAttached(Problem):
    """This cannot be attached."""

    status = 400


def read_file(path: Path, shown: str) -> Attachment:
    """A text or a picture, under the name it is shown by."""
    try:
        # Without waiting: a pipe that nobody writes to would keep us for ever.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise NotAttached(f"this is no file: {shown}")
            if found.st_size > BYTES_MAX:
                raise NotAttached(f"larger than {size(BYTES_MAX)}, so the model has to read it by its path: {shown}")
            content = file.read(BYTES_MAX + 1)
    except OSError as error:
        raise NotAttached(f"{error.strerror}: {shown}") from error
    return Attachment(shown, Path(shown).name, kind_of(shown, content), content)


def kind_of(name: str, content: bytes) -> str:
    """A picture's type by its name, a text's where it is one."""
    if picture := picture_type(name):
        return picture
    try:
        content.decode()
    except UnicodeDecodeError:
        raise NotAttached(f"this is neither a text nor a picture: {name}") from None
    guessed = mimetypes.guess_type(name)[0] or ""
    return guessed if guessed.startswith("text/") else TEXT


def first_pictures(readings: Iterable[Sequence[str]]) -> tuple[Attachment, ...]:
    """The pictures of the first reading whose files are all there; none, if there is no such reading."""
    for paths in readings:
        found = [Path(path).expanduser() for path in paths]
        if all(path.is_file() for path in found):
            return tuple(read_file(path, str(path)) for path in found)
    return ()


def pasted(text: str, already: Sequence[Attachment]) -> Attachment:
    content = text.encode(errors="replace")
    if len(content) > BYTES_MAX:
        raise NotAttached(f"the paste is larger than {size(BYTES_MAX)}; save it as a file, and name that")
    name = f"paste_{next_number(already)}.txt"
    return Attachment(name, name, TEXT, content)


def picture(content: bytes, already: Sequence[Attachment]) -> Attachment:
    name = f"paste_{next_number(already)}.png"
    return Attachment(name, name, "image/png", content)


def next_number(already: Sequence[Attachment]) -> int:
    taken = (int(found[1]) for one in already if (found := _PASTED.match(one.file_name)))
    return max(taken, default=0) + 1


def added(already: Sequence[Attachment], new: Iterable[Attachment]) -> tuple[Attachment, ...]:
    """With the new ones; what is attached by the same path is attached as it is now."""
    by_path = {one.file_path: one for one in (*already, *new)}
    if len(by_path) > ATTACHMENTS_MAX:
        raise NotAttached(f"no more than {ATTACHMENTS_MAX} files can be attached")
    return tuple(by_path.values())


def size(count: int) -> str:
    """For people: `812 B`, `12 kB`, `5.0 MB`."""
    if count < 1000:
        return f"{count} B"
    return f"{count / 1024:.0f} kB" if count < 1000 * 1024 else f"{count / 1024 / 1024:.1f} MB"
