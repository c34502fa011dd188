"""How a file was kept on disk beside its text: what taking back needs so that the same bytes come back.

The history carries a form as a text that only hands can read. Where nobody noted one, it is empty, and what the file
has now has to do.
"""

from pathlib import Path

import msgspec

from turnkeeper.protocol.secretfiles import is_secret
from turnkeeper.tools.files import Snapshot
from turnkeeper.tools.texts import UTF_8, CannotEncode, Coding

SECRET_MODE = 0o600
PERMISSIONS = 0o777
"""Who may read, write and run it. Whose rights it lends to whoever runs it is not for a copy to say."""


class Form(msgspec.Struct, frozen=True, omit_defaults=True):
    """`folders`: there was no file, and so many of the folders above it were not there either."""

    encoding: str = "utf-8"
    mark: bytes = b""
    mode: int | None = None
    folders: int = 0

    @property
    def coding(self) -> Coding:
        return Coding(self.encoding, self.mark)


def noted(coding: Coding, mode: int) -> str:
    return msgspec.json.encode(Form(coding.encoding, coding.mark, mode & PERMISSIONS)).decode()


def noted_absent(path: Path) -> str:
    missing = next(count for count, folder in enumerate(path.parents) if folder.exists())
    return msgspec.json.encode(Form(folders=missing)).decode()


def noted_found(path: Path, found: Snapshot | None, coding: Coding) -> str:
    return noted(coding, found.mode) if found else noted_absent(path)


def form_of(note: str) -> Form | None:
    return msgspec.json.decode(note, type=Form) if note else None


def mode_back(path: Path, form: Form | None) -> int | None:
    """The mode of a file that comes back; None for that of any new one."""
    if form and form.mode is not None:
        return form.mode
    return SECRET_MODE if is_secret(str(path)) else None


def written_as(text: str, form: Form | None, now: Coding) -> bytes:
    """As it was written then, else as the file is written now, else in the one encoding that has every letter."""
    for coding in (form.coding if form else now, now):
        try:
            return coding.encode(text)
        except CannotEncode:
            continue
    return UTF_8.encode(text)
