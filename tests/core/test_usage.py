"""Money adds up, sizes replace, silence changes nothing, and an estimate is never charged."""

import pytest

from tests.core.conversations import answer, call, conversation, media, person, result, results
from turnkeeper.core.usage import (
    Counters,
    Prices,
    approximate,
    cost,
    counters,
    counters_after_summary,
    estimate,
    is_zero,
    known_or_estimated,
    priced,
    prompt_tokens,
    summary_tokens,
)
from turnkeeper.protocol.messages import Message, Reasoning
from turnkeeper.protocol.runs import Usage

PRICES = Prices(input=10, output=20, cache_write=12.5, cache_read=1)


def only(message: Message) -> Message:
    (numbered,) = conversation(message)
    return numbered


def test_a_question_costs_what_its_tokens_cost() -> None:
    assert cost(Usage(input_tokens=1000, output_tokens=2000), PRICES) == pytest.approx(0.05)
    cached = Usage(cache_write_tokens=1_000_000, cache_read_tokens=2_000_000)
    assert cost(cached, PRICES) == pytest.approx(14.5)


@pytest.mark.parametrize(
    ("usage", "prices", "dollars"),
    [
        (Usage(input_tokens=1000, cost=0.7), PRICES, 0.7),
        (Usage(input_tokens=1000, cost=0.7), Prices(input=10, flat_rate=True), 0.0),
        (Usage(input_tokens=1000, estimated=True), PRICES, 0.0),
        (Usage(), PRICES, 0.0),
    ],
)
def test_a_reported_price_wins_and_flat_rates_and_estimates_are_free(
    usage: Usage, prices: Prices, dollars: float
) -> None:
    assert cost(usage, prices) == dollars
    assert priced(usage, prices).cost == dollars


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (Usage(), Counters(None, None)),
        (Usage(estimated=True), Counters(None, None)),
        (Usage(input_tokens=5), Counters(5, None)),
        (Usage(output_tokens=7), Counters(None, 7)),
        (Usage(reasoning_tokens=9), Counters(None, None)),
        (Usage(input_tokens=5, output_tokens=7, estimated=True), Counters(5, 7)),
        (Usage(input_tokens=5, cache_read_tokens=20, cache_write_tokens=300, output_tokens=7), Counters(325, 7)),
    ],
)
def test_what_a_provider_says_nothing_about_stays_as_it_was_known(usage: Usage, expected: Counters) -> None:
    assert counters(usage) == expected


def test_the_context_holds_what_was_read_written_to_the_cache_and_read_from_it() -> None:
    assert prompt_tokens(Usage(input_tokens=1, cache_read_tokens=20, cache_write_tokens=300)) == 321


@pytest.mark.parametrize(
    "usage",
    [
        Usage(input_tokens=1),
        Usage(output_tokens=1),
        Usage(cache_read_tokens=1),
        Usage(cache_write_tokens=1),
        Usage(reasoning_tokens=1),
    ],
)
def test_usage_is_zero_only_if_every_counter_is(usage: Usage) -> None:
    assert is_zero(Usage(cost=1.0))
    assert not is_zero(usage)


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("é" * 6, 3)])
def test_four_bytes_are_about_one_token(text: str, tokens: int) -> None:
    assert approximate(text) == tokens


def test_what_the_provider_reports_is_kept() -> None:
    reported = Usage(output_tokens=1)
    assert known_or_estimated(reported, conversation(person("a long prompt")), None) == reported


def test_silence_is_estimated_from_both_sides() -> None:
    usage = known_or_estimated(Usage(), conversation(person("12345678")), only(answer("1234")))
    assert usage == Usage(input_tokens=3, output_tokens=1, estimated=True)


def test_thinking_counts_on_both_sides() -> None:
    thought = only(answer(Reasoning("12345678"), "1234"))
    usage = known_or_estimated(Usage(), [thought], thought)
    assert usage == Usage(input_tokens=approximate("assistant") + 3, output_tokens=3, estimated=True)


def test_a_call_the_model_made_is_output_alone() -> None:
    usage = known_or_estimated(Usage(), (), only(answer(call("a", "view", "12345678"))))
    assert usage == Usage(output_tokens=3, estimated=True)


def test_results_that_were_sent_are_input_alone() -> None:
    sent = conversation(results(result("abcd", "1234"), result("abcd", "12345678", is_error=True)))
    assert known_or_estimated(Usage(), sent, None) == Usage(input_tokens=1 + 2 + 3, estimated=True)
    pictured = estimate(conversation(results(media("abcd", "YWJj"))))
    assert pictured == 1 + 1 + approximate("image/png Loaded 4 bytes")


def test_only_results_of_tools_the_provider_ran_are_output() -> None:
    ours = only(answer())
    assert known_or_estimated(Usage(), (), ours) == Usage()
    theirs = only(answer(result("abcd", "1234")))
    assert known_or_estimated(Usage(), (), theirs) == Usage(output_tokens=2, estimated=True)


def test_without_anything_said_there_is_nothing_to_estimate() -> None:
    assert known_or_estimated(Usage(), (), None) == Usage()


def test_after_a_summary_the_context_is_the_summary() -> None:
    summary = only(answer(Reasoning("1234"), "12345678", is_summary=True))
    assert summary_tokens(Usage(output_tokens=50), summary) == 50
    assert summary_tokens(Usage(), summary) == 3
    assert summary_tokens(Usage(), only(answer())) == 0
    assert counters_after_summary(Usage(input_tokens=9000, output_tokens=50), summary) == Counters(0, 50)
