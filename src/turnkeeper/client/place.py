"""Where a client stands: the server it speaks to, and the workspace it has opened there.

A workspace's id changes when its server was replaced, or when nobody had it open for a while. Whoever asks for
something through a `Place` does not notice: the directory is opened again, and the question asked again.
"""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from turnkeeper.client.asking import checked, leniently, query, value
from turnkeeper.client.http import ASK_SECONDS, Answer, Http
from turnkeeper.protocol.problems import WorkspaceNotFound
from turnkeeper.protocol.wire import encode
from turnkeeper.protocol.wire_workspaces import Workspace

T = TypeVar("T")

Revive = Callable[[], Awaitable[None]]
"""Sees to it that a server answers, by starting one if need be."""


class Place:
    """Owns what is known of an opened workspace; `open_again` opens it anew and answers with how it is then."""

    def __init__(
        self, http: Http, client_id: str, opened: Workspace, open_again: Callable[[], Awaitable[Workspace]]
    ) -> None:
        self.http = http
        self.client_id = client_id
        self.opened = opened
        self._open_again = open_again

    @property
    def root(self) -> str:
        return f"/v1/workspaces/{self.opened.id}"

    async def get(self, rest: str, kind: type[T], *, seconds: float = ASK_SECONDS, **said: Any) -> T:
        return value(await self.ask("GET", rest + query(**said), seconds=seconds), kind)

    async def get_list(self, rest: str, kind: type[T], **said: Any) -> list[T]:
        """Many of a kind; null, as the original says it in places, is none."""
        answer = await self.ask("GET", rest + query(**said))
        return [] if answer.body.strip() == b"null" else value(answer, list[kind])

    async def get_leniently(self, rest: str, kind: type[T]) -> T:
        return leniently(await self.ask("GET", rest), kind)

    async def post(
        self, rest: str, body: object = None, *, seconds: float = ASK_SECONDS, repeatable: bool = False
    ) -> Answer:
        return await self.ask("POST", rest, body, seconds=seconds, repeatable=repeatable)

    async def tell(self, rest: str, body: object, kind: type[T], *, seconds: float = ASK_SECONDS) -> T:
        """Post `body`, and read the answer as a `kind`."""
        return value(await self.post(rest, body, seconds=seconds), kind)

    async def ask(
        self,
        method: str,
        rest: str,
        body: object = None,
        *,
        seconds: float = ASK_SECONDS,
        repeatable: bool | None = None,
    ) -> Answer:
        content = None if body is None else encode(body)
        id = self.opened.id
        for attempt in (1, 2):
            path = self.root + rest
            answer = await self.http.ask(method, path, content, seconds=seconds, repeatable=repeatable)
            try:
                return checked(answer, 202)
            except WorkspaceNotFound:
                if attempt == 2:
                    raise
            if id == self.opened.id:
                await self.reopen()
        raise AssertionError

    async def reopen(self) -> Workspace:
        """Open the directory again: after a loss, or to see it as it is now."""
        self.opened = await self._open_again()
        return self.opened
