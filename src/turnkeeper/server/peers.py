"""Who is at the other end of a unix socket, where the system tells.

Linux tells by `SO_PEERCRED`, macOS and the BSDs by `LOCAL_PEERCRED`. Elsewhere the file's mode (0600, in a directory
of 0700) is what keeps others out, as it is here too: this is the second lock on the same door.
"""

import os
import socket
import struct
import sys

LINUX_FORMAT = "3i"
"""Process, user, group."""
BSD_FORMAT = "II"
"""The head of `struct xucred`: its version, and the user."""
BSD_LEVEL, BSD_LOCAL_PEERCRED, BSD_BYTES = 0, 1, 76
ROOT = 0


def is_stranger(sock: socket.socket | None, *, owner: int | None = None) -> bool:
    """Whether somebody else than the server's user (or root, whom nothing keeps out) is at the other end."""
    if sock is None or sock.family != socket.AF_UNIX:
        return False
    user = peer_user(sock)
    return user is not None and user not in (os.geteuid() if owner is None else owner, ROOT)


def peer_user(sock: socket.socket) -> int | None:
    """The user who connected; None where the system does not tell."""
    if hasattr(socket, "SO_PEERCRED"):
        found = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize(LINUX_FORMAT))
        return struct.unpack(LINUX_FORMAT, found)[1]
    if sys.platform == "darwin" or "bsd" in sys.platform:
        return bsd_user(sock.getsockopt(BSD_LEVEL, BSD_LOCAL_PEERCRED, BSD_BYTES))
    return None


def bsd_user(xucred: bytes) -> int:
    return struct.unpack_from(BSD_FORMAT, xucred)[1]
