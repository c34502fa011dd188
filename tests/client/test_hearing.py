"""One run heard among everything that is told: its words once, its ending once, and nothing of anybody else's."""

import itertools
import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as some

from turnkeeper.client.hearing import Hearing
from turnkeeper.client.news import Again, Called, Ended, More, News, Used
from turnkeeper.protocol.wire import encode
from turnkeeper.protocol.wire_stream import Envelope, read_envelope


def event(kind: str, payload: Any, type: str = "updated") -> Envelope:
    return read_envelope(encode({"type": kind, "payload": {"type": type, "payload": payload}}))


def said(text: str, *, session: str = "s", run: str = "r", id: str = "a", **more: Any) -> Envelope:
    """A whole message of the assistant's; without a run, as a server of the original tells it."""
    parts: list[Any] = [{"type": "text", "data": {"text": text}}] if text else []
    parts += more.pop("parts", [])
    whose = {"run_id": run} if run else {}
    message = {"id": id, "role": "assistant", "session_id": session, "parts": parts, "model": "m", "provider": "p"}
    return event("message", message | whose | more)


def complete(text: str = "", *, session: str = "s", run: str = "r", **more: Any) -> Envelope:
    named = {"run_id": run} if run else {}
    return event("run_complete", {"session_id": session, "message_id": "a", "text": text, **named, **more})


def words(news: list[News]) -> str:
    """What stands there after all of it."""
    text = ""
    for one in news:
        match one:
            case More(_, more):
                text += more
            case Again():
                text = ""
            case _:
                pass
    return text


def heard(hearing: Hearing, *events: Envelope) -> list[News]:
    return [news for one in events for news in hearing.hear(one)]


def endings(news: list[News]) -> list[tuple[str, str, str]]:
    return [
        (one.run.outcome, one.run.text, one.run.failure.message if one.run.failure else "")
        for one in news
        if isinstance(one, Ended)
    ]


FINISHED = [{"type": "finish", "data": {"reason": "end_turn", "time": 1}}]
CALL = [
    {"type": "tool_call", "data": {"id": "c", "name": "ls", "input": "{}", "finished": True}},
    {"type": "finish", "data": {"reason": "tool_use", "time": 1}},
]


def test_no_message_ends_a_run_whatever_its_reason_to_finish() -> None:
    hearing = Hearing("s", "r")
    news = heard(hearing, said("let me look", parts=CALL), said("done", id="b", parts=FINISHED))
    assert endings(news) == []
    assert [one.call.name for one in news if isinstance(one, Called)] == ["ls"]
    assert endings(heard(hearing, complete("done"))) == [("completed", "done", "")]


def test_an_ending_that_comes_first_carries_the_answer_itself() -> None:
    hearing = Hearing("s", "r")
    assert endings(heard(hearing, complete("the answer"))) == [("completed", "the answer", "")]
    assert heard(hearing, said("the answer"), complete("the answer")) == []


def test_other_sessions_other_runs_and_sub_agents_are_not_heard() -> None:
    hearing = Hearing("s", "r")
    others = [
        said("no", session="t", run="x"),
        said("no", run="x"),
        said("no", session="a$$c", run=""),
        complete("no", run="x"),
        complete("no", session="a$$c", run=""),
        complete("no", session="t", run=""),
        event("agent_event", {"type": "error", "error": "no", "run_id": "x", "session_id": "s"}),
        event("agent_event", {"type": "error", "error": "no", "session_id": "t"}),
        event("agent_event", {"type": "error", "error": "no"}),
        event("run_started", {"run_id": "x", "session_id": "s"}),
    ]
    assert heard(hearing, *others) == []


def test_a_run_that_went_wrong_says_what_and_one_that_was_cancelled_is_no_failure() -> None:
    assert endings(heard(Hearing("s", "r"), complete(error="overloaded"))) == [("failed", "", "overloaded")]
    cancelled = complete("half", error="context canceled", cancelled=True)
    assert endings(heard(Hearing("s", "r"), cancelled)) == [("cancelled", "half", "")]


def test_trouble_of_this_run_ends_it_at_a_server_that_tells_no_better_ending() -> None:
    ours = event("agent_event", {"type": "error", "error": "no key", "run_id": "r", "session_id": "s"})
    nobodys = event("agent_event", {"type": "error", "error": "no key", "session_id": "s"})
    assert endings(heard(Hearing("s", "r"), ours)) == [("failed", "", "no key")]
    assert endings(heard(Hearing("s", "r"), nobodys)) == [("failed", "", "no key")]
    started = event("run_started", {"run_id": "r", "session_id": "s"})
    assert endings(heard(Hearing("s", "r"), started, ours)) == []


def test_words_that_nobody_signed_are_not_ours_and_only_the_ending_is_believed() -> None:
    hearing = Hearing("s", "r")
    assert heard(hearing, said("somebody's", run=""), said("somebody's words", run="")) == []
    assert endings(heard(hearing, complete("ours"))) == [("completed", "ours", "")]


def test_without_a_run_id_the_words_and_the_ending_of_the_session_are_taken() -> None:
    hearing = Hearing("s")
    news = heard(hearing, said("The", run=""), said("The answer", run=""), said("x", session="t", run=""))
    assert words(news) == "The answer"
    assert endings(heard(hearing, complete("no", session="t", run=""))) == []
    assert endings(heard(hearing, complete("The answer.", run=""))) == [("completed", "The answer.", "")]


def test_a_model_that_begins_anew_takes_its_words_back() -> None:
    news = heard(Hearing("s", "r"), said("The wr"), said("The ri"), said("The right"))
    assert words(news) == "The right"
    assert sum(isinstance(one, Again) for one in news) == 1


def delta(offset: int, text: str, *, index: int = 0) -> Envelope:
    return event(
        "delta", {"message_id": "a", "session_id": "s", "part": "text", "index": index, "offset": offset, "text": text}
    )


def part(index: int, text: str) -> Envelope:
    said = {"message_id": "a", "session_id": "s", "index": index, "part": {"type": "text", "data": {"text": text}}}
    return event("part_said", said)


ANSWER = "The answer is forty-two."


@given(some.lists(some.integers(1, 6), max_size=12), some.randoms(use_true_random=False))
def test_fragments_in_any_order_twice_and_with_holes_are_each_heard_once(sizes: list[int], dice: random.Random) -> None:
    hearing = Hearing("s", "r")
    cuts = [0, *itertools.accumulate(sizes), len(ANSWER)]
    pieces = [(a, ANSWER[a:b]) for a, b in itertools.pairwise(sorted(min(cut, len(ANSWER)) for cut in cuts)) if a < b]
    told = [piece for piece in pieces * 2 if dice.random() < 0.8]
    dice.shuffle(told)
    news = heard(hearing, said(""), *(delta(offset, text) for offset, text in told))
    assert ANSWER.startswith(words(news))
    news += heard(hearing, part(0, ANSWER), part(0, ANSWER), said(ANSWER))
    assert words(news) == ANSWER
    assert not any(isinstance(one, Again) for one in news)


def test_results_of_tools_are_heard_once() -> None:
    result = {"type": "tool_result", "data": {"tool_call_id": "c", "name": "ls", "content": "a.txt", "is_error": False}}
    tool = event("message", {"id": "t", "role": "tool", "session_id": "s", "run_id": "r", "parts": [result]})
    news = heard(Hearing("s", "r"), tool, tool)
    assert [one.result.content for one in news if isinstance(one, Used)] == ["a.txt"]
