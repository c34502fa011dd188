"""A whole conversation with what belongs to it, as it is carried from one store to another."""

import msgspec

from turnkeeper.protocol.messages import Message
from turnkeeper.protocol.sessions import FileRead, FileVersion, SessionInfo


class Transcript(msgspec.Struct, frozen=True):
    info: SessionInfo
    messages: tuple[Message, ...] = ()
    files: tuple[FileVersion, ...] = ()
    reads: tuple[FileRead, ...] = ()
