"""Taking in what was said to the original, as its user sees it."""

import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from anyio import fail_after

from tests.house import crush_database
from tests.house.crush_database import AT, CHILD, FIRST, LATER
from tests.settings.scene import Scene
from turnkeeper.testing.front import Client
from turnkeeper.testing.house import house


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


@asynccontextmanager
async def opened(scene: Scene) -> AsyncGenerator[Client]:
    with fail_after(30):
        async with house() as door:
            yield await door.client(scene.project, env=scene.env)


async def bring_in(client: Client, path: str = "") -> Any:
    answered = await client.http.post(client.path("/import/crush"), {"path": path} if path else None)
    return answered.json() if answered.status == 200 else answered.status


async def get(client: Client, path: str) -> Any:
    return (await client.http.get(client.path(path))).json()


async def test_conversations_come_with_their_order_their_times_and_everything_that_was_said(scene: Scene) -> None:
    path = crush_database.write(scene.project / ".crush" / "crush.db")
    before = path.read_bytes()
    async with opened(scene) as client:
        said = await bring_in(client)
        assert said == {"path": str(path), "sessions": [FIRST, LATER, CHILD], "here_already": [], "failed": {}}
        sessions = await get(client, "/sessions")
        assert [(one["id"], one["title"], one["created_at"], one["updated_at"]) for one in sessions] == [
            (LATER, "Later", AT, AT + 100),
            (FIRST, "Looking around", AT, AT + 10),
        ]
        first = sessions[1]
        assert (first["cost"], first["prompt_tokens"], first["completion_tokens"]) == (0.25, 120, 30)
        assert first["todos"] == [{"content": "look", "status": "completed", "active_form": "Looking"}]
        messages = await get(client, f"/sessions/{FIRST}/messages")
        kinds = [[part["type"] for part in message["parts"]] for message in messages]
        assert kinds == [
            ["text", "binary", "finish"],
            ["reasoning", "text", "tool_call", "finish"],
            ["tool_result", "finish"],
            ["text", "finish"],
        ]
        original = [part for message in crush_database.MESSAGES[FIRST] for part in message[2]]
        texts = [part["data"]["text"] for part in original if part["type"] == "text"]
        assert [part["data"]["text"] for one in messages for part in one["parts"] if part["type"] == "text"] == texts
        assert messages[0]["parts"][1] == original[1]
        assert messages[3]["parts"][-1]["data"]["message"] == "Interrupted"
        assert [(one["id"], one["model"], one["created_at"]) for one in messages] == [
            ("m1", "", AT),
            ("m2", "gpt-x", AT),
            ("m3", "", AT + 1),
            ("m4", "gpt-x", AT + 1),
        ]
        assert [one["parent_session_id"] for one in [await get(client, f"/sessions/{CHILD}")]] == [FIRST]
        history = await get(client, f"/sessions/{FIRST}/history")
        assert [(file["path"], file["content"], file["version"]) for file in history] == [
            ("/p/a.go", "old", 0),
            ("/p/a.go", "old", 1),
            ("/p/a.go", "new", 2),
        ]
    assert path.read_bytes() == before


async def test_a_conversation_that_is_here_already_is_left_as_it_is(scene: Scene) -> None:
    crush_database.write(scene.project / ".crush" / "crush.db")
    async with opened(scene) as client, client.events() as seen:
        await bring_in(client)
        await client.prompt(FIRST, "what did you find?", "r1")
        await seen.next("run_complete", run_id="r1")
        await client.http.delete(client.path(f"/sessions/{LATER}"))
        again = await bring_in(client)
        assert (again["sessions"], sorted(again["here_already"])) == ([], sorted([FIRST, LATER, CHILD]))
        assert len(await get(client, f"/sessions/{FIRST}/messages")) == 6
        assert [one["id"] for one in await get(client, "/sessions")] == [FIRST]


async def test_one_conversation_that_cannot_be_read_keeps_no_other_back(scene: Scene) -> None:
    path = crush_database.write(scene.root / "elsewhere.db")
    db = sqlite3.connect(path)
    db.execute("UPDATE messages SET parts = 'no json' WHERE session_id = ?", (FIRST,))
    db.commit()
    db.close()
    async with opened(scene) as client:
        said = await bring_in(client, str(path))
        assert (said["sessions"], list(said["failed"])) == ([LATER, CHILD], [FIRST])


async def test_what_is_no_such_database_is_refused_by_its_name(scene: Scene) -> None:
    async with opened(scene) as client:
        assert await bring_in(client) == 404
        wrong = scene.write("project", "notes.db", "nothing of the kind" * 100)
        refused = await client.http.post(client.path("/import/crush"), {"path": str(wrong)})
        assert refused.status == 400
        assert str(wrong) in refused.json()["message"]
