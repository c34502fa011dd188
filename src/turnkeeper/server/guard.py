"""Who may come in: what is checked of a request before anything is read of it.

A unix socket belongs to its user: its mode keeps others out, and `peers.py` looks who connects. On TCP there is a
token, unless the server only listens to this computer. A name that is not ours is refused, so that no page can reach us
by a name it controls; and a page of another origin may not speak to us at all, unless the owner allowed it.
"""

import hmac
import ipaddress
from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from starlette.types import Message, Scope, Send

from turnkeeper.protocol.problems import BadRequest, Problem

LOCAL_HOSTS = frozenset({"localhost", "api.crush.localhost", "turnkeeper.localhost"})
ANY = "*"
NAME_LETTERS_MAX = 200
"""Of what a stranger said, in what they are answered."""

OWN_PAGE = frozenset({b"same-origin", b"none"})
"""What a browser says of requests that come from our own pages, or from a person's own hand."""

PREFLIGHT_HEADERS = (
    (b"access-control-allow-methods", b"GET, HEAD, POST, PUT, PATCH, DELETE"),
    (
        b"access-control-allow-headers",
        b"authorization, cache-control, content-type, last-event-id, x-client-id, x-client-name, x-client-kind",
    ),
    (b"access-control-max-age", b"600"),
)


class Unauthorized(Problem):
    """A token is needed: send it as `Authorization: Bearer <token>`."""

    status = 401


class Forbidden(Problem):
    """This server does not speak to that origin."""

    status = 403


class Tokens(Protocol):
    def current(self) -> str:
        """The token in force; empty when nobody may come in."""
        ...


@dataclass(frozen=True, slots=True)
class Guard:
    token: str | Tokens = ""
    """Empty: whoever can connect may come in."""
    hosts: Collection[str] = LOCAL_HOSTS
    origins: Collection[str] = ()

    def check(self, scope: Scope) -> None:
        """Raises what the request is refused with."""
        headers = Said(scope)
        if not is_unix(scope):
            self._check_host(headers.one(b"host"))
        self._check_page(headers, own=own_origin(scope, headers))
        if not is_unix(scope) and self.token != "" and not self._is_preflight(scope, headers):
            self._check_token(headers.one(b"authorization"))

    def is_owner(self, scope: Scope) -> bool:
        """Whether it is the server's own user who asks, before whom nothing is masked."""
        return is_unix(scope)

    def still_admits(self, scope: Scope) -> bool:
        """Whether the same request would be let in now: a stream outlives the check at its beginning."""
        try:
            self.check(scope)
        except Problem:
            return False
        return True

    def allowed_page(self, scope: Scope) -> bytes:
        """The foreign origin this request comes from, which was allowed; empty for everybody else."""
        origin = Said(scope).one(b"origin")
        return origin if origin and self._is_allowed(origin) else b""

    def preflight(self, scope: Scope) -> tuple[tuple[bytes, bytes], ...] | None:
        """The headers that answer a browser which asks before it lets an allowed page speak to us."""
        headers = Said(scope)
        if not self._is_preflight(scope, headers) or not self.allowed_page(scope):
            return None
        private = headers.one(b"access-control-request-private-network") == b"true"
        return (*PREFLIGHT_HEADERS, *([(b"access-control-allow-private-network", b"true")] if private else []))

    def _is_preflight(self, scope: Scope, headers: "Said") -> bool:
        return scope["method"] == "OPTIONS" and bool(headers.one(b"access-control-request-method"))

    def _check_host(self, host: bytes) -> None:
        name = host_name(host.decode("latin-1"))
        if ANY not in self.hosts and name not in self.hosts and not is_address(name):
            raise Forbidden(f"this server is not called {name[:NAME_LETTERS_MAX]!r}; allow the name with --allow-host")

    def _check_page(self, headers: "Said", *, own: bytes) -> None:
        origin = headers.one(b"origin")
        if origin and origin != own and not self._is_allowed(origin):
            said = origin.decode("latin-1")[:NAME_LETTERS_MAX]
            raise Forbidden(f"pages of {said!r} may not use this server; allow them with --allow-origin")
        site = headers.one(b"sec-fetch-site")
        if site and site not in OWN_PAGE and not origin and headers.one(b"sec-fetch-dest") != b"document":
            raise Forbidden("pages of other sites may not use this server")

    def _is_allowed(self, origin: bytes) -> bool:
        return origin.decode("latin-1") in self.origins

    def _check_token(self, authorization: bytes) -> None:
        wanted = self.token if isinstance(self.token, str) else self.token.current()
        scheme, _, token = authorization.partition(b" ")
        known = hmac.compare_digest(token.strip(), wanted.encode())
        if scheme.lower() != b"bearer" or not wanted or not known:
            raise Unauthorized


class Said:
    """The headers of a request. One that decides something and is there twice is refused."""

    def __init__(self, scope: Scope) -> None:
        self._headers: dict[bytes, bytes] = dict(scope["headers"])
        self._all: list[tuple[bytes, bytes]] = scope["headers"]

    def one(self, name: bytes) -> bytes:
        value = self._headers.get(name, b"")
        if value and len(self._all) > len(self._headers) and [key for key, _ in self._all].count(name) > 1:
            raise BadRequest(f"the header {name.decode()} is there more than once")
        return value


def own_origin(scope: Scope, headers: Said) -> bytes:
    """How a browser calls pages that came from us. The name was checked before."""
    return b"" if is_unix(scope) else b"%b://%b" % (scope.get("scheme", "http").encode(), headers.one(b"host"))


def host_name(host: str) -> str:
    """`name:4096`, `[::1]:4096` and `NAME.` without what is not the name."""
    name = host if host.endswith("]") else host.rsplit(":", 1)[0] if ":" in host else host
    return name.strip("[]").rstrip(".").lower()


def is_address(name: str) -> bool:
    """A number is nobody's to give a meaning to, so a page that uses one has come from there."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def is_unix(scope: Scope) -> bool:
    """The server we build on knows no port on a unix socket."""
    server = scope.get("server")
    return bool(server) and server[1] is None


def marked(send: Send, origin: bytes) -> Send:
    """What is sent through it may be read by pages of this origin."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            said = [(b"access-control-allow-origin", origin), (b"vary", b"origin")]
            message = {**message, "headers": [*message["headers"], *said]}
        await send(message)

    return sent
