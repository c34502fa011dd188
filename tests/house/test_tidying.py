"""A workspace's database is kept small, and what happened to it is told to whoever asks."""

import logging
from pathlib import Path

import anyio
import pytest
from anyio import fail_after

from tests.settings.scene import Scene
from tests.store.scenes import S, begin
from turnkeeper.house.tidying import ARCHIVE, tidy
from turnkeeper.protocol.events import SessionRenamed
from turnkeeper.settings.dirs import find_data_dir
from turnkeeper.settings.settings import Database
from turnkeeper.store.database import connect
from turnkeeper.store.migrate import make_ready
from turnkeeper.store.sqlite import DATABASE, open_store
from turnkeeper.store.statements import migrations
from turnkeeper.store.upkeep import Upkeep
from turnkeeper.testing.front import Client
from turnkeeper.testing.house import house

FOR_EVER = Database(log_days=0, log_bytes_max=0)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


async def test_what_is_old_or_too_much_is_forgotten_and_archived_if_so_asked(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        await begin(store)  # in the year 2023
        for _ in range(3):
            await store.append(S, [SessionRenamed("x" * 5000)], after=None)
        upkeep = Upkeep(store)
        assert await tidy(upkeep, tmp_path, FOR_EVER) == 0
        assert await tidy(upkeep, tmp_path, Database(archive=True)) == 1
        assert len((tmp_path / ARCHIVE).read_bytes().splitlines()) == 1
        assert await tidy(upkeep, tmp_path, Database(log_bytes_max=11_000)) == 1
        assert len((tmp_path / ARCHIVE).read_bytes().splitlines()) == 1
        assert await store.kept_after() == 2
        assert [info.title for info in await store.sessions()] == ["x" * 5000]


async def test_the_log_of_an_open_workspace_is_kept_as_short_as_the_settings_say(scene: Scene) -> None:
    scene.write("user", "turnkeeper.toml", "[database]\nlog_bytes_max = 1\ntidy_seconds = 0.01\narchive = true\n")
    archive = anyio.Path(find_data_dir(scene.project) / ARCHIVE)
    with fail_after(30):
        async with house() as door:
            client = await door.client(scene.project, env=scene.env)
            async with client.events() as seen:
                session = await client.session()
                await client.prompt(session, "hello", "r1")
                await seen.next("run_complete", run_id="r1")
                while "RunComplete" not in (await archive.read_text() if await archive.exists() else ""):
                    pass
                told = (await client.http.get(client.path(f"/sessions/{session}/messages"))).json()
    assert [message["role"] for message in told] == ["user", "assistant"]


async def notices(client: Client) -> list[str]:
    return [one["message"] for one in (await client.http.get(client.path("/config/state"))).json()["notices"]]


async def test_a_database_that_was_moved_aside_is_told_to_whoever_asks_for_the_state_of_things(scene: Scene) -> None:
    data = find_data_dir(scene.project)
    data.mkdir(parents=True)
    (data / DATABASE).write_bytes(b"this was never a database")
    with fail_after(30):
        async with house() as door:
            client = await door.client(scene.project, env=scene.env)
            assert str(data / f"{DATABASE}.damaged-1") in " ".join(await notices(client))


async def test_a_database_of_a_newer_version_can_be_read_and_says_so_to_whoever_would_write(scene: Scene) -> None:
    data = find_data_dir(scene.project)
    async with open_store(data) as store:
        await begin(store)
    db = connect(data / DATABASE)
    db.execute("PRAGMA user_version = 99")
    db.close()
    with fail_after(30):
        async with house() as door:
            client = await door.client(scene.project, env=scene.env)
            assert "newer version" in " ".join(await notices(client))
            (session,) = (await client.http.get(client.path("/sessions"))).json()
            refused = await client.http.post(
                client.path("/agent"), {"session_id": session["id"], "prompt": "hello", "run_id": "r1"}
            )
    assert refused.status == 503
    assert "newer version" in refused.json()["message"]


async def test_an_older_database_is_brought_up_to_date_as_the_log_tells(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    data = find_data_dir(scene.project)
    data.mkdir(parents=True)
    make_ready(data / DATABASE, steps=migrations()[:1])
    caplog.set_level(logging.INFO)
    with fail_after(30):
        async with house() as door:
            client = await door.client(scene.project, env=scene.env)
            assert await notices(client) == []
    assert caplog.messages.count("database is brought up to date") == len(migrations()) - 1
