"""What was written and not sent yet, on disk, so that it outlives its terminal.

One small file a session, readable by its owner alone, replaced in one step: a crash leaves the draft as it was before
or as it is now. What is attached lies in a file of its own, so that a key pressed beside a large picture writes a line
and not the picture. Two terminals at one session write two drafts: each has its own, and takes over only one whose
terminal has gone (`owning.py`). There are at most `DRAFTS_MAX` of them, of at most `TOTAL_BYTES_MAX` together: the
oldest go first.

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
from turnkeeper.tui.editor.owning import Owning

DRAFTS_MAX = 200
TOTAL_BYTES_MAX = 128 * 1024 * 1024
PLACES_MAX = 8
"""How many terminals keep a draft of one session at the same time."""
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
    _places: dict[str, str] = field(default_factory=dict[str, str])
    """By name the files of a draft that is ours; no files, where there was none to take over."""
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self._owning = Owning(self.folder) if self.folder else None

    def close(self) -> None:
        """From now on what is on disk may be taken over."""
        if self._owning:
            self._owning.close()

    def load(self, place: str, session_id: str) -> Draft:
        """The draft of a session of a workspace; of none, for a session that is yet to begin."""
        name = _name(place, session_id)
        if name in self._waiting:
            return self._waiting[name]
        if self.folder is None:
            return NOTHING
        place = self._places[name] = self._places.get(name) or self._left_behind(self.folder, name)
        draft = self._written[name] = _on_disk(self.folder, place) if place else NOTHING
        return draft

    def _left_behind(self, folder: Path, name: str) -> str:
        """Where a draft lies that is ours, or whose terminal has gone."""
        there = [place for place in _places(name) if _is_there(folder, place)]
        return next((place for place in there if self._is_ours(place)), "")

    def _is_ours(self, place: str) -> bool:
        try:
            return self._owning is not None and self._owning.take(place)
        except OSError:
            # Where nothing can be written no other terminal writes.
            return True

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
        place = self._claimed(folder, name, draft)
        if not place:
            return
        before = self._written.get(name)
        if before is None or (before.text, before.is_shell) != (draft.text, draft.is_shell):
            _put(folder / f"{place}.json", _Text(draft.text, draft.is_shell) if draft.text else None)
        if before is None or before.attachments != draft.attachments:
            _put(folder / f"{place}.files", _Attached(draft.attachments) if draft.attachments else None)
        self._written[name] = draft
        if draft.is_empty and self._owning:
            self._owning.give_up(place)
            self._places[name] = ""

    def _claimed(self, folder: Path, name: str, draft: Draft) -> str:
        """Where the draft is to be written; nowhere, if there is nothing to write."""
        if name not in self._places:
            self._places[name] = self._left_behind(folder, name)
        if not self._places[name] and not draft.is_empty:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._places[name] = self._free(folder, name)
        return self._places[name]

    def _free(self, folder: Path, name: str) -> str:
        for place in _places(name):
            if not _is_there(folder, place) and self._owning and self._owning.take(place):
                return place
        raise OSError(f"{PLACES_MAX} terminals keep a draft of this session already")


def _places(name: str) -> list[str]:
    return [name, *(f"{name}-{number}" for number in range(1, PLACES_MAX))]


def _is_there(folder: Path, place: str) -> bool:
    return any((folder / f"{place}{ending}").exists() for ending in (".json", ".files"))


def _on_disk(folder: Path, place: str) -> Draft:
    written = _read(folder / f"{place}.json", _Text) or _Text()
    attached = _read(folder / f"{place}.files", _Attached) or _Attached()
    return Draft(written.text, written.is_shell, attached.attachments)


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
