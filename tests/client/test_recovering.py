"""What a client is told, and what it leaves behind, when its workspace is opened anew or the other side changes."""

import anyio
import pytest

from tests.client.original import original
from tests.client.scene import QUICK_FEED, served, told
from turnkeeper.client import client as opening
from turnkeeper.client.client import Client
from turnkeeper.client.events import Link, LinkState
from turnkeeper.client.http import ServerSilent, ServerUnreachable
from turnkeeper.client.workspace import WorkspaceClient
from turnkeeper.protocol.config import Scope, SelectedModel
from turnkeeper.protocol.problems import WorkspaceNotFound
from turnkeeper.protocol.wire_events import ConfigChanged, UpdateAvailable


async def test_whether_somebody_can_be_asked_is_told_from_a_workspace_that_is_gone_and_a_server_that_is() -> None:
    async with original() as (host, server), Client(host) as client:
        workspace = await client.open("/p")
        ready = [(await workspace.agent.info()).is_ready]
        server.is_ready = True
        ready.append((await workspace.agent.info()).is_ready)
        server.sent["GET agent"] = (404, {"message": "workspace not found"})
        with pytest.raises(WorkspaceNotFound):
            await workspace.agent.info()
        server.left.set()
        await server.end_streams(properly=False)
        async with Client(host) as late:
            with pytest.raises(ServerUnreachable):
                await late.open("/p")
    assert ready == [False, True]


async def test_an_opening_that_is_never_answered_is_given_up_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    async with original() as (host, server), Client(host) as client:
        workspace = await client.open("/p")
        monkeypatch.setattr(opening, "OPEN_SECONDS", 0.05)
        server.workspaces.clear()
        server.opening = anyio.Event()
        with anyio.fail_after(10), pytest.raises(ServerSilent):
            await workspace.agent.info()


async def test_a_client_that_leaves_while_its_workspace_is_opened_anew_says_goodbye_after_that() -> None:
    connected = anyio.Event()

    async def attend(workspace: WorkspaceClient) -> None:
        async with workspace.follow(limits=QUICK_FEED) as heard:
            async for one in heard:
                if isinstance(one, Link) and one.state is LinkState.CONNECTED:
                    connected.set()

    with anyio.fail_after(10):
        async with original() as (host, server):
            async with Client(host) as client, anyio.create_task_group() as tasks:
                tasks.start_soon(attend, await client.open("/p"))
                await connected.wait()
                server.workspaces.clear()
                server.opening = anyio.Event()
                await server.end_streams()
                await server.until(lambda: len(server.calls("POST /v1/workspaces")) == 2)
                tasks.cancel_scope.cancel()
            order = [one.method for one in server.asked if one.path in ("/v1/workspaces", f"/v1/clients/{client.id}")]
    assert order == ["POST", "POST", "DELETE"]


async def test_a_feed_that_was_left_tells_nothing_more_however_often_it_is_asked() -> None:
    async with original() as (host, server), Client(host) as client:
        workspace = await client.open("/p")
        async with workspace.follow(limits=QUICK_FEED) as heard:
            await anext(heard)
            await heard.aclose()
            await server.tell("session", {"id": "s", "title": "too late"})
            later = [one async for one in heard] + [one async for one in heard]
    assert later == []


async def test_that_a_newer_version_is_there_is_told_with_both_versions() -> None:
    said = {"current_version": "v1", "latest_version": "v2", "is_development": True}
    async with original() as (host, server), Client(host) as client:
        workspace = await client.open("/p")
        async with workspace.follow(limits=QUICK_FEED) as heard:
            await anext(heard)
            await server.until(lambda: any(server.followers.values()))
            await server.tell("update_available", said)
            payload = (await told(heard, "update_available")).payload
    assert payload == UpdateAvailable("v1", "v2", is_development=True)


async def test_what_one_client_sets_every_client_hears_of_and_finds_in_the_configuration() -> None:
    async with served() as server, server.workspace() as a, server.workspace() as b, b.follow() as heard:
        await anext(heard)
        chosen = SelectedModel(model="another", provider="scripted")
        await a.config.set_model(Scope.WORKSPACE, "large", chosen)
        changed = await told(heard, "config_changed")
        seen = [(await one.config.get()).models["large"] for one in (a, b)]
    assert changed.payload == ConfigChanged(a.id)
    assert seen == [chosen, chosen]
