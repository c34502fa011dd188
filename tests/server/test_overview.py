"""Searching, copying, counting, and asking why: what only our own clients know how to ask."""

from dataclasses import replace
from typing import Any

import anyio
import pytest
from anyio import fail_after

from turnkeeper.models.model import Trouble
from turnkeeper.models.scripted import CallTool, Fail, Hold, Say, Use, turn
from turnkeeper.protocol.runs import Usage
from turnkeeper.testing.front import Client, front
from turnkeeper.testing.scene import QUICK, PlainTool
from turnkeeper.tools.tool import Asking, Call, Hands


async def asked(client: Client, session: str, text: str, run_id: str) -> Any:
    """A prompt and its ending."""
    async with client.events() as seen:
        await client.prompt(session, text, run_id)
        return await seen.next("run_complete", run_id=run_id)


async def get(client: Client, path: str) -> Any:
    answered = await client.http.get(client.path(path))
    assert answered.status == 200, answered.body
    return answered.json()


def texts(messages: list[Any]) -> list[str]:
    return ["".join(part["data"].get("text", "") for part in message["parts"]) for message in messages]


async def test_a_fork_has_the_same_past_and_a_future_of_its_own() -> None:
    with fail_after(10):
        async with front(turn(Say("one")), turn(Say("two")), turn(Say("three")), turn(Say("four"))) as house:
            client = await house.client()
            session = await client.session("Numbers")
            await asked(client, session, "first", "r1")
            await asked(client, session, "second", "r2")
            before = await client.messages(session)
            forked = (await client.http.post(client.path(f"/sessions/{session}/fork"))).json()
            early = (
                await client.http.post(
                    client.path(f"/sessions/{session}/fork"), {"message_id": before[1]["id"], "title": "Early"}
                )
            ).json()
            assert (forked["title"], early["title"]) == ("Numbers (fork)", "Early")
            assert texts(await client.messages(forked["id"])) == ["first", "one", "second", "two"]
            await asked(client, early["id"], "again", "r3")
            assert texts(await client.messages(early["id"])) == ["first", "one", "again", "three"]
            assert await client.messages(session) == before
            told = house.model().questions[-1].messages
            assert [message.text for message in told] == ["first", "one", "again"]


async def test_a_fork_of_a_session_at_work_leaves_out_what_is_still_being_said() -> None:
    with fail_after(10):
        async with front(turn(Say("half"), Hold("here")), turn(Say("other"))) as house:
            client = await house.client()
            session = await client.session()
            await client.prompt(session, "hi", "r1")
            await house.model().reached("here")
            forked = (await client.http.post(client.path(f"/sessions/{session}/fork"))).json()
            assert texts(await client.messages(forked["id"])) == ["hi"]
            assert not (await get(client, f"/sessions/{forked['id']}"))["is_busy"]
            house.model().release("here")


@pytest.mark.parametrize("message", ["nowhere", None])
async def test_what_is_not_there_cannot_be_forked(message: str | None) -> None:
    async with front() as house:
        client = await house.client()
        session = await client.session() if message else "nobody"
        answered = await client.http.post(
            client.path(f"/sessions/{session}/fork"), {"message_id": message} if message else None
        )
        assert answered.status == 404


async def test_what_was_said_is_found_with_the_words_around_it() -> None:
    with fail_after(10):
        async with front(turn(Say("The weather in Tromsø is cold.")), turn(Say("Nothing."))) as house:
            client = await house.client()
            north, other = await client.session("Trips to the north"), await client.session("Something else")
            await asked(client, north, "how is it there?", "r1")
            await asked(client, other, "and elsewhere", "r2")
            (hit,) = await get(client, "/search?q=TROMS%C3%98%20cold")
            assert (hit["session_id"], hit["title"], hit["role"]) == (north, "Trips to the north", "assistant")
            assert hit["excerpt"] == "The weather in Tromsø is cold."
            assert [hit["session_id"] for hit in await get(client, "/search?q=north")] == [north]
            assert await get(client, "/search?q=cold+nothing") == []
            assert (await client.http.get(client.path("/search?q=+"))).status == 400


async def test_an_excerpt_shows_the_place_and_says_that_there_is_more() -> None:
    text = "x " * 200 + "needle" + " y" * 200
    with fail_after(10):
        async with front(turn(Say(text))) as house:
            client = await house.client()
            await asked(client, await client.session(), "hi", "r1")
            (hit,) = await get(client, "/search?q=needle")
            assert hit["excerpt"].startswith("…x x")
            assert hit["excerpt"].endswith("y y…")
            assert "needle" in hit["excerpt"]


async def test_the_accounts_add_up_by_day_model_and_hour_of_the_asker() -> None:
    spent = Usage(1000, 200, cost=0.0)
    with fail_after(10):
        async with front(turn(Use(spent), Say("a")), turn(Use(spent), Say("b")), turn(Fail(Trouble.REFUSED))) as house:
            client = await house.client()
            session = await client.session()
            for number in range(3):
                await asked(client, session, "hi", f"r{number}")
            stats = await get(client, "/stats")
            assert (stats["total"]["runs"], stats["total"]["sessions"]) == (3, 1)
            assert stats["outcomes"] == {"completed": 2, "failed": 1}
            assert stats["total"]["usage"]["input_tokens"] == 2000
            (model,) = [line for line in stats["models"] if line["usage"].get("cost")]
            assert model["key"] == "scripted/scripted"
            assert model["usage"]["cost"] == pytest.approx(2 * (1000 * 1 + 200 * 2) / 1_000_000)
            # The clock of the stage says 2023-11-14T22:13Z.
            assert ([day["key"] for day in stats["days"]], [hour["key"] for hour in stats["hours"]]) == (
                ["2023-11-14"],
                ["22"],
            )
            east = await get(client, "/stats?offset=120")
            assert ([day["key"] for day in east["days"]], east["weekdays"][0]["key"]) == (["2023-11-15"], "2")
            assert (await get(client, f"/stats?since={2**52}"))["total"]["runs"] == 0
            assert (await client.http.get(client.path("/stats?offset=east"))).status == 400


async def test_a_sub_agents_tokens_are_counted_once() -> None:
    async def delegate(call: Call, hands: Hands) -> str:
        return await hands.delegate("look", title="Looking", kind="task")

    with fail_after(10):
        script = [
            turn(Use(Usage(100, 10)), CallTool("c1", "agent")),
            turn(Use(Usage(30, 3)), Say("seen")),
            turn(Use(Usage(200, 20)), Say("done")),
        ]
        async with front(*script, tools=[PlainTool("agent", delegate)]) as house:
            client = await house.client(yolo=True)
            await asked(client, await client.session(), "go", "r1")
            total = (await get(client, "/stats"))["total"]
            assert (total["runs"], total["usage"]["input_tokens"], total["usage"]["output_tokens"]) == (1, 330, 33)


async def test_how_far_each_tool_call_got_can_be_read_by_a_person() -> None:
    async def act(call: Call, hands: Hands) -> str:
        await hands.begin(f"rm {call.id}")
        return "gone"

    async def look(call: Call, hands: Hands) -> str:
        return "seen"

    calls = turn(CallTool("c1", "act", {}), CallTool("c2", "look", {}))
    with fail_after(10):
        async with front(calls, turn(Say("done")), tools=[PlainTool("act", act), PlainTool("look", look)]) as house:
            client = await house.client()
            session = await client.session()
            await asked(client, session, "hi", "r1")
            told = await get(client, f"/sessions/{session}/effects")
            nowhere = await client.http.get(client.path("/sessions/nowhere/effects"))
    assert [(one["tool_call_id"], one["state"], one.get("subject", "")) for one in told] == [
        ("c1", "finished", "rm c1"),
        ("c2", "finished", ""),
    ]
    assert told[0]["started_at"] <= told[0]["at"]
    assert "started_at" not in told[1]
    assert nowhere.status == 404


async def why(client: Client, session: str) -> Any:
    return await get(client, f"/sessions/{session}/why")


async def test_an_idle_session_waits_for_nothing() -> None:
    async with front() as house:
        client = await house.client()
        session = await client.session("Quiet")
        said = await why(client, session)
        assert (said["busy"], said.get("waits", []), said["title"]) == (False, [], "Quiet")


async def test_a_session_says_that_it_waits_for_its_model_and_then_that_it_speaks() -> None:
    with fail_after(10):
        async with front(turn(Hold("silent"), Say("well"), Hold("speaking"), Say("!"))) as house:
            client = await house.client()
            session = await client.session()
            await client.prompt(session, "think about it\nlong", "r1")
            await client.prompt(session, "and then", "r2")
            await house.model().reached("silent")
            said = await why(client, session)
            (wait,) = said["waits"]
            assert (said["busy"], said["run_id"], said["prompt"], said["queued"]) == (
                True,
                "r1",
                "think about it long",
                1,
            )
            assert (wait["kind"], wait["what"]) == ("model", "scripted/scripted")
            assert wait["since"] < said["now"] < wait["until"]
            house.model().release("silent")
            await house.model().reached("speaking")
            (wait,) = (await why(client, session))["waits"]
            assert wait["kind"] == "writing"
            house.model().release("speaking")


async def test_a_session_says_which_permission_it_waits_for_and_then_which_tool_is_at_work() -> None:
    begun, finish = anyio.Event(), anyio.Event()

    async def careful(call: Call, hands: Hands) -> str:
        await hands.permit(Asking("careful", "write", "change /etc", "/etc", "/etc"))
        await hands.begin("/etc")
        begun.set()
        await finish.wait()
        return "changed"

    with fail_after(10):
        script = (turn(CallTool("c1", "careful")), turn(Say("done")))
        async with front(*script, tools=[PlainTool("careful", careful)]) as house:
            client = await house.client()
            session = await client.session()
            async with client.events() as seen:
                await client.prompt(session, "go", "r1")
                asked_for = await seen.next("permission_request")
                (wait,) = (await why(client, session))["waits"]
                assert (wait["kind"], wait["what"]) == ("permission", "careful /etc")
                assert wait["request_id"] == asked_for["id"]
                await client.http.post(client.path("/permissions/grant"), {"permission": asked_for, "action": "allow"})
                await begun.wait()
                (wait,) = (await why(client, session))["waits"]
                assert (wait["kind"], wait["what"]) == ("tool", "careful /etc")
                finish.set()
                await seen.next("run_complete")
            assert not (await why(client, session))["busy"]


async def test_a_session_says_what_its_sub_agent_waits_for() -> None:
    async def delegate(call: Call, hands: Hands) -> str:
        return await hands.delegate("look", title="Looking", kind="task")

    with fail_after(10):
        script = (turn(CallTool("c1", "agent")), turn(Hold("looking"), Say("seen")), turn(Say("done")))
        async with front(*script, tools=[PlainTool("agent", delegate)]) as house:
            client = await house.client(yolo=True)
            session = await client.session()
            await client.prompt(session, "go", "r1")
            await house.model().reached("looking")
            (wait,) = (await why(client, session))["waits"]
            assert wait["kind"] == "model"
            assert wait["session_id"].endswith("$$c1")
            house.model().release("looking")


async def test_a_session_says_that_its_model_is_asked_again_and_why() -> None:
    knobs = replace(QUICK, retry_first_seconds=500.0)
    with fail_after(10):
        async with front(turn(Fail(Trouble.BUSY, "too many people")), knobs=knobs) as house:
            client = await house.client()
            session = await client.session()
            async with client.events() as seen:
                await client.prompt(session, "go", "r1")
                while (said := await why(client, session)).get("waits", [{}])[0].get("kind") != "retry":
                    await seen.any()
                (wait,) = said["waits"]
                assert "too many people" in wait["what"]
                assert wait["until"] > said["now"]
                await client.cancel(session)
