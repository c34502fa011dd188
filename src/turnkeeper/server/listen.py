"""Sockets to listen on, ours alone.

A socket file that a dead server left is removed; one that answers, or that cannot be asked, never is.
"""

import contextlib
import os
import socket
from collections.abc import Sequence
from pathlib import Path

from turnkeeper.protocol.hosts import Host
from turnkeeper.protocol.problems import Problem

PROBE_SECONDS = 0.2
BACKLOG_CONNECTIONS = 512


class AddressInUse(Problem):
    """Another server listens there."""

    status = 409


def bind(host: Host) -> socket.socket:
    """A listening socket; raises `AddressInUse` when somebody else has it."""
    return _bind_unix(Path(host.address)) if host.scheme == "unix" else _bind_tcp(host)


def _bind_unix(path: Path) -> socket.socket:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if path.exists() and is_stale(path):
        path.unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # The file is ours alone from its first moment, not from a chmod later.
    umask = os.umask(0o177)
    try:
        listening.bind(str(path))
    except OSError as error:
        listening.close()
        raise AddressInUse(f"cannot listen on {path}: {error.strerror or error}") from error
    finally:
        os.umask(umask)
    listening.listen(BACKLOG_CONNECTIONS)
    return listening


def is_stale(path: Path) -> bool:
    """Whether nobody listens behind a socket file. One that does not answer in time may be alive.

    Connecting to an ordinary file is refused just the same, and that is somebody's file.
    """
    if not path.is_socket():
        return False
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(PROBE_SECONDS)
        try:
            probe.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return True
        except OSError:
            return False
    return False


def _bind_tcp(host: Host) -> socket.socket:
    family = socket.AF_INET6 if ":" in host.name else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host.name, host.port))
    except OSError as error:
        listening.close()
        raise AddressInUse(f"cannot listen on {host}: {error.strerror or error}") from error
    listening.listen(BACKLOG_CONNECTIONS)
    return listening


def bound(host: Host, sock: socket.socket) -> Host:
    """The host as it can be reached: with the port that the system chose where 0 was asked for."""
    if host.scheme == "unix" or host.port:
        return host
    return Host(host.scheme, f"{host.address.rpartition(':')[0]}:{sock.getsockname()[1]}")


def file_of(sock: socket.socket) -> tuple[Path, int]:
    """The file of a socket, and its number on the disk: another server's under the same name has another."""
    path = Path(sock.getsockname())
    return path, path.stat().st_ino


def remove(files: Sequence[tuple[Path, int]]) -> None:
    """Remove the socket files that are still ours."""
    for path, number in files:
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_ino == number:
                path.unlink()
