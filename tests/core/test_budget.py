"""A run asks its model only while nothing stands against it, and says why it stops."""

import pytest

from tests.core.conversations import call, calling, conversation, media, person, result, results
from turnkeeper.core.budget import (
    COMPACTIONS_MAX,
    Advice,
    Compact,
    GoOn,
    Limit,
    Room,
    Spent,
    Stop,
    advise,
    compact,
    looping,
    signature,
    steps,
)
from turnkeeper.protocol.messages import Message, ToolResult
from turnkeeper.protocol.runs import Cause, Failure, RunOptions

ROOM = Room(context_window=100_000)


def step(name: str, id: str = "x", output: str = "fine") -> tuple[Message, Message]:
    return calling(call(id, name)), results(result(id, output, name))


def run(*names: str) -> tuple[Message, ...]:
    """A prompt and a step for each name; an empty name is a step without calls."""
    said = [person("go")]
    for number, name in enumerate(names):
        said += step(name, f"call-{number}") if name else [calling("thinking aloud")]
    return conversation(*said)


@pytest.mark.parametrize(
    ("names", "circles"),
    [
        ([], False),
        (["a"] * 9, False),
        (list("abcdefghij"), False),
        ([*"aaaaa", *"bcdef"], False),
        ([*"aaaaaa", *"bcde"], True),
        (["a", "b"] * 5, False),
        ([""] * 10, False),
        ([*"aaaaa", *[""] * 5], False),
        ([*"aaaaaa", *[""] * 4], True),
        ([*"aaaaaa", *"bcdefghij"], False),
        ([*"bcdefghij", *"aaaaaa"], True),
    ],
)
def test_a_loop_is_the_same_step_more_than_five_times_in_the_last_ten(names: list[str], circles: bool) -> None:
    assert (looping(run(*names)) is not None) is circles


def test_a_loop_is_stopped_with_a_sentence_that_names_it() -> None:
    assert advise(RunOptions(), Spent(), ROOM, run(*"bcde", *["bash"] * 6)) == Stop(
        Limit.LOOP,
        "The run was stopped because it went in circles: the same tool calls (bash) with the same results "
        "6 times in the last 10 steps.",
    )


def test_the_same_call_with_other_results_is_no_loop() -> None:
    polling = [message for n in range(10) for message in step("job_output", f"call-{n}", f"line {n}")]
    assert looping(conversation(person("go"), *polling)) is None


def test_a_loop_is_seen_although_its_ids_repeat() -> None:
    repeated = [message for _ in range(10) for message in step("bash", "0")]
    assert looping(conversation(person("go"), *repeated)) is not None


def test_a_step_is_known_by_what_it_did_and_not_by_its_ids() -> None:
    one, again, other = call("1"), call("2"), call("1", input='{"path":"b"}')
    assert signature([one], ["x"]) == signature([again], ["x"])
    assert signature([one], ["x"]) != signature([other], ["x"])
    assert signature([one], ["x"]) != signature([one], ["y"])
    assert signature([one, again], ["x", "y"]) != signature([again], ["xy"])
    assert signature([], []) == ""


def test_the_outcome_of_a_call_is_its_text_its_error_or_its_media_and_nothing_if_there_is_none() -> None:
    calls = calling(call("a"), call("b"), call("c"), call("d"))
    given: list[ToolResult] = [result("a", "text"), result("b", "no", is_error=True), media("c", "YWJj")]
    ((_, outcomes),) = steps(conversation(calls, results(*given)))
    assert outcomes == ("text", "no", "YWJj", "")


@pytest.mark.parametrize(
    ("limits", "spent", "advice"),
    [
        (RunOptions(), Spent(steps=10**6, tokens=10**9, cost=1e6, seconds=1e6), GoOn()),
        (RunOptions(steps_max=3), Spent(steps=2), GoOn()),
        (RunOptions(steps_max=3), Spent(steps=3), Stop(Limit.STEPS, "The run reached its limit of 3 steps.")),
        (RunOptions(steps_max=1), Spent(steps=1), Stop(Limit.STEPS, "The run reached its limit of 1 step.")),
        (RunOptions(steps_max=0), Spent(), Stop(Limit.STEPS, "The run reached its limit of 0 steps.")),
        (RunOptions(tokens_max=100), Spent(tokens=60, next_tokens=40), GoOn()),
        (
            RunOptions(tokens_max=100),
            Spent(tokens=60, next_tokens=41),
            Stop(Limit.TOKENS, "The run reached its limit of tokens: 60 tokens of 100 are used."),
        ),
        (RunOptions(cost_max=0.5), Spent(cost=0.2, next_cost=0.1), GoOn()),
        (
            RunOptions(cost_max=0.5),
            Spent(cost=0.45, next_cost=0.1),
            Stop(Limit.COST, "The run reached its limit of money: 0.4500 of 0.5000 US dollars are spent."),
        ),
        (RunOptions(seconds_max=1.5), Spent(seconds=1.4), GoOn()),
        (
            RunOptions(seconds_max=1.5),
            Spent(seconds=1.5),
            Stop(Limit.TIME, "The run reached its limit of 1.5 seconds."),
        ),
    ],
)
def test_a_limit_holds_before_the_question_that_would_cross_it(
    limits: RunOptions, spent: Spent, advice: Advice
) -> None:
    assert advise(limits, spent, ROOM, run("a")) == advice


def test_a_full_context_is_compacted_unless_that_is_switched_off() -> None:
    full = Spent(context_tokens=80_000)
    assert advise(RunOptions(), full, ROOM, run("a")) == Compact()
    assert advise(RunOptions(), full, Room(context_window=100_000, compact=False), run("a")) == GoOn()
    assert advise(RunOptions(), full, Room(), run("a")) == GoOn()


def test_compacting_without_progress_comes_to_an_end() -> None:
    assert compact(Spent(compactions=COMPACTIONS_MAX - 1)) == Compact()
    stopped = compact(Spent(compactions=COMPACTIONS_MAX))
    assert isinstance(stopped, Stop)
    assert stopped.limit is Limit.CONTEXT
    assert advise(RunOptions(), Spent(context_tokens=99_999, compactions=2), ROOM, ()) == stopped


def test_a_limit_is_a_failure_a_person_can_read() -> None:
    stop = Stop(Limit.STEPS, "The run reached its limit of 3 steps.")
    assert stop.failure == Failure(cause=Cause.LIMIT, message="The run reached its limit of 3 steps.")
