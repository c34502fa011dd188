"""A connection over a unix socket, as a stream of bytes.

On the event loop's own transport: a plain socket that is waited for is told that it can be read and that its waiting
was given up in one turn of the loop, and the loop then complains of a callback that came too late.
"""

import asyncio

import anyio
from anyio.abc import ByteStream


class UnixStream(ByteStream):
    """Owns one connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def receive(self, max_bytes: int = 65536) -> bytes:
        if data := await self._reader.read(max_bytes):
            return data
        raise anyio.EndOfStream

    async def send(self, item: bytes) -> None:
        self._writer.write(item)
        await self._writer.drain()

    async def send_eof(self) -> None:
        self._writer.write_eof()

    async def aclose(self) -> None:
        self._writer.transport.close()


async def connect_unix(path: str) -> UnixStream:
    return UnixStream(*await asyncio.open_unix_connection(path, limit=256 * 1024))
