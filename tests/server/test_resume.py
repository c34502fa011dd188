"""Going on where one left off: after a cut, after a restart, and from positions there are none of."""

import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from anyio import fail_after

from turnkeeper.core.session import STOPPED_BY_SERVER
from turnkeeper.models.scripted import Hold, Say, turn
from turnkeeper.protocol.ids import Position
from turnkeeper.store.memory import MemoryStore
from turnkeeper.testing.bridge import Heard
from turnkeeper.testing.front import Client, Front, front


async def all_of(client: Client, *, after: int = 0, last: int, detail: str = "") -> list[Heard]:
    """Everything after a position up to the entry at `last`."""
    async with client.events(after=after, detail=detail) as events:
        while (await events.any()).id != last:
            pass
    return logged(events.seen)


def logged(seen: list[Heard]) -> list[Heard]:
    """Without who is there, which is told beside the log."""
    return [heard for heard in seen if heard.kind != "presence"]


async def talked(house: Front, *texts: str) -> tuple[Client, str, int]:
    """A client, a session with these prompts answered, and where its log ends."""
    client = await house.client()
    session = await client.session("named")
    async with client.events() as events:
        for number, text in enumerate(texts):
            await client.prompt(session, text, f"r{number}")
            await events.next("run_complete")
    last = events.seen[-1].id
    assert last is not None
    return client, session, last


@pytest.mark.parametrize("detail", ["", "delta"])
async def test_from_whatever_position_one_resumes_nothing_is_missed_and_nothing_is_told_twice(detail: str) -> None:
    with fail_after(10):
        async with front(turn(Say("one")), turn(Say("two"))) as house:
            client, _, last = await talked(house, "a", "b")
            whole = await all_of(client, last=last, detail=detail)
            for start in [heard.id for heard in whole if heard.id is not None][:-1]:
                rest = await all_of(client, after=start, last=last, detail=detail)
                place = max(at for at, heard in enumerate(whole) if heard.id == start)
                assert rest == whole[place + 1 :]


async def test_the_header_of_a_browser_and_the_query_mean_the_same_and_the_header_wins() -> None:
    with fail_after(5):
        async with front(turn(Say("one"))) as house:
            client, _, last = await talked(house, "a")
            path = client.path(f"/events?client_id={client.id}&after=0")
            async with house.http.stream(path, last_event_id=str(last)) as events:
                await client.session("next")
                heard = await events.any()
    assert heard.id == last + 1


@pytest.mark.parametrize("after", ["-1", "one", "1.5", "9" * 19, "٣"])
async def test_what_is_no_position_is_refused(after: str) -> None:
    with fail_after(5):
        async with front() as house:
            client = await house.client()
            answered = await house.http.get(client.path(f"/events?client_id={client.id}&after={after}"))
    message = "after must be a position: a whole number that an event's id gave"
    assert (answered.status, answered.json()) == (400, {"message": message})


async def test_a_stream_goes_on_after_the_server_was_started_again() -> None:
    stores: dict[str, MemoryStore] = {}
    with fail_after(10):
        async with front(turn(Say("one"), Hold("here")), stores=stores) as house:
            client = await house.client()
            session = await client.session("named")
            async with client.events() as events:
                await client.prompt(session, "go", "r1")
                await client.prompt(session, "then", "r2")
                await house.model().reached("here")
                last = (await events.any()).id
                while events.seen[-1].payload.get("role") != "assistant":
                    last = (await events.any()).id or last
        async with front(turn(Say("two")), stores=stores) as house:
            client = await house.client()
            async with client.events(after=last, detail="delta") as events:
                interrupted = await events.next("run_complete")
                done = await events.next("run_complete")
            whole = await all_of(client, last=events.seen[-1].id or 0, detail="delta")
    # What was cut off is told as it ended, and what waited is carried out by the next server.
    assert (interrupted["run_id"], interrupted["error"]) == ("r1", STOPPED_BY_SERVER.message)
    assert (done["run_id"], done["text"]) == ("r2", "two")
    place = next(at for at, heard in enumerate(whole) if heard.id == last)
    seen = [(heard.id, heard.kind) for heard in logged(events.seen) if heard.kind != "delta"]
    assert seen == [(heard.id, heard.kind) for heard in whole[place + 1 :]]


@pytest.mark.parametrize("lost", ["forgotten", "never there"])
async def test_who_cannot_resume_is_given_everything_as_of_one_position_and_goes_on_from_there(lost: str) -> None:
    stores: dict[str, MemoryStore] = {}
    with fail_after(5):
        async with front(turn(Say("one")), stores=stores) as house:
            _, session, last = await talked(house, "a")
        if lost == "forgotten":
            await stores["/front"].prune(before=Position(last))
        async with front(turn(Hold("here"), Say("two")), stores=stores) as house:
            client = await house.client()
            await client.prompt(session, "b", "r2")
            await house.model().reached("here")
            head = await stores["/front"].head()
            async with client.events(after=1 if lost == "forgotten" else 1_000_000) as events:
                snapshot = await events.any()
                asked = (await house.http.get(client.path("/snapshot"))).json()
                house.model().release("here")
                await events.next("run_complete")
    assert (snapshot.id, snapshot.kind, snapshot.type) == (head, "snapshot", "updated")
    assert snapshot.payload == asked
    assert snapshot.payload["position"] == head
    assert [(run["run_id"], run["state"]) for run in snapshot.payload["runs"]] == [("r2", "active")]
    assert [(one["id"], one["is_busy"]) for one in snapshot.payload["sessions"]] == [(session, True)]
    assert all(heard.id is None or heard.id > head for heard in events.seen[1:])


async def test_a_snapshot_is_the_workspace_as_of_one_position() -> None:
    with fail_after(5):
        async with front(turn(Hold("here"), Say("done"))) as house:
            client = await house.client()
            session = await client.session("named")
            empty = (await house.http.get(client.path("/snapshot"))).json()
            await client.prompt(session, "go", "r1")
            await client.prompt(session, "wait", "r2", foldable=False)
            await house.model().reached("here")
            busy = (await house.http.get(client.path("/snapshot"))).json()
    shown: dict[str, Any] = {
        "id": session,
        "parent_session_id": "",
        "title": "named",
        "message_count": 0,
        "prompt_tokens": 0,
        "completion_tokens": 0,
        "summary_message_id": "",
        "cost": 0,
        "created_at": 1700000000,
        "updated_at": 1700000000,
        "is_busy": False,
        "attached_clients": 0,
    }
    assert empty == {
        "position": 2,
        "sessions": [shown],
        "runs": [],
        "permissions": [],
        "questions": [],
        "held": [],
        "unasked": [],
        "clients": [],
        "names": [],
    }
    assert busy["sessions"] == [shown | {"is_busy": True, "message_count": 2}]
    assert [(run["run_id"], run["state"], run["prompt"]) for run in busy["runs"]] == [
        ("r1", "active", "go"),
        ("r2", "queued", "wait"),
    ]


@dataclass
class Reader:
    """A careful client: what comes without a position belongs to the next thing that has one."""

    position: int = 0
    told: list[tuple[int, bytes]] = field(default_factory=list[tuple[int, bytes]])
    _block: bytes = b""
    _open: bytes = b""

    def read(self, said: bytes) -> None:
        *blocks, self._block = (self._block + said).split(b"\n\n")
        for block in blocks:
            self._open += block + b"\n\n"
            head = block.lstrip(b"\n")
            if head.startswith(b"id: "):
                self.position = int(head[4 : head.index(b"\n")])
                self.told.append((self.position, self._open.lstrip(b"\n")))
                self._open = b""

    def cut(self) -> None:
        self._block = self._open = b""


@asynccontextmanager
async def busy(house: Front) -> AsyncGenerator[Client]:
    """A workspace in which something happens all the time, until the block ends."""
    client = await house.client()
    session = await client.session("named")

    async def rename() -> None:
        number = 0
        while True:
            number += 1
            body = {"id": session, "title": f"title {number}"}
            await house.http.ask("PUT", client.path(f"/sessions/{session}"), body)
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(rename)
        yield client
        tasks.cancel_scope.cancel()


async def cut_at_random(cuts: int, seed: int) -> None:
    dice = random.Random(seed)
    reader = Reader()
    async with front() as house:
        async with busy(house) as client:
            for _ in range(cuts):
                left = dice.choice([1, 40, 400, 4000])
                async with client.events(after=reader.position, detail="delta") as events:
                    while left > 0:
                        said = (await events.raw())[:left]
                        reader.read(said)
                        left -= len(said)
                reader.cut()
        whole = Reader()
        async with client.events(after=0, detail="delta") as events:
            while whole.position < reader.position:
                whole.read(await events.raw())
    # What is told of a session is how it stands when it is told; that it is told, and when, is the log's.
    told = [position for position, _ in reader.told]
    assert told == [position for position, _ in whole.told if position <= reader.position]
    assert len(told) > cuts / 4


async def test_a_reader_that_is_cut_at_random_places_sees_everything_once_and_in_order() -> None:
    with fail_after(30):
        await cut_at_random(300, seed=1)


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_a_reader_that_is_cut_ten_thousand_times_sees_everything_once_and_in_order() -> None:
    with fail_after(290):
        await cut_at_random(10_000, seed=2)
