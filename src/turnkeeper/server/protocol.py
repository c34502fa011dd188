"""One connection, with limits the HTTP server itself lacks: who connects, and how late and large a head may be."""

import asyncio
import os
import socket
import struct

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS = 30.0
"""From connecting, or from the first byte of a request, to the end of its headers."""
HEAD_BYTES_MAX = 64 * 1024
TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
ABORT = "turnkeeper.abort"
"""Under this name a request finds how to drop its connection without waiting for a client that does not read."""


class DoorProtocol(HttpToolsProtocol):
    """HTTP on one connection. The head of each request arrives in time and within bounds, or the connection ends."""

    _late: asyncio.TimerHandle | None = None
    _head_bytes = 0
    _in_head = True

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        if is_stranger(transport.get_extra_info("socket")):
            transport.abort()
            return
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._got_head()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._in_head:
            if self._late is None:
                self._expect_head()
            self._head_bytes += len(data)
            # A body may follow in the same packet, and has a limit of its own.
            if self._head_bytes > HEAD_BYTES_MAX + 64 * 1024:
                self.transport.write(TOO_LARGE)
                self.transport.close()
                return
        super().data_received(data)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head = True
        extensions = self.scope.setdefault("extensions", {})
        assert extensions is not None
        extensions[ABORT] = {"abort": self.transport.abort}

    def on_headers_complete(self) -> None:
        self._got_head()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._in_head, self._head_bytes = True, 0

    def _expect_head(self) -> None:
        self._in_head, self._head_bytes = True, 0
        self._late = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def _got_head(self) -> None:
        self._in_head = False
        if self._late is not None:
            self._late.cancel()
            self._late = None


def is_stranger(sock: socket.socket | None) -> bool:
    """Whether another user is at the other end of a unix socket, where the system tells."""
    if sock is None or sock.family != socket.AF_UNIX or not hasattr(socket, "SO_PEERCRED"):
        return False
    peer = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    _, uid, _ = struct.unpack("3i", peer)
    return uid not in (os.geteuid(), 0)
