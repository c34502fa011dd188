"""Who a client is, and what it must be before it may look at a session."""

from typing import Any

import pytest
from anyio import fail_after

from turnkeeper.testing.front import front

CLIENT = "0b7a3c1e-7d4a-4c1c-9a51-0c1d1f0d9e11"
OTHER = "1c8b4d2f-8e5b-4d2d-8b62-1d2e2a1e0f22"
NOBODY = "/v1/workspaces/nobody"


@pytest.mark.parametrize(
    ("method", "path", "body", "message"),
    [
        ("POST", "/v1/workspaces", {"path": "/p"}, "invalid client_id"),
        ("POST", "/v1/workspaces", {"path": "/p", "client_id": "me"}, "invalid client_id: invalid UUID length: 2"),
        ("POST", "/v1/workspaces", {"client_id": "me"}, "path is required"),
        ("DELETE", NOBODY, None, "client_id is required"),
        ("DELETE", f"{NOBODY}?client_id=me", None, "client_id is not a valid UUID"),
        ("DELETE", "/v1/clients/me", None, "invalid client_id: invalid UUID length: 2"),
        ("GET", f"{NOBODY}/events", None, "client_id is required"),
        ("GET", f"{NOBODY}/events?client_id=me", None, "client_id is not a valid UUID"),
        ("POST", f"{NOBODY}/current-session", {"session_id": ""}, "client_id is required"),
        ("POST", f"{NOBODY}/current-session?client_id=me", {"session_id": ""}, "client_id is not a valid UUID"),
        (
            "POST",
            f"{NOBODY}/current-session?client_id={CLIENT}",
            b"not json",
            "failed to decode request: the body is not JSON",
        ),
    ],
)
async def test_who_does_not_say_who_it_is_is_refused_before_anything_is_looked_up(
    method: str, path: str, body: Any, message: str
) -> None:
    with fail_after(5):
        async with front() as house:
            answered = await house.http.ask(method, path, body)
            opened = house.reception.rooms()
    assert (answered.status, answered.json(), opened) == (400, {"message": message}, [])


async def test_no_session_can_be_looked_at_in_a_workspace_that_is_not_there() -> None:
    with fail_after(5):
        async with front() as house:
            answered = await house.http.post(f"{NOBODY}/current-session?client_id={CLIENT}", {"session_id": "s"})
    assert (answered.status, answered.body) == (404, b'{"message":"workspace not found"}\n')


@pytest.mark.parametrize("looker", [CLIENT, OTHER], ids=["held for, and not there", "never seen"])
async def test_only_who_has_a_stream_open_can_look_at_a_session(looker: str) -> None:
    with fail_after(5):
        async with front() as house:
            client = await house.client(id=CLIENT)
            session = await client.session()
            looked = await house.http.post(client.path(f"/current-session?client_id={looker}"), {"session_id": session})
            shown = (await house.http.get(client.path(f"/sessions/{session}"))).json()
    assert (looked.status, looked.body) == (409, b'{"message":"client not attached"}\n')
    assert shown["attached_clients"] == 0


async def test_who_has_a_stream_open_looks_at_a_session_and_away_again() -> None:
    with fail_after(5):
        async with front() as house:
            client = await house.client()
            session = await client.session()
            counts: list[int] = []
            async with client.events():
                for looked_at in (session, ""):
                    answered = await house.http.post(
                        client.path(f"/current-session?client_id={client.id}"), {"session_id": looked_at}
                    )
                    assert (answered.status, answered.body) == (200, b"")
                    counts.append(
                        (await house.http.get(client.path(f"/sessions/{session}"))).json()["attached_clients"]
                    )
    assert counts == [1, 0]


async def test_two_spellings_of_one_uuid_are_two_clients() -> None:
    with fail_after(5):
        async with front() as house:
            one = await house.client("/p", id=CLIENT)
            other = await house.client("/p", id=CLIENT.upper())
            assert one.workspace == other.workspace
            (room,) = house.reception.rooms()
            assert set(room.held.by_client) == {CLIENT, CLIENT.upper()}
