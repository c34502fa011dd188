"""A client of the original drives this server: `crush run`, and a whole evening at the terminal."""

import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from anyio import fail_after

from tests.server.crush import AGENT, MESSAGE, SESSION, Crush, misread
from tests.server.moments import Gate, hands
from tests.server.plain import Served, connect, served
from turnkeeper.core.claims import Policy
from turnkeeper.models.model import Trouble
from turnkeeper.models.scripted import CallTool, Fail, Hold, Say, Think, Turn, turn
from turnkeeper.testing.front import front

VERSION = "test"
NEW_SESSION: dict[str, Any] = {
    "id": "",
    "parent_session_id": "",
    "title": "New Session",
    "message_count": 0,
    "prompt_tokens": 0,
    "completion_tokens": 0,
    "summary_message_id": "",
    "cost": 0,
    "created_at": 0,
    "updated_at": 0,
    "is_busy": False,
    "attached_clients": 0,
}
ANSWER = (turn(Think("hm"), Say("  the answer", characters=3)),)


@asynccontextmanager
async def crush(*turns: Turn, tcp: bool = False, **more: Any) -> AsyncGenerator[tuple[Served, Crush]]:
    async with served(*turns, tcp=tcp, **more) as door:
        yield door, client_of(door)


def client_of(door: Served) -> Crush:
    if door.port:
        return Crush(lambda: anyio.connect_tcp("127.0.0.1", door.port), f"127.0.0.1:{door.port}", compresses=True)
    return Crush(lambda: connect(door.socket))


async def run(client: Crush, prompt: str, *, path: str = "/project") -> tuple[int, str]:
    """7.2: the exit code, and what is printed."""
    assert await client.connect(path, VERSION)
    await client.post("/agent/init", {"interactive": False})
    assert (await client.get("/agent"))["is_ready"] is True
    await client.post("/agent/update")
    session = await client.post("/sessions", NEW_SESSION | {"title": "non-interactive"})
    run_id = str(uuid.uuid4())
    async with client.events() as stream:
        body = {"session_id": session["id"], "run_id": run_id, "prompt": prompt}
        await client.post("/agent", body, status=202)
        code, printed = await outcome(stream, session["id"], run_id)
    await client.retire()
    assert stream.problems == []
    return code, printed


async def outcome(stream: Any, session: str, run_id: str) -> tuple[int, str]:
    while True:
        told = await stream.any()
        said = told.payload
        ours = said.get("run_id", run_id) == run_id and said.get("session_id") == session
        if told.kind == "agent_event" and said.get("error") and ours:
            return 1, f"agent error: {said['error']}"
        if told.kind == "run_complete" and said.get("run_id") == run_id:
            if said.get("error") and not said.get("cancelled"):
                return 1, f"agent run failed: {said['error']}"
            return 0, said.get("text", "").lstrip(" \t") if said["message_id"] else ""


@pytest.mark.parametrize("tcp", [False, True], ids=["unix", "tcp"])
async def test_a_prompt_from_the_command_line_is_answered_and_printed(tcp: bool) -> None:
    with fail_after(10):
        async with crush(*ANSWER, tcp=tcp) as (door, client):
            printed = await run(client, "what is it?")
            asked = door.house.model("/project").questions[-1].messages[-1].text
            other = client_of(door)
            left = await other.call("GET", "/v1/workspaces")
            await other.close()
    handshake = [] if tcp else ["GET /v1/version"]
    assert printed == (0, "the answer")
    assert asked == "what is it?"
    assert left.body == b"[]\n"
    assert client.calls == [
        *handshake,
        "GET /v1/health",
        "POST /v1/workspaces",
        "POST …/agent/init",
        "GET …/agent",
        "POST …/agent/update",
        "POST …/sessions",
        "GET …/events",
        "POST …/agent",
        f"DELETE /v1/clients/{client.id}",
    ]


async def test_a_run_that_fails_is_told_and_ends_with_an_error() -> None:
    with fail_after(10):
        async with crush(turn(Fail(Trouble.REFUSED, "no such model"))) as (_, client):
            code, printed = await run(client, "go")
            await client.close()
    assert code == 1
    assert printed.startswith("agent error: no such model")


async def test_a_run_that_somebody_cancels_ends_without_an_error() -> None:
    printed: list[tuple[int, str]] = []
    with fail_after(10):
        async with crush(turn(Say("half"), Hold("here"))) as (door, client):
            other = client_of(door)

            async def command() -> None:
                printed.append(await run(client, "go"))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(command)
                while "/project" not in door.house.stages:
                    await anyio.lowlevel.checkpoint()
                await door.house.model("/project").reached("here")
                await other.connect("/project", VERSION)
                (session,) = await other.get("/sessions")
                await other.post(f"/agent/sessions/{session['id']}/cancel")
                await other.retire()
    assert printed == [(0, "half")]


async def test_nobody_waits_for_a_permission_that_nobody_could_give() -> None:
    """The original's own server lets such a command hang."""
    from tests.server.moments import ASKING

    with fail_after(10):
        async with crush(*ASKING.turns, tools=hands(Gate())) as (_, client):
            assert await run(client, "go") == (0, "done")


async def test_a_server_of_another_version_stands_down_only_if_nobody_needs_it() -> None:
    with fail_after(10):
        async with crush(*ANSWER) as (door, client):
            assert await client.connect("/project", VERSION)
            other = client_of(door)
            assert await other.connect("/project", "v0.60.0")
            await other.retire()
            await client.retire()
            third = client_of(door)
            assert not await third.connect("/project", "v0.60.0")
            await third.close()
            await door.left.wait()
    assert other.calls[:3] == ["GET /v1/version", "POST /v1/control", "GET /v1/health"]


async def test_an_evening_at_the_terminal() -> None:
    """7.1, from the first call to the last: a prompt with a permission, a queue, a cancel, settings, and goodbye."""
    gate = Gate()
    gate.opened.set()
    turns = (
        turn(Say("Let me look."), CallTool("c1", "careful", {}), CallTool("c2", "hand", {})),
        turn(Say("Done.")),
        turn(Say("half"), Hold("here")),
    )
    with fail_after(20):
        async with crush(*turns, tools=hands(gate)) as (door, client):
            assert await client.connect("/project", VERSION)
            await client.post("/agent/init", {"interactive": True})
            assert await client.get("/permissions/skip") == {"skip": False}
            assert misread(await client.get("/agent"), AGENT) == []
            assert await client.get("/project/needs-init") == {"needs_init": True}
            async with client.events() as stream:
                await first_looks(client)
                session = await begin(client, stream)
                await prompted(client, session, stream, door)
                await changed(client, stream)
            await client.retire()
    assert stream.problems == []
    assert [told.type for told in stream.seen if told.kind == "run_complete"] == ["updated"] * 2


async def first_looks(client: Crush) -> None:
    assert await client.get("/skills") == []
    assert await client.get("/messages/user") == []
    assert await client.get("/lsps") == {}
    assert await client.get("/mcp/states") == {}
    assert await client.get("/mcp/pending-auth") == []
    assert await client.get("/sessions") == []


async def begin(client: Crush, stream: Any) -> str:
    """A new session, loaded as any session is."""
    made = await client.post("/sessions", NEW_SESSION)
    assert misread(made, SESSION) == []
    session: str = made["id"]
    assert await stream.next("session", id=session)
    assert await client.get(f"/sessions/{session}") == made
    assert await client.get(f"/sessions/{session}/history") == []
    assert await client.get(f"/sessions/{session}/filetracker/files") == []
    await client.post(f"/current-session?client_id={client.id}", {"session_id": session})
    assert await client.get(f"/sessions/{session}/messages") == []
    assert await client.get(f"/sessions/{session}/messages/user") == []
    assert (await client.get(f"/sessions/{session}"))["attached_clients"] == 1
    return session


async def prompted(client: Crush, session: str, stream: Any, door: Served) -> None:
    await client.post("/filetracker/read", {"session_id": session, "path": "/project/a.go"})
    await client.post("/lsps/start", {"path": "/project/a.go"})
    assert await client.get(f"/sessions/{session}/filetracker/files") == ["/project/a.go"]
    await client.post("/agent", {"session_id": session, "prompt": "look"}, status=202)
    request = await stream.next("permission_request")
    assert (await client.get("/agent"))["is_busy"] is True
    assert await client.get(f"/agent/sessions/{session}/prompts/list") is None
    # It echoes the request as it came; its params are no text here.
    granted = await client.post("/permissions/grant", {"permission": request, "action": "allow"})
    assert granted == {"resolved": True}
    finished = await stream.next("agent_event", type="agent_finished")
    assert finished["session_id"] == session
    # Nobody gave this run a name, so none is told.
    assert "run_id" not in await stream.next("run_complete", session_id=session)
    messages = await client.get(f"/sessions/{session}/messages")
    assert misread(messages, [MESSAGE]) == []
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "tool", "assistant"]
    await client.post("/agent", {"session_id": session, "prompt": "go on"}, status=202)
    await door.house.model("/project").reached("here")
    await client.post("/agent", {"session_id": session, "prompt": "and then"}, status=202)
    assert await client.get(f"/agent/sessions/{session}/prompts/list") == ["and then"]
    assert await client.get(f"/agent/sessions/{session}/prompts/queued") == 1
    await client.post(f"/agent/sessions/{session}/prompts/clear")
    await client.post(f"/agent/sessions/{session}/cancel")
    cancelled = await stream.next("run_complete", session_id=session)
    assert (cancelled["cancelled"], cancelled["text"]) == (True, "half")
    shell = await client.post(
        f"/agent/sessions/{session}/shell", {"session_id": "", "command": "echo hello", "term_width": 118}
    )
    assert shell == {"output": "hello\n", "exit_code": 0}
    typed = await stream.next("message", role="user")
    assert typed["parts"][0] == {
        "type": "shell_command",
        "data": {"command": "echo hello", "output": "hello\n", "exit_code": 0},
    }
    before = await client.get(f"/sessions/{session}")
    answer = await client.call("PUT", f"{client.here}/sessions/{session}", before | {"title": "renamed"})
    renamed = answer.json()
    # The original loses the counts here, because its client spells them in another way.
    assert {key: renamed[key] for key in before if key not in ("title", "updated_at")} == {
        key: before[key] for key in before if key not in ("title", "updated_at")
    }
    assert renamed["title"] == "renamed"


async def changed(client: Crush, stream: Any) -> None:
    await client.post("/permissions/skip", {"skip": True})
    assert (await client.get("/permissions/skip"))["skip"] is True
    await client.post("/config/compact", {"scope": 0, "enabled": True})
    told = await stream.next("config_changed")
    assert told == {"workspace_id": client.workspace["id"]}
    client.workspace = (await client.call("GET", client.here)).json()
    client.check_workspace()


async def test_a_client_whose_workspace_is_gone_comes_back_into_a_new_one() -> None:
    """3.12: 404 on the stream means to ask again, with what was asked the first time."""
    with fail_after(10):
        async with crush(*ANSWER, policy=Policy(detach_grace_seconds=0)) as (door, client):
            assert await client.connect("/project", VERSION)
            old = client.here
            (room,) = door.house.reception.rooms()
            async with client.events():
                pass
            await room.closed.wait()
            gone = await client.call("GET", f"{old}/events?client_id={client.id}")
            kept = {key: client.workspace.get(key) for key in ("path", "data_dir", "env") if key in client.workspace}
            again = await client.call("POST", "/v1/workspaces", {"id": "", "client_id": client.id, **kept})
            client.workspace = again.json()
            await client.post("/agent/init", {"interactive": True})
            async with client.events():
                sessions = await client.get("/sessions")
            await client.retire()
    assert (gone.status, gone.json()) == (404, {"message": "workspace not found"})
    assert again.status == 200
    assert client.here != old
    assert sessions == []


def test_the_reader_notices_what_the_originals_decoders_would() -> None:
    """A strict reader that found nothing would prove nothing."""
    message: dict[str, Any] = {
        "parts": [],
        "id": "",
        "role": "",
        "session_id": "",
        "model": "",
        "provider": "",
        "created_at": 0,
    }
    assert misread(message, MESSAGE) == [".updated_at is missing"]
    assert misread(message | {"updated_at": 1.0}, MESSAGE) == [".updated_at is 1.0"]
    assert misread(message | {"updated_at": 1, "parts": [{"type": "odd", "data": {}}]}, MESSAGE) == [
        ".parts[0] is an unknown odd"
    ]
    assert misread(message | {"updated_at": 1, "more": 1}, MESSAGE) == [".more is new"]
    assert misread(None, MESSAGE) == [" is None"]


async def test_nothing_in_a_workspace_tells_a_client_of_the_original_what_it_cannot_read() -> None:
    with fail_after(5):
        async with front(has_agent=False) as house:
            client = await house.client()
            info = (await house.http.get(client.path("/agent"))).json()
    assert misread(info, AGENT) == []
