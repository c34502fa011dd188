"""Hooks in a run: around each call, also of a sub-agent; with a prompt; at the end; and when a person is needed."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from anyio import fail_after, to_thread
from msgspec import structs

from tests.server.asking import answer, asked_for, audit, ended, prompted, results, running, shell, using
from turnkeeper.engine.means import HookVerdict
from turnkeeper.house.toolbox import WorkspaceHooks
from turnkeeper.models.scripted import CallTool, Say, turn
from turnkeeper.protocol.config import Config, HookConfig
from turnkeeper.settings.load import load
from turnkeeper.testing.front import Client, front
from turnkeeper.testing.scene import PlainTool
from turnkeeper.tools.tool import Answer, Call, Hands


def hooks(folder: Path, **events: HookConfig | tuple[HookConfig, ...]) -> WorkspaceHooks:
    """Programs of a person who works in this folder, with a PATH and nothing else."""
    loaded = load(folder, env={"PATH": "/usr/bin:/bin", "HOME": str(folder)})
    config = Config(hooks={name: one if isinstance(one, tuple) else (one,) for name, one in events.items()})
    return WorkspaceHooks(replace(loaded, settings=structs.replace(loaded.settings, config=config)))


async def metadata(client: Client, session: str) -> list[Any]:
    return [
        json.loads(part["data"].get("metadata") or "{}")
        for message in await client.messages(session)
        for part in message["parts"]
        if part["type"] == "tool_result"
    ]


async def heard(pipe: Path) -> Any:
    """What a hook writes into a pipe, once it does."""
    return json.loads(await to_thread.run_sync(pipe.read_text, abandon_on_cancel=True))


async def test_a_hooks_no_is_told_to_the_model_and_the_tool_is_not_used(tmp_path: Path) -> None:
    acts: list[str] = []
    no = hooks(tmp_path, PreToolUse=HookConfig(command="echo not on my watch >&2; exit 2", name="guard"))
    with fail_after(20):
        async with front(*running("make"), tools=[shell(acts)], hooks=no) as house:
            client = await house.client()
            session = await prompted(client, "go", "r1")
            assert (await ended(client, "r1"))["text"] == "done"
            assert await results(client, session) == ["Tool call blocked by hook. Reason: not on my watch"]
            (told,) = await metadata(client, session)
            assert told["hook"]["hooks"] == [{"name": "guard", "decision": "deny", "reason": "not on my watch"}]
    assert acts == []


async def test_a_halt_ends_the_turn_without_asking_the_model_again(tmp_path: Path) -> None:
    halt = hooks(tmp_path, PreToolUse=HookConfig(command="echo enough >&2; exit 49"))
    with fail_after(20):
        async with front(*running("make"), tools=[shell([])], hooks=halt) as house:
            client = await house.client()
            session = await prompted(client, "go", "r1")
            assert (await ended(client, "r1"))["outcome"] == "completed"
            assert await results(client, session) == ["Turn halted by hook. Reason: enough"]
            assert len(house.model().questions) == 1


async def test_a_hooks_yes_spares_the_question_is_in_the_audit_and_lifts_no_rule(tmp_path: Path) -> None:
    acts: list[str] = []
    yes = hooks(tmp_path, PreToolUse=HookConfig(command="""echo '{"decision":"allow","context":"as agreed"}'"""))
    with fail_after(20):
        async with front(*running("make"), *running("make"), tools=[shell(acts)], hooks=yes) as house:
            client = await house.client()
            session = await prompted(client, "go", "r1")
            await ended(client, "r1")
            assert await results(client, session) == ["ran make\nas agreed"]
            await prompted(client, "go", "r2", deny=["bash(make:*)"])
            assert (await ended(client, "r2"))["denied"] == ["bash(make)"]
            assert await audit(client) == [("make", "denied", "rule"), ("make", "allowed", "hook")]
    assert acts == ["make"]


DEMAND = """echo '{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"look first"}}'"""


async def test_a_hook_may_demand_a_person_whatever_rules_allow_and_no_rules_no_is_lifted(tmp_path: Path) -> None:
    acts: list[str] = []
    script = [turn for _ in range(4) for turn in running("make")]
    with fail_after(20):
        demand = hooks(tmp_path, PreToolUse=HookConfig(command=DEMAND))
        async with front(*script, tools=[shell(acts)], hooks=demand) as house:
            client = await house.client()
            async with client.events() as seen:
                await prompted(client, "go", "r1", allow=["bash"])
                asked = await asked_for(seen)
                assert (asked["description"], asked.get("rules")) == ("make\nlook first", None)
                await answer(client, asked, "allow_session")
                await ended(client, "r1")
                await prompted(client, "go", "r2", yolo=True)
                await answer(client, await asked_for(seen), "allow")
                await ended(client, "r2")
            alone = await prompted(client, "go", "r3", allow=["bash"], interactive=False)
            await ended(client, "r3")
            assert await results(client, alone) == ["Permission denied: nobody is there to be asked, and look first"]
            await prompted(client, "go", "r4", deny=["bash(make:*)"])
            await ended(client, "r4")
            assert await audit(client) == [
                ("make", "denied", "rule"),
                ("make", "denied", "policy"),
                ("make", "allowed", client.id),
                ("make", "allowed", client.id),
            ]
            assert (await client.http.get(client.path("/permissions/grants"))).json() == []
    assert acts == ["make", "make"]


@pytest.mark.parametrize("action", ["allow", "deny"])
async def test_a_call_that_asks_for_nothing_waits_for_the_person_whom_a_hook_demands(
    tmp_path: Path, action: str
) -> None:
    acts: list[str] = []

    async def answers(call: Call, hands: Hands) -> str:
        return "the answer"

    async def sets(call: Call, hands: Hands) -> str:
        await hands.begin("the thing")
        acts.append("set")
        return "set"

    script = [turn(CallTool("c1", "answers", {"of": 1})), turn(CallTool("c2", "sets", {})), turn(Say("done"))]
    with fail_after(20):
        demand = hooks(tmp_path, PreToolUse=HookConfig(command=DEMAND))
        async with front(
            *script, tools=[PlainTool("answers", answers), PlainTool("sets", sets)], hooks=demand
        ) as house:
            client = await house.client()
            async with client.events() as seen:
                session = await prompted(client, "go", "r1")
                for tool in ("answers", "sets"):
                    asked = await asked_for(seen, tool_name=tool)
                    assert acts == []
                    await answer(client, asked, action, reason="not now")
                await ended(client, "r1")
            no = "User denied permission: not now"
            assert await results(client, session) == (["the answer", "set"] if action == "allow" else [no, no])
    assert acts == (["set"] if action == "allow" else [])


async def test_a_yes_to_one_call_is_no_yes_to_what_another_hook_makes_of_it(tmp_path: Path) -> None:
    acts: list[str] = []
    yes = HookConfig(command="""echo '{"decision":"allow"}'""")
    other = HookConfig(command="""echo '{"updated_input":{"command":"other"}}'""")
    with fail_after(20):
        async with front(
            *running("make"), tools=[shell(acts)], hooks=hooks(tmp_path, PreToolUse=(yes, other))
        ) as house:
            client = await house.client()
            async with client.events() as seen:
                await prompted(client, "go", "r1")
                await answer(client, await asked_for(seen, description="other"), "deny")
                await ended(client, "r1")
    assert acts == []


async def test_what_a_call_came_to_is_never_lost_to_what_is_heard_of_it(tmp_path: Path) -> None:
    async def lists(call: Call, hands: Hands) -> str:
        return "bad\udcff.txt"

    script = [turn(CallTool("c1", "lists", {})), turn(Say("done"))]
    with fail_after(20):
        hooked = hooks(tmp_path, PostToolUse=HookConfig(command="cat > told"))
        async with front(*script, tools=[PlainTool("lists", lists)], hooks=hooked) as house:
            client = await house.client()
            session = await prompted(client, "go", "r1")
            await ended(client, "r1")
            assert await results(client, session) == ["bad\ufffd.txt"]
    assert json.loads((tmp_path / "told").read_text())["tool_response"]["content"] == "bad\ufffd.txt"


class Deaf(WorkspaceHooks):
    """Hooks that fail at every result."""

    async def after_tool(self, call: Call, answer: Answer, *, session_id: str) -> HookVerdict:
        raise ValueError("cannot hear")


async def test_hooks_that_break_after_a_call_are_told_of_beside_its_result(tmp_path: Path) -> None:
    deaf = Deaf(load(tmp_path, env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}))
    with fail_after(20):
        async with front(*running("make"), tools=[shell([])], hooks=deaf) as house:
            client = await house.client()
            session = await prompted(client, "go", "r1", yolo=True)
            await ended(client, "r1")
            assert await results(client, session) == ["ran make\nA hook failed: cannot hear"]


async def test_a_hook_may_rewrite_what_is_run_and_a_person_is_asked_about_that(tmp_path: Path) -> None:
    acts: list[str] = []
    patch = """echo '{"updated_input":{"command":"make test"}}'"""
    with fail_after(20):
        hooked = hooks(tmp_path, PreToolUse=HookConfig(command=patch))
        async with front(*running("make"), tools=[shell(acts)], hooks=hooked) as house:
            client = await house.client()
            async with client.events() as seen:
                session = await prompted(client, "go", "r1")
                asked = await asked_for(seen)
                assert asked["description"] == "make test"
                await answer(client, asked, "allow")
                await ended(client, "r1")
            (told,) = await metadata(client, session)
            assert told["hook"]["input_rewrite"] is True
    assert acts == ["make test"]


async def test_hooks_see_what_sub_agents_do(tmp_path: Path) -> None:
    acts: list[str] = []

    async def give(call: Call, hands: Hands) -> str:
        return await hands.delegate("make it", title="Child", kind="task")

    script = [
        turn(CallTool("c1", "agent", {})),
        using("bash", {"command": "make"}, "c2"),
        turn(Say("could not")),
        turn(Say("done")),
    ]
    no = hooks(tmp_path, PreToolUse=HookConfig(matcher="bash", command="exit 2"))
    with fail_after(20):
        async with front(*script, tools=[shell(acts), PlainTool("agent", give)], hooks=no) as house:
            client = await house.client()
            await prompted(client, "go", "r1", yolo=True)
            assert (await ended(client, "r1"))["text"] == "done"
    assert acts == []


async def test_a_failing_hook_is_seen_and_denies_only_if_it_is_blocking(tmp_path: Path) -> None:
    acts: list[str] = []
    broken = HookConfig(command="echo boom >&2; exit 3", name="broken")
    with fail_after(20):
        async with front(*running("make"), tools=[shell(acts)], hooks=hooks(tmp_path, PreToolUse=broken)) as house:
            client = await house.client()
            session = await prompted(client, "go", "r1", yolo=True)
            await ended(client, "r1")
            (told,) = await metadata(client, session)
            assert told["hook"]["failures"] == ["broken: exit code 3: boom"]
        blocking = HookConfig(command="exit 3", name="broken", blocking=True)
        async with front(*running("make"), tools=[shell(acts)], hooks=hooks(tmp_path, PreToolUse=blocking)) as house:
            client = await house.client()
            session = await prompted(client, "go", "r1", yolo=True)
            await ended(client, "r1")
            assert await results(client, session) == ["Tool call blocked by hook. Reason: broken: exit code 3"]
    assert acts == ["make"]


async def test_after_a_call_a_hook_hears_its_result_and_may_add_to_it_or_object(tmp_path: Path) -> None:
    adds = HookConfig(command="""cat > told; echo '{"hookSpecificOutput":{"additionalContext":"lint is clean"}}'""")
    objects = HookConfig(command="echo tests fail >&2; exit 2", name="tests")
    with fail_after(20):
        hooked = hooks(tmp_path, PostToolUse=(adds, objects))
        async with front(*running("make"), tools=[shell([])], hooks=hooked) as house:
            client = await house.client()
            session = await prompted(client, "go", "r1", yolo=True)
            assert (await ended(client, "r1"))["text"] == "done"
            assert await results(client, session) == ["ran make\nlint is clean\nA hook objects: tests fail"]
            (told,) = await metadata(client, session)
            assert told["hook_after"]["hook_count"] == 2
    said = json.loads((tmp_path / "told").read_text())
    assert (said["hook_event_name"], said["tool_name"]) == ("PostToolUse", "bash")
    assert said["tool_response"] == {"content": "ran make", "is_error": False}


async def test_a_prompt_is_told_of_at_the_start_and_each_time_and_what_hooks_add_reaches_the_model(
    tmp_path: Path,
) -> None:
    begins = HookConfig(command="echo the branch is main")
    each = HookConfig(command="cat >> prompts; echo >> prompts; echo mind the tests")
    with fail_after(20):
        hooked = hooks(tmp_path, SessionStart=begins, UserPromptSubmit=each)
        async with front(turn(Say("one")), turn(Say("two")), hooks=hooked) as house:
            client = await house.client()
            session = await prompted(client, "first", "r1")
            await ended(client, "r1")
            await prompted(client, "second", "r2", session=session)
            await ended(client, "r2")
            first, second = ([message.text for message in question.messages] for question in house.model().questions)
    assert first[-1] == "<hook_context>\nthe branch is main\nmind the tests\n</hook_context>"
    assert second[-1] == "<hook_context>\nmind the tests\n</hook_context>"
    assert [json.loads(line)["prompt"] for line in (tmp_path / "prompts").read_text().splitlines()] == [
        "first",
        "second",
    ]


async def test_a_prompt_may_be_refused_and_the_run_says_by_whom(tmp_path: Path) -> None:
    with fail_after(20):
        hooked = hooks(tmp_path, UserPromptSubmit=HookConfig(command="echo no secrets here >&2; exit 2"))
        async with front(turn(Say("never")), hooks=hooked) as house:
            client = await house.client()
            await prompted(client, "my password is 1234", "r1")
            run = await ended(client, "r1")
            assert (run["outcome"], run["failure"]) == ("failed", {"cause": "policy", "message": "no secrets here"})
            assert house.model().questions == []


async def test_the_end_of_a_run_and_the_need_of_a_person_are_told(tmp_path: Path) -> None:
    for pipe in ("needed", "ended"):
        os.mkfifo(tmp_path / pipe)
    with fail_after(20):
        hooked = hooks(
            tmp_path,
            Notification=HookConfig(command="cat > needed", matcher="permission_prompt"),
            Stop=HookConfig(command="cat > ended"),
        )
        async with front(*running("make"), tools=[shell([])], hooks=hooked) as house:
            client = await house.client()
            async with client.events() as seen:
                session = await prompted(client, "go", "r1")
                asked = await asked_for(seen)
                assert (await heard(tmp_path / "needed"))["notification_type"] == "permission_prompt"
                await answer(client, asked, "allow")
                told = await heard(tmp_path / "ended")
    assert (told["session_id"], told["run_id"], told["outcome"], told["text"]) == (session, "r1", "completed", "done")
