"""Cancelling, end to end: over real sockets, with each thing happening exactly when the test says so."""

from typing import Any

import pytest
from anyio import fail_after

from tests.server.moments import Gate, HeldHooks, hands, told
from tests.server.plain import Served, Watching, ask, connect, request, served, watch
from turnkeeper.core.claims import Policy
from turnkeeper.models.scripted import CallTool, Hold, Say, turn

A = "0b7a3c1e-7d4a-4c1c-9a51-0c1d1f0d9e11"
B = "1c8b4d2f-8e5b-4d2d-8b62-1d2e2a1e0f22"
CANCELED = ("assistant", "(canceled)")


async def entered(door: Served, client: str) -> str:
    """The path of the workspace, which the client has entered."""
    answer = await door.post("/v1/workspaces", {"path": "/front", "client_id": client})
    return f"/v1/workspaces/{answer.json()['id']}"


async def begun(door: Served, here: str) -> str:
    return (await door.post(f"{here}/sessions", {"title": "named"})).json()["id"]


async def conversation(door: Served, here: str, session: str) -> list[tuple[str, ...]]:
    return [told(message) for message in (await door.get(f"{here}/sessions/{session}/messages")).json()]


def prompt(session: str, text: str, run_id: str = "") -> dict[str, Any]:
    return {"session_id": session, "prompt": text, **({"run_id": run_id} if run_id else {})}


def errors(*streams: Watching) -> list[Any]:
    return [heard.payload for stream in streams for heard in stream.seen if heard.kind == "agent_event"]


async def test_a_cancel_by_another_client_ends_the_run_for_both_and_is_no_error() -> None:
    with fail_after(10):
        async with served(turn(Say("half"), Hold("here"), Say("never"))) as door:
            here = await entered(door, A)
            assert await entered(door, B) == here
            session = await begun(door, here)
            async with (
                watch(door.socket, f"{here}/events?client_id={A}") as a,
                watch(door.socket, f"{here}/events?client_id={B}") as b,
            ):
                accepted = await door.post(f"{here}/agent", prompt(session, "go", "r1"))
                await door.house.model().reached("here")
                cancelled = await door.post(f"{here}/agent/sessions/{session}/cancel")
                endings = [await stream.next("run_complete") for stream in (a, b)]
                finished = [
                    told(heard.payload)
                    for stream in (a, b)
                    for heard in stream.seen
                    if heard.kind == "message" and heard.payload["parts"][-1:] and "canceled" in str(heard.payload)
                ]
            said = await conversation(door, here, session)
    assert [(one.status, one.body) for one in (accepted, cancelled)] == [(202, b""), (200, b"")]
    assert finished == [("assistant", "half", "(canceled)")] * 2
    assert said == [("user", "go", "(stop)"), ("assistant", "half", "(canceled)")]
    assert endings[0] == endings[1]
    assert (endings[0]["cancelled"], endings[0]["error"], endings[0]["text"]) == (True, "context canceled", "half")
    assert errors(a, b) == []


async def test_a_cancel_right_after_the_202_is_not_lost() -> None:
    with fail_after(10):
        async with served(turn(Hold("never"), Say("never"))) as door:
            here = await entered(door, A)
            session = await begun(door, here)
            async with watch(door.socket, f"{here}/events?client_id={A}") as a, await connect(door.socket) as line:
                # Both are on the wire before either is answered.
                cancel = request("POST", f"{here}/agent/sessions/{session}/cancel", b"")
                await line.send(request("POST", f"{here}/agent", prompt(session, "go", "r1")) + cancel)
                told_a = await a.next("run_complete")
            said = await conversation(door, here, session)
    assert (told_a["run_id"], told_a["cancelled"], "text" in told_a) == ("r1", True, False)
    assert said == [("user", "go", "(stop)"), CANCELED]
    assert errors(a) == []


async def test_a_cancel_with_nothing_to_cancel_does_not_poison_the_next_prompt() -> None:
    with fail_after(10):
        async with served(turn(Say("done"))) as door:
            here = await entered(door, A)
            session = await begun(door, here)
            async with watch(door.socket, f"{here}/events?client_id={A}") as a:
                idle = [await door.post(f"{here}/agent/sessions/{one}/cancel") for one in (session, "unknown")]
                cleared = await door.post(f"{here}/agent/sessions/{session}/prompts/clear")
                await door.post(f"{here}/agent", prompt(session, "go", "r1"))
                ending = await a.next("run_complete")
            said = await conversation(door, here, session)
    assert [(one.status, one.body) for one in (*idle, cleared)] == [(200, b"")] * 3
    assert "cancelled" not in ending
    assert said == [("user", "go", "(stop)"), ("assistant", "done", "(end_turn)")]


async def test_a_cancel_between_the_start_and_the_first_message_still_leaves_a_whole_conversation() -> None:
    gate = Gate()
    with fail_after(10):
        async with served(turn(Say("never")), hooks=HeldHooks(gate)) as door:
            here = await entered(door, A)
            session = await begun(door, here)
            async with watch(door.socket, f"{here}/events?client_id={A}") as a:
                await door.post(f"{here}/agent", prompt(session, "go", "r1"))
                await gate.reached.wait()
                await door.post(f"{here}/agent/sessions/{session}/cancel")
                ending = await a.next("run_complete")
            said = await conversation(door, here, session)
            asked = door.house.model().questions
    assert said == [("user", "go", "(stop)"), CANCELED]
    assert ending["cancelled"] is True
    assert (errors(a), asked) == ([], [])


async def test_one_cancel_covers_both_of_two_prompts_and_none_that_comes_after_it() -> None:
    with fail_after(10):
        async with served(turn(Hold("first"), Say("never")), turn(Say("third"))) as door:
            here = await entered(door, A)
            session = await begun(door, here)
            async with watch(door.socket, f"{here}/events?client_id={A}") as a:
                for run_id in ("r1", "r2"):
                    await door.post(f"{here}/agent", prompt(session, run_id, run_id))
                await door.house.model().reached("first")
                queued = await door.get(f"{here}/agent/sessions/{session}/prompts/queued")
                await door.post(f"{here}/agent/sessions/{session}/cancel")
                await door.post(f"{here}/agent", prompt(session, "r3", "r3"))
                endings = [await a.next("run_complete") for _ in range(3)]
            said = await conversation(door, here, session)
    assert queued.body == b"1\n"
    assert [(ending["run_id"], ending.get("cancelled", False)) for ending in endings] == [
        ("r2", True),
        ("r1", True),
        ("r3", False),
    ]
    assert said == [
        ("user", "r1", "(stop)"),
        CANCELED,
        ("user", "r3", "(stop)"),
        ("assistant", "third", "(end_turn)"),
    ]


async def test_a_request_that_is_gone_does_not_take_its_run_along() -> None:
    with fail_after(10):
        async with served(turn(Hold("here"), Say("done"))) as door:
            here = await entered(door, A)
            session = await begun(door, here)
            async with watch(door.socket, f"{here}/events?client_id={B}") as b:
                async with await connect(door.socket) as line:
                    await line.send(request("POST", f"{here}/agent", prompt(session, "go", "r1")))
                    accepted = await line.receive()
                # The connection that brought the prompt is closed, and the run stands at the gate.
                await door.house.model().reached("here")
                door.house.model().release("here")
                ending = await b.next("run_complete")
            said = await conversation(door, here, session)
    assert accepted.startswith(b"HTTP/1.1 202 ")
    assert ending["text"] == "done"
    assert said == [("user", "go", "(stop)"), ("assistant", "done", "(end_turn)")]


async def test_a_run_outlives_its_prompters_claim_while_somebody_stays() -> None:
    with fail_after(10):
        async with served(turn(Hold("here"), Say("done")), policy=Policy(detach_grace_seconds=0)) as door:
            here = await entered(door, A)
            session = await begun(door, here)
            async with watch(door.socket, f"{here}/events?client_id={B}") as b:
                async with watch(door.socket, f"{here}/events?client_id={A}"):
                    await door.post(f"{here}/agent", prompt(session, "go", "r1"))
                    await door.house.model().reached("here")
                retired = await ask(door.socket, "DELETE", f"/v1/clients/{A}")
                door.house.model().release("here")
                ending = await b.next("run_complete")
                last = next(heard.payload for heard in reversed(b.seen) if heard.kind == "message")
            leaving = door.house.reception.leaving.is_set()
    assert (retired.status, retired.body) == (200, b"")
    assert ending["text"] == "done"
    assert told(last) == ("assistant", "done", "(end_turn)")
    assert not leaving


async def test_what_waits_is_dropped_by_a_cancel_without_a_trace_in_the_conversation() -> None:
    with fail_after(10):
        async with served(turn(Hold("first"), Say("never"))) as door:
            here = await entered(door, A)
            session = await begun(door, here)
            async with watch(door.socket, f"{here}/events?client_id={A}") as a:
                await door.post(f"{here}/agent", prompt(session, "go", "r1"))
                await door.house.model().reached("first")
                await door.post(f"{here}/agent", prompt(session, "nameless"))
                await door.post(f"{here}/agent", prompt(session, "named", "r2"))
                listed = await door.get(f"{here}/agent/sessions/{session}/prompts/list")
                await door.post(f"{here}/agent/sessions/{session}/cancel")
                await a.next("run_complete", run_id="r1")
                gone = await door.get(f"{here}/agent/sessions/{session}/prompts/list")
            said = await conversation(door, here, session)
    endings = [heard.payload for heard in a.seen if heard.kind == "run_complete"]
    assert (listed.body, gone.body) == (b'["nameless","named"]\n', b"null\n")
    # Nobody can wait for the end of a run that nobody named.
    assert [ending["run_id"] for ending in endings] == ["r2", "r1"]
    assert endings[0] == {"session_id": session, "run_id": "r2", "message_id": "", "cancelled": True}
    assert said == [("user", "go", "(stop)"), CANCELED]


REFUSED = "no such model. Asking the same again will not help: change the request, or choose another model."


async def test_a_failed_run_does_not_strand_what_waits_behind_it() -> None:
    from turnkeeper.models.model import Trouble
    from turnkeeper.models.scripted import Fail

    with fail_after(10):
        async with served(turn(Hold("first"), Fail(Trouble.REFUSED, "no such model")), turn(Say("second"))) as door:
            here = await entered(door, A)
            session = await begun(door, here)
            async with watch(door.socket, f"{here}/events?client_id={A}") as a:
                await door.post(f"{here}/agent", prompt(session, "one", "r1"))
                await door.house.model().reached("first")
                await door.post(f"{here}/agent", prompt(session, "two", "r2"))
                door.house.model().release("first")
                endings = [await a.next("run_complete") for _ in range(2)]
    assert [(one["run_id"], one.get("error"), one.get("text")) for one in endings] == [
        ("r1", REFUSED, None),
        ("r2", None, "second"),
    ]
    assert [(one["type"], one.get("error"), one.get("run_id")) for one in errors(a)] == [
        ("error", REFUSED, "r1"),
        ("agent_finished", None, None),
    ]


@pytest.mark.parametrize("who", ["another client", "nobody, but the one who asked for it leaves"])
async def test_a_summary_is_a_run_that_others_can_cancel_and_that_outlives_its_request(who: str) -> None:
    with fail_after(10):
        async with served(turn(Say("done")), turn(Say("sum"), Hold("summing"), Say("mary"))) as door:
            here = await entered(door, A)
            session = await begun(door, here)
            async with watch(door.socket, f"{here}/events?client_id={A}") as a, await connect(door.socket) as line:
                await door.post(f"{here}/agent", prompt(session, "go", "r1"))
                await a.next("run_complete")
                await line.send(request("POST", f"{here}/agent/sessions/{session}/summarize"))
                await door.house.model().reached("summing")
                busy = await door.post(f"{here}/agent/sessions/{session}/summarize")
                if who == "another client":
                    await door.post(f"{here}/agent/sessions/{session}/cancel")
                    answered = await line.receive()
                else:
                    await line.aclose()
                    answered = b""
                    door.house.model().release("summing")
                ending = await a.next("run_complete")
            said = await conversation(door, here, session)
            shown = (await door.get(f"{here}/sessions/{session}")).json()
    assert (busy.status, busy.json()) == (409, {"message": "session is currently processing another request"})
    if who == "another client":
        assert answered.startswith(b"HTTP/1.1 200 ")
        assert (ending["cancelled"], shown["summary_message_id"]) == (True, "")
        assert said[-1] == ("assistant", "done", "(end_turn)"), "half a summary would be taken for a whole one"
    else:
        assert (ending["text"], shown["summary_message_id"]) == ("summary", ending["message_id"])
        assert said[-1] == ("assistant", "summary", "(end_turn)")


async def test_a_session_is_cancelled_alone() -> None:
    with fail_after(10):
        async with served(turn(Hold("one"), Say("one done"), when="one"), turn(Hold("two"), Say("two"))) as door:
            here = await entered(door, A)
            one, two = await begun(door, here), await begun(door, here)
            async with watch(door.socket, f"{here}/events?client_id={A}") as a:
                await door.post(f"{here}/agent", prompt(one, "one", "r1"))
                await door.post(f"{here}/agent", prompt(two, "two", "r2"))
                for gate in ("one", "two"):
                    await door.house.model().reached(gate)
                await door.post(f"{here}/agent/sessions/{two}/cancel")
                stopped = await a.next("run_complete")
                door.house.model().release("one")
                done = await a.next("run_complete")
    assert (stopped["run_id"], stopped["cancelled"]) == ("r2", True)
    assert (done["run_id"], done["text"]) == ("r1", "one done")


async def test_a_child_session_ends_with_the_run_it_works_for() -> None:
    """What a run has begun, it takes along; nothing of it is left busy."""
    gate = Gate()
    with fail_after(10):
        async with served(turn(CallTool("c1", "hand", {})), tools=hands(gate)) as door:
            here = await entered(door, A)
            session = await begun(door, here)
            async with watch(door.socket, f"{here}/events?client_id={A}") as a:
                await door.post(f"{here}/agent", prompt(session, "go", "r1"))
                await gate.reached.wait()
                deleted = await ask(door.socket, "DELETE", f"{here}/sessions/{session}")
                ending = await a.next("run_complete")
                gone = await a.next("session")
            busy = (await door.get(f"{here}/agent")).json()["is_busy"]
            unknown = await door.get(f"{here}/sessions/{session}")
    assert (deleted.status, deleted.body) == (200, b"")
    assert ending["run_id"] == "r1"
    assert gone["id"] == session
    assert (busy, unknown.status) == (False, 404)
