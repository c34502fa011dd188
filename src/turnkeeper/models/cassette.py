"""Cassettes: real talk with a provider, kept in a file without its secrets, and played again without a network.

A cassette sits below the SDKs, where HTTP is: `httpx2.AsyncClient(transport=Recorder(…))` records what is said through
it, and `Player` answers the same requests, in the same order, with the same pieces. Of headers only the content type
and what concerns retries is kept; keys are cut out of URLs and bodies, whoever wrote them there.
"""

import json
import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import anyio
import anyio.lowlevel
import httpx2
import msgspec

from turnkeeper.models.connection import SECRET_CHARACTERS_MIN

RECORD_VARIABLE = "TURNKEEPER_RECORD"
REPLAY_VARIABLE = "TURNKEEPER_REPLAY"
"""Files in the environment of a server that is to record what it says to providers, or to play it again."""

KEY_HEADERS = ("authorization", "x-api-key", "api-key", "x-goog-api-key")
KEPT_HEADERS = ("content-type", "retry-after", "retry-after-ms", "x-should-retry")
SECRET = re.compile(r"(sk|pk|gsk|xai|key|AIza)[-_]?[A-Za-z0-9_-]{16,}")
SECRET_QUERY = re.compile(r"([?&](?:key|api_key|access_token)=)[^&]+")
BLOT = "***"


class Exchange(msgspec.Struct, frozen=True):
    """One request and its answer. Pieces are text where they can be; an SSE stream always is."""

    method: str
    url: str
    body: str
    status: int
    headers: dict[str, str]
    pieces: tuple[str, ...]


class CassetteMismatch(httpx2.InvalidURL):
    """the cassette holds no answer to this request"""


class Recorder(httpx2.AsyncBaseTransport):
    """Owns the exchanges heard so far, after those the file held before; writes it anew whenever one is over."""

    def __init__(self, path: Path, inner: httpx2.AsyncBaseTransport, secrets: Sequence[str] = ()) -> None:
        self._path = path
        self._inner = inner
        self._secrets = tuple(secret for secret in secrets if secret)
        self._exchanges = list(exchanges_in(path)) if path.exists() else []
        self._writing = anyio.Lock()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = (await request.aread()).decode("utf-8", errors="replace")
        response = await self._inner.handle_async_request(request)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        tape = Tape(response.stream, self, request, body, response)
        return httpx2.Response(
            response.status_code, headers=response.headers, stream=tape, extensions=response.extensions
        )

    async def keep(self, request: httpx2.Request, body: str, response: httpx2.Response, pieces: list[bytes]) -> None:
        secrets = [*self._secrets, *keys_of(request)]
        kept = Exchange(
            method=request.method,
            url=clean(str(request.url), secrets),
            body=clean(body, secrets),
            status=response.status_code,
            headers={name: response.headers[name] for name in KEPT_HEADERS if name in response.headers},
            pieces=tuple(clean(text, secrets) for text in whole_lines(plain(response, pieces))),
        )
        self._exchanges.append(kept)
        async with self._writing:
            file = anyio.Path(self._path)
            await file.touch(mode=0o600)
            await file.write_bytes(msgspec.json.format(msgspec.json.encode(self._exchanges), indent=1))

    async def aclose(self) -> None:
        await self._inner.aclose()


def clean(text: str, secrets: Sequence[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, BLOT)
    return SECRET_QUERY.sub(rf"\1{BLOT}", SECRET.sub(BLOT, text))


def keys_of(request: httpx2.Request) -> list[str]:
    """What the request itself shows as its key, whatever it looks like."""
    shown = (request.headers.get(name, "").removeprefix("Bearer ") for name in KEY_HEADERS)
    return [key for key in shown if len(key) >= SECRET_CHARACTERS_MIN]


class Tape(httpx2.AsyncByteStream):
    """A body on its way to its reader, heard along."""

    def __init__(
        self,
        stream: httpx2.AsyncByteStream,
        recorder: Recorder,
        request: httpx2.Request,
        body: str,
        response: httpx2.Response,
    ) -> None:
        self._stream = stream
        self._recorder = recorder
        self._told = (request, body, response)
        self._pieces: list[bytes] = []

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._stream:
            self._pieces.append(piece)
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()
        await self._recorder.keep(*self._told, self._pieces)


class Player(httpx2.AsyncBaseTransport):
    """Owns the exchanges not yet played. A request that was not recorded is refused; none ever reaches a network.

    Unless it is played `exactly`, the next answer that was given in the same place to the same kind of question will
    do: a whole session played again differs in its dates and its ids.
    """

    def __init__(self, path: Path, *, exactly: bool = True) -> None:
        self._left = list(exchanges_in(path))
        self._exactly = exactly

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = (await request.aread()).decode("utf-8", errors="replace")
        there = [one for one in self._left if one.method == request.method and same_place(one.url, request)]
        fitting = [one for one in there if same(one.body, body)]
        if not fitting and not self._exactly:
            fitting = [one for one in there if has_tools(one.body) == has_tools(body)]
        for exchange in fitting[:1]:
            self._left.remove(exchange)
            return httpx2.Response(exchange.status, headers=exchange.headers, stream=Pieces(exchange.pieces))
        raise CassetteMismatch(f"the cassette holds no answer to {request.method} {request.url.path}")


class Unplayable(httpx2.AsyncBaseTransport):
    """Refuses every request with what is wrong with the cassette, so that whoever asks is told."""

    def __init__(self, path: Path, error: Exception) -> None:
        self._why = f"the cassette {path} cannot be used: {error}"

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        raise CassetteMismatch(self._why)


class Pieces(httpx2.AsyncByteStream):
    def __init__(self, pieces: Sequence[str]) -> None:
        self._pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            await anyio.lowlevel.checkpoint()
            yield piece.encode()


def plain(response: httpx2.Response, pieces: list[bytes]) -> bytes:
    """The body as its reader understood it; compressed ones are opened, since a secret might be in them."""
    content = b"".join(pieces)
    if "content-encoding" not in response.headers:
        return content
    encoding = {"content-encoding": response.headers["content-encoding"]}
    return httpx2.Response(response.status_code, headers=encoding, content=content).content


def whole_lines(content: bytes) -> list[str]:
    """The body by its events, so that no secret lies across two pieces and the file can be read."""
    text = content.decode("utf-8", errors="replace")
    return [piece for piece in re.split(r"(?<=\n\n)", text) if piece]


def same_place(url: str, request: httpx2.Request) -> bool:
    """Whether both go to the same path; the host may differ, since a recording is played anywhere."""
    return httpx2.URL(url).path == request.url.path


def exchanges_in(path: Path) -> tuple[Exchange, ...]:
    return msgspec.json.decode(path.read_bytes(), type=tuple[Exchange, ...])


def has_tools(body: str) -> bool:
    """Answers are asked for with tools; titles and summaries without."""
    return '"tools"' in body


def same(recorded: str, body: str) -> bool:
    """Whether two bodies ask the same, whatever the order of their fields; what was cut out is not compared."""
    try:
        return json.loads(recorded or "null") == json.loads(body or "null")
    except ValueError:
        return recorded == body
