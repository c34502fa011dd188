"""Hooks as programs: told by their input and their environment, side by side, stopped whole."""

import json
from pathlib import Path
from typing import Any

from anyio import fail_after

from tests.tools.shell_scene import SECONDS, alive, environment, pids
from turnkeeper.tools.hooks import Hook, HookAggregate
from turnkeeper.tools.hooks_run import Hooks

PAYLOAD: dict[str, Any] = {
    "session_id": "s",
    "tool_name": "bash",
    "tool_input": {"command": "ls", "file_path": "/a"},
    "tool_call_id": "c",
}


async def run(folder: Path, *hooks: Hook, event: str = "PreToolUse", **payload: Any) -> HookAggregate:
    with fail_after(SECONDS):
        known = Hooks({event: hooks}, workdir=folder, env={**environment(), "MINE": "client"})
        return await known.run(event, {**PAYLOAD, **payload})


async def test_a_hook_reads_the_event_in_both_tongues_and_says_yes(tmp_path: Path) -> None:
    said = await run(tmp_path, Hook("""cat > told; echo '{"decision":"allow","context":"seen"}'"""))
    assert (said.decision, said.context) == ("allow", "seen")
    assert json.loads((tmp_path / "told").read_text()) == {
        "event": "PreToolUse",
        "hook_event_name": "PreToolUse",
        "session_id": "s",
        "cwd": str(tmp_path),
        "tool_name": "bash",
        "tool_input": {"command": "ls", "file_path": "/a"},
        "tool_call_id": "c",
    }


async def test_a_hook_finds_the_essentials_in_its_environment(tmp_path: Path) -> None:
    await run(tmp_path, Hook("env > told; pwd > here"))
    lines = (tmp_path / "told").read_text().splitlines()
    env = {name: value for name, _, value in (line.partition("=") for line in lines)}
    for family in ("CRUSH", "TURNKEEPER"):
        names = ("EVENT", "TOOL_NAME", "SESSION_ID", "CWD", "PROJECT_DIR")
        assert [env[f"{family}_{name}"] for name in names] == ["PreToolUse", "bash", "s", str(tmp_path), str(tmp_path)]
        assert (env[f"{family}_TOOL_INPUT_COMMAND"], env[f"{family}_TOOL_INPUT_FILE_PATH"]) == ("ls", "/a")
    assert (env["CRUSH"], env["AGENT"], env["AI_AGENT"]) == ("1", "turnkeeper", "turnkeeper")
    assert (env["CLAUDE_PROJECT_DIR"], env["MINE"]) == (str(tmp_path), "client")
    assert (tmp_path / "here").read_text().strip() == str(tmp_path)


async def test_an_input_that_is_no_object_is_told_as_an_empty_one(tmp_path: Path) -> None:
    await run(tmp_path, Hook("cat > told"), tool_input="not an object")
    assert json.loads((tmp_path / "told").read_text())["tool_input"] == {}


async def test_codes_two_and_forty_nine_deny_and_halt_with_what_was_said(tmp_path: Path) -> None:
    denied = await run(tmp_path, Hook("echo no >&2; exit 2"))
    assert denied.refusal == "Tool call blocked by hook. Reason: no"
    halted = await run(tmp_path, Hook("echo stop >&2; exit 49"))
    assert (halted.halt, halted.refusal) == (True, "Turn halted by hook. Reason: stop")


async def test_all_hooks_of_an_event_run_at_once_and_one_no_is_enough(tmp_path: Path) -> None:
    """Each waits for the other: one after the other would never end."""
    meet = "touch {0}; until [ -e {1} ]; do :; done; "
    said = await run(
        tmp_path,
        Hook(meet.format("a", "b") + "exit 2"),
        Hook(meet.format("b", "a") + """echo '{"decision":"allow"}'"""),
    )
    assert said.decision == "deny"


async def test_a_hook_that_takes_too_long_is_stopped_with_all_it_started_and_has_no_opinion(tmp_path: Path) -> None:
    slow = "trap '' TERM; echo pid=$$ >> told; (setsid sleep 1000 & echo pid=$! >> told); sleep 1000"
    said = await run(tmp_path, Hook(slow, name="slow", timeout=0.5))
    assert (said.decision, said.failures) == ("none", ("slow: no answer within 0.5 seconds",))
    started = pids((tmp_path / "told").read_text())
    assert len(started) == 2
    assert alive(started) == []


async def test_what_a_hook_leaves_behind_is_stopped_too(tmp_path: Path) -> None:
    await run(tmp_path, Hook("sleep 1000 > /dev/null 2>&1 & echo pid=$! > told"))
    assert alive(pids((tmp_path / "told").read_text())) == []


async def test_a_hook_that_says_too_much_is_kept_within_bounds_and_has_failed(tmp_path: Path) -> None:
    flood = "yes | head -c 5000000; yes | head -c 500000 >&2"
    said = await run(tmp_path, Hook(flood, name="flood"), event="UserPromptSubmit")
    assert (said.context, said.failures) == ("", ("flood: it said more than 1048576 bytes",))
    cut = """echo '{"decision":"deny","reason":"'; yes | head -c 1100000; echo '"}'"""
    assert (await run(tmp_path, Hook(cut, blocking=True))).decision == "deny"
    assert (await run(tmp_path, Hook("yes | head -c 1048576"), event="UserPromptSubmit")).failures == ()


async def test_a_matcher_is_about_the_tool_or_the_source_or_the_kind_of_notice(tmp_path: Path) -> None:
    hook = Hook("touch ran", matcher="resume")
    await run(tmp_path, hook, event="SessionStart", source="startup")
    assert not (tmp_path / "ran").exists()
    await run(tmp_path, hook, event="SessionStart", source="resume")
    assert (tmp_path / "ran").exists()
