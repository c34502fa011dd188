"""What a list of sessions tells of them: who works in one, and who looks at one."""

from typing import Any

from anyio import fail_after

from turnkeeper.models.scripted import Hold, Say, turn
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
