"""What one connection may take of the server: how long, how much, and how many there may be."""

from dataclasses import dataclass

KIB = 1024
MIB = 1024 * KIB
CONNECTIONS_MAX = 4096
FILES_WANTED = 8192
"""Enough for every connection and what workspaces open; not more, since programs we start inherit it."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of a connection. Those of a body's size are the settings' (`server.body_bytes_max`)."""

    connections_max: int = CONNECTIONS_MAX
    head_seconds: float = 30.0
    """From connecting, or from the first byte of a request, to the end of its headers."""
    head_bytes_max: int = 64 * KIB
    drain_seconds: float = 5.0
    """For the rest of a body that nobody wants any more, since its request was answered already."""
    drain_bytes_max: int = MIB
    take_seconds: float = 30.0
    """For a client to take anything at all of what waits to be sent to it."""
    keep_alive_seconds: float = 120.0
    """Longer than clients keep an idle connection (90 s), so that none is closed under a request."""
    stop_seconds: float = 5.0
    """From the end of the streams to the end of the last request, when the server stops."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How slowly a body may come: a start for every one, and more for what has arrived."""

    seconds: float = 30.0
    bytes_per_second_min: int = 64 * KIB

    def deadline(self, begun: float, received: int) -> float:
        return begun + self.seconds + received / self.bytes_per_second_min


SMALL_BODY_BYTES = 64 * KIB
"""What every request may bring, however much others have brought."""
LARGE_BODIES_MAX = 2
"""How many bodies of the largest size are held at a time."""


class Luggage:
    """Owns how many bytes of large bodies are held at this moment, by all requests together."""

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._held_bytes = 0

    def takes(self, count: int) -> bool:
        """Whether there is room for so many more; if so, they are held until they are given back."""
        if self._held_bytes + count > self._bytes_max:
            return False
        self._held_bytes += count
        return True

    def give_back(self, count: int) -> None:
        self._held_bytes -= count


def raise_file_limit(wanted: int = FILES_WANTED) -> int:
    """Allow this process as many open files as it may have, up to `wanted`; returns how many that is."""
    try:
        import resource
    except ImportError:  # a system without such limits
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        soft = most
    return wanted if soft == resource.RLIM_INFINITY else soft


def connections_for(files: int) -> int:
    """How many connections a process with so many files can bear: half of them are the workspaces'."""
    return max(1, min(CONNECTIONS_MAX, files // 2))
