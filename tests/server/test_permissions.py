"""Permissions as clients meet them: asked once, answered once, seen by all, remembered as far as they were given."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from anyio import fail_after

from tests.server.asking import (
    answer,
    asked_for,
    audit,
    ended,
    prompted,
    results,
    running,
    shell,
    using,
    writer,
)
from turnkeeper.house.lasting import GrantsFile
from turnkeeper.models.scripted import CallTool, Say, turn
from turnkeeper.protocol.ids import RunId, SessionId
from turnkeeper.protocol.requests import Grant, Rule, Verdict
from turnkeeper.testing.front import Client, front
from turnkeeper.testing.scene import QUICK, PlainTool, scene
from turnkeeper.tools.tool import Call, Hands


async def grants(client: Client) -> list[Any]:
    return (await client.http.get(client.path("/permissions/grants"))).json()


async def test_the_first_answer_decides_and_the_loser_is_told_who_had_and_how() -> None:
    acts: list[str] = []
    with fail_after(10):
        async with front(*running("make"), tools=[shell(acts)]) as house:
            one, other = await house.client(), await house.client()
            async with one.events() as seen, other.events() as watched:
                await prompted(one, "go", "r1")
                asked, also = await asked_for(seen), await asked_for(watched)
                assert asked == also
                assert await answer(one, asked, "allow") == {"resolved": True}
                assert await answer(other, also, "deny") == {
                    "resolved": False,
                    "by": one.id,
                    "decision": "allowed",
                }
                told = {"tool_call_id": asked["tool_call_id"], "granted": True, "denied": False}
                assert await watched.next("permission_notification", granted=True) == told
                assert (await ended(one, "r1"))["outcome"] == "completed"
            assert await audit(one) == [("make", "allowed", one.id)]
    assert acts == ["make"]


async def test_a_client_that_comes_late_sees_what_waits_and_can_answer_it() -> None:
    acts: list[str] = []
    with fail_after(10):
        async with front(*running("make"), tools=[shell(acts)]) as house:
            one = await house.client()
            async with one.events() as seen:
                await prompted(one, "go", "r1")
                await asked_for(seen)
            late = await house.client()
            snapshot = (await late.http.get(late.path("/snapshot"))).json()
            (waiting,) = snapshot["permissions"]
            assert (waiting["tool_name"], waiting["subject"], waiting["run_id"]) == ("bash", "make", "r1")
            async with late.events(after=0) as replayed:
                assert (await asked_for(replayed))["id"] == waiting["id"]
            assert (await answer(late, waiting, "allow"))["resolved"]
            assert (await ended(late, "r1"))["outcome"] == "completed"
    assert acts == ["make"]


async def test_an_answer_is_bound_to_the_call_that_was_shown() -> None:
    with fail_after(10):
        async with front(*running("make"), tools=[shell([])]) as house:
            client = await house.client()
            async with client.events(detail="deltas") as seen:
                await prompted(client, "go", "r1")
                asked = await asked_for(seen)
                body: dict[str, Any] = {"permission": {**asked, "digest": "of another call"}, "action": "allow"}
                refused = await client.http.post(client.path("/permissions/grant"), body)
                assert refused.json() == {"resolved": False}
                body["permission"]["digest"] = asked["digest"]
                assert (await client.http.post(client.path("/permissions/grant"), body)).json()["resolved"]
                assert (await ended(client, "r1"))["outcome"] == "completed"


async def test_a_call_runs_in_the_environment_it_was_shown_with() -> None:
    """The settings may change while somebody thinks."""
    acts: list[str] = []
    env: list[str] = []
    with fail_after(10):
        async with front(*running("make", "make"), tools=[shell(acts, env=env)]) as house:
            client = await house.client()
            async with client.events(detail="deltas") as seen:
                workspace = house.stages["/front"].workspace
                workspace.means = replace(workspace.means, env={"WHERE": "before"})
                await prompted(client, "go", "r1")
                first = await asked_for(seen)
                workspace.means = replace(workspace.means, env={"WHERE": "after"})
                await answer(client, first, "allow")
                second = await asked_for(seen)
                await answer(client, second, "allow")
                await ended(client, "r1")
    assert env == ["before", "after"]
    assert first["digest"] != second["digest"]


async def test_what_was_granted_for_the_session_covers_that_shape_there_and_nothing_else() -> None:
    acts: list[str] = []
    script = running("git commit -m a", "git commit -m b", "git push")
    with fail_after(10):
        async with front(*script, tools=[shell(acts)]) as house:
            client = await house.client()
            async with client.events() as seen:
                session = await prompted(client, "go", "r1")
                await answer(client, await asked_for(seen), "allow_session")
                last = await asked_for(seen)
                assert last["description"] == "git push"
                (grant,) = await grants(client)
                assert (grant["scope"], grant["session_id"], grant["by"]) == ("session", session, client.id)
                rule = grant["rule"]
                assert (rule["tool"], rule["action"], rule["subject"]) == ("bash", "execute", "git commit:*")
                await answer(client, last, "deny", reason="not today")
                await ended(client, "r1")
            assert await results(client, session) == [
                "ran git commit -m a",
                "ran git commit -m b",
                "User denied permission: not today",
            ]
    assert acts == ["git commit -m a", "git commit -m b"]


async def test_a_grant_of_the_session_is_not_one_of_another_session_but_one_of_the_workspace_is() -> None:
    acts: list[str] = []
    script = [*running("make"), *running("make"), *running("make")]
    with fail_after(10):
        async with front(*script, tools=[shell(acts)]) as house:
            client = await house.client()
            async with client.events() as seen:
                await prompted(client, "go", "r1")
                await answer(client, await asked_for(seen), "allow_session")
                await ended(client, "r1")
                await prompted(client, "go", "r2")
                await answer(client, await asked_for(seen), "allow", scope="workspace")
                await ended(client, "r2")
                await prompted(client, "go", "r3")
                assert (await ended(client, "r3"))["outcome"] == "completed"
    assert acts == ["make"] * 3


async def test_what_is_granted_always_is_kept_for_every_workspace_until_it_is_revoked_in_one(tmp_path: Path) -> None:
    grant = Grant("g", Rule(Verdict.ALLOW, "bash", "execute", "make:*"), "always", SessionId("s"), 7, "me")
    one, other = GrantsFile(tmp_path / "data" / "grants.json"), GrantsFile(tmp_path / "data" / "grants.json")
    assert list(await one.grants()) == []
    await one.add([grant])
    assert list(await other.grants()) == list(await one.grants()) == [grant]
    assert not await other.remove("another")
    assert await other.remove("g")
    assert list(await one.grants()) == []


async def test_an_always_is_asked_for_no_more_until_it_is_revoked() -> None:
    acts: list[str] = []
    with fail_after(10):
        async with front(*running("make"), *running("make"), *running("make"), tools=[shell(acts)]) as house:
            client = await house.client()
            async with client.events() as seen:
                await prompted(client, "go", "r1")
                await answer(client, await asked_for(seen), "allow", scope="always")
                await ended(client, "r1")
                await prompted(client, "go", "r2")
                await ended(client, "r2")
                (grant,) = await grants(client)
                assert grant["scope"] == "always"
                revoked = client.path(f"/permissions/grants/{grant['id']}")
                assert (await client.http.delete(revoked)).status == 200
                assert (await client.http.delete(revoked)).status == 404
                assert await grants(client) == []
                await prompted(client, "go", "r3")
                await answer(client, await asked_for(seen), "deny")
                await ended(client, "r3")
    assert acts == ["make"] * 2


async def test_a_grant_given_in_a_session_that_is_deleted_is_kept_if_it_was_for_more_than_it() -> None:
    with fail_after(10):
        async with front(*running("make"), *running("ls x"), tools=[shell([])]) as house:
            client = await house.client()
            async with client.events() as seen:
                session = await prompted(client, "go", "r1")
                await answer(client, await asked_for(seen), "allow", scope="workspace")
                await ended(client, "r1")
                await prompted(client, "go", "r2", session=session)
                await answer(client, await asked_for(seen), "allow_session")
                await ended(client, "r2")
                assert {grant["scope"] for grant in await grants(client)} == {"workspace", "session"}
                await client.http.delete(client.path(f"/sessions/{session}"))
                assert {grant["scope"] for grant in await grants(client)} == {"workspace"}


async def test_several_sessions_wait_at_once_and_each_is_answered_by_itself() -> None:
    acts: list[str] = []
    with fail_after(10):
        script = [using("bash", {"command": f"make {n}"}, f"c{n}") for n in range(3)]
        async with front(*script, turn(Say("x")), turn(Say("y")), turn(Say("z")), tools=[shell(acts)]) as house:
            client = await house.client()
            async with client.events() as seen:
                sessions = [await prompted(client, "go", f"r{n}") for n in range(3)]
                asked = [await asked_for(seen) for _ in range(3)]
                assert {one["session_id"] for one in asked} == set(sessions)
                snapshot = (await client.http.get(client.path("/snapshot"))).json()
                assert len(snapshot["permissions"]) == 3
                # The last is answered first, and nobody waits for anybody.
                for one in reversed(asked):
                    await answer(client, one, "allow")
                    await ended(client, f"r{sessions.index(one['session_id'])}")
    assert sorted(acts) == ["make 0", "make 1", "make 2"]


async def test_deny_wins_over_a_grant_and_no_yolo_lifts_it() -> None:
    acts: list[str] = []
    with fail_after(10):
        async with front(*running("rm -rf x"), tools=[shell(acts)]) as house:
            client = await house.client(yolo=True)
            workspace = house.stages["/front"].workspace
            workspace.means = replace(workspace.means, rules=(Rule(Verdict.DENY, "bash", "", "rm:*"),))
            session = await prompted(client, "go", "r1", yolo=True)
            run = await ended(client, "r1")
            assert run["denied"] == ["bash(rm -rf x)"]
            assert await results(client, session) == ["Permission denied: a rule forbids it: bash(rm:*)"]
            assert await audit(client) == [("rm -rf x", "denied", "rule")]
    assert acts == []


async def test_a_run_says_over_the_stream_and_in_its_view_what_nobody_was_there_to_allow() -> None:
    acts: list[str] = []
    with fail_after(10):
        async with front(*running("make", "ls"), tools=[shell(acts)]) as house:
            client = await house.client()
            async with client.events(detail="deltas") as seen:
                session = await prompted(client, "go", "r1", interactive=False, allow=["bash(ls)"])
                ending = await seen.next("run_complete", run_id="r1")
                assert ending["denied"] == ["bash(make)"]
                assert "permission_request" not in {heard.kind for heard in seen.seen}
            assert (await ended(client, "r1"))["denied"] == ["bash(make)"]
            assert await results(client, session) == [
                "Permission denied: nobody is there to be asked, and no rule allows it",
                "ran ls",
            ]
            assert await audit(client) == [("make", "denied", "policy")]
    assert acts == ["ls"]


async def test_nobody_answering_in_time_is_a_no_that_everybody_sees() -> None:
    acts: list[str] = []
    with fail_after(10):
        knobs = replace(QUICK, permission_seconds=0.01)
        async with front(*running("make"), tools=[shell(acts)], knobs=knobs) as house:
            client = await house.client()
            async with client.events(detail="deltas") as seen:
                session = await prompted(client, "go", "r1")
                asked = await asked_for(seen)
                assert asked["expires_at"] > 0
                withdrawn = await seen.next("request_withdrawn", request_id=asked["id"])
                assert withdrawn["reason"] == "nobody answered in time"
                run = await ended(client, "r1")
            assert run["denied"] == ["bash(make)"]
            assert await results(client, session) == ["Permission denied: nobody answered in time"]
            late = await answer(client, asked, "allow")
            assert late == {"resolved": False, "decision": "withdrawn"}
    assert acts == []


async def test_a_cancel_withdraws_what_was_asked_for_everybody() -> None:
    acts: list[str] = []
    with fail_after(10):
        async with front(*running("make"), tools=[shell(acts)]) as house:
            client, other = await house.client(), await house.client()
            async with other.events() as watched:
                session = await prompted(client, "go", "r1")
                asked = await asked_for(watched)
                await client.cancel(session)
                told = await watched.next("permission_notification", denied=True)
                assert told["tool_call_id"] == asked["tool_call_id"]
                assert await answer(other, asked, "allow") == {"resolved": False, "decision": "withdrawn"}
                assert (await ended(client, "r1"))["outcome"] == "cancelled"
    assert acts == []


async def test_a_restart_ends_what_waited_clearly_and_nothing_can_be_answered_afterwards() -> None:
    acts: list[str] = []
    with fail_after(10):
        async with front(*running("make"), tools=[shell(acts)]) as house:
            client = await house.client()
            async with client.events() as seen:
                await prompted(client, "go", "r1")
                asked = await asked_for(seen)
            # As after a kill: the store is opened again by another workspace, while the first one knows nothing.
            async with scene(store=house.stores["/front"], id="again") as stage:
                run = await stage.workspace.ended(RunId("r1"))
                assert (run.outcome, run.failure and run.failure.retryable) == ("interrupted", True)
                assert (await stage.store.snapshot()).requests == ()
                (entry,) = await stage.store.settled()
                assert (entry.request.id, entry.answer, entry.reason) == (asked["id"], None, "the server stopped")
    assert acts == []


async def test_children_share_what_their_parent_was_granted() -> None:
    acts: list[str] = []

    async def give(call: Call, hands: Hands) -> str:
        return await hands.delegate("make it", title="Child", kind="task")

    script = [
        using("bash", {"command": "make"}, "c1"),
        turn(CallTool("c2", "agent", {})),
        using("bash", {"command": "make"}, "c3"),
        turn(Say("the child is done")),
        turn(Say("done")),
    ]
    with fail_after(10):
        async with front(*script, tools=[shell(acts), PlainTool("agent", give)]) as house:
            client = await house.client()
            async with client.events() as seen:
                await prompted(client, "go", "r1")
                await answer(client, await asked_for(seen), "allow_session")
                assert (await ended(client, "r1"))["text"] == "done"
    assert acts == ["make"] * 2


async def test_what_a_child_is_denied_is_said_by_the_run_that_sent_it() -> None:
    async def give(call: Call, hands: Hands) -> str:
        return await hands.delegate("make it", title="Child", kind="task")

    script = [
        turn(CallTool("c2", "agent", {})),
        using("bash", {"command": "make"}, "c3"),
        turn(Say("the child could not")),
        turn(Say("done")),
    ]
    with fail_after(10):
        async with front(*script, tools=[shell([]), PlainTool("agent", give)]) as house:
            client = await house.client()
            await prompted(client, "go", "r1", interactive=False)
            assert (await ended(client, "r1"))["denied"] == ["bash(make)"]


async def test_yolo_is_the_runs_of_one_client_and_everybody_sees_it() -> None:
    acts: list[str] = []
    script = [*running("make a"), *running("make b")]
    with fail_after(10):
        async with front(*script, tools=[shell(acts)]) as house:
            bold, careful = await house.client(), await house.client()
            async with careful.events(detail="deltas") as watched:
                skip = {"skip": True}
                await bold.http.post(bold.path("/permissions/skip"), skip, x_client_id=bold.id)
                assert await watched.next("skip_moved") == {"skip": True, "by": bold.id}
                await prompted(bold, "go", "r1")
                await ended(bold, "r1")
                await prompted(careful, "go", "r2")
                asked = await asked_for(watched)
                assert asked["subject"] == "make b"
                await answer(careful, asked, "deny")
                await ended(careful, "r2")
            mine = (await bold.http.get(bold.path("/permissions/skip"), x_client_id=bold.id)).json()
            theirs = (await careful.http.get(careful.path("/permissions/skip"), x_client_id=careful.id)).json()
            assert (mine["skip"], theirs["skip"]) == (True, False)
            assert theirs["by"] == [{"client_id": bold.id, "session_id": ""}]
            snapshot = (await careful.http.get(careful.path("/snapshot"))).json()
            assert snapshot["unasked"] == [{"client_id": bold.id, "session_id": ""}]
            assert await audit(bold) == [("make b", "denied", careful.id), ("make a", "allowed", "yolo")]
    assert acts == ["make a"]


async def test_yolo_can_be_about_one_session_alone_and_be_taken_back() -> None:
    acts: list[str] = []
    script = [*running("make a"), *running("make b"), *running("make c")]
    with fail_after(10):
        async with front(*script, tools=[shell(acts)]) as house:
            client = await house.client()
            async with client.events() as seen:
                session = await client.session()
                said: dict[str, Any] = {"skip": True, "session_id": session}
                await client.http.post(client.path("/permissions/skip"), said, x_client_id=client.id)
                await prompted(client, "go", "r1", session=session)
                await ended(client, "r1")
                await prompted(client, "go", "r2")
                await answer(client, await asked_for(seen), "deny", reason="no")
                await ended(client, "r2")
                said["skip"] = False
                await client.http.post(client.path("/permissions/skip"), said, x_client_id=client.id)
                await prompted(client, "go", "r3", session=session)
                await answer(client, await asked_for(seen), "deny")
                await ended(client, "r3")
    assert acts == ["make a"]


async def test_a_client_of_the_originals_that_opens_with_yolo_is_not_asked() -> None:
    """It never gives its name with a prompt, so what it asked for holds for prompts without one."""
    acts: list[str] = []
    with fail_after(10):
        async with front(*running("make"), tools=[shell(acts)]) as house:
            client = await house.client(yolo=True)
            assert (await client.http.get(client.path("/permissions/skip"))).json()["skip"]
            session = await client.session()
            assert (await client.prompt(session, "go", "r1")).status == 202
            await ended(client, "r1")
    assert acts == ["make"]


async def test_a_rule_for_a_path_is_asked_about_where_it_says_so_and_a_no_is_final_without_asking() -> None:
    acts: list[str] = []
    script = [
        using("edit", {"path": "/front/src/a.py"}, "c1"),
        using("write", {"path": "/front/generated/b.py"}, "c2"),
        turn(Say("done")),
    ]
    rules = (Rule(Verdict.ALLOW, "edit", "", "src/**"), Rule(Verdict.DENY, "edit", "", "generated/**"))
    with fail_after(10):
        async with front(*script, tools=[writer(acts), writer(acts, "write")]) as house:
            client = await house.client()
            workspace = house.stages["/front"].workspace
            workspace.means = replace(workspace.means, rules=rules)
            await prompted(client, "go", "r1")
            assert (await ended(client, "r1"))["denied"] == ["write(/front/generated/b.py)"]
    assert acts == ["/front/src/a.py"]


async def test_an_answer_without_a_reason_ends_the_turn_and_one_with_a_reason_goes_to_the_model() -> None:
    acts: list[str] = []
    with fail_after(10):
        async with front(*running("make"), tools=[shell(acts)]) as house:
            client = await house.client()
            async with client.events() as seen:
                session = await prompted(client, "go", "r1")
                await answer(client, await asked_for(seen), "deny")
                await ended(client, "r1")
                assert await results(client, session) == ["User denied permission"]
                assert len(house.model().questions) == 1
                await prompted(client, "again", "r2", session=session)
                assert (await ended(client, "r2"))["text"] == "done"


async def test_who_is_asked_is_shown_the_very_rule_that_allowing_it_for_longer_keeps() -> None:
    with fail_after(10):
        async with front(*running("git commit -m x", "make | sh"), tools=[shell([])]) as house:
            client = await house.client()
            async with client.events(detail="deltas") as seen:
                await prompted(client, "go", "r1")
                first = await asked_for(seen)
                body = {"permission": first, "action": "allow", "scope": "workspace"}
                await client.http.post(client.path("/permissions/grant"), body)
                second = await asked_for(seen)
                await client.http.post(client.path("/permissions/grant"), body | {"permission": second})
                await ended(client, "r1")
                kept = (await client.http.get(client.path("/permissions/grants"))).json()
    assert first["rules"] == ["bash:execute(git commit:*)"]
    assert [(one["rule"]["tool"], one["rule"]["subject"]) for one in kept] == [("bash", "git commit:*")]
    # A line of several commands has no shape: it can be allowed this once only.
    assert "rules" not in second
