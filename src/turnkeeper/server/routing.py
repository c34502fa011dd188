"""Which handler a path belongs to, and what is known of it before it is called.

Every route is a row: what it takes, what it gives, and what it may refuse. The same rows answer requests and write
the OpenAPI document, so that the two cannot differ.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

if TYPE_CHECKING:
    from turnkeeper.server.visit import Reply, Visit

Handler = Callable[["Visit"], Awaitable["Reply"]]


@dataclass(frozen=True, slots=True)
class Route:
    """One row. `body` and `gives` are the types of what is read and answered; None is an empty body."""

    method: str
    path: str
    handle: Handler
    says: str
    """What it does, in one line."""
    body: Any = None
    body_required: bool = True
    gives: Any = None
    gives_if_asked: bool = False
    """Whether the answer is empty unless the query asks for it, as the original's is."""
    query: tuple[str, ...] = ()
    query_required: tuple[str, ...] = ()
    status: int = 200
    refuses: tuple[int, ...] = ()
    streams: bool = False
    own: bool = False
    """Whether it is our addition to the original's."""


@dataclass(slots=True)
class _Node:
    """A place in the tree of paths: what may follow, and who answers here."""

    fixed: dict[str, "_Node"] = field(default_factory=dict[str, "_Node"])
    any: "_Node | None" = None
    methods: dict[str, Route] = field(default_factory=dict[str, Route])
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    route: Route
    params: dict[str, str]


class Router:
    """Finds a route by walking the path's segments; the cost does not grow with the number of routes."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self.routes = tuple(routes)
        self._root = _Node()
        for route in routes:
            self._add(route)

    def _add(self, route: Route) -> None:
        node = self._root
        names: list[str] = []
        for segment in route.path.strip("/").split("/"):
            if segment.startswith("{"):
                names.append(segment.strip("{}"))
                node.any = node.any or _Node()
                node = node.any
            else:
                node = node.fixed.setdefault(segment, _Node())
        assert route.method not in node.methods, f"{route.method} {route.path} stands twice"
        assert not node.names or node.names == tuple(names), f"{route.path} names its parameters in another way"
        node.methods[route.method] = route
        node.names = tuple(names)

    def find(self, method: str, raw_path: bytes) -> Found | tuple[str, ...] | None:
        """The route; or the methods the path does have; or None."""
        node: _Node | None = self._root
        values: list[str] = []
        for raw in raw_path.decode("latin-1").strip("/").split("/"):
            segment = unquote(raw)
            assert node is not None
            if segment in node.fixed:
                node = node.fixed[segment]
            else:
                node = node.any
                values.append(segment)
            if node is None or not segment:
                return None
        if not node.methods:
            return None
        route = node.methods.get("GET" if method == "HEAD" else method)
        if route is None:
            return allowed(node.methods)
        return Found(route, dict(zip(node.names, values, strict=True)))


def allowed(methods: dict[str, Route]) -> tuple[str, ...]:
    return tuple(sorted({*methods, *(["HEAD"] if "GET" in methods else [])}))
