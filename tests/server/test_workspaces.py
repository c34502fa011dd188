"""Who is in which workspace: opened once for all who ask, kept as long as anybody is there, closed without a trace."""

import uuid
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import fail_after

from tests.server.moments import Gate
from turnkeeper.core.claims import Policy
from turnkeeper.engine.room import Room
from turnkeeper.models.scripted import Hold, Say, turn
from turnkeeper.protocol.problems import Problem, StoreUnavailable
from turnkeeper.testing.front import Client, Front, front

A = "0b7a3c1e-7d4a-4c1c-9a51-0c1d1f0d9e11"
B = "1c8b4d2f-8e5b-4d2d-8b62-1d2e2a1e0f22"
AT_ONCE = Policy(detach_grace_seconds=0)
GONE = (404, b'{"message":"workspace not found"}\n')


def room_of(house: Front, client: Client) -> Room:
    return house.reception.room(client.workspace)


async def seen(house: Front, client: Client) -> tuple[int, bytes]:
    answered = await house.http.get(client.path())
    return answered.status, answered.body


async def release(house: Front, client: Client) -> int:
    return (await house.http.delete(client.path(f"?client_id={client.id}"))).status


# Opening


async def test_a_directory_is_one_workspace_however_it_is_spelled_and_shows_the_first_spelling(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    with fail_after(5):
        async with front() as house:
            clients = [await house.client(path) for path in (str(link), str(real), f"{real}/", f"{tmp_path}/x/../real")]
            other = await house.client(str(tmp_path))
            held = len(room_of(house, clients[0]).held.by_client)
    assert {client.workspace for client in clients} == {clients[0].workspace}
    assert [client.described["path"] for client in clients] == [str(link)] * 4
    assert other.workspace != clients[0].workspace
    assert held == 4


async def test_a_directory_that_is_not_there_yet_is_a_workspace_all_the_same(tmp_path: Path) -> None:
    with fail_after(5):
        async with front() as house:
            one, other = [await house.client(str(tmp_path / "later" / name)) for name in ("x", "x/.")]
    assert one.workspace == other.workspace


async def test_who_came_first_decides_how_the_workspace_was_asked_for() -> None:
    first: dict[str, Any] = {"yolo": True, "env": ["A=1"], "version": "v1"}
    second: dict[str, Any] = {"yolo": False, "debug": True, "env": ["A=2"], "data_dir": "/elsewhere", "version": "v2"}
    with fail_after(5):
        async with front() as house:
            one, other = await house.client("/p", **first), await house.client("/p", **second)
            listed = (await house.http.get("/v1/workspaces")).json()
    assert other.described == one.described
    assert listed == [one.described]
    shown = {key: one.described.get(key) for key in ("yolo", "debug", "env", "data_dir", "version", "client_id")}
    assert shown == {
        "yolo": True,
        "debug": None,
        "env": ["A=1"],
        "data_dir": "/p/.turnkeeper",
        "version": "test",
        "client_id": None,
    }


async def test_other_channels_are_refused_and_the_client_holds_nothing() -> None:
    message = (
        "requested channels differ from the existing workspace; channels are an explicit opt-in "
        "and are not shared across duplicate creates"
    )
    with fail_after(5):
        async with front() as house:
            one = await house.client("/p", channels=["a", "b"])
            for channels in ([], ["a"], ["b", "a"], ["a", "b", "c"], ["x"]):
                refused = await house.http.post("/v1/workspaces", {"path": "/p", "client_id": B, "channels": channels})
                assert (refused.status, refused.json()) == (409, {"message": message})
            assert set(room_of(house, one).held.by_client) == {one.id}
            same = await house.client("/p", channels=["a", "b"])
    assert (same.workspace, same.described["channels"]) == (one.workspace, ["a", "b"])


async def test_a_client_that_asks_twice_holds_once() -> None:
    with fail_after(5):
        async with front() as house:
            one, again = await house.client("/p", id=A), await house.client("/p", id=A)
            assert one.workspace == again.workspace
            assert set(room_of(house, one).held.by_client) == {A}
            assert await release(house, one) == 200
            assert await seen(house, one) == GONE


async def test_creates_at_the_same_moment_meet_in_one_workspace() -> None:
    gate = Gate()
    clients: list[Client] = []

    async def slow(path: Path) -> None:
        await gate.stand()

    with fail_after(5):
        async with front(opening=slow) as house:

            async def enter(number: int) -> None:
                clients.append(await house.client("/p", id=str(uuid.UUID(int=number))))

            async with anyio.create_task_group() as tasks:
                for number in range(10):
                    tasks.start_soon(enter, number)
                await gate.reached.wait()
                gate.opened.set()
            held = set(room_of(house, clients[0]).held.by_client)
    assert {client.workspace for client in clients} == {clients[0].workspace}
    assert held == {str(uuid.UUID(int=number)) for number in range(10)}


@pytest.mark.parametrize(
    ("problem", "status", "message"),
    [
        (Problem("failed to initialize config: no"), 500, "failed to initialize config: no"),
        # A 503 here would make a client replace the whole server.
        (StoreUnavailable("disk full"), 500, "failed to connect to database: disk full"),
        (OSError("no"), 500, "failed to create app workspace: no"),
    ],
)
async def test_a_create_that_fails_leaves_nothing_and_lets_an_idle_server_go(
    problem: Exception, status: int, message: str
) -> None:
    async def fails(path: Path) -> None:
        raise problem

    with fail_after(5):
        async with front(opening=fails, linger_seconds=0) as house:
            answered = await house.http.post("/v1/workspaces", {"path": "/p", "client_id": A})
            listed = await house.http.get("/v1/workspaces")
            await house.reception.leaving.wait()
    assert (answered.status, answered.json()) == (status, {"message": message})
    assert listed.body == b"[]\n"


# Staying


async def test_a_hold_that_nobody_takes_up_runs_out() -> None:
    with fail_after(5):
        async with front(policy=Policy(create_grace_seconds=0.01), linger_seconds=0) as house:
            client = await house.client()
            await house.reception.leaving.wait()
            assert await seen(house, client) == GONE


async def test_the_grace_of_a_create_does_not_end_who_has_come() -> None:
    with fail_after(5):
        async with front(policy=Policy(create_grace_seconds=0.05)) as house:
            client = await house.client("/one")
            async with client.events():
                # A later hold of the same length runs out: the first one's time is long over.
                other = await house.client("/two")
                await room_of(house, other).closed.wait()
                claim = room_of(house, client).held.of(house_id(client))
    assert claim is not None
    assert (len(claim.streams), claim.until) == (1, None)


def house_id(client: Client) -> Any:
    return client.id


async def test_a_client_may_watch_without_having_asked_for_the_workspace() -> None:
    with fail_after(5):
        async with front(policy=AT_ONCE) as house:
            creator = await house.client("/p")
            watcher = Client(house.http, B, creator.workspace, {})
            room = room_of(house, creator)
            async with watcher.events():
                assert await release(house, creator) == 200
                assert house.reception.rooms() == [room]
            await room.closed.wait()
            assert await seen(house, creator) == GONE


async def test_the_last_stream_of_the_last_client_closes_the_workspace_and_then_the_server_leaves() -> None:
    with fail_after(5):
        async with front(policy=AT_ONCE, linger_seconds=0) as house:
            one, other = await house.client("/p"), await house.client("/p")
            room = room_of(house, one)
            async with one.events():
                async with one.events(), other.events():
                    pass
                # Two streams and a client have gone; one stream is left.
                assert not room.ending.is_set()
                assert list(room.held.by_client) == [one.id]
            await room.closed.wait()
            await house.reception.leaving.wait()
            assert await seen(house, one) == GONE
            late = await house.http.post("/v1/workspaces", {"path": "/p", "client_id": A})
    assert (late.status, late.body) == (503, b'{"message":"server is shutting down"}\n')


async def test_a_goodbye_ends_a_hold_at_once_and_again_is_the_same_as_once() -> None:
    with fail_after(5):
        async with front() as house:
            client = await house.client()
            room = room_of(house, client)
            assert [await release(house, client) for _ in range(2)] == [200, 200]
            assert room.closed.is_set()
            assert (await house.http.delete(f"/v1/workspaces/unknown?client_id={A}")).status == 200


async def test_a_goodbye_while_a_stream_is_open_counts_when_it_ends_and_without_any_grace() -> None:
    with fail_after(5):
        async with front(policy=Policy(detach_grace_seconds=600)) as house:
            client = await house.client()
            room = room_of(house, client)
            async with client.events() as events:
                assert await release(house, client) == 200
                await client.session("still here")
                await events.next("session")
            await room.closed.wait()


async def test_a_create_takes_a_goodbye_back() -> None:
    with fail_after(5):
        async with front(policy=Policy(detach_grace_seconds=600)) as house:
            client = await house.client("/p", id=A)
            async with client.events():
                await release(house, client)
                again = await house.client("/p", id=A)
            claim = room_of(house, again).held.of(house_id(client))
    assert again.workspace == client.workspace
    assert claim is not None
    assert (claim.streams, claim.until is None) == (frozenset(), False)


async def test_a_stream_that_is_lost_and_found_keeps_its_workspace_and_what_it_looked_at() -> None:
    with fail_after(5):
        async with front(policy=Policy(detach_grace_seconds=600)) as house:
            client = await house.client()
            session = await client.session()

            async def looked_at_by() -> int:
                return (await house.http.get(client.path(f"/sessions/{session}"))).json()["attached_clients"]

            async with client.events():
                await house.http.post(client.path(f"/current-session?client_id={client.id}"), {"session_id": session})
                counts = [await looked_at_by()]
            counts.append(await looked_at_by())
            async with client.events():
                counts.append(await looked_at_by())
    assert counts == [1, 0, 1]


async def test_a_stream_that_is_lost_and_not_found_lets_its_workspace_go() -> None:
    with fail_after(5):
        async with front(policy=Policy(detach_grace_seconds=0.01)) as house:
            client = await house.client()
            room = room_of(house, client)
            async with client.events():
                pass
            await room.closed.wait()
            assert await seen(house, client) == GONE
            gone = await house.http.get(client.path(f"/events?client_id={client.id}"))
    assert (gone.status, gone.body) == GONE


# Leaving


async def test_who_retires_lets_go_of_everything_and_closes_only_what_nobody_else_holds() -> None:
    with fail_after(5):
        async with front() as house:
            streamed, held, shared = [await house.client(path, id=A) for path in ("/streamed", "/held", "/shared")]
            other = await house.client("/shared", id=B)
            async with streamed.events() as own, other.events() as others:
                retired = [await streamed.retire() for _ in range(2)]
                ended = await own.until_end()
                states = [await seen(house, client) for client in (streamed, held)]
                shown = await seen(house, shared)
                await other.session("still here")
                await others.next("session")
                claims = set(room_of(house, other).held.by_client)
            again = await house.http.post("/v1/workspaces", {"path": "/new", "client_id": A})
            watching = await house.http.stream(other.path(f"/events?client_id={A}")).__aenter__()
    assert [(one.status, one.body) for one in retired] == [(200, b"")] * 2
    assert (ended, states, shown[0]) == ([], [GONE, GONE], 200)
    assert claims == {B}
    assert (again.status, again.body) == (409, b'{"message":"client has been retired"}\n')
    # The retired one may still look; it only cannot hold.
    assert watching.status == 200


async def test_who_retires_while_its_workspace_is_being_opened_gets_none() -> None:
    gate = Gate()
    answers: list[Any] = []

    async def slow(path: Path) -> None:
        await gate.stand()

    with fail_after(5):
        async with front(opening=slow, linger_seconds=0) as house:

            async def enter() -> None:
                answers.append(await house.http.post("/v1/workspaces", {"path": "/p", "client_id": A}))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(enter)
                await gate.reached.wait()
                await house.http.delete(f"/v1/clients/{A}")
                gate.opened.set()
            listed = await house.http.get("/v1/workspaces")
            await house.reception.leaving.wait()
    assert [(one.status, one.json()) for one in answers] == [(409, {"message": "client has been retired"})]
    assert listed.body == b"[]\n"


async def test_a_workspace_that_is_discarded_is_closed_before_its_directory_is_opened_again() -> None:
    gate = Gate()
    opened: list[Path] = []

    async def slow(path: Path) -> None:
        opened.append(path)
        if len(opened) == 1:
            await gate.stand()

    with fail_after(5):
        async with front(opening=slow) as house:

            async def enter() -> None:
                await house.http.post("/v1/workspaces", {"path": "/p", "client_id": A})

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(enter)
                await gate.reached.wait()
                await house.http.delete(f"/v1/clients/{A}")
                gate.opened.set()
            other = await house.client("/p", id=B)
            assert [room.id for room in house.reception.rooms()] == [other.workspace]
    assert len(opened) == 2


async def test_closing_one_workspace_touches_nothing_of_another() -> None:
    scripts = {path: [turn(Say("be"), Hold("here"), Say("gun"))] for path in ("/one", "/two")}
    policy = Policy(runs_keep_open=False, detach_grace_seconds=0)
    with fail_after(5):
        async with front(scripts=scripts, policy=policy) as house:
            one, two = await house.client("/one"), await house.client("/two")
            sessions = [await client.session() for client in (one, two)]
            async with one.events() as ones, two.events() as twos:
                await one.prompt(sessions[0], "go", "r1")
                await two.prompt(sessions[1], "go", "r2")
                for path in ("/one", "/two"):
                    await house.model(path).reached("here")
                await one.retire()
                stopped = await ones.next("run_complete")
                busy = (await house.http.get(two.path("/agent"))).json()["is_busy"]
                house.model("/two").release("here")
                ending = await twos.next("run_complete")
    assert stopped["run_id"] == "r1"
    assert busy is True
    assert (ending["run_id"], ending["text"]) == ("r2", "begun")
    assert {heard.payload.get("session_id", sessions[1]) for heard in twos.seen} == {sessions[1]}


async def test_a_directory_opened_again_while_it_closes_is_the_same_conversation() -> None:
    policy = Policy(runs_keep_open=False)
    with fail_after(5):
        async with front(turn(Hold("here")), policy=policy) as house:
            first = await house.client("/p")
            session = await first.session("named")
            await first.prompt(session, "go", "r1")
            await house.model("/p").reached("here")
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(first.retire)
                await room_of(house, first).ending.wait()
                again = await house.client("/p")
                run = (await house.http.get(again.path("/runs/r1"))).json()
                assert again.workspace != first.workspace
                assert (run["state"], run["outcome"]) == ("ended", "interrupted")


# The server itself


@pytest.mark.parametrize("command", ["shutdown_if_idle", "shutdown"])
async def test_a_server_with_a_workspace_refuses_to_go_and_stays_as_it_was(command: str) -> None:
    with fail_after(5):
        async with front() as house:
            client = await house.client()
            refused = await house.http.post("/v1/control", {"command": command}, content_type="text/plain")
            other = await house.client("/other")
            await client.retire()
            await other.retire()
            granted = await house.http.post("/v1/control", {"command": command}, content_type="text/plain")
            late = await house.http.post("/v1/workspaces", {"path": "/p", "client_id": B})
            health = await house.http.get("/v1/health")
            await house.reception.leaving.wait()
    assert (refused.status, refused.body) == (409, b'{"message":"server is hosting live workspaces"}\n')
    assert (granted.status, granted.body) == (200, b"")
    # The decision is final for creates; everything else is answered until the server is gone.
    assert (late.status, late.body) == (503, b'{"message":"server is shutting down"}\n')
    assert (health.status, health.body) == (200, b"")


async def test_a_server_at_which_somebody_is_just_arriving_refuses_to_go() -> None:
    gate = Gate()

    async def slow(path: Path) -> None:
        await gate.stand()

    with fail_after(5):
        async with front(opening=slow) as house, anyio.create_task_group() as tasks:
            tasks.start_soon(house.client)
            await gate.reached.wait()
            refused = await house.http.post("/v1/control", {"command": "shutdown_if_idle"})
            gate.opened.set()
            assert refused.status == 409


@pytest.mark.parametrize("body", [{"command": "restart"}, {"command": ""}, {}])
async def test_an_unknown_command_is_refused(body: dict[str, str]) -> None:
    with fail_after(5):
        async with front() as house:
            refused = await house.http.post("/v1/control", body)
    assert (refused.status, refused.body) == (400, b'{"message":"unknown command"}\n')


async def test_a_server_that_was_stopped_takes_nobody_in_any_more() -> None:
    with fail_after(5):
        async with front() as house:
            client = await house.client()
            await house.reception.close()
            late = await house.http.post("/v1/workspaces", {"path": "/p", "client_id": B})
            gone = await seen(house, client)
    assert (late.status, late.json()) == (503, {"message": "server is shutting down"})
    assert gone == GONE


# Races


async def test_whoever_attaches_as_a_workspace_closes_is_in_it_or_told_that_it_is_gone() -> None:
    outcomes: set[str] = set()
    with fail_after(30):
        async with front(policy=AT_ONCE) as house:
            for round in range(100):
                holder = await house.client("/p", id=str(uuid.uuid4()))
                room = room_of(house, holder)
                watcher = Client(house.http, str(uuid.uuid4()), holder.workspace, {})

                async def attach(watcher: Client = watcher, room: Room = room) -> None:
                    async with watcher.events() as events:
                        if events.status == 200:
                            outcomes.add("attached")
                            assert watcher.id in room.held.by_client
                            assert not room.ending.is_set()
                        else:
                            outcomes.add("gone")
                            assert events.status == 404
                            assert room.ending.is_set()

                async def leave(holder: Client = holder, turns: int = round % 5) -> None:
                    for _ in range(turns):
                        await anyio.lowlevel.checkpoint()
                    await release(house, holder)

                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(attach)
                    tasks.start_soon(leave)
                await room.closed.wait()
                assert house.reception.rooms() == []
    assert outcomes == {"attached", "gone"}


async def test_fifty_clients_coming_and_going_at_once_leave_only_who_stays() -> None:
    with fail_after(30):
        async with front(policy=AT_ONCE) as house:
            anchor = await house.client("/p")
            room = room_of(house, anchor)

            async def visit(number: int) -> None:
                watcher = Client(house.http, str(uuid.UUID(int=number)), anchor.workspace, {})
                async with watcher.events():
                    await house.http.post(watcher.path(f"/current-session?client_id={watcher.id}"), {"session_id": "s"})

            async with anchor.events():
                async with anyio.create_task_group() as tasks:
                    for number in range(50):
                        tasks.start_soon(visit, number)
                assert list(room.held.by_client) == [anchor.id]
                assert room.streams == 1
                assert not room.ending.is_set()
