"""What lies between workspaces, and between the path of an address and those on the disk."""

import re
from typing import Any

from anyio import fail_after

from tests.server.sockets import Answer, Line, server
from turnkeeper.models.scripted import CallTool, Say, turn
from turnkeeper.server.openapi import document
from turnkeeper.server.routes import all_routes
from turnkeeper.server.routing import Route
from turnkeeper.testing.front import Client
from turnkeeper.testing.scene import PlainTool

CANARY = "nobody-of-another-workspace-may-read-this"
OUTSIDE = "root:x:0:0"
PARAMETERS = re.compile(r"{(\w+)}")
HOSTILE = [
    "..%2f..%2f..%2f..%2fetc%2fpasswd",
    "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "..%5c..%5cetc%5cpasswd",
    "%252e%252e%252fetc%252fpasswd",
    "%2fetc%2fpasswd",
    "%00",
    "x%00.json",
    "%ff%fe",
    "%c0%ae%c0%ae",
    "%0d%0aset-cookie:%20x",
    "~root",
    "$HOME",
    "%24(id)",
    "'%20OR%201=1--",
    "%25s%25n",
    "a" * 8000,
    "%F0%9F%92%A3",
    "..",
    ".",
    "%20",
]
ROUTES = [route for route in all_routes() if "{" in route.path and not route.streams]


async def test_no_parameter_of_a_path_leads_out_of_the_workspace() -> None:
    with fail_after(60):
        async with server() as door, door.unix() as line:
            me = await door.house.client("/here")
            strange: list[tuple[str, str, str, int]] = []
            for route in ROUTES:
                for name in PARAMETERS.findall(route.path):
                    for value in HOSTILE:
                        path = filled(route.path, {"id": me.workspace, name: value})
                        answer = await line.ask(route.method, f"{path}?client_id={me.id}", {})
                        if answer.status not in known(route) or OUTSIDE in answer.body.decode("utf-8", "replace"):
                            strange.append((route.method, route.path, value, answer.status))
                        assert "set-cookie" not in answer.headers
            assert strange == []
            assert (await line.ask("GET", "/v1/health")).status == 200


def filled(path: str, given: dict[str, str]) -> str:
    """The path with its parameters; those that are not given are of things that there are not."""
    return PARAMETERS.sub(lambda found: given.get(found[1], "none"), path)


def known(route: Route) -> set[int]:
    """What the document says, and what becomes of a path that is no path: it is cleaned, and may then be another's."""
    described = document("test")["paths"][route.path][route.method.lower()]["responses"]
    return {int(status) for status in described} - {500} | {307, 404, 405}


async def test_nothing_of_one_workspace_is_reached_by_the_routes_of_another() -> None:
    """Everything there is in one is asked for through the other, with every route and every way to ask."""
    turns = (turn(Say(CANARY), CallTool("c1", "look", {"at": CANARY})), turn(Say(CANARY)))
    looks = PlainTool("look", lambda call, hands: looked())
    with fail_after(30):
        async with server(scripts={"/mine": turns, "/theirs": ()}, tools=[looks]) as door, door.unix() as line:
            mine, theirs = await door.house.client("/mine"), await door.house.client("/theirs")
            session = await mine.session(CANARY)
            async with mine.events() as heard:
                await mine.prompt(session, CANARY, "my-run")
                await heard.next("run_complete")
            before = await everything(mine, session)
            assert CANARY in str(before)
            asked = 0
            for route in ROUTES:
                if route.path.startswith("/v1/workspaces/{id}") and not (
                    route.method == "DELETE" and route.path.endswith("{id}")
                ):
                    for body in bodies(session):
                        answer = await through(line, theirs, route, session, body)
                        assert CANARY not in answer.body.decode(), (route.path, body)
                        asked += 1
            assert asked > 100
            assert await everything(mine, session) == before


async def looked() -> str:
    return CANARY


def bodies(session: str) -> list[dict[str, Any]]:
    named = {"session_id": session, "run_id": "my-run", "id": session, "title": "mine now", "path": "/mine/secret"}
    return [named, {**named, "prompt": "hello", "command": "echo hello", "text": "hello", "to": 0, "name": "x"}]


async def through(line: Line, client: Client, route: Route, session: str, body: dict[str, Any]) -> Answer:
    given = {"id": client.workspace, "sid": session, "run_id": "my-run"}
    path = filled(route.path, given)
    query = f"client_id={client.id}&session_id={session}&path=/mine/secret&q={CANARY[:6]}&timeout=0"
    return await line.ask(route.method, f"{path}?{query}", body)


async def everything(client: Client, session: str) -> dict[str, Any]:
    """What the workspace says of itself, but for who is looking and what time it is."""
    seen = {rest: (await client.http.get(client.path(rest))).json() for rest in ("/sessions", "/runs")}
    seen["messages"] = await client.messages(session)
    return seen


async def test_a_stream_tells_of_its_own_workspace_alone() -> None:
    with fail_after(10):
        async with server(scripts={"/mine": (turn(Say(CANARY)),), "/theirs": (turn(Say("theirs")),)}) as door:
            mine, theirs = await door.house.client("/mine"), await door.house.client("/theirs")
            async with door.unix() as line, mine.events() as heard:
                events = theirs.path(f"/events?client_id={mine.id}&after=0")
                await line.say(f"GET {events} HTTP/1.1\r\nhost: x\r\n\r\n".encode())
                assert (await line.head()).status == 200
                await mine.prompt(await mine.session(CANARY), CANARY, "my-run")
                await heard.next("run_complete")
                await theirs.prompt(await theirs.session(), "hello", "their-run")
                said = await line.until(b'"run_complete"')
    assert CANARY.encode() not in said
    assert b"their-run" in said


async def test_who_is_not_the_owner_sees_no_secret_of_a_workspace_by_any_route() -> None:
    with fail_after(20):
        async with server() as door, door.tcp() as far, door.unix() as near:
            me = await door.house.client("/here", env=["MY_TOKEN=sk-in-the-environment"])
            secrets = [b"sk-secret", b"sk-in-the-environment"]
            seen: dict[bytes, int] = dict.fromkeys(secrets, 0)
            for route in all_routes():
                if route.method == "GET" and not route.streams:
                    path = filled(route.path, {"id": me.workspace})
                    asked = f"{path}?client_id={me.id}&q=sk&timeout=0&name=x"
                    answer = await far.ask("GET", asked, host="localhost")
                    assert not any(secret in answer.body for secret in secrets), route.path
                    owner = await near.ask("GET", asked)
                    for secret in secrets:
                        seen[secret] += secret in owner.body
            # The owner does see them, or this test would look at nothing.
            assert min(seen.values()) > 0
            joined = await far.ask("POST", "/v1/workspaces", {"path": "/here", "client_id": me.id}, host="localhost")
            assert joined.status == 200
            assert not any(secret in joined.body for secret in secrets)
