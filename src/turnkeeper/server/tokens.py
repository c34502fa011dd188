"""The token that clients on TCP show: one line in a file that only its owner can read.

It is made when there is none, and looked at again whenever the file changes: to rotate it is to replace the file, with
`renew` or by hand, and the server need not be told. A file that went away, or that others can read, lets nobody in.
"""

import contextlib
import logging
import os
import secrets
import stat
from pathlib import Path

from turnkeeper.protocol.problems import Problem

log = logging.getLogger(__name__)

TOKEN_BYTES = 32
TOKEN_LETTERS_MIN = 16
TOKEN_FILE_BYTES_MAX = 4096


class TokenUnsafe(Problem):
    """The token file cannot be used as it is."""

    status = 400


class TokenFile:
    """Owns the token as it was when the file was last changed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stamp: tuple[int, int, int, int] | None = None
        self._token = ""

    def current(self) -> str:
        """The token in force; empty when nobody may come in."""
        try:
            found = self.path.stat()
        except OSError:
            self._stamp, self._token = None, ""
            return ""
        stamp = (found.st_ino, found.st_mtime_ns, found.st_size, found.st_mode)
        if stamp != self._stamp:
            self._stamp = stamp
            try:
                self._token = read_token(self.path)
            except TokenUnsafe as problem:
                self._token = ""
                log.warning("token not usable", extra={"path": str(self.path), "problem": problem.message})
        return self._token


def open_token(path: Path) -> TokenFile:
    """The token in this file, made if there is none; raises `TokenUnsafe` for a file that cannot be trusted."""
    if not path.exists():
        renew(path)
    read_token(path)
    return TokenFile(path)


def renew(path: Path) -> None:
    """A new token in the place of the old, which opens nothing from then on."""
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Readable by nobody else from its first moment, and whole before it has the name.
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(TOKEN_BYTES) + "\n")
        fresh.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            fresh.unlink()
        raise TokenUnsafe(f"cannot write the token file {path}: {error.strerror}") from error


def read_token(path: Path) -> str:
    try:
        with path.open("rb") as file:
            seen = os.fstat(file.fileno())
            text = file.read(TOKEN_FILE_BYTES_MAX).decode("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise TokenUnsafe(f"cannot read the token file {path}") from error
    if seen.st_uid not in (os.geteuid(), 0) or stat.S_IMODE(seen.st_mode) & 0o077:
        raise TokenUnsafe(f"others can read or write the token file {path}; make it yours alone: chmod 600 {path}")
    if len(text) < TOKEN_LETTERS_MIN or not text.isprintable() or " " in text:
        raise TokenUnsafe(f"the token in {path} must be one word of at least {TOKEN_LETTERS_MIN} letters")
    return text
