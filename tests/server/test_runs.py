"""Our own routes: runs one can look at, wait for and cancel one by one, and a line one can change."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import anyio
import pytest
from anyio import fail_after

from tests.server.moments import Gate, hands
from turnkeeper.models.scripted import CallTool, Hold, Say, turn
from turnkeeper.protocol.problems import StoreUnavailable
from turnkeeper.store.memory import MemoryStore
from turnkeeper.testing.front import Client, Front, front
from turnkeeper.testing.scene import QUICK

ME = "0b7a3c1e-7d4a-4c1c-9a51-0c1d1f0d9e11"


@asynccontextmanager
async def in_line(*waiting: str, **more: Any) -> AsyncGenerator[tuple[Front, Client, str]]:
    """A run `r0` that stands at a gate, and prompts that wait behind it, each a run of its own name."""
    turns = [turn(Hold("here"), Say("first")), *(turn(Say(f"done {run_id}")) for run_id in waiting)]
    async with front(*turns, **more) as house:
        client = await house.client(id=ME)
        session = await client.session("named")
        await client.prompt(session, "go", "r0")
        await house.model().reached("here")
        for run_id in waiting:
            await client.prompt(session, f"text {run_id}", run_id)
        yield house, client, session


async def queue(house: Front, client: Client, session: str) -> tuple[list[str], bool]:
    said = (await house.http.get(client.path(f"/agent/sessions/{session}/queue"))).json()
    return [run["run_id"] for run in said["runs"]], said["held"]


async def post(house: Front, client: Client, rest: str, body: Any = None) -> tuple[int, Any]:
    answered = await house.http.post(client.path(rest), body)
    return answered.status, answered.json() if answered.body else None


async def patch(house: Front, client: Client, run_id: str, body: Any) -> tuple[int, Any]:
    answered = await house.http.ask("PATCH", client.path(f"/runs/{run_id}"), body)
    return answered.status, answered.json()


async def run(house: Front, client: Client, run_id: str) -> Any:
    return (await house.http.get(client.path(f"/runs/{run_id}/wait?timeout=5"))).json()


async def test_a_run_is_shown_from_accepted_to_its_ending() -> None:
    with fail_after(5):
        async with in_line("r1") as (house, client, session):
            async with client.events() as events:
                active, waiting = [(await house.http.get(client.path(f"/runs/{one}"))).json() for one in ("r0", "r1")]
                house.model().release("here")
                await events.next("run_complete", run_id="r1")
            ended = await run(house, client, "r0")
            listed = (await house.http.get(client.path(f"/runs?session_id={session}"))).json()
            elsewhere = (await house.http.get(client.path("/runs?session_id=other"))).json()
    accepted = {
        "run_id": "r0",
        "session_id": session,
        "kind": "prompt",
        "prompt": "go",
        "user_message_id": active["user_message_id"],
    }
    assert active == accepted | {
        "state": "active",
        "accepted_at": active["accepted_at"],
        "started_at": active["started_at"],
    }
    assert waiting == {
        "run_id": "r1",
        "session_id": session,
        "state": "queued",
        "kind": "prompt",
        "prompt": "text r1",
        "user_message_id": waiting["user_message_id"],
        "accepted_at": waiting["accepted_at"],
    }
    assert ended == accepted | {
        "state": "ended",
        "accepted_at": active["accepted_at"],
        "started_at": active["started_at"],
        "ended_at": ended["ended_at"],
        "outcome": "completed",
        "message_id": ended["message_id"],
        "text": "first",
        "usage": ended["usage"],
        "steps": 1,
    }
    assert ended["accepted_at"] < ended["started_at"] < ended["ended_at"]
    assert ([one["run_id"] for one in listed], elsewhere) == (["r1", "r0"], [])


async def test_whoever_waits_for_a_run_is_answered_at_its_end_or_when_the_time_is_up() -> None:
    ends: list[Any] = []
    with fail_after(5):
        async with in_line() as (house, client, _):
            early = (await house.http.get(client.path("/runs/r0/wait?timeout=0"))).json()

            async def wait() -> None:
                ends.append(await run(house, client, "r0"))

            async with anyio.create_task_group() as waiting:
                for _ in range(3):
                    waiting.start_soon(wait)
                house.model().release("here")
            late = await run(house, client, "r0")
    assert ("outcome" in early, early["state"]) == (False, "active")
    assert ends == [late] * 3
    assert late["outcome"] == "completed"


async def test_the_name_of_a_run_nobody_named_comes_with_the_202() -> None:
    with fail_after(5):
        async with front(turn(Say("done"))) as house:
            client = await house.client()
            accepted = await client.prompt(await client.session(), "go")
            ended = await run(house, client, accepted.headers["turnkeeper-run-id"])
    assert (accepted.status, accepted.body) == (202, b"")
    assert (ended["outcome"], ended["minted"]) == ("completed", True)


async def test_a_run_can_be_cancelled_alone_and_the_line_moves_on() -> None:
    with fail_after(5):
        async with in_line("r1", "r2", "r3") as (house, client, session):
            waiting = await post(house, client, "/runs/r2/cancel")
            line = await queue(house, client, session)
            active = await post(house, client, "/runs/r0/cancel")
            again = await post(house, client, "/runs/r0/cancel")
            ends = [(await run(house, client, one)).get("outcome") for one in ("r1", "r2", "r3")]
            late = await post(house, client, "/runs/r1/cancel")
            unknown = await post(house, client, "/runs/unknown/cancel")
    assert (waiting[0], waiting[1]["outcome"], "started_at" in waiting[1]) == (200, "cancelled", False)
    assert line == (["r1", "r3"], False)
    assert (active[0], active[1]["state"], active[1]["outcome"]) == (200, "ended", "cancelled")
    assert again == active
    assert ends == ["completed", "cancelled", "completed"]
    assert (late[0], late[1]["outcome"]) == (200, "completed")
    assert unknown == (404, {"message": "run not found: unknown"})


async def test_a_cancel_gives_a_receipt_of_what_it_stopped_once_that_has_stopped() -> None:
    with fail_after(5):
        async with in_line("r1", "r2") as (house, client, session):
            receipt = await post(house, client, f"/agent/sessions/{session}/cancel?receipt")
            states = [(await house.http.get(client.path(f"/runs/{one}"))).json()["state"] for one in ("r0", "r1", "r2")]
            nothing = await post(house, client, f"/agent/sessions/{session}/cancel?receipt")
    assert receipt == (200, {"cancelled": ["r1", "r2"], "stopping": ["r0"]})
    assert states == ["ended"] * 3
    assert nothing == (200, {"cancelled": [], "stopping": []})


async def test_two_who_cancel_at_once_are_both_answered_when_it_has_stopped() -> None:
    receipts: list[Any] = []
    with fail_after(5):
        async with in_line("r1") as (house, client, session):

            async def cancel() -> None:
                receipts.append(await post(house, client, f"/agent/sessions/{session}/cancel?receipt"))
                receipts.append((await house.http.get(client.path("/runs/r0"))).json()["state"])

            async with anyio.create_task_group() as people:
                people.start_soon(cancel)
                people.start_soon(cancel)
    stopped = [one for one in receipts if one != "ended"]
    assert receipts.count("ended") == 2
    assert [status for status, _ in stopped] == [200, 200]
    assert [body["stopping"] for _, body in stopped] == [["r0"], ["r0"]]
    assert sorted(body["cancelled"] for _, body in stopped) == [[], ["r1"]]


async def test_a_cancel_that_takes_long_says_what_it_is_stopping() -> None:
    with fail_after(10):
        async with in_line("r1", knobs=replace(QUICK, stop_seconds=-0.99)) as (house, client, session):
            house.stores["/front"].fail_next(StoreUnavailable(), times=1)
            refused = await post(house, client, f"/agent/sessions/{session}/cancel?receipt")
            # The cancel is written, the ending is not yet.
            store = house.stores["/front"]
            gate = Gate()

            async def slow(_: Any, events: Any) -> None:
                if any(type(event).__name__ == "MessageSaid" for event in events):
                    await gate.stand()

            store.before_append = slow
            receipt = await post(house, client, f"/agent/sessions/{session}/cancel?receipt")
            gate.opened.set()
            ended = await run(house, client, "r0")
    assert refused[0] == 503
    assert receipt == (200, {"cancelled": ["r1"], "stopping": ["r0"]})
    assert ended["outcome"] == "cancelled"


async def test_a_waiting_prompt_can_be_rewritten_and_is_carried_out_as_it_was_last() -> None:
    with fail_after(5):
        async with in_line("r1") as (house, client, session):
            async with client.events(detail="delta") as events:
                edited = await patch(house, client, "r1", {"prompt": "another text"})
                told = await events.next("prompt_changed")
                house.model().release("here")
                await events.next("run_complete", run_id="r1")
            late = await patch(house, client, "r1", {"prompt": "too late"})
            empty = await patch(house, client, "r1", {})
            asked = [part["data"].get("text") for m in await client.messages(session) for part in m["parts"][:1]]
    assert (edited[0], edited[1]["prompt"], edited[1]["state"]) == (200, "another text", "queued")
    assert (told["run_id"], told["prompt"]) == ("r1", "another text")
    assert late == (409, {"message": "run r1 is not waiting in the queue; only a waiting prompt can be changed"})
    assert empty == (400, {"message": "say what to change: prompt, or foldable"})
    assert asked == ["go", "first", "another text", "done r1"]


async def test_an_empty_text_is_no_change() -> None:
    with fail_after(5):
        async with in_line("r1") as (house, client, _):
            refused = await patch(house, client, "r1", {"prompt": ""})
            kept = (await house.http.get(client.path("/runs/r1"))).json()["prompt"]
    assert (refused, kept) == ((400, {"message": "prompt is empty"}), "text r1")


@pytest.mark.parametrize(
    ("index", "order"), [(0, ["r3", "r1", "r2"]), (1, ["r1", "r3", "r2"]), (99, ["r1", "r2", "r3"])]
)
async def test_a_waiting_prompt_can_be_moved_and_the_line_is_carried_out_in_its_new_order(
    index: int, order: list[str]
) -> None:
    with fail_after(5):
        async with in_line("r1", "r2", "r3") as (house, client, session):
            async with client.events() as events:
                status, moved = await post(house, client, "/runs/r3/move", {"index": index})
                listed = (await house.http.get(client.path(f"/agent/sessions/{session}/prompts/list"))).json()
                house.model().release("here")
                ends = [(await events.next("run_complete"))["run_id"] for _ in range(4)]
            late = await post(house, client, "/runs/r3/move", {"index": 0})
    assert (status, [one["run_id"] for one in moved["runs"]]) == (200, order)
    assert listed == [f"text {run_id}" for run_id in order]
    assert ends == ["r0", *order]
    assert late[0] == 409


async def test_a_waiting_prompt_can_be_steered_into_the_run_that_goes_on() -> None:
    gate = Gate()
    with fail_after(5):
        async with front(
            turn(CallTool("c1", "hand", {})), turn(Say("both")), turn(Say("alone")), tools=hands(gate)
        ) as house:
            client = await house.client()
            session = await client.session("named")
            async with client.events(detail="delta") as events:
                await client.prompt(session, "go", "r0")
                await gate.reached.wait()
                for run_id in ("r1", "r2"):
                    await client.prompt(session, f"text {run_id}", run_id)
                steered = await patch(house, client, "r1", {"foldable": True})
                gate.opened.set()
                folded = await events.next("run_folded")
                await events.next("run_complete", run_id="r2")
            ends = [await run(house, client, run_id) for run_id in ("r0", "r1", "r2")]
            asked = house.model().questions[1].messages
    assert (steered[0], steered[1]["foldable"]) == (200, True)
    assert (folded["run_id"], folded["into"]) == ("r1", "r0")
    assert [(end["outcome"], end.get("folded_into"), end.get("text")) for end in ends] == [
        ("completed", None, "both"),
        ("folded", "r0", None),
        ("completed", None, "alone"),
    ]
    assert asked[-1].text == "text r1"


async def test_who_submitted_a_prompt_is_told_with_it() -> None:
    other = "1c8b4d2f-8e5b-4d2d-8b62-1d2e2a1e0f22"
    with fail_after(5):
        async with in_line() as (house, client, session):
            body = {"session_id": session, "prompt": "mine", "run_id": "r1"}
            await house.http.post(client.path("/agent"), body, x_client_id=ME)
            await house.http.post(client.path(f"/agent?client_id={other}"), body | {"run_id": "r2"})
            said = (await house.http.get(client.path(f"/agent/sessions/{session}/queue"))).json()
            await client.cancel(session)
    assert [(one["run_id"], one["by"]) for one in said["runs"]] == [("r1", ME), ("r2", other)]


async def test_a_line_that_waits_after_a_crash_goes_on_when_somebody_says_so_and_is_kept_until_then() -> None:
    stores: dict[str, MemoryStore] = {}
    waits = replace(QUICK, queue_waits_after_crash=True)
    with fail_after(10):
        async with in_line("r1", stores=stores) as (_, _, session):
            pass
        held: list[tuple[list[str], bool]] = []
        for _ in range(2):
            # Everybody may come and go meanwhile: what waits for a person is not cancelled by their absence.
            async with front(stores=stores, knobs=waits) as house:
                client = await house.client()
                held.append(await queue(house, client, session))
                (room,) = house.reception.rooms()
                await client.retire()
                await room.closed.wait()
        async with front(turn(Say("done r1")), stores=stores, knobs=waits) as house:
            client = await house.client()
            async with client.events() as events:
                released = await post(house, client, f"/agent/sessions/{session}/queue/release")
                ending = await events.next("run_complete")
            interrupted = await run(house, client, "r0")
            unknown = await post(house, client, "/agent/sessions/unknown/queue/release")
    assert held == [(["r1"], True)] * 2
    assert released == (200, None)
    assert (ending["run_id"], ending["text"]) == ("r1", "done r1")
    assert (interrupted["outcome"], interrupted["failure"]["cause"]) == ("interrupted", "server")
    assert unknown[0] == 404
