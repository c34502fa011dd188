"""The least that could be done instead: an ASGI application of four pages, on the HTTP server that ours is on, too.

python -m benchmarks._bare SOCKET [DATABASE]

GET  /v1/health   200
POST /row         one row, committed, then 202
GET  /events      a stream, to which everything is written that is pushed
POST /push?n=     the body is pushed n times, as it is
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import uvicorn
import uvloop

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
TABLE = "CREATE TABLE rows (n INTEGER PRIMARY KEY, body BLOB)"
INSERT = "INSERT INTO rows (body) VALUES (?)"
KEEP_ALIVE_SECONDS = 120


class Bare:
    """Owns a table with one kind of row, and what was pushed last."""

    def __init__(self, database: str) -> None:
        if database:
            from turnkeeper.store.database import connect

            self._db = connect(Path(database))
            self._db.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
            self._db.execute(TABLE)
        self._buffer = b""
        self._pushed = 0
        self._more = asyncio.Event()

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        match scope["path"]:
            case "/row":
                self._write((await receive())["body"])
                await answer(send, 202)
            case "/push":
                self._buffer = (await receive())["body"]
                await self._push(int(parse_qs(scope["query_string"])[b"n"][0]))
                await answer(send, 200)
            case "/events":
                await self._tell(send)
            case _:
                await answer(send, 200)

    def _write(self, row: bytes) -> None:
        self._db.execute("BEGIN IMMEDIATE")
        self._db.execute(INSERT, (row,))
        self._db.execute("COMMIT")

    async def _push(self, times: int) -> None:
        for _ in range(times):
            self._pushed += 1
            self._more.set()
            self._more = asyncio.Event()
            await asyncio.sleep(0)

    async def _tell(self, send: Send) -> None:
        told = self._pushed
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"", "more_body": True})
        while True:
            while told == self._pushed:
                await self._more.wait()
            told += 1
            await send({"type": "http.response.body", "body": self._buffer, "more_body": True})


async def answer(send: Send, status: int) -> None:
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})


def main(socket: str, database: str = "") -> None:
    async def serve() -> None:
        config = uvicorn.Config(
            Bare(database),
            uds=socket,
            http="httptools",
            loop="none",
            lifespan="off",
            ws="none",
            log_config=None,
            access_log=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=1,
        )
        await uvicorn.Server(config).serve()

    uvloop.run(serve())


if __name__ == "__main__":
    main(*sys.argv[1:])
