"""What a list of sessions tells of them: who works in one, and who looks at one."""

from typing import Any

from anyio import fail_after

from turnkeeper.models.scripted import Hold, Say, turn
from turnkeeper.store.memory import MemoryStore
from turnkeeper.testing.bridge import Events
from turnkeeper.testing.front import Client, Front, front


async def listed(house: Front, client: Client, key: str) -> dict[str, Any]:
    sessions = (await house.http.get(client.path("/sessions"))).json()
    return {session["id"]: session[key] for session in sessions}


async def test_a_session_is_busy_as_long_as_its_run_is_active() -> None:
    with fail_after(5):
        async with front(turn(Hold("here"), Say("done"))) as house:
            client = await house.client()
            working, idle = await client.session("one"), await client.session("two")
            async with client.events() as events:
                await client.prompt(working, "go", "r1")
                await house.model().reached("here")
                during = await listed(house, client, "is_busy")
                shown = (await house.http.get(client.path(f"/sessions/{working}"))).json()["is_busy"]
                of_agent = (await house.http.get(client.path(f"/agent/sessions/{working}"))).json()
                whole = (await house.http.get(client.path("/agent"))).json()["is_busy"]
                house.model().release("here")
                await events.next("run_complete")
                after = await listed(house, client, "is_busy")
                whole_after = (await house.http.get(client.path("/agent"))).json()["is_busy"]
    assert during == {working: True, idle: False}
    assert (shown, whole) == (True, True)
    assert of_agent == {
        "id": working,
        "parent_session_id": "",
        "title": "one",
        "message_count": 0,
        "prompt_tokens": 0,
        "completion_tokens": 0,
        "summary_message_id": "",
        "cost": 0,
        "created_at": 0,
        "updated_at": 0,
        "is_busy": True,
        "attached_clients": 0,
    }
    assert (after, whole_after) == ({working: False, idle: False}, False)


async def test_a_session_with_nobody_at_work_in_it_is_not_busy() -> None:
    with fail_after(5):
        async with front(has_agent=False) as house:
            client = await house.client()
            session = await client.session()
            assert await listed(house, client, "is_busy") == {session: False}
            assert (await house.http.get(client.path("/agent"))).json()["is_busy"] is False


async def test_attached_clients_follow_who_comes_chooses_switches_and_leaves() -> None:
    with fail_after(5):
        async with front() as house:
            one, other = await house.client("/p"), await house.client("/p")
            first, second = await one.session("first"), await one.session("second")
            counted: list[tuple[int, int]] = []

            async def count() -> None:
                now = await listed(house, one, "attached_clients")
                counted.append((now[first], now[second]))

            async def look(client: Client, session: str) -> None:
                await house.http.post(client.path(f"/current-session?client_id={client.id}"), {"session_id": session})
                await count()

            await count()
            async with one.events():
                await count()
                await look(one, first)
                async with other.events():
                    await look(other, first)
                    await look(other, second)
                await count()
    assert counted == [(0, 0), (0, 0), (1, 0), (2, 0), (1, 1), (1, 0)]


async def test_two_streams_of_one_client_are_one_client() -> None:
    with fail_after(5):
        async with front() as house:
            client = await house.client()
            session = await client.session()
            async with client.events(), client.events():
                await house.http.post(client.path(f"/current-session?client_id={client.id}"), {"session_id": session})
                assert await listed(house, client, "attached_clients") == {session: 1}


async def seen_by(events: Events, *wanted: tuple[str, str]) -> list[dict[str, Any]]:
    """Who is there, once these are, each with what it looks at; everybody is told of in the order they came."""
    while True:
        here = (await events.next("presence"))["clients"]
        if [(one["name"], one["session_id"]) for one in here] == list(wanted):
            return here


async def test_who_shares_a_workspace_is_told_who_comes_looks_elsewhere_and_goes() -> None:
    with fail_after(10):
        async with front() as house:
            alice = await house.client("/p", client_name="alice@laptop", client_kind="terminal")
            bob = await house.client("/p")
            session = await alice.session()
            path = bob.path(f"/events?client_id={bob.id}")
            async with alice.events(detail="delta") as events:
                await seen_by(events, ("alice@laptop", ""))
                async with house.http.stream(path, x_client_name="b%C3%B6b", x_client_kind="cli"):
                    select = bob.path(f"/current-session?client_id={bob.id}")
                    await house.http.post(select, {"session_id": session})
                    told = await seen_by(events, ("alice@laptop", ""), ("böb", session))
                    asked = (await house.http.get(alice.path("/clients"))).json()
                    snapshot = (await house.http.get(alice.path("/snapshot"))).json()
                await seen_by(events, ("alice@laptop", ""))
    assert asked == {"clients": told, "names": []}
    assert snapshot["clients"] == told
    one, other = told
    assert (one["client_id"], one["kind"], one["streams"]) == (alice.id, "terminal", 1)
    assert (other["client_id"], other["kind"], other["streams"]) == (bob.id, "cli", 1)
    assert 0 < one["since"] <= other["since"]


async def test_who_resumes_is_told_who_is_there_again_and_an_old_client_is_told_nothing_of_it() -> None:
    with fail_after(5):
        async with front() as house:
            client = await house.client()
            async with client.events(after=0, detail="delta") as events:
                await seen_by(events, ("", ""))
            async with client.events() as events, client.events(detail="delta") as fine:
                await client.session("told of")
                await events.next("session")
                await seen_by(fine, ("", ""))
            assert {heard.kind for heard in events.seen} == {"session"}


async def test_a_name_is_one_short_line_without_anything_that_moves_a_cursor() -> None:
    with fail_after(5):
        async with front() as house:
            client = await house.client()
            path = client.path(f"/events?client_id={client.id}&detail=delta")
            name = f"%1B[31m%E2%80%AEeve%00%20%0A  {'x' * 300}"
            async with house.http.stream(path, x_client_name=name, x_client_kind="SPY") as events:
                (eve,) = (await events.next("presence"))["clients"]
    assert eve["name"] == f"[31m eve {'x' * 55}"
    assert eve["kind"] == ""


async def test_who_did_something_can_still_be_named_when_it_is_gone_and_the_server_was_started_again() -> None:
    stores: dict[str, MemoryStore] = {}
    with fail_after(10):
        async with front(turn(Say("one")), turn(Say("two")), stores=stores) as house:
            client = await house.client()
            session = await client.session()
            headers = {"x_client_id": "c1", "x_client_name": "carol@desk", "x_client_kind": "script"}
            async with client.events(after=0, detail="delta") as events:
                assert (await house.http.get(client.path("/runs"), **headers)).status == 200
                for run_id in ("r1", "r2"):
                    body = {"session_id": session, "prompt": "go", "run_id": run_id}
                    assert (await house.http.post(client.path("/agent"), body, **headers)).status == 202
                    await events.next("run_complete", run_id=run_id)
            accepted = next(heard for heard in events.seen if heard.kind == "run_accepted")
            named = [heard for heard in events.seen if heard.kind == "client_named"]
        carol = {"client_id": "c1", "name": "carol@desk", "kind": "script"}
        # Once, and before the first thing it did.
        assert [heard.payload for heard in named] == [carol]
        assert (named[0].id or 0) < (accepted.id or 0)
        assert accepted.payload["by"] == "c1"
        async with front(turn(Say("three")), stores=stores) as house:
            client = await house.client()
            snapshot = (await house.http.get(client.path("/snapshot"))).json()
            body = {"session_id": session, "prompt": "go", "run_id": "r3"}
            await house.http.post(client.path("/agent"), body, **headers)
            after = (await house.http.get(client.path("/clients"))).json()
            head = (await house.http.get(client.path("/snapshot"))).json()["position"]
            async with client.events(after=snapshot["position"], detail="delta") as events:
                while (await events.any()).id != head:
                    pass
    assert snapshot["names"] == after["names"] == [carol]
    assert "client_named" not in {heard.kind for heard in events.seen}
