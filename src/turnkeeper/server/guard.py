"""Who may come in: what is checked of a request before anything is read of it.

A unix socket belongs to its user: the system checks who connects (`listen.py` does, where the system tells). On TCP
there is a token, unless the server only listens to this computer. A browser page of another origin may not speak to
us at all, and a name that is not ours is refused, so that no page can reach us by a name it controls.
"""

import hmac
from collections.abc import Collection
from dataclasses import dataclass

from starlette.types import Scope

from turnkeeper.protocol.problems import Problem

LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]", "::1", "api.crush.localhost", "turnkeeper.localhost"})


class Unauthorized(Problem):
    """A token is needed: send it as `Authorization: Bearer <token>`."""

    status = 401


class Forbidden(Problem):
    """This server does not speak to that origin."""

    status = 403


@dataclass(frozen=True, slots=True)
class Guard:
    token: str = ""
    hosts: Collection[str] = LOCAL_HOSTS
    origins: Collection[str] = ()

    def check(self, scope: Scope) -> None:
        """Raises what the request is refused with."""
        headers: dict[bytes, bytes] = dict(scope["headers"])
        if origin := headers.get(b"origin"):
            self._check_origin(origin.decode("latin-1"))
        if is_unix(scope):
            return
        self._check_host(headers.get(b"host", b"").decode("latin-1"))
        if self.token:
            self._check_token(headers.get(b"authorization", b""))

    def is_owner(self, scope: Scope) -> bool:
        return is_unix(scope)

    def _check_origin(self, origin: str) -> None:
        if origin not in self.origins:
            raise Forbidden(f"pages of {origin[:200]} may not use this server; allow the origin in its configuration")

    def _check_host(self, host: str) -> None:
        name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
        if name.lower() not in self.hosts and "*" not in self.hosts:
            raise Forbidden(f"this server is not called {name[:200]}; allow the host name in its configuration")

    def _check_token(self, authorization: bytes) -> None:
        scheme, _, token = authorization.partition(b" ")
        if scheme.lower() != b"bearer" or not hmac.compare_digest(token.strip(), self.token.encode()):
            raise Unauthorized


def is_unix(scope: Scope) -> bool:
    """uvicorn knows no client address on a unix socket."""
    server = scope.get("server")
    return bool(server) and server[1] is None
