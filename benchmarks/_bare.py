"""The least that could be done instead: an ASGI application of one page, on the same HTTP server as ours.

    python -m benchmarks._bare SOCKET DATABASE

    GET  /v1/health   200
    POST /row         one row, committed, then 202
    GET  /events      a stream, to which every push is written
    POST /push?n=     one buffer, encoded beforehand, is pushed to all streams so often
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import uvicorn

from turnkeeper.store.database import connect

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
EVENT_BYTES = 400
"""About as long as what is told of a session."""
BUFFER = b'data: {"type":"session","payload":"' + b"x" * (EVENT_BYTES - 40) + b'"}\n\n'
TABLE = "CREATE TABLE IF NOT EXISTS rows (n INTEGER PRIMARY KEY, body BLOB)"
INSERT = "INSERT INTO rows (body) VALUES (?)"


class Bare:
    """Owns a table with one kind of row, and who listens."""

    def __init__(self, path: Path) -> None:
        self._db = connect(path)
        self._db.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
        self._db.execute(TABLE)
        self._pushed = 0
        self._more = asyncio.Event()

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        match scope["path"]:
            case "/row":
                body = (await receive())["body"]
                self._db.execute("BEGIN IMMEDIATE")
                self._db.execute(INSERT, (body,))
                self._db.execute("COMMIT")
                await answer(send, 202)
            case "/push":
                await receive()
                for _ in range(int(parse_qs(scope["query_string"])[b"n"][0])):
                    self._push()
                    await asyncio.sleep(0)
                await answer(send, 200)
            case "/events":
                await self._listen(send)
            case _:
                await answer(send, 200)

    def _push(self) -> None:
        self._pushed += 1
        self._more.set()
        self._more = asyncio.Event()

    async def _listen(self, send: Send) -> None:
        told = self._pushed
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"", "more_body": True})
        while True:
            while told == self._pushed:
                await self._more.wait()
            told += 1
            await send({"type": "http.response.body", "body": BUFFER, "more_body": True})


async def answer(send: Send, status: int) -> None:
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})


def main(socket: str, database: str) -> None:
    async def serve() -> None:
        config = uvicorn.Config(
            Bare(Path(database)),  # pyright: ignore[reportArgumentType] - ASGI in plain dictionaries
            uds=socket,
            http="httptools",
            loop="none",
            lifespan="off",
            ws="none",
            log_config=None,
            access_log=False,
            timeout_keep_alive=120,
        )
        await uvicorn.Server(config).serve()

    import uvloop

    uvloop.run(serve())


if __name__ == "__main__":
    main(*sys.argv[1:3])
