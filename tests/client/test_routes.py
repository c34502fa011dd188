"""The client knows a question for every route there is: each is asked once, by whatever method asks it."""

import contextlib
import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, get_type_hints

import anyio
import msgspec

from tests.client.scene import served
from turnkeeper.client.client import Client
from turnkeeper.client.http import Answer, Http
from turnkeeper.client.workspace import WorkspaceClient
from turnkeeper.protocol.config import Scope, SelectedModel
from turnkeeper.protocol.problems import Problem
from turnkeeper.protocol.requests import Answers, Decision
from turnkeeper.protocol.wire_requests import PermissionRequest

GIVEN: dict[Any, Any] = {
    bool: True,
    int: 1,
    float: 1.0,
    Scope: Scope.GLOBAL,
    SelectedModel: SelectedModel(model="m", provider="p"),
    Decision: Decision(allowed=True),
    PermissionRequest: PermissionRequest(id="ARG"),
}
WORDS = {"ARG", "w"}
NOT_ASKED = {
    *(("GET", f"/v1/docs/{page}") for page in ("", "doc.json", "index.html")),  # pages for people to read
    ("GET", "/v1/config"),  # which is always empty, as the original's is
}


class Overheard(Http):
    """Answers every question with something short, and notes what was asked."""

    asked: set[tuple[str, str]]

    async def ask(self, method: str, path: str, body: bytes | None = None, **_: Any) -> Answer:
        self.asked.add((method, path.partition("?")[0]))
        return Answer(200, {}, b'{"id": "w", "path": "/p", "state": "ended"}')

    @asynccontextmanager
    async def stream(self, path: str, **_: Any) -> AsyncGenerator[Any]:
        self.asked.add(("GET", path.partition("?")[0]))
        raise ConnectionResetError
        yield


def given(method: Callable[..., Any]) -> dict[str, Any]:
    """Something for every argument that must be given."""
    # The client imports its workspace when it opens one.
    hints = get_type_hints(method, localns={"WorkspaceClient": WorkspaceClient})
    needed = [one for one in inspect.signature(method).parameters.values() if one.default is inspect.Parameter.empty]
    return {one.name: GIVEN.get(hints.get(one.name), "ARG") for one in needed}


async def ask_everything(thing: object) -> None:
    for name, method in inspect.getmembers(thing, inspect.iscoroutinefunction):
        if name.startswith("_") or name in ("aclose", "reopen", "retire", "revive"):
            continue
        asked: Awaitable[Any] = method(**given(method))
        with anyio.move_on_after(1):
            try:
                await asked
            except Exception:  # noqa: BLE001 - whatever becomes of an answer that means nothing
                continue


def shape(path: str) -> str:
    """The path with its parameters nameless."""
    if path.startswith("/v1/clients/"):
        return "/v1/clients/{}"
    return "/".join("{}" if part in WORDS or part.startswith("{") else part for part in path.split("/"))


async def test_every_route_of_the_server_is_asked_by_some_method_of_the_client() -> None:
    async with served() as server, Client(server.host) as client:
        paths: dict[str, dict[str, Any]] = (await client.describe())["paths"]
        http = Overheard(server.host)
        http.asked = set()
        client.http = http
        workspace = await client.open("/p")
        await ask_everything(client)
        await ask_everything(workspace)
        for area in vars(workspace).values():
            await ask_everything(area)
        await listen(workspace)
        await ask_by_their_arguments(workspace)
        await client.retire()
    routes = {(method.upper(), path) for path, methods in paths.items() for method in methods} - NOT_ASKED
    asked = {(method, shape(path)) for method, path in http.asked}
    assert sorted(route for route in routes if (route[0], shape(route[1])) not in asked) == []


async def ask_by_their_arguments(workspace: WorkspaceClient) -> None:
    """Where what is asked depends on what is given."""
    await workspace.mcp.use_docker(False)
    for what in ("tools", "prompts", "resources"):
        await workspace.mcp.refresh("ARG", what)
    for question in (workspace.messages.of_people("ARG"), workspace.mcp.prompt("ARG", "ARG", {})):
        with contextlib.suppress(Problem, msgspec.MsgspecError):
            await question
    await workspace.questions.answer("ARG", Answers())


async def listen(workspace: WorkspaceClient) -> None:
    try:
        async with workspace.follow():
            pass
    except ConnectionResetError:
        return
