"""Configuration files that change while a server works, as a client sees it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from anyio import fail_after

from tests.settings.scene import Scene
from turnkeeper.testing.front import Client
from turnkeeper.testing.house import house


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    made = Scene(tmp_path)
    made.env["TURNKEEPER_SERVER_CONFIG_CHECK_SECONDS"] = "3600"
    return made


@asynccontextmanager
async def opened(scene: Scene) -> AsyncGenerator[Client]:
    with fail_after(30):
        async with house() as door:
            yield await door.client(scene.project, env=scene.env)


async def options(client: Client) -> Any:
    return (await client.http.get(client.path("/config"))).json()["options"]


async def state(client: Client) -> Any:
    return (await client.http.get(client.path("/config/state"))).json()


async def ran(client: Client, command: str) -> str:
    session = await client.session()
    answered = await client.http.post(client.path(f"/agent/sessions/{session}/shell"), {"command": command})
    assert answered.status == 200, answered.body
    return answered.json()["output"]


async def test_a_file_that_a_person_writes_holds_from_the_next_prompt_on_and_everybody_is_told(scene: Scene) -> None:
    async with opened(scene) as client, client.events() as seen:
        session = await client.session()
        assert "debug" not in await options(client)
        scene.write("user", "turnkeeper.toml", "options.debug = true\n")
        await client.prompt(session, "hello", "r1")
        await seen.next("config_changed")
        await seen.next("run_complete", run_id="r1")
        assert (await options(client))["debug"]
        await client.prompt(session, "hello again", "r2")
        await seen.next("run_complete", run_id="r2")
        assert [heard.kind for heard in seen.seen].count("config_changed") == 1


async def test_a_wrong_file_leaves_the_old_settings_in_force_and_says_where_it_is_wrong(scene: Scene) -> None:
    scene.write("user", "turnkeeper.toml", "options.debug = true\n")
    async with opened(scene) as client, client.events() as seen:
        path = scene.write("user", "turnkeeper.toml", "\noptions.debug = 7\n")
        assert (await state(client))["problem"] == f"{path}:2: options.debug: true or false was expected, not 7"
        session = await client.session()
        await client.prompt(session, "hello", "r1")
        assert (await seen.next("run_complete", run_id="r1"))["text"]
        assert (await options(client))["debug"]
        scene.write("user", "turnkeeper.toml", "options.debug = false\n")
        assert (await state(client))["problem"] == ""
        assert "debug" not in await options(client)


async def test_a_change_is_noticed_without_a_prompt(scene: Scene) -> None:
    scene.env["TURNKEEPER_SERVER_CONFIG_CHECK_SECONDS"] = "0.05"
    async with opened(scene) as client, client.events() as seen:
        scene.write("project", "crush.json", '{"options": {"debug": true}}')
        await seen.next("config_changed")
        assert (await options(client))["debug"]


async def test_a_changed_dotenv_reaches_the_next_command_and_never_what_the_client_brought(scene: Scene) -> None:
    scene.env["HELD_TOKEN"] = "the client's"
    scene.write("project", ".env", "MY_TOKEN=one\nHELD_TOKEN=another\n")
    async with opened(scene) as client:
        assert await ran(client, "echo $MY_TOKEN, $HELD_TOKEN") == "one, the client's\n"
        scene.write("project", ".env", "MY_TOKEN=two\n")
        await state(client)
        assert await ran(client, "echo $MY_TOKEN, $HELD_TOKEN") == "two, the client's\n"


async def test_configured_variables_are_worked_out_and_one_that_cannot_be_is_told(scene: Scene) -> None:
    scene.write("user", "turnkeeper.toml", '[env]\nPLACE = "$HOME/there"\nLOCKED = "$(exit 3)"\n')
    async with opened(scene) as client:
        assert await ran(client, "echo $PLACE:$LOCKED:") == f"{scene.env['HOME']}/there::\n"
        (notice,) = (await state(client))["notices"]
        assert notice["message"].startswith("env.LOCKED: ")
        assert notice["line"] == 3


async def test_what_a_project_would_run_waits_until_exactly_that_is_trusted(scene: Scene) -> None:
    path = scene.write("project", "crush.json", '{"env": {"GREETING": "hi"}}')
    async with opened(scene) as client:
        (waiting,) = (await state(client))["waiting"]
        assert (waiting["path"], waiting["keys"]) == (str(path), ["env.GREETING"])
        assert await ran(client, "echo [$GREETING]") == "[]\n"
        scene.write("project", "crush.json", '{"env": {"GREETING": "bye"}}')
        await state(client)
        refused = await client.http.post(client.path("/config/trust"), waiting)
        assert (refused.status, await ran(client, "echo [$GREETING]")) == (409, "[]\n")
        (waiting,) = (await state(client))["waiting"]
        trusted = await client.http.post(client.path("/config/trust"), waiting)
        assert (trusted.status, trusted.json()["waiting"]) == (200, [])
        assert await ran(client, "echo [$GREETING]") == "[bye]\n"
        await client.http.post(client.path("/config/trust"), {"path": str(path)})
        assert await ran(client, "echo [$GREETING]") == "[]\n"


async def test_rules_and_patience_of_a_changed_file_hold_for_what_is_asked_next(scene: Scene) -> None:
    async with house() as door:
        client = await door.client(scene.project, env=scene.env)
        room = door.reception.room(client.workspace)
        assert (list(room.workspace.means.rules), room.workspace.means.knobs.permission_seconds) == ([], 600)
        scene.write(
            "user", "turnkeeper.toml", 'waits.permission_seconds = 7\nrules = [{verdict = "deny", tool = "bash"}]\n'
        )
        await state(client)
        (rule,) = room.workspace.means.rules
        assert (rule.verdict, rule.tool, room.workspace.means.knobs.permission_seconds) == ("deny", "bash", 7)
