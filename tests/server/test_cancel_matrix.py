"""Wherever a run stands, and whatever happens then: what it says, how it ends, and who is told.

A run that nobody cancels goes on to its end, whoever leaves; one that is cancelled, or whose server stops, keeps what
it had said, has a result for every call and an ending that everybody hears.
"""

from dataclasses import replace
from typing import Any

import pytest
from anyio import fail_after

from tests.server.moments import ASKING, MOMENTS, Moment, Scene, standing, told
from turnkeeper.core.claims import Policy
from turnkeeper.core.session import STOPPED_BY_SERVER
from turnkeeper.protocol.ids import RunId

CANCELLED = "Error: user cancelled assistant tool calling"
STOPPED = "Error: the server stopped before this tool had finished"
EACH = pytest.mark.parametrize("moment", MOMENTS, ids=str)


def kept(moment: Moment, result: str) -> list[tuple[str, ...]]:
    """The conversation of a run that was stopped there."""
    results = [("tool", f"error c1: {result}", "(stop)")] if "call c1" in moment.said else []
    return [("user", "go", "(stop)"), ("assistant", *moment.said, "(canceled)"), *results]


async def conversation(scene: Scene) -> list[tuple[str, ...]]:
    return [told(message) for message in await scene.client.messages(scene.session)]


def ending(run: Any) -> tuple[str, str, str]:
    return run["outcome"], run.get("text", ""), run.get("failure", {}).get("message", "")


@EACH
async def test_a_cancel_stops_a_run_wherever_it_stands_and_keeps_what_it_had_said(moment: Moment) -> None:
    with fail_after(10):
        async with standing(moment) as scene:
            other = await scene.house.client()
            async with other.events() as watched:
                assert (await scene.client.cancel(scene.session)).status == 200
                endings = [await stream.next("run_complete", run_id="r1") for stream in (scene.events, watched)]
            said = await conversation(scene)
            run = await scene.run()
            idle = scene.house.model().streams_open
    assert said == kept(moment, CANCELLED)
    assert ending(run) == ("cancelled", "".join(word for word in moment.said if word != "call c1"), "")
    assert endings[0] == endings[1]
    assert endings[0]["cancelled"] is True
    assert idle == 0
    assert [heard.kind for heard in scene.events.seen if heard.kind == "agent_event"] == []


@EACH
async def test_a_request_waits_for_nobody_once_its_run_is_cancelled(moment: Moment) -> None:
    with fail_after(10):
        async with standing(moment) as scene:
            await scene.client.cancel(scene.session)
            await scene.events.next("run_complete")
            settled = [
                heard.payload
                for heard in scene.events.seen
                if heard.kind in ("permission_notification", "question_batch_notification")
            ]
            late = await scene.client.http.post(scene.client.path("/questions/cancel"))
            snapshot = (await scene.client.http.get(scene.client.path("/snapshot"))).json()
    asked = next((heard.payload for heard in scene.events.seen if heard.kind == "question_batch_request"), None)
    expected: list[Any] = []
    if moment is ASKING:
        expected = [
            {"tool_call_id": "c1", "granted": False, "denied": False},
            {"tool_call_id": "c1", "granted": False, "denied": True},
        ]
    elif asked:
        expected = [{"batch_id": asked["id"]}]
    assert settled == expected
    assert late.json() == {"resolved": False}
    assert (snapshot["permissions"], snapshot["questions"], snapshot["runs"]) == ([], [], [])


@EACH
async def test_a_client_that_goes_leaves_its_run_to_those_who_stay(moment: Moment) -> None:
    with fail_after(10):
        async with standing(moment) as scene:
            other = await scene.house.client()
            async with other.events() as watched:
                # The one who asked is gone for good; the workspace is handed over.
                assert (await scene.client.retire()).status == 200
                await replace(scene, client=other).go_on()
                told_other = await watched.next("run_complete")
            run = await replace(scene, client=other).run()
    assert ending(run) == ("completed", "done", "")
    assert told_other["text"] == "done"


@EACH
async def test_clearing_the_line_leaves_what_runs_alone(moment: Moment) -> None:
    with fail_after(10):
        async with standing(moment) as scene:
            await scene.client.prompt(scene.session, "next", "r2", foldable=False)
            cleared = await scene.post(f"/agent/sessions/{scene.session}/prompts/clear")
            dropped = await scene.events.next("run_complete", run_id="r2")
            await scene.go_on()
            run, never = await scene.run(), await scene.run("r2")
            said = await conversation(scene)
    assert (cleared.status, cleared.body) == (200, b"")
    assert dropped == {"session_id": scene.session, "run_id": "r2", "message_id": "", "cancelled": True}
    assert ending(run) == ("completed", "done", "")
    assert (never["outcome"], "started_at" in never) == ("cancelled", False)
    assert ("user", "next", "(stop)") not in said


@EACH
async def test_a_server_that_stops_ends_the_run_and_says_so_before_its_streams_end(moment: Moment) -> None:
    with fail_after(10):
        async with standing(moment) as scene:
            await scene.house.reception.close()
            heard = await scene.events.until_end()
            store = scene.house.stores["/front"]
            run = await store.run(RunId("r1"))
            said = [message.role for message in await store.messages(run.session_id)] if run else []
    assert run is not None
    assert (run.outcome, run.state) == ("interrupted", "ended")
    assert said[:2] == ["user", "assistant"]
    assert [one.payload["error"] for one in heard if one.kind == "run_complete"] == [STOPPED_BY_SERVER.message]


@EACH
async def test_a_run_goes_on_when_everybody_has_left_and_then_the_workspace_closes(moment: Moment) -> None:
    with fail_after(10):
        async with standing(moment, policy=Policy(detach_grace_seconds=0)) as scene:
            (room,) = scene.house.reception.rooms()
            await scene.client.retire()
            assert scene.house.reception.rooms() == [room]
            assert not room.ending.is_set()
            # Whoever comes later finds it as it stands, may answer what it asks, and go again.
            late = await scene.house.client()
            async with late.events() as events:
                later = replace(scene, client=late, events=events)
                if moment.asks:
                    await moment.reach(later)
                await late.retire()
                await later.go_on()
                await events.until_end()
            await room.closed.wait()
            run = await scene.house.stores["/front"].run(RunId("r1"))
    assert run is not None
    assert (run.outcome, run.text) == ("completed", "done")


@EACH
async def test_where_runs_may_not_go_on_alone_the_last_to_leave_ends_them(moment: Moment) -> None:
    policy = Policy(detach_grace_seconds=0, runs_keep_open=False)
    with fail_after(10):
        async with standing(moment, policy=policy) as scene:
            await scene.client.prompt(scene.session, "next", "r2", foldable=False)
            assert (await scene.client.retire()).status == 200
            heard = await scene.events.until_end()
            again = await scene.house.client()
            said = [told(message) for message in await again.messages(scene.session)]
            runs = [(await again.http.get(again.path(f"/runs/{run_id}"))).json()["outcome"] for run_id in ("r1", "r2")]
    assert runs == ["interrupted", "cancelled"]
    assert said == kept(moment, STOPPED)
    assert [one.payload["run_id"] for one in heard if one.kind == "run_complete"] == ["r2", "r1"]
