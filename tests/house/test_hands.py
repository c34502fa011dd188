"""Real tools in a real workspace: what they change is taken back, what they start ends, and rules reach the shell."""

from pathlib import Path
from typing import Any

import pytest
from anyio import fail_after

from tests.house.test_overview import scripted
from tests.settings.scene import Scene
from turnkeeper.testing.front import Client
from turnkeeper.testing.house import house

SECONDS = 60


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def call(tool: str, **given: object) -> dict[str, Any]:
    return {"kind": "call_tool", "id": f"{tool}-{len(given)}-{hash(str(given))}", "name": tool, "input": given}


SAY = {"kind": "say", "text": "done"}


async def ran(client: Client, session: str, run_id: str) -> Any:
    async with client.events() as seen:
        await client.prompt(session, "go", run_id)
        return await seen.next("run_complete", run_id=run_id)


async def told(client: Client, session: str) -> list[str]:
    """What the model was told its calls came to."""
    parts = [part for message in await client.messages(session) for part in message["parts"]]
    return [part["data"]["content"] for part in parts if part["type"] == "tool_result"]


async def test_what_runs_changed_is_shown_taken_back_and_done_again(scene: Scene) -> None:
    old, new = scene.project / "old.txt", scene.project / "deep" / "new.txt"
    scripted(
        scene,
        [call("write", file_path="deep/new.txt", content="one\r\n"), call("view", file_path="old.txt")],
        [call("edit", file_path="old.txt", old_string="a", new_string="b")],
        [SAY],
        [call("edit", file_path="old.txt", old_string="b", new_string="c")],
        [SAY],
    )
    old.write_bytes(b"a\r\n")
    old.chmod(0o640)
    with fail_after(SECONDS):
        async with house() as door:
            client = await door.client(scene.project, env=scene.env, yolo=True)
            session = await client.session()
            one = client.path(f"/sessions/{session}")

            async def ask(what: str, **body: object) -> list[tuple[str, str]]:
                answered = await client.http.post(f"{one}/{what}", body)
                return [(Path(each["path"]).name, each.get("problem", "")) for each in answered.json()]

            await ran(client, session, "r1")
            await ran(client, session, "r2")
            changed = (await client.http.get(f"{one}/changes")).json()
            assert {(Path(each["path"]).name, each["before"], each["after"]) for each in changed} == {
                ("new.txt", None, "one\r\n"),
                ("old.txt", "a\r\n", "c\r\n"),
            }
            assert await ask("undo", run_id="r2", path=str(old)) == [("old.txt", "")]
            assert old.read_bytes() == b"b\r\n"
            assert await ask("redo", path="deep/../old.txt") == [("old.txt", "")], (
                "from the workspace, as it is written"
            )
            for what in ("undo", "redo"):
                unknown = await client.http.post(f"{one}/{what}", {"path": "none\0.txt"})
                assert (unknown.status, unknown.json()["message"]) == (404, "this session changed no file none\0.txt")
            (scene.project / "link").symlink_to(old)
            assert await ask("undo", run_id="r2", path="link") == [("old.txt", "")]
            assert await ask("undo", run_id="r1") == [("new.txt", ""), ("old.txt", "")]
            assert (old.read_bytes(), old.stat().st_mode & 0o777, new.exists()) == (b"a\r\n", 0o640, False)
            assert await ask("redo") == [("new.txt", ""), ("old.txt", "")]
            assert (old.read_bytes(), new.read_bytes()) == (b"b\r\n", b"one\r\n")
            old.write_bytes(b"a person's\r\n")
            new.unlink()
            new.mkdir()
            problems = dict(await ask("undo"))
            assert "changed by somebody else" in problems["old.txt"]
            assert problems["new.txt"], "what stands in one file's way keeps none of the others"
            assert await ask("undo", over=True, path=str(old)) == [("old.txt", "")]
            assert old.read_bytes() == b"a\r\n"


async def test_jobs_end_with_the_session_that_started_them(scene: Scene) -> None:
    scripted(scene, [call("bash", command="sleep 600", description="wait", run_in_background=True)], [SAY])
    with fail_after(SECONDS):
        async with house() as door:
            client = await door.client(scene.project, env=scene.env, yolo=True)
            session = await client.session()
            await ran(client, session, "r1")
            assert [job["state"] for job in (await client.http.get(client.path("/jobs"))).json()] == ["running"]
            await client.http.delete(client.path(f"/sessions/{session}"))
            assert (await client.http.get(client.path("/jobs"))).json() == []


async def test_a_detached_job_outlives_its_workspace_and_is_listed_and_stopped_when_it_is_opened_again(
    scene: Scene,
) -> None:
    scripted(
        scene,
        [
            call("bash", command="echo begun; exec sleep 600", description="serve", detach=True),
            call("bash", command="sleep 600", description="wait", run_in_background=True),
        ],
        [SAY],
    )
    with fail_after(SECONDS):
        async with house() as door:
            client = await door.client(scene.project, env=scene.env, yolo=True)
            session = await client.session()
            await ran(client, session, "r1")
            before = (await client.http.get(client.path("/jobs"))).json()
            assert [job.get("detached", False) for job in before] == [True, False]
            await client.http.delete(client.path(f"?client_id={client.id}"))
            assert door.reception.rooms() == []
            assert not door.reception.shut_down_if_idle(), "the server stays while it runs"
            again = await door.client(scene.project, env=scene.env)
            (job,) = (await again.http.get(again.path("/jobs"))).json()
            assert job == before[0]
            one = again.path(f"/sessions/{session}/jobs/{job['id']}")
            assert (await again.http.get(f"{one}/output")).json() == {"text": "begun\n", "position": 6, "done": False}
            assert (await again.http.post(f"{one}/kill")).json()["state"] == "completed"
            await again.http.delete(again.path(f"?client_id={again.id}"))
            assert door.reception.shut_down_if_idle()


@pytest.mark.parametrize("line", ["rm victim", "X=rm; $X victim", "$(echo rm) victim", "echo cm0= | base64 -d | sh"])
async def test_what_is_denied_is_denied_to_the_real_shell_however_it_is_written(scene: Scene, line: str) -> None:
    scripted(scene, [call("bash", command=line, description="remove")], [SAY])
    victim = scene.project / "victim"
    victim.write_text("still here")
    with fail_after(SECONDS):
        async with house() as door:
            client = await door.client(scene.project, env=scene.env, yolo=True)
            session = await client.session()
            async with client.events() as seen:
                await client.prompt(session, "go", "r1", options={"deny": ["bash(rm:*)"], "yolo": True})
                await seen.next("run_complete", run_id="r1")
            (answer,) = await told(client, session)
    assert "a rule forbids" in answer
    assert victim.read_text() == "still here"


async def test_the_program_tells_the_model_how_it_is_set_up_and_no_secret(scene: Scene) -> None:
    scripted(scene, [call("crush_info")], [SAY])
    scene.write(
        "system",
        "turnkeeper.toml",
        """
        rules = [{ verdict = "deny", tool = "bash", subject = "rm:*" }]
        [options]
        disabled_tools = ["download"]
        [mcp.box]
        type = "http"
        url = "https://ada:hush@example.com"
        [providers.gone]
        disable = true
        [[hooks.PreToolUse]]
        command = "true"
        """,
    )
    with fail_after(SECONDS):
        async with house() as door:
            client = await door.client(scene.project, env=scene.env, yolo=True)
            session = await client.session()
            await ran(client, session, "r1")
            (answer,) = await told(client, session)
    sections = dict(part.split("]\n", 1) for part in answer.split("\n\n"))
    assert sections["[mcp_configured"] == "box"
    assert sections["[tools"] == "download = disabled"
    assert sections["[permissions"] == "bash(rm:*) = deny"
    assert f"data_directory = {scene.project / '.turnkeeper'}" in sections["[options"]
    assert "large = script/scripted" in sections["[model"]
    assert "hush" not in answer
    assert "gone" not in answer
