"""One request on its way through the house, and the answer it gets."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import parse_qs, unquote

import anyio
import msgspec
from starlette.types import ASGIApp, Receive, Scope

from turnkeeper.protocol.clients import ClientName, client_name
from turnkeeper.protocol.ids import ClientId, RunId, SessionId
from turnkeeper.protocol.problems import BadRequest, Problem, TooLarge
from turnkeeper.protocol.wire import answer
from turnkeeper.protocol.wire_reading import decode, query_client_id
from turnkeeper.server.bounds import SMALL_BODY_BYTES, Luggage, Patience

if TYPE_CHECKING:
    from turnkeeper.engine.reception import Reception
    from turnkeeper.engine.room import Room

T = TypeVar("T")

JSON = b"application/json"
PATIENCE = Patience()


class TooSlow(Problem):
    """The body did not arrive in time."""

    status = 408


class TooMuchAtOnce(Problem):
    """too many large bodies are on their way at once; try again in a moment"""

    status = 503


class ClientLeft(Exception):
    """The client went away before its request was whole; nobody is there to be told."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A status and a body; or an application that answers for itself, as streams do."""

    status: int = 200
    body: bytes = b""
    content_type: bytes = b""
    headers: tuple[tuple[bytes, bytes], ...] = ()
    app: ASGIApp | None = None


EMPTY = Reply()


def json(value: object, *, status: int = 200, headers: tuple[tuple[bytes, bytes], ...] = ()) -> Reply:
    return Reply(status, answer(value), JSON, headers)


@dataclass(slots=True)
class Visit:
    """What a handler knows: the path's parameters, the query, the body when asked for, and where to take it."""

    reception: "Reception"
    scope: Scope
    receive: Receive
    params: dict[str, str]
    body_bytes_max: int
    is_owner: bool
    """Whether the client is the server's own user, before whom nothing is masked."""
    still_admits: Callable[[], bool]
    """Whether this client would be let in now."""
    luggage: Luggage
    """Where the bodies of all requests are counted together."""
    patience: Patience = PATIENCE
    _carried_bytes: int = 0
    _body: bytes | None = None
    _query: dict[str, list[str]] | None = field(default=None)

    def query(self, name: str) -> str | None:
        if self._query is None:
            self._query = parse_qs(self.scope["query_string"].decode("latin-1"), keep_blank_values=True)
        values = self._query.get(name)
        return values[0] if values else None

    def header(self, name: bytes) -> str | None:
        value = next((value for key, value in self.scope["headers"] if key == name), None)
        return value.decode("latin-1") if value is not None else None

    def query_client(self) -> ClientId:
        return query_client_id(self.query("client_id"))

    @property
    def session_id(self) -> SessionId:
        return SessionId(self.params["sid"])

    @property
    def run_id(self) -> RunId:
        return RunId(self.params["run_id"])

    @property
    def author(self) -> ClientId:
        """Who says it is speaking: our own clients name themselves in a header, or in the query."""
        return ClientId((self.header(b"x-client-id") or self.query("client_id") or "")[:64])

    def who(self, client: ClientId) -> ClientName:
        """What it says it is called. Headers hold no letter of most alphabets, so they may be written as in a path."""
        name = unquote(self.header(b"x-client-name") or "") or self.query("client_name") or ""
        return client_name(client, name, self.header(b"x-client-kind") or self.query("client_kind") or "")

    async def signed(self, room: "Room") -> ClientId:
        """Who does something that is kept: its name, if it gave one, is kept before it."""
        who = self.who(self.author)
        room.introduce(who)
        await room.workspace.names.keep(who)
        return who.client_id

    async def room(self) -> "Room":
        return self.reception.room(self.params["id"])

    async def read(self, kind: type[T], *, required: bool = True) -> T:
        return decode(await self.body(), kind, required=required)

    async def body(self) -> bytes:
        """The whole body, within its limits."""
        if self._body is None:
            try:
                with anyio.fail_after(self.patience.seconds) as limit:
                    self._body = await self._read_body(limit)
            except TimeoutError as late:
                raise TooSlow from late
        return self._body

    async def _read_body(self, limit: anyio.CancelScope) -> bytes:
        said = self.header(b"content-length") or "0"
        if not said.isdigit():
            raise BadRequest("the content length is not a number")
        self._check_size(int(said))
        begun = anyio.current_time()
        chunks: list[bytes] = []
        size = 0
        while True:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise ClientLeft
            chunk: bytes = message.get("body", b"")
            size += len(chunk)
            self._check_size(size)
            self._carry(size)
            limit.deadline = self.patience.deadline(begun, size)
            chunks.append(chunk)
            if not message.get("more_body", False):
                return b"".join(chunks)

    def _check_size(self, size: int) -> None:
        if size > self.body_bytes_max:
            raise TooLarge(f"the body is larger than {self.body_bytes_max} bytes")

    def _carry(self, size: int) -> None:
        more = max(0, size - SMALL_BODY_BYTES) - self._carried_bytes
        if more > 0:
            if not self.luggage.takes(more):
                raise TooMuchAtOnce
            self._carried_bytes += more

    def put_down(self) -> None:
        """The body was dealt with; others may bring theirs."""
        self.luggage.give_back(self._carried_bytes)
        self._carried_bytes = 0

    async def while_connected(self, work: Callable[[], Awaitable[T]]) -> T:
        """The work's result. Given up when the client leaves; the body must have been read before."""
        done: list[T] = []
        failure: list[Exception] = []

        async def leave() -> None:
            while (await self.receive())["type"] != "http.disconnect":
                pass
            tasks.cancel_scope.cancel()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(leave)
            try:
                done.append(await work())
            except Exception as error:  # noqa: BLE001 - kept from the task group, which would wrap it
                failure.append(error)
            tasks.cancel_scope.cancel()
        if failure:
            raise failure[0]
        if not done:
            raise ClientLeft
        return done[0]

    def number(self, name: str, *, default: float, most: float) -> float:
        """A number of the query, between 0 and `most`."""
        text = self.query(name)
        if text is None:
            return default
        try:
            value = msgspec.convert(text, float, strict=False)
        except msgspec.ValidationError as error:
            raise BadRequest(f"{name} must be a number") from error
        if not 0 <= value <= most:
            raise BadRequest(f"{name} must be between 0 and {most:g}")
        return value
