"""What was written and not sent yet, on disk, so that it outlives its terminal.

One small file a session, readable by its owner alone, replaced in one step: a crash leaves the draft as it was before
or as it is now. What is attached lies in a file of its own, so that a key pressed beside a large picture writes a line
and not the picture. There are at most `DRAFTS_MAX` of them, of at most `TOTAL_BYTES_MAX` together: the oldest go first.

Nothing here raises: a disk that takes no drafts must not keep anybody from writing. `write` says whether it could.
"""

import hashlib
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TypeVar

import msgspec

from turnkeeper.protocol.runs import Attachment

DRAFTS_MAX = 200
TOTAL_BYTES_MAX = 128 * 1024 * 1024
TEXT_CHARS_MAX = 1024 * 1024
ATTACHED_BYTES_MAX = 20 * 1024 * 1024

T = TypeVar("T")


class Draft(msgspec.Struct, frozen=True, omit_defaults=True):
    text: str = ""
    is_shell: bool = False
    attachments: tuple[Attachment, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not self.text and not self.attachments


NOTHING = Draft()


class _Text(msgspec.Struct, frozen=True, omit_defaults=True):
    text: str = ""
    is_shell: bool = False


class _Attached(msgspec.Struct, frozen=True):
    attachments: tuple[Attachment, ...] = ()


@dataclass
class Drafts:
    """Owns what is not on disk yet, and knows what it last wrote, so that the same is not written twice.

    `put` and `load` are quick and never wait for `write`, which may run in a thread. Without a folder drafts last as
    long as this does.
    """

    folder: Path | None
    _waiting: dict[str, Draft] = field(default_factory=dict[str, Draft])
    _written: dict[str, Draft] = field(default_factory=dict[str, Draft])
    _lock: Lock = field(default_factory=Lock)

    def load(self, place: str, session_id: str) -> Draft:
        """The draft of a session of a workspace; of none, for a session that is yet to begin."""
        name = _name(place, session_id)
        if name in self._waiting:
            return self._waiting[name]
        if self.folder is None:
            return NOTHING
        written = _read(self.folder / f"{name}.json", _Text) or _Text()
        attached = _read(self.folder / f"{name}.files", _Attached) or _Attached()
        draft = self._written[name] = Draft(written.text, written.is_shell, attached.attachments)
        return draft

    def put(self, place: str, session_id: str, draft: Draft) -> None:
        """Keep it from the next `write` on; an empty one is forgotten."""
        self._waiting[_name(place, session_id)] = draft

    def write(self) -> bool:
        """Write what waits. Whether the disk took it; what it did not take goes on waiting."""
        if self.folder is None:
            return True
        with self._lock:
            for name, draft in tuple(self._waiting.items()):
                try:
                    self._write(self.folder, name, _bounded(draft))
                except OSError:
                    self._written.pop(name, None)
                    return False
                # Something newer may have been put meanwhile.
                if self._waiting.get(name) is draft:
                    del self._waiting[name]
            return True

    def _write(self, folder: Path, name: str, draft: Draft) -> None:
        before = self._written.get(name)
        if before is None or (before.text, before.is_shell) != (draft.text, draft.is_shell):
            _put(folder / f"{name}.json", _Text(draft.text, draft.is_shell) if draft.text else None)
        if before is None or before.attachments != draft.attachments:
            _put(folder / f"{name}.files", _Attached(draft.attachments) if draft.attachments else None)
        self._written[name] = draft


def _put(path: Path, said: msgspec.Struct | None) -> None:
    if said is None:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _replace(path, msgspec.json.encode(said))
    _prune(path.parent, keep=path.stem)


def _name(place: str, session_id: str) -> str:
    return hashlib.sha256(f"{place}\0{session_id}".encode(errors="surrogateescape")).hexdigest()[:32]


def _bounded(draft: Draft) -> Draft:
    """Attachments are kept whole or not at all, first come first kept."""
    kept: list[Attachment] = []
    room = ATTACHED_BYTES_MAX
    for one in draft.attachments:
        if len(one.content) <= room:
            kept.append(one)
            room -= len(one.content)
    text = draft.text[:TEXT_CHARS_MAX].encode(errors="replace").decode()
    return Draft(text, draft.is_shell, tuple(kept))


def _read(path: Path, kind: type[T]) -> T | None:
    """A file that is not there, cannot be read or says something else is no draft."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, ValueError):
        return None


def _replace(path: Path, content: bytes) -> None:
    """Write beside it, flush to the disk, then take its place."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise


def _prune(folder: Path, *, keep: str) -> None:
    """Let the oldest go, but never the one that was just written. What a crash left half-written is old soon, too."""
    found = sorted(((one.stat(), one) for one in folder.iterdir()), key=lambda pair: -pair[0].st_mtime_ns)
    names: set[str] = set()
    total = 0
    for stat, path in found:
        names.add(path.stem)
        total += stat.st_size
        if path.stem != keep and (len(names) > DRAFTS_MAX or total > TOTAL_BYTES_MAX):
            path.unlink(missing_ok=True)
