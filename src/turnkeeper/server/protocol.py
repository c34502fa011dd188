"""One connection, with the limits that the HTTP server itself lacks.

    connecting      too many of them: 503; another user on our own socket: cut
    a head          comes in time and within bounds: else cut, or 431
    a body          is its reader's business (`visit.py`); what is left of it after the answer has little time
    an answer       is taken by the client, at whatever pace, but taken: else cut

So nothing that a client does or leaves undone holds a connection for longer than `Bounds` says, except one thing: an
event stream that is read.
"""

import asyncio
import socket
from collections.abc import Callable
from functools import partial

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from turnkeeper.server.bounds import Bounds
from turnkeeper.server.peers import is_stranger

ABORT = "turnkeeper.abort"
"""Under this name a request finds how to drop its connection without waiting for a client that does not read."""
PUSH = "turnkeeper.push"
"""Under this name an event stream finds how to hand over a piece of its body, framed, without waiting."""
KEEP_ALIVE_PROBES = (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3), ("TCP_USER_TIMEOUT", 90_000))
"""A client whose computer is gone says nothing; after a minute and a half we know."""


def refused(status: bytes) -> bytes:
    return b"HTTP/1.1 %b\r\ncontent-length: 0\r\nconnection: close\r\n\r\n" % status


BAD = refused(b"400 Bad Request")
TOO_LARGE = refused(b"431 Request Header Fields Too Large")
TOO_MANY = refused(b"503 Service Unavailable")


class DoorProtocol(HttpToolsProtocol):
    """HTTP on one connection. Owns what it is waiting for: a head, the rest of a body, or that an answer is taken."""

    bounds = Bounds()
    _late: asyncio.TimerHandle | None = None
    """For the head, or for a body that nobody reads any more."""
    _stuck: asyncio.TimerHandle | None = None
    """For an answer that is not taken."""
    _left_bytes = 0
    _ended = 0
    """How many heads and bodies did."""
    _head_bytes = 0
    _unread_bytes = 0
    _in_head = True
    _is_refused = False
    _is_answering = False

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        sock = transport.get_extra_info("socket")
        if is_stranger(sock):
            self._is_refused = True
            transport.abort()
            return
        if len(self.connections) > self.bounds.connections_max:
            self._refuse(TOO_MANY)
            return
        probe(sock)
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._in_time()
        self._taken()
        # Told of an error, the server we build on would leave this timer behind.
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_refused:
            return
        if self._in_head and self._late is None and not self._is_answering:
            self._expect_head()
        ended = self._ended
        super().data_received(data)
        # A packet in which a head or a body ended was not all head.
        if self._in_head and ended == self._ended and not self.transport.is_closing():
            self._head_bytes += len(data)
            if self._head_bytes > self.bounds.head_bytes_max:
                self._refuse(TOO_LARGE)

    def send_400_response(self, msg: str) -> None:
        self._refuse(BAD)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._unset_keepalive_if_required()
        self._in_head = True
        extensions = self.scope.setdefault("extensions", {})
        assert extensions is not None
        extensions[ABORT] = {"abort": self.transport.abort}

    def on_headers_complete(self) -> None:
        self._in_head, self._head_bytes, self._unread_bytes = False, 0, 0
        self._ended += 1
        self._in_time()
        if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > self.bounds.head_bytes_max:
            self._refuse(TOO_LARGE)
        if not self._is_refused:
            self._is_answering = True
            super().on_headers_complete()
            extensions = self.cycle.scope.get("extensions")
            assert extensions is not None
            extensions[PUSH] = {"push": partial(self._push, self.cycle)}

    def on_body(self, body: bytes) -> None:
        if self._is_refused:
            return
        if self.cycle.response_complete:
            self._unread_bytes += len(body)
            if self._unread_bytes > self.bounds.drain_bytes_max:
                self._is_refused = True
                self.transport.abort()
            return
        super().on_body(body)

    def on_message_complete(self) -> None:
        if self._is_refused:
            return
        super().on_message_complete()
        self._in_head = True
        self._ended += 1
        self._in_time()
        if self.cycle.response_complete and self.timeout_keep_alive_task is None and not self.transport.is_closing():
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )

    def on_response_complete(self) -> None:
        # The next request of a pipeline is answered at once.
        self._is_answering = bool(self.pipeline)
        super().on_response_complete()
        if not self._in_head and not self.pipeline and not self.transport.is_closing():
            # Answered before its body was whole. The client may still be sending; it has not long.
            self._be_in_time(self.bounds.drain_seconds, self.transport.abort)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._left_bytes = self.transport.get_write_buffer_size()
        self._stuck = self.loop.call_later(self.bounds.take_seconds, self._look_if_taken)

    def resume_writing(self) -> None:
        self._taken()
        super().resume_writing()

    def _push(self, cycle: RequestResponseCycle, piece: bytes) -> bool:
        """Send a framed piece of a body; False, and nothing is sent, unless it will be on its way at once."""
        if self.flow.write_paused or cycle.disconnected or cycle.response_complete or not cycle.chunked_encoding:
            return False
        self.transport.write(piece)
        return True

    def _look_if_taken(self) -> None:
        """Whatever was taken meanwhile, however little, is a sign of life."""
        left = self.transport.get_write_buffer_size()
        if left >= self._left_bytes:
            self.transport.abort()
            return
        self._left_bytes = left
        self._stuck = self.loop.call_later(self.bounds.take_seconds, self._look_if_taken)

    def _taken(self) -> None:
        if self._stuck is not None:
            self._stuck.cancel()
            self._stuck = None

    def _refuse(self, answer: bytes) -> None:
        self._is_refused = True
        self._in_time()
        if self._is_answering:
            # An answer to an earlier request is on its way; this one would be read as part of it.
            self.transport.abort()
            return
        self.transport.write(answer)
        self.transport.close()

    def _expect_head(self) -> None:
        self._in_head, self._head_bytes = True, 0
        self._be_in_time(self.bounds.head_seconds, self.transport.abort)

    def _be_in_time(self, seconds: float, otherwise: Callable[[], None]) -> None:
        self._in_time()
        self._late = self.loop.call_later(seconds, otherwise)

    def _in_time(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


def framed(piece: bytes) -> bytes:
    """A piece of a body, as it travels."""
    return b"%x\r\n%b\r\n" % (len(piece), piece)


def bounded(limits: Bounds) -> type[DoorProtocol]:
    """The protocol of connections within these bounds."""

    class Bounded(DoorProtocol):
        bounds = limits

    return Bounded


def probe(sock: socket.socket | None) -> None:
    """Ask the system to notice when the other computer is gone."""
    if sock is None or sock.family == socket.AF_UNIX:
        return
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in KEEP_ALIVE_PROBES:
        if option := getattr(socket, name, None):
            sock.setsockopt(socket.IPPROTO_TCP, option, value)
