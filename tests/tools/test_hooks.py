"""What hooks say, and what follows from it: pure tables."""

import pytest

from turnkeeper.tools.hooks import (
    Hook,
    HookAggregate,
    HookResult,
    Said,
    aggregate,
    event_named,
    heard,
    matching,
    problems_of,
)
from turnkeeper.tools.hooks import parse_stdout as parsed

A, B = Hook("a"), Hook("b")


def together(*said: Said, given: object = None) -> HookAggregate:
    return aggregate([HookResult(Hook(f"hook {at}"), one) for at, one in enumerate(said)], given)


@pytest.mark.parametrize(
    ("said", "decision", "halt", "reason", "context"),
    [
        ([], "none", False, "", ""),
        ([Said("allow")], "allow", False, "", ""),
        ([Said("allow"), Said("deny", reason="no")], "deny", False, "no", ""),
        ([Said("deny", reason="one"), Said("deny", reason="two")], "deny", False, "one\ntwo", ""),
        ([Said(context="a"), Said(context="b")], "none", False, "", "a\nb"),
        ([Said(), Said("allow")], "allow", False, "", ""),
        ([Said(halt=True, reason="stop"), Said("allow")], "allow", True, "stop", ""),
        ([Said("deny", halt=True, reason="once")], "deny", True, "once", ""),
        ([Said("allow", reason="not told")], "allow", False, "", ""),
        ([Said(reason="not told")], "none", False, "", ""),
        ([Said("allow"), Said("ask", reason="look")], "ask", False, "look", ""),
        ([Said("ask", reason="look"), Said("deny", reason="no")], "deny", False, "no", ""),
    ],
)
def test_a_no_wins_a_halt_stays_and_reasons_and_contexts_are_joined(
    said: list[Said], decision: str, halt: bool, reason: str, context: str
) -> None:
    whole = together(*said)
    assert (whole.decision, whole.halt, whole.reason, whole.context) == (decision, halt, reason, context)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", Said()),
        ("not json", Said()),
        ("[1]", Said()),
        ('{"decision":"allow"}', Said("allow")),
        ('{"decision":"deny","reason":"no"}', Said("deny", reason="no")),
        ('{"decision":null}', Said()),
        ('{"decision":"none"}', Said()),
        ('{"decision":" Deny "}', Said("deny")),
        ('\ufeff{"decision":"deny"}', Said("deny")),
        ('a remark\n\n  {"decision":"deny"}', Said("deny")),
        ('{"version":1,"decision":"allow"}', Said("allow")),
        ('{"version":9,"decision":"allow"}', Said("allow")),
        ('{"halt":true}', Said(halt=True)),
        ('{"context":"a"}', Said(context="a")),
        ('{"context":["a","","b"]}', Said(context="a\nb")),
        ('{"context":null}', Said()),
        ('{"updated_input":{"a":1}}', Said(updated_input={"a": 1})),
        ('{"updated_input":"{\\"a\\":1}"}', Said(updated_input={"a": 1})),
        ('{"updated_input":null}', Said()),
        # As Claude Code has it, in its newer and its older words.
        (
            '{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"a":1}}}',
            Said("allow", updated_input={"a": 1}),
        ),
        (
            '{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no","additionalContext":"c"}}',
            Said("deny", reason="no", context="c"),
        ),
        ('{"hookSpecificOutput":{"permissionDecision":"ask"}}', Said("ask")),
        ('{"decision":"block","hookSpecificOutput":{"permissionDecision":null}}', Said("deny")),
        ('{"decision":"approve"}', Said("allow")),
        ('{"decision":"block","reason":"no"}', Said("deny", reason="no")),
        ('{"continue":false,"stopReason":"enough"}', Said(halt=True, reason="enough")),
    ],
)
def test_both_forms_of_json_are_understood_and_what_is_neither_is_no_opinion(text: str, said: Said) -> None:
    assert parsed(text) == said


@pytest.mark.parametrize(
    "text",
    [
        '{"decision":"whatever"}',
        '{"decision":""}',
        '{"decision":1}',
        '{"decision":"deny","n":1e999}',
        '{"decision":"deny","reason":"\\ud800"}',
        '{"decision":"deny"',
        'a remark\n{"decision":"deny"} and another',
    ],
)
def test_whoever_began_to_answer_and_cannot_be_understood_has_failed_and_a_guard_then_denies(text: str) -> None:
    failed = parsed(text)
    assert failed.failure
    assert failed.decision == "none"
    assert aggregate([HookResult(Hook("a", blocking=True), failed)]).decision == "deny"


@pytest.mark.parametrize("event", ["PostToolUse", "UserPromptSubmit"])
def test_only_before_a_call_can_a_person_be_asked(event: str) -> None:
    assert parsed('{"decision":"ask"}', event=event).failure == f"it decided 'ask', which is no decision at {event}"


@pytest.mark.parametrize(
    ("said", "decision"),
    [
        ([Said("allow"), Said(updated_input={"a": 1})], "none"),
        ([Said("allow", updated_input={"a": 1}), Said(updated_input={"b": 1})], "none"),
        ([Said("allow", updated_input={"a": 1})], "allow"),
        ([Said("allow"), Said("allow", updated_input={"a": 1})], "allow"),
        ([Said("allow"), Said(updated_input="no object")], "allow"),
    ],
)
def test_a_yes_is_to_what_was_seen_and_not_to_what_another_hook_makes_of_it(said: list[Said], decision: str) -> None:
    assert together(*said, given={}).decision == decision


@pytest.mark.parametrize(
    ("code", "stderr", "said"),
    [
        (2, "no\n", Said("deny", reason="no")),
        (2, "", Said("deny", reason="blocked by hook")),
        (49, "stop", Said("deny", halt=True, reason="stop")),
        (49, "", Said("deny", halt=True, reason="turn halted by hook")),
        (1, "trace\nboom", Said(failure="exit code 1: boom")),
        (127, "", Said(failure="exit code 127")),
    ],
)
def test_the_exit_code_says_it_too_and_any_other_is_a_failure(code: int, stderr: str, said: Said) -> None:
    assert heard(code, '{"decision":"allow"}', stderr) == said


def test_what_is_said_at_the_start_and_with_a_prompt_is_context_without_json() -> None:
    assert heard(0, "remember this\n", "", event="UserPromptSubmit") == Said(context="remember this")
    assert heard(0, "remember this\n", "", event="PreToolUse") == Said()
    quoted = 'remember\n{ "a": 1 } and so on'
    assert heard(0, quoted, "", event="SessionStart") == Said(context=quoted)
    refused = 'a remark\n{"decision":"block"}'
    assert heard(0, refused, "", event="UserPromptSubmit") == Said("deny", context=refused)


@pytest.mark.parametrize(
    ("patches", "given", "whole"),
    [
        ([{"a": 1}, {"a": 2, "b": 3}], {"c": 4}, {"c": 4, "a": 2, "b": 3}),
        ([{"n": {"x": 1}}], {"n": {"y": 2}}, {"n": {"x": 1}}),
        ([None], {"a": 1}, None),
        (["not an object", {"b": 1}], {"a": 1}, {"a": 1, "b": 1}),
        ([{"a": 1}], "no object", None),
        ([{"a": 1}], None, None),
    ],
)
def test_patches_are_laid_on_the_input_in_order(patches: list[object], given: object, whole: object) -> None:
    assert together(*(Said(updated_input=patch) for patch in patches), given=given).updated_input == whole


def test_what_is_denied_is_not_rewritten() -> None:
    assert together(Said("deny"), Said(updated_input={"a": 1}), given={}).updated_input is None


def test_a_failing_hook_is_named_and_one_that_is_blocking_denies() -> None:
    failed = Said(failure="exit code 1")
    watching = aggregate([HookResult(Hook("a", name="watch"), failed)])
    assert (watching.decision, watching.failures) == ("none", ("watch: exit code 1",))
    guarding = aggregate([HookResult(Hook("a", name="guard", blocking=True), failed)])
    assert guarding.decision == "deny"
    assert guarding.refusal == "Tool call blocked by hook. Reason: guard: exit code 1"


def test_the_metadata_tells_what_each_hook_said() -> None:
    results = [
        HookResult(Hook("a", name="first", matcher="bash"), Said("allow", updated_input={"x": 1})),
        HookResult(Hook("b"), Said(failure="exit code 3")),
    ]
    assert aggregate(results, {}).metadata() == {
        "hook_count": 2,
        "decision": "allow",
        "input_rewrite": True,
        "hooks": [
            {"name": "first", "matcher": "bash", "decision": "allow", "input_rewrite": True},
            {"name": "b", "decision": "none"},
        ],
        "failures": ["b: exit code 3"],
    }
    assert aggregate([]).metadata() == {}


@pytest.mark.parametrize(
    "name", ["PreToolUse", "pretooluse", "pre_tool_use", "PRE_TOOL_USE", "preToolUse", "pre-tool-use"]
)
def test_the_name_of_an_event_is_read_however_it_is_written(name: str) -> None:
    assert event_named(name) == "PreToolUse"


def test_the_end_of_a_run_is_also_called_stop_and_a_name_nobody_knows_is_none() -> None:
    assert (event_named("Stop"), event_named("Nothing")) == ("RunComplete", "")


def test_a_matcher_is_searched_in_the_name_and_one_that_is_none_matches_nothing() -> None:
    hooks = [Hook("all"), Hook("star", matcher="*"), Hook("edits", matcher="edit|write"), Hook("broken", matcher="(")]
    assert [hook.command for hook in matching(hooks, "multiedit")] == ["all", "star", "edits"]
    assert [hook.command for hook in matching(hooks, "bash")] == ["all", "star"]


def test_the_same_command_twice_is_asked_once_and_an_empty_one_never() -> None:
    assert matching([A, A, B, Hook(" ")], "bash") == (A, B)


def test_what_is_wrong_with_a_configuration_is_told_by_its_place() -> None:
    told = problems_of({"PreToolUse": [Hook("", matcher="(", timeout=-1)], "Never": []})
    assert [line.partition(": ")[0] for line in told] == ["hooks.PreToolUse[0]"] * 3 + ["hooks.Never"]
    assert "command is required" in told[0]
    assert "invalid matcher regex" in told[2]
