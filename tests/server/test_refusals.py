"""What is refused, with which status and which words; and what is looked at first."""

import base64
from typing import Any

import pytest
from anyio import fail_after

from turnkeeper.models.scripted import Hold, Say, turn
from turnkeeper.protocol.problems import StoreUnavailable
from turnkeeper.protocol.runs import QUEUE_MAX
from turnkeeper.testing.front import front

TEXT = {"content": base64.b64encode(b"hello").decode(), "file_path": "/p/a.txt", "mime_type": "text/plain"}
IMAGE = TEXT | {"mime_type": "image/png"}


@pytest.mark.parametrize(
    ("has_agent", "body", "status", "message"),
    [
        (True, b"{", 400, "failed to decode request: the body is not JSON"),
        (False, {"session_id": "S", "prompt": "hi"}, 400, "agent coordinator not initialized"),
        (False, {"session_id": "", "prompt": ""}, 400, "agent coordinator not initialized"),
        (True, {"session_id": "", "prompt": ""}, 400, "prompt is empty"),
        (True, {"session_id": "S", "prompt": "", "attachments": [IMAGE]}, 400, "prompt is empty"),
        (True, {"session_id": "", "prompt": "hi"}, 400, "session id is missing"),
        (True, {"prompt": "hi"}, 400, "session id is missing"),
        (True, {"session_id": "unknown", "prompt": "hi"}, 404, "session not found: unknown"),
        (
            True,
            {"session_id": "S", "prompt": "hi", "attachments": [{"content": "?"}]},
            400,
            "failed to decode request: attachments[0].content is not standard base64",
        ),
        (
            True,
            {"session_id": 1, "prompt": "hi"},
            400,
            "failed to decode request: session_id must be a string, not an integer",
        ),
    ],
)
async def test_a_prompt_is_refused_for_the_first_thing_that_is_wrong(
    has_agent: bool, body: Any, status: int, message: str
) -> None:
    with fail_after(5):
        async with front(has_agent=has_agent) as house:
            client = await house.client()
            session = await client.session()
            if not isinstance(body, bytes):
                body = {key: session if value == "S" else value for key, value in body.items()}
            refused = await house.http.post(client.path("/agent"), body)
            kept = await house.stores["/front"].runs()
    assert (refused.status, refused.json()) == (status, {"message": message})
    assert refused.headers["content-type"] == "application/json"
    assert kept == []


async def test_attached_text_alone_is_a_prompt_and_arrives_whole() -> None:
    with fail_after(5):
        async with front(turn(Say("read it"))) as house:
            client = await house.client()
            session = await client.session()
            async with client.events() as events:
                answered = await client.prompt(session, "", "r1", attachments=[TEXT, IMAGE])
                await events.next("run_complete")
            messages = await client.messages(session)
    assert (answered.status, answered.body) == (202, b"")
    assert messages[0]["parts"] == [
        {"type": "binary", "data": {"Path": "/p/a.txt", "MIMEType": "text/plain", "Data": TEXT["content"]}},
        {"type": "binary", "data": {"Path": "/p/a.txt", "MIMEType": "image/png", "Data": TEXT["content"]}},
        {"type": "finish", "data": {"reason": "stop", "time": 0}},
    ]


@pytest.mark.parametrize(
    ("method", "rest", "body"),
    [
        ("GET", "/sessions/unknown", None),
        ("PUT", "/sessions/unknown", {"id": "unknown", "title": "x"}),
        ("PUT", "/sessions/unknown", {"title": "x"}),
        ("DELETE", "/sessions/unknown", None),
        ("GET", "/agent/sessions/unknown", None),
        ("POST", "/agent/sessions/unknown/summarize", None),
    ],
)
async def test_a_session_that_is_not_there_is_told_where_one_is_needed(method: str, rest: str, body: Any) -> None:
    with fail_after(5):
        async with front() as house:
            client = await house.client()
            refused = await house.http.ask(method, client.path(rest), body)
    assert (refused.status, refused.json()) == (404, {"message": "session not found: unknown"})


@pytest.mark.parametrize(
    ("method", "rest", "body", "says"),
    [
        ("GET", "/sessions/unknown/history", None, b"[]\n"),
        ("GET", "/sessions/unknown/messages", None, b"[]\n"),
        ("GET", "/sessions/unknown/messages/user", None, b"[]\n"),
        ("GET", "/sessions/unknown/filetracker/files", None, b"[]\n"),
        ("POST", "/filetracker/read", {"session_id": "unknown", "path": "/p/a"}, b""),
        ("POST", "/agent/sessions/unknown/cancel", None, b""),
        ("POST", "/agent/sessions/unknown/prompts/clear", None, b""),
        ("GET", "/agent/sessions/unknown/prompts/queued", None, b"0\n"),
        ("GET", "/agent/sessions/unknown/prompts/list", None, b"null\n"),
        ("POST", "/agent/sessions/unknown/shell", {"command": "echo hello"}, b'{"output":"hello\\n","exit_code":0}\n'),
    ],
)
async def test_a_session_that_is_not_there_is_no_error_where_there_is_merely_nothing(
    method: str, rest: str, body: Any, says: bytes
) -> None:
    with fail_after(5):
        async with front() as house:
            client = await house.client()
            answered = await house.http.ask(method, client.path(rest), body)
            kept = await house.stores["/front"].head()
    assert (answered.status, answered.body) == (200, says)
    assert kept == 0


async def test_a_summary_needs_an_agent_and_of_nothing_it_is_nothing() -> None:
    with fail_after(5):
        async with front() as house:
            client = await house.client()
            session = await client.session()
            empty = await house.http.post(client.path(f"/agent/sessions/{session}/summarize"))
            asked = house.model().questions
        async with front(has_agent=False) as house:
            client = await house.client()
            session = await client.session()
            refused = await house.http.post(client.path(f"/agent/sessions/{session}/summarize"))
    assert (empty.status, empty.body, asked) == (200, b"", [])
    assert (refused.status, refused.json()) == (400, {"message": "agent coordinator not initialized"})


async def test_a_body_beyond_the_limit_is_refused_and_nothing_of_it_kept() -> None:
    with fail_after(5):
        async with front(body_bytes_max=1000) as house:
            client = await house.client()
            session = await client.session()
            refused = await client.prompt(session, "x" * 1000, "r1")
            runs = (await house.http.get(client.path("/runs"))).json()
    assert (refused.status, refused.json()) == (413, {"message": "the body is larger than 1000 bytes"})
    assert runs == []


async def test_a_prompt_that_cannot_be_written_down_is_not_accepted_and_can_be_sent_again() -> None:
    with fail_after(5):
        async with front(turn(Say("done"))) as house:
            client = await house.client()
            session = await client.session()
            house.stores["/front"].fail_next(StoreUnavailable("the disk is full"))
            async with client.events() as events:
                refused = await client.prompt(session, "go", "r1")
                unknown = await house.http.get(client.path("/runs/r1"))
                accepted = await client.prompt(session, "go", "r1")
                ending = await events.next("run_complete")
    assert (refused.status, refused.json()) == (503, {"message": "the disk is full"})
    assert (unknown.status, unknown.json()) == (404, {"message": "run not found: r1"})
    assert (accepted.status, ending["text"]) == (202, "done")


async def test_a_prompt_sent_twice_is_one_run_and_another_under_its_name_is_refused() -> None:
    with fail_after(5):
        async with front(turn(Hold("here"), Say("done"))) as house:
            client = await house.client()
            session = await client.session()
            async with client.events() as events:
                sent = [await client.prompt(session, "go", "r1") for _ in range(3)]
                await house.model().reached("here")
                conflict = await client.prompt(session, "stop", "r1")
                house.model().release("here")
                await events.next("run_complete")
                late = [await client.prompt(session, "go", "r1"), await client.prompt(session, "stop", "r1")]
            elsewhere = await client.prompt(await client.session(), "go", "r1")
            runs = (await house.http.get(client.path("/runs"))).json()
    message = "run id r1 was already used for another prompt; use a new one"
    assert [one.status for one in (*sent, *late)] == [202, 202, 202, 202, 409]
    assert [(one.status, one.json()) for one in (conflict, elsewhere)] == [(409, {"message": message})] * 2
    assert [(run["run_id"], run["prompt"]) for run in runs] == [("r1", "go")]


async def test_a_full_line_is_refused_with_a_status_of_its_own() -> None:
    with fail_after(20):
        async with front(turn(Hold("here"))) as house:
            client = await house.client()
            session = await client.session()
            await client.prompt(session, "go", "r")
            await house.model().reached("here")
            waiting = [await client.prompt(session, "wait", f"r{number}") for number in range(QUEUE_MAX)]
            refused = await client.prompt(session, "too many", "more")
            await client.cancel(session)
    assert {one.status for one in waiting} == {202}
    assert refused.status == 429
    assert refused.json()["message"].startswith(f"{QUEUE_MAX} prompts are already waiting")


async def test_a_prompt_for_a_workspace_that_closes_is_refused_and_none_is_lost() -> None:
    with fail_after(5):
        async with front(turn(Hold("here"))) as house:
            client = await house.client()
            session = await client.session()
            (room,) = house.reception.rooms()
            await client.prompt(session, "go", "r1")
            await house.model().reached("here")
            # The workspace closes between being found and being told.
            room.workspace.closing = True
            refused = await client.prompt(session, "more", "r2")
            room.workspace.closing = False
            runs = (await house.http.get(client.path("/runs"))).json()
    assert (refused.status, refused.json()) == (409, {"message": "workspace closing"})
    assert [run["run_id"] for run in runs] == ["r1"]


@pytest.mark.parametrize(
    ("rest", "status", "message"),
    [
        ("/mcp/auth-url", 400, "name is required"),
        ("/mcp/auth-url?name=", 400, "name is required"),
        ("/lsps/gopls/diagnostics", 404, "LSP client not found"),
        ("/runs/unknown", 404, "run not found: unknown"),
        ("/runs/unknown/wait", 404, "run not found: unknown"),
        ("/runs/unknown/wait?timeout=x", 400, "timeout must be a number"),
        ("/runs/unknown/wait?timeout=-1", 400, "timeout must be between 0 and 3600"),
    ],
)
async def test_a_question_that_cannot_be_answered_is_told_why(rest: str, status: int, message: str) -> None:
    with fail_after(5):
        async with front() as house:
            client = await house.client()
            refused = await house.http.get(client.path(rest))
    assert (refused.status, refused.json()) == (status, {"message": message})


async def test_an_unclean_path_is_sent_to_the_clean_one() -> None:
    with fail_after(5):
        async with front() as house:
            paths = ("/v1//health", "/v1/../v1/health", "/v1/./health", "/v1/docs")
            moved = [await house.http.get(path) for path in paths]
    assert [(one.status, one.headers["location"]) for one in moved] == [
        (307, "/v1/health"),
        (307, "/v1/health"),
        (307, "/v1/health"),
        (307, "/v1/docs/"),
    ]


async def test_an_id_may_hold_whatever_a_path_can_spell() -> None:
    """Sessions of sub-agents have `$$` in their ids, which some clients escape."""
    with fail_after(5):
        async with front() as house:
            client = await house.client()
            asked = [
                await house.http.get(client.path(f"/sessions/{spelled}")) for spelled in ("m$$c", "m%24%24c", "a%2Fb")
            ]
    assert [one.json()["message"] for one in asked] == [
        "session not found: m$$c",
        "session not found: m$$c",
        "session not found: a/b",
    ]
