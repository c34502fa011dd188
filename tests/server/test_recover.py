"""What becomes of a request whose handler breaks: a defect is told without its insides, and never twice."""

import pytest
from anyio import fail_after
from starlette.types import Message, Receive, Scope, Send

from turnkeeper.protocol.problems import Conflict
from turnkeeper.server.app import Door
from turnkeeper.server.guard import Guard
from turnkeeper.server.routing import Route
from turnkeeper.server.visit import Reply, Visit, json
from turnkeeper.testing.bridge import Answered, Bridge
from turnkeeper.testing.front import front


async def breaks(_: Visit) -> Reply:
    raise RuntimeError("a password stands here")


async def refuses(_: Visit) -> Reply:
    raise Conflict("not now")


async def answers(_: Visit) -> Reply:
    return json({"fine": True}, headers=((b"x-more", b"1"),))


async def begins_and_breaks(_: Visit) -> Reply:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 202, "headers": [(b"x-begun", b"1")]})
        await send({"type": "http.response.body", "body": b"half", "more_body": True})
        raise RuntimeError("a password stands here")

    return Reply(app=app)


ROUTES = [
    Route("GET", "/breaks", breaks, "breaks"),
    Route("GET", "/refuses", refuses, "refuses"),
    Route("GET", "/answers", answers, "answers"),
    Route("GET", "/half", begins_and_breaks, "begins and breaks"),
]


async def asked(path: str, method: str = "GET") -> Answered:
    with fail_after(5):
        async with front() as house:
            door = Door(house.reception, ROUTES, Guard(), body_bytes_max=10)
            async with Bridge(door) as http:
                return await http.ask(method, path)


async def test_a_handler_that_breaks_is_answered_without_its_insides(caplog: pytest.LogCaptureFixture) -> None:
    answered = await asked("/breaks")
    assert (answered.status, answered.headers["content-type"]) == (500, "application/json")
    assert answered.body == b'{"message":"internal server error"}\n'
    assert "request failed" in caplog.text


async def test_what_a_handler_answers_passes_unchanged() -> None:
    answered = await asked("/answers")
    assert (answered.status, answered.body) == (200, b'{"fine":true}\n')
    assert answered.headers == {"content-length": "14", "content-type": "application/json", "x-more": "1"}
    refused = await asked("/refuses")
    assert (refused.status, refused.body) == (409, b'{"message":"not now"}\n')


async def test_a_handler_that_breaks_halfway_is_cut_off_and_nothing_is_said_twice() -> None:
    messages: list[tuple[str, object]] = []

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        messages.append((message["type"], message.get("status", message.get("body"))))

    with fail_after(5):
        async with front() as house:
            door = Door(house.reception, ROUTES, Guard(), body_bytes_max=10)
            scope: Scope = {"type": "http", "method": "GET", "path": "/half", "query_string": b"", "headers": []}
            # The server is told, so that it drops the connection rather than end the body as if it were whole.
            with pytest.raises(RuntimeError):
                await door(scope | {"server": ("/s", None)}, receive, send)
    assert messages == [("http.response.start", 202), ("http.response.body", b"half")]


async def test_a_path_nobody_knows_and_a_method_it_has_not_are_told_in_plain_text() -> None:
    unknown, refused = await asked("/nowhere"), await asked("/answers", "DELETE")
    assert (unknown.status, unknown.body) == (404, b"404 page not found\n")
    assert (refused.status, refused.body, refused.headers["allow"]) == (405, b"Method Not Allowed\n", "GET, HEAD")
    assert unknown.headers["content-type"] == refused.headers["content-type"] == "text/plain; charset=utf-8"
    head = await asked("/answers", "HEAD")
    assert (head.status, head.body, head.headers["content-length"]) == (200, b"", "14")
