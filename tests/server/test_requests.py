"""What runs ask of people, asked of everybody and answered by the first."""

from dataclasses import replace
from typing import Any

import anyio
import pytest
from anyio import fail_after

from tests.server.moments import ASKING, QUESTIONING, Scene, standing, told
from turnkeeper.models.scripted import CallTool, Say, turn
from turnkeeper.testing.front import Client, front
from turnkeeper.testing.scene import QUICK, PlainTool
from turnkeeper.tools.tool import Asking, Call, Hands

NOTIFIED = {"tool_call_id": "c1", "granted": False, "denied": False}
GRANTED = NOTIFIED | {"granted": True}
DENIED = NOTIFIED | {"denied": True}
PERMISSION = {
    "tool_call_id": "c1",
    "tool_name": "careful",
    "description": "may I?",
    "action": "execute",
    "params": {"n": 1},
    "path": "/p",
}


def asked(scene: Scene) -> Any:
    return next(heard.payload for heard in scene.events.seen if heard.kind.endswith("_request"))


async def grant(client: Client, request: Any, action: str, **more: str) -> Any:
    answered = await client.http.post(
        client.path("/permissions/grant"), {"permission": request, "action": action, **more}
    )
    return answered.status, answered.json()


def notified(scene: Scene) -> list[Any]:
    return [heard.payload for heard in scene.events.seen if heard.kind == "permission_notification"]


async def last_result(scene: Scene) -> tuple[str, ...]:
    messages = await scene.client.messages(scene.session)
    return next(told(message) for message in reversed(messages) if message["role"] == "tool")


async def test_a_permission_is_asked_of_all_answered_by_one_and_told_to_the_others() -> None:
    with fail_after(5):
        async with standing(ASKING) as scene:
            other = await scene.house.client()
            async with other.events() as watched:
                late = await watched.next("permission_request")
                first = await grant(scene.client, asked(scene), "allow")
                granted = await watched.next("permission_notification", granted=True)
                second = await grant(other, asked(scene), "allow")
                await scene.events.next("run_complete")
            result = await last_result(scene)
    request = asked(scene)
    assert {key: request[key] for key in PERMISSION} == PERMISSION
    assert set(request) == {*PERMISSION, "id", "session_id"}
    assert request["session_id"] == scene.session
    assert late == request
    # Whoever came too late learns what was decided.
    assert (first, second) == ((200, {"resolved": True}), (200, {"resolved": False, "decision": "allowed"}))
    assert granted == GRANTED
    assert notified(scene) == [NOTIFIED, GRANTED]
    assert result == ("tool", "result c1: used", "(stop)")


async def test_of_many_answers_at_once_exactly_one_settles_it() -> None:
    answers: list[Any] = []
    with fail_after(5):
        async with standing(ASKING) as scene:

            async def answer(action: str) -> None:
                answers.append(await grant(scene.client, asked(scene), action))

            async with anyio.create_task_group() as people:
                for action in ("allow", "deny", "allow_session", "deny", "allow"):
                    people.start_soon(answer, action)
            await scene.events.next("run_complete")
            grants = (await scene.client.http.get(scene.client.path("/permissions/grants"))).json()
    assert sorted(body["resolved"] for _, body in answers) == [False, False, False, False, True]
    assert notified(scene) == [NOTIFIED, GRANTED]
    # Whoever lost grants nothing, for no session.
    assert grants == []


async def test_after_a_no_a_yes_comes_too_late() -> None:
    with fail_after(5):
        async with standing(ASKING) as scene:
            denied = await grant(scene.client, asked(scene), "deny")
            late = await grant(scene.client, asked(scene), "allow")
            ending = await scene.events.next("run_complete")
            result = await last_result(scene)
    assert (denied, late) == ((200, {"resolved": True}), (200, {"resolved": False, "decision": "denied"}))
    assert notified(scene) == [NOTIFIED, DENIED]
    assert result == ("tool", "error c1: User denied permission", "(stop)")
    # A plain no ends the turn, in order: it was no failure, and nobody cancelled anything.
    assert {key: ending.get(key) for key in ("error", "cancelled")} == {"error": None, "cancelled": None}


async def test_a_no_with_a_reason_is_something_the_model_can_work_with() -> None:
    with fail_after(5):
        async with standing(ASKING) as scene:
            await grant(scene.client, asked(scene), "deny", reason="not there")
            ending = await scene.events.next("run_complete")
            result = await last_result(scene)
    assert result == ("tool", "error c1: User denied permission: not there", "(stop)")
    assert ending["text"] == "done"


async def test_an_answer_to_nothing_settles_nothing() -> None:
    with fail_after(5):
        async with front() as house:
            client = await house.client()
            unknown = await grant(client, {"id": "unknown", "params": None}, "allow_session")
            grants = (await house.http.get(client.path("/permissions/grants"))).json()
    assert (unknown, grants) == ((200, {"resolved": False}), [])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"permission": {"id": "P", "params": None}, "action": "perhaps"}, "invalid permission action"),
        ({"permission": {"id": "P"}, "action": "allow"}, "failed to decode request: permission.params is missing"),
        (
            {"permission": {"id": "P", "tool_name": "bash", "params": 3}, "action": "allow"},
            "failed to decode request: permission.params must be an object, a string or null",
        ),
    ],
)
async def test_an_answer_that_is_none_is_refused(body: Any, message: str) -> None:
    with fail_after(5):
        async with front() as house:
            client = await house.client()
            refused = await house.http.post(client.path("/permissions/grant"), body)
    assert (refused.status, refused.json()) == (400, {"message": message})


async def test_what_was_allowed_for_the_session_is_not_asked_again_and_can_be_taken_back() -> None:
    async def careful(call: Call, lent: Hands) -> str:
        await lent.permit(Asking("careful", "execute", "may I?", "/p", "subject", {"n": 1}))
        return "used"

    again = [turn(CallTool(f"c{number}", "careful", {})) for number in (1, 2)]
    with fail_after(5):
        async with front(
            *again,
            turn(Say("both")),
            turn(CallTool("c3", "careful", {})),
            turn(Say("third")),
            tools=[PlainTool("careful", careful)],
        ) as house:
            client = await house.client()
            session = await client.session()
            async with client.events() as events:
                await client.prompt(session, "go", "r1")
                await grant(client, await events.next("permission_request"), "allow_session")
                await events.next("run_complete")
                unasked = [heard.payload["tool_call_id"] for heard in events.seen if heard.kind == "permission_request"]
                (kept,) = (await house.http.get(client.path("/permissions/grants"))).json()
                revoked = [
                    (await house.http.delete(client.path(f"/permissions/grants/{kept['id']}"))).status for _ in range(2)
                ]
                await client.prompt(session, "again", "r2")
                third = await events.next("permission_request")
                await grant(client, third, "allow")
                await events.next("run_complete")
            audit = (await house.http.get(client.path("/permissions/audit"))).json()
    assert unasked == ["c1"]
    assert (kept["scope"], kept["session_id"]) == ("session", session)
    assert revoked == [200, 404]
    assert third["tool_call_id"] == "c3"
    assert [(one["run_id"], one["decision"], one["scope"]) for one in audit] == [
        ("r2", "allowed", "once"),
        ("r1", "allowed", "session"),
    ]


async def test_where_nobody_is_to_be_asked_nobody_is_and_nothing_is_told() -> None:
    with fail_after(5):
        async with front(*ASKING.turns, *ASKING.turns, tools=[careful_tool()]) as house:
            client = await house.client(yolo=True)
            session = await client.session()
            shown = [(await house.http.get(client.path("/permissions/skip"))).json()]
            async with client.events() as events:
                await client.prompt(session, "go", "r1")
                await events.next("run_complete")
                unasked = {heard.kind for heard in events.seen}
                await house.http.post(client.path("/permissions/skip"), {"skip": False})
                shown.append((await house.http.get(client.path("/permissions/skip"))).json())
                await client.prompt(session, "again", "r2")
                request = await events.next("permission_request")
                # Asking nobody from now on settles nothing that has been asked.
                await house.http.post(client.path("/permissions/skip"), {"skip": True})
                pending = (await house.http.get(client.path("/snapshot"))).json()["permissions"]
                await grant(client, request, "allow")
                await events.next("run_complete")
            yolo = (await house.http.get(client.path())).json()["yolo"]
    assert "permission_request" not in unasked
    assert "permission_notification" not in unasked
    assert [one["skip"] for one in shown] == [True, False]
    assert [one["id"] for one in pending] == [request["id"]]
    assert yolo is True


def careful_tool() -> PlainTool:
    async def careful(call: Call, lent: Hands) -> str:
        await lent.permit(Asking("careful", "execute", "may I?", "/p", "subject", {"n": 1}))
        return "used"

    return PlainTool("careful", careful)


async def test_a_permission_nobody_answers_is_withdrawn_in_time_and_the_run_goes_on() -> None:
    with fail_after(5):
        async with standing(ASKING, knobs=replace(QUICK, permission_seconds=0.01)) as scene:
            ending = await scene.events.next("run_complete")
            late = await grant(scene.client, asked(scene), "allow")
            result = await last_result(scene)
    assert notified(scene) == [NOTIFIED, DENIED]
    assert late == (200, {"resolved": False, "decision": "withdrawn"})
    assert result == ("tool", "error c1: Permission denied: nobody answered in time", "(stop)")
    assert ending["text"] == "done"


@pytest.mark.parametrize("named", [False, True], ids=["without a name, as the original's clients", "by name"])
async def test_a_question_is_answered_once_and_everybody_hears_that_it_was(named: bool) -> None:
    with fail_after(5):
        async with standing(QUESTIONING) as scene:
            batch = asked(scene)["id"] if named else ""
            body = {"batch_request_id": batch, "responses": [{"request_id": "q", "yes": True, "notes": {"q": "ok"}}]}
            answers = [(await scene.post("/questions/answer", body)).json() for _ in range(2)]
            await scene.events.next("run_complete")
            result = await last_result(scene)
    over = [heard.payload for heard in scene.events.seen if heard.kind == "question_batch_notification"]
    assert asked(scene) == {
        "id": asked(scene)["id"],
        "session_id": scene.session,
        "tool_call_id": "c1",
        "questions": [{"id": "q", "type": "yes_no", "question": "Really?", "description": "Tell."}],
    }
    assert [answer["resolved"] for answer in answers] == [True, False]
    assert over == [{"batch_id": asked(scene)["id"]}]
    assert result == ("tool", "result c1: said True", "(stop)")


async def test_questions_can_be_declined_without_a_word() -> None:
    with fail_after(5):
        async with standing(QUESTIONING) as scene:
            answers = [(await scene.post("/questions/cancel")).json() for _ in range(2)]
            await scene.events.next("run_complete")
            result = await last_result(scene)
    assert answers == [{"resolved": True}, {"resolved": False}]
    assert result == ("tool", "result c1: nobody said", "(stop)")


@pytest.mark.parametrize(
    ("others", "asks"), [(0, False), (1, True)], ids=["alone in the workspace", "while somebody else is there"]
)
async def test_who_says_that_nobody_is_there_is_not_asked_unless_others_can_be(others: int, asks: bool) -> None:
    with fail_after(5):
        async with front(*ASKING.turns, tools=[careful_tool()]) as house:
            client = await house.client()
            for _ in range(others):
                await house.client()
            session = await client.session()
            initialised = await house.http.post(client.path("/agent/init"), {"interactive": False})
            async with client.events() as events:
                await client.prompt(session, "go", "r1")
                if asks:
                    await grant(client, await events.next("permission_request"), "allow")
                ending = await events.next("run_complete")
            messages = await client.messages(session)
    assert (initialised.status, initialised.body) == (200, b"")
    assert ending["text"] == "done"
    result = (
        "result c1: used"
        if asks
        else ("error c1: Permission denied: nobody is there to be asked, and no rule allows it")
    )
    assert told(messages[2]) == ("tool", result, "(stop)")


async def test_setting_up_the_agent_disturbs_nothing_that_runs() -> None:
    with fail_after(5):
        async with standing(ASKING) as scene:
            for rest, body in (("/agent/init", {"interactive": False}), ("/agent/update", None)):
                assert (await scene.post(rest, body)).status == 200
            busy = (await scene.client.http.get(scene.client.path("/agent"))).json()
            await scene.go_on()
            ending = await scene.events.next("run_complete")
    assert (busy["is_busy"], busy["is_ready"]) == (True, True)
    assert ending["text"] == "done"
