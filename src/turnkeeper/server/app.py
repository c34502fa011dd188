"""The door: every request comes in here, and every problem becomes an HTTP answer here and nowhere else."""

import logging
from collections.abc import Sequence

import anyio
from starlette.types import Message, Receive, Scope, Send

from turnkeeper.engine.reception import Reception
from turnkeeper.protocol.problems import Problem, ServerClosing
from turnkeeper.protocol.wire import answer
from turnkeeper.protocol.wire_workspaces import ProblemBody
from turnkeeper.server.bounds import LARGE_BODIES_MAX, Luggage, Patience
from turnkeeper.server.guard import Guard, marked
from turnkeeper.server.routing import Found, Route, Router
from turnkeeper.server.visit import JSON, ClientLeft, Reply, Visit

log = logging.getLogger(__name__)

PLAIN = b"text/plain; charset=utf-8"
NOT_FOUND = Reply(404, b"404 page not found\n", PLAIN)
NOT_ALLOWED = b"Method Not Allowed\n"
LAST_WORDS_SECONDS = 1.0
"""For a client to take what it is told when the server leaves in the middle of its request."""


class Door:
    """The ASGI application. It holds nothing between two requests but the count of what they bring."""

    def __init__(
        self,
        reception: Reception,
        routes: Sequence[Route],
        guard: Guard,
        *,
        body_bytes_max: int,
        patience: Patience = Patience(),  # noqa: B008 - frozen
    ) -> None:
        self.router = Router(routes)
        self._reception = reception
        self._guard = guard
        self._body_bytes_max = body_bytes_max
        self._patience = patience
        self._luggage = Luggage(LARGE_BODIES_MAX * body_bytes_max)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            if origin := self._guard.allowed_page(scope):
                send = marked(send, origin)
            self._guard.check(scope)
            reply = await self._reply(scope, receive)
            if reply.app is not None:
                await reply.app(scope, receive, watched)
                return
        except ClientLeft:
            return
        except anyio.get_cancelled_exc_class():
            # The server leaves without waiting any longer; whoever still waits for an answer is told that.
            if not begun:
                with anyio.move_on_after(LAST_WORDS_SECONDS, shield=True):
                    await _send(refusal(ServerClosing()), send, head=scope["method"] == "HEAD")
            raise
        except Problem as problem:
            reply = refusal(problem)
        except Exception:  # the last catcher: a defect of ours is logged here and told without its insides
            log.exception("request failed", extra={"method": scope["method"], "path": scope["path"]})
            if begun:
                raise
            reply = refusal(Problem("internal server error"))
        await _send(reply, send, head=scope["method"] == "HEAD")

    async def _reply(self, scope: Scope, receive: Receive) -> Reply:
        if (allowed := self._guard.preflight(scope)) is not None:
            return Reply(204, headers=allowed)
        raw_path: bytes = scope.get("raw_path") or scope["path"].encode("latin-1", "replace")
        if moved := cleaned(raw_path):
            return Reply(307, headers=((b"location", moved),))
        match self.router.find(scope["method"], raw_path):
            case Found(route, params):
                visit = Visit(
                    reception=self._reception,
                    scope=scope,
                    receive=receive,
                    params=params,
                    body_bytes_max=self._body_bytes_max,
                    patience=self._patience,
                    luggage=self._luggage,
                    is_owner=self._guard.is_owner(scope),
                    still_admits=lambda: self._guard.still_admits(scope),
                )
                try:
                    return await route.handle(visit)
                finally:
                    visit.put_down()
            case None:
                return NOT_FOUND
            case methods:
                return Reply(405, NOT_ALLOWED, PLAIN, ((b"allow", ", ".join(methods).encode()),))


def refusal(problem: Problem) -> Reply:
    asking = ((b"www-authenticate", b"Bearer"),) if problem.status == 401 else ()
    return Reply(problem.status, answer(ProblemBody(problem.message)), JSON, asking)


def cleaned(raw_path: bytes) -> bytes | None:
    """Where an unclean path should have gone: doubled slashes and dots are taken out, as the original does."""
    if b"//" not in raw_path and b"/." not in raw_path:
        return b"/v1/docs/" if raw_path == b"/v1/docs" else None
    kept: list[bytes] = []
    for segment in raw_path.split(b"/"):
        if segment == b"..":
            del kept[-1:]
        elif segment not in (b"", b"."):
            kept.append(segment)
    clean = b"/" + b"/".join(kept) + (b"/" if raw_path.endswith(b"/") and kept else b"")
    return clean if clean != raw_path else None


async def _send(reply: Reply, send: Send, *, head: bool) -> None:
    headers = list(reply.headers)
    if reply.status != 204:
        headers.insert(0, (b"content-length", str(len(reply.body)).encode()))
    if reply.content_type:
        headers.append((b"content-type", reply.content_type))
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if head else reply.body})
