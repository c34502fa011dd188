"""A feed lives through whatever happens to its line, its server and its workspace, and says what it could not hear."""

from collections.abc import AsyncGenerator

import anyio
import pytest

from tests.client.original import original
from tests.client.scene import QUICK_FEED, served, told
from turnkeeper.client.client import Client
from turnkeeper.client.events import FeedLimits, Gap, Heard, Link, LinkState, Told, pause_seconds
from turnkeeper.models.scripted import Hold, Say, turn
from turnkeeper.protocol.problems import ClientRetired


async def link(heard: AsyncGenerator[Heard], state: LinkState = LinkState.CONNECTED) -> Link:
    """The next word about the feed itself that says this."""
    with anyio.fail_after(10):
        async for one in heard:
            if isinstance(one, Link) and one.state is state:
                return one
    raise AssertionError("the feed ended")


async def gap(heard: AsyncGenerator[Heard]) -> str:
    with anyio.fail_after(10):
        async for one in heard:
            if isinstance(one, Gap):
                return one.reason
    raise AssertionError("the feed ended")


@pytest.mark.parametrize("properly", [True, False], ids=["ended", "cut"])
async def test_a_stream_that_drops_is_opened_again_in_the_same_workspace_and_says_that_something_was_missed(
    properly: bool,
) -> None:
    async with original() as (host, server), Client(host) as client:
        workspace = await client.open("/p")
        before = workspace.id
        async with workspace.follow(limits=QUICK_FEED) as heard:
            await workspace.select("s")
            await link(heard)
            for _ in range(3):
                await server.end_streams(properly=properly)
                await link(heard, LinkState.RECONNECTING)
                await link(heard)
                assert "cannot tell what happened" in await gap(heard)
        assert workspace.id == before
        assert len(server.calls("POST /v1/workspaces")) == 1
        assert [one.body for one in server.calls(r"POST .*/current-session")] == [{"session_id": "s"}] * 4


async def test_a_workspace_that_is_gone_is_opened_anew_and_what_was_looked_at_is_told_again() -> None:
    async with original() as (host, server), Client(host) as client:
        workspace = await client.open("/p")
        before = workspace.id
        async with workspace.follow(limits=QUICK_FEED) as heard:
            await workspace.select("s")
            await link(heard)
            server.workspaces.clear()
            await server.end_streams()
            await link(heard)
            assert "cannot tell" in await gap(heard)
            await server.tell("session", {"id": "s", "title": "after"})
            assert (await told(heard, "session")).payload.title == "after"  # type: ignore[union-attr]
        assert workspace.id != before
        assert server.calls(rf"POST /v1/workspaces/{workspace.id}/current-session")[-1].body == {"session_id": "s"}


async def test_one_that_cannot_be_opened_anew_is_said_to_be_lost_and_tried_again_until_it_can() -> None:
    limits = FeedLimits(first_pause_seconds=0.001, pause_seconds_max=0.001, lost_after_attempts=20)
    async with original() as (host, server), Client(host) as client:
        workspace = await client.open("/p")
        async with workspace.follow(limits=limits) as heard:
            await link(heard)
            server.workspaces.clear()
            server.create = [500] * 25
            await server.end_streams()
            lost = await link(heard, LinkState.LOST)
            assert lost.attempts == 20
            await link(heard)
        assert server.create == []


async def test_with_nothing_listening_the_feed_goes_on_trying_and_leaves_as_soon_as_it_is_told() -> None:
    async with original() as (host, server), Client(host) as client:
        workspace = await client.open("/p")
        async with workspace.follow(limits=QUICK_FEED) as heard:
            await link(heard)
            server.left.set()
            await server.end_streams(properly=False)
            await link(heard, LinkState.RECONNECTING)
            await link(heard, LinkState.RECONNECTING)
            said = await link(heard, LinkState.RECONNECTING)
            with anyio.fail_after(2):
                await heard.aclose()
    assert "no server answers at" in said.problem


async def test_on_our_own_server_nothing_is_missed_and_nothing_told_twice_whatever_was_cut() -> None:
    """The stream is cut after every event; each has its place, and all places together are the log."""
    async with (
        served(turn(Say("One two three"), Hold("more"), Say(" four"))) as server,
        server.workspace() as workspace,
    ):
        session = await workspace.sessions.create()
        start = (await workspace.snapshot()).position
        await workspace.runs.submit(session.id, "hi", run_id="r")
        await server.front.model().reached("more")
        server.front.model().release("more")
        places = [start]
        kind = ""
        with anyio.fail_after(20):
            while kind != "run_complete":
                async with workspace.follow(after=places[-1], limits=QUICK_FEED) as heard:
                    kind, place = await durable(heard)
                places.append(place)
            async with workspace.follow(after=start, limits=QUICK_FEED) as heard:
                whole = [await durable(heard) for _ in places[1:]]
    assert [place for _, place in whole] == places[1:]
    assert places == sorted(set(places))


async def durable(heard: AsyncGenerator[Heard]) -> tuple[str, int]:
    """The next thing that has a place in the log."""
    async for one in heard:
        if isinstance(one, Told) and one.position is not None:
            return one.envelope.kind, one.position
    raise AssertionError


async def test_a_server_whose_heart_stops_is_left_and_one_that_never_had_one_is_asked_whether_it_is_well() -> None:
    limits = FeedLimits(silence_seconds=0.05, first_pause_seconds=0.01, pause_seconds_max=0.01, health_seconds=1)
    async with original() as (host, server), Client(host) as client:
        workspace = await client.open("/p")
        async with workspace.follow(limits=limits) as heard:
            await link(heard)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(all_of, heard)
                await server.until(lambda: len(server.calls("GET /v1/health")) >= 3)
                assert len(server.calls(r"GET .*/events")) == 1
                # Blank lines are how our own servers say that they live; once heard, they are missed.
                await server.write(b"\n\n")
                await server.until(lambda: len(server.calls(r"GET .*/events")) >= 2)
                tasks.cancel_scope.cancel()


async def all_of(heard: AsyncGenerator[Heard]) -> None:
    async for _ in heard:
        pass


async def test_a_client_that_said_goodbye_hears_nothing_more() -> None:
    async with served() as server, server.workspace() as workspace:
        async with Client(server.host, client_id=workspace.place.client_id) as same:
            await same.open("/front")
        with pytest.raises(ClientRetired):
            async with workspace.follow(limits=QUICK_FEED) as heard:
                await link(heard, LinkState.LOST)


@pytest.mark.parametrize(("attempts", "seconds"), [(1, 0), (2, 0.25), (3, 0.5), (4, 1), (7, 8), (8, 10), (10_000, 10)])
def test_pauses_grow_from_nothing_to_ten_seconds(attempts: int, seconds: float) -> None:
    assert pause_seconds(attempts, FeedLimits()) == seconds
