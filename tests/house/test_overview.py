"""Providers and background commands of a real workspace, as a client sees them."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from anyio import fail_after

from tests.settings.scene import Scene
from turnkeeper.settings.projects import projects
from turnkeeper.testing.house import house


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def scripted(scene: Scene, *turns: list[dict[str, Any]]) -> None:
    """The workspace's model plays this script. Another one makes the titles, so that none of its turns is used up."""
    script = scene.write("user", "script.json", json.dumps({"turns": [{"steps": steps} for steps in turns]}))
    scene.write(
        "user",
        "turnkeeper.toml",
        f'''
        providers.script = {{ type = "scripted", base_url = "{script}" }}
        providers.quiet = {{ type = "offline" }}
        models.large = {{ provider = "script", model = "scripted" }}
        models.small = {{ provider = "quiet", model = "offline" }}
        ''',
    )


async def test_every_provider_is_told_with_where_its_key_comes_from_and_why_it_cannot_be_asked(scene: Scene) -> None:
    scene.env["OPENAI_API_KEY"] = "sk-very-secret-1234567"
    scene.write(
        "user",
        "turnkeeper.toml",
        """
        [providers.anthropic]
        disable = true
        [providers.box]
        base_url = "https://ada:hush-hush@example.com/v1"
        api_key = "written-down-secret"
        models = [{ id = "m1", name = "M1" }]
        [providers.vault]
        base_url = "https://example.com/v1"
        api_key = "$(vault read key)"
        [providers.lost]
        api_key = "x"
        """,
    )
    with fail_after(30):
        async with house() as door:
            client = await door.client(scene.project, env=scene.env)
            answered = await client.http.get(client.path("/providers/state"))
    found = {one["id"]: one for one in answered.json()}
    told = {id: (found[id]["state"], found[id]["key"]) for id in ("openai", "anthropic", "box", "vault", "lost")}
    assert told == {
        "openai": ("ready", "$OPENAI_API_KEY"),
        "anthropic": ("disabled", "$ANTHROPIC_API_KEY"),
        "box": ("ready", "written down"),
        "vault": ("ready", "a command"),
        "lost": ("unavailable", "written down"),
    }
    assert found["lost"]["why"] == "base_url is missing"
    assert found["box"]["models"] == 1
    assert b"secret" not in answered.body
    assert b"hush" not in answered.body


async def test_background_commands_of_all_sessions_are_listed_read_and_stopped(scene: Scene) -> None:
    call = {
        "kind": "call_tool",
        "id": "c1",
        "name": "bash",
        "input": {"command": "echo begun; sleep 600", "description": "wait", "run_in_background": True},
    }
    scripted(scene, [call], [{"kind": "say", "text": "running"}])
    with fail_after(30):
        async with house() as door:
            client = await door.client(scene.project, env=scene.env, yolo=True)
            session = await client.session()
            async with client.events() as seen:
                await client.prompt(session, "go", "r1")
                ending = await seen.next("run_complete", run_id="r1")
            assert ending["text"] == "running"
            (job,) = (await client.http.get(client.path("/jobs"))).json()
            assert (job["session_id"], job["command"], job["state"]) == (session, "echo begun; sleep 600", "running")
            path = client.path(f"/sessions/{session}/jobs/{job['id']}/output")
            said = (await client.http.get(path)).json()
            assert said == {"text": "begun\n", "position": 6, "done": False}
            killed = await client.http.post(client.path(f"/sessions/{session}/jobs/{job['id']}/kill"))
            assert killed.json()["state"] == "completed"
            assert (await client.http.get(f"{path}?after=6")).json() == {"text": "", "position": 6, "done": True}
            assert (await client.http.get(client.path(f"/sessions/{session}/jobs/FFF/output"))).status == 404


async def test_a_database_is_checked_copied_and_compacted_while_it_is_in_use(scene: Scene) -> None:
    with fail_after(30):
        async with house() as door:
            client = await door.client(scene.project, env=scene.env)
            session = await client.session("Kept")

            async def ask(what: str, body: Any = None) -> Any:
                return await client.http.post(client.path(f"/database/{what}"), body)

            assert (await ask("check")).json() == {}
            copy = (await ask("backup")).json()["path"]
            assert Path(copy).parent == scene.project / ".turnkeeper" / "backups"
            assert (await ask("backup", {"path": copy})).status == 409
            assert (await ask("backup", {"path": "~/mine/copy.db"})).json()[
                "path"
            ] == f"{scene.env['HOME']}/mine/copy.db"
            assert (await ask("compact")).status == 200
        elsewhere = scene.root / "elsewhere"
        (elsewhere / ".turnkeeper").mkdir(parents=True)
        shutil.copy(copy, elsewhere / ".turnkeeper" / "turnkeeper.db")
        async with house() as door:
            client = await door.client(elsewhere, env=scene.env)
            sessions = (await client.http.get(client.path("/sessions"))).json()
            assert [one["id"] for one in sessions] == [session]


async def test_opened_projects_are_remembered_latest_first_and_once_each(scene: Scene) -> None:
    other = scene.root / "other"
    other.mkdir()
    with fail_after(30):
        async with house() as door:
            for path in (scene.project, other, scene.project):
                client = await door.client(path, env=scene.env)
                await client.retire()
        known = projects(scene.env)
        assert {(one.path, one.data_dir) for one in known} == {
            (str(path), str(path / ".turnkeeper")) for path in (scene.project, other)
        }
        assert known[0].last_accessed >= known[1].last_accessed > 1_700_000_000


async def test_as_many_prompts_wait_in_line_as_was_set(scene: Scene) -> None:
    scripted(scene, [{"kind": "pause", "seconds": 60}])
    scene.env["TURNKEEPER_RUNS_QUEUE_PROMPTS_MAX"] = "1"
    with fail_after(30):
        async with house() as door:
            client = await door.client(scene.project, env=scene.env)
            session = await client.session()
            answers = [await client.prompt(session, "go", f"r{number}") for number in range(3)]
            await client.cancel(session)
    assert [answer.status for answer in answers] == [202, 202, 429]
    assert answers[2].json()["message"].startswith("one prompt is already waiting")
