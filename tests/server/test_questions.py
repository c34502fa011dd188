"""Questions to a person: several at once, each answered by the name of its batch, none waited for where nobody is."""

from dataclasses import replace
from typing import Any

from anyio import fail_after

from tests.server.asking import asker, audit, ended, prompted, using
from turnkeeper.models.scripted import Say, turn
from turnkeeper.protocol.requests import Answers, Choice, Question, QuestionResponse, QuestionType
from turnkeeper.testing.front import Client, front
from turnkeeper.testing.scene import QUICK, PlainTool
from turnkeeper.tools.tool import Call, Hands


async def say(client: Client, batch: str, *, yes: bool) -> Any:
    body = {"batch_request_id": batch, "responses": [{"request_id": "q1", "yes": yes}]}
    return (await client.http.post(client.path("/questions/answer"), body, x_client_id=client.id)).json()


async def test_two_batches_wait_at_once_and_each_answer_goes_to_the_one_it_names() -> None:
    said: list[Answers] = []
    script = [using("question", {"ask": "A?"}, "c1"), using("question", {"ask": "B?"}, "c2")]
    with fail_after(10):
        async with front(*script, turn(Say("x")), turn(Say("y")), tools=[asker(said)]) as house:
            client = await house.client()
            async with client.events() as seen:
                await prompted(client, "go", "r1")
                first = await seen.next("question_batch_request")
                await prompted(client, "go", "r2")
                second = await seen.next("question_batch_request")
                assert [one["questions"][0]["question"] for one in (first, second)] == ["A?", "B?"]
                assert await say(client, second["id"], yes=True) == {"resolved": True}
                assert await seen.next("question_batch_notification") == {"batch_id": second["id"]}
                await ended(client, "r2")
                assert await say(client, first["id"], yes=False) == {"resolved": True}
                await ended(client, "r1")
    assert said == [
        Answers((QuestionResponse("q1", yes=True),)),
        Answers((QuestionResponse("q1", yes=False),)),
    ]


async def test_the_second_answer_and_one_to_nothing_settle_nothing() -> None:
    said: list[Answers] = []
    with fail_after(10):
        async with front(using("question", {"ask": "A?"}), turn(Say("x")), tools=[asker(said)]) as house:
            client, other = await house.client(), await house.client()
            async with client.events() as seen:
                assert await say(client, "", yes=True) == {"resolved": False}
                await prompted(client, "go", "r1")
                batch = (await seen.next("question_batch_request"))["id"]
                assert await say(client, batch, yes=True) == {"resolved": True}
                late = await say(other, batch, yes=False)
                assert late == {"resolved": False, "by": client.id, "decision": "answered"}
                await ended(client, "r1")
            assert await audit(client) == [("question", "answered", client.id)]
    assert said == [Answers((QuestionResponse("q1", yes=True),))]


async def test_a_client_that_names_no_batch_answers_what_has_waited_longest() -> None:
    said: list[Answers] = []
    script = [using("question", {"ask": "A?"}, "c1"), using("question", {"ask": "B?"}, "c2")]
    with fail_after(10):
        async with front(*script, turn(Say("x")), turn(Say("y")), tools=[asker(said)]) as house:
            client = await house.client()
            async with client.events() as seen:
                await prompted(client, "go", "r1")
                first = await seen.next("question_batch_request")
                await prompted(client, "go", "r2")
                second = await seen.next("question_batch_request")
                await say(client, "", yes=True)
                assert await seen.next("question_batch_notification") == {"batch_id": first["id"]}
                declined = (await client.http.post(client.path("/questions/cancel"))).json()
                assert declined == {"resolved": True}
                assert await seen.next("question_batch_notification") == {"batch_id": second["id"]}
                await ended(client, "r1")
                await ended(client, "r2")
    assert said == [Answers((QuestionResponse("q1", yes=True),)), Answers(cancelled=True)]


async def test_a_late_client_sees_the_question_and_a_cancel_takes_it_back_for_everybody() -> None:
    said: list[Answers] = []
    with fail_after(10):
        async with front(using("question", {"ask": "A?"}), turn(Say("x")), tools=[asker(said)]) as house:
            client = await house.client()
            async with client.events() as seen:
                session = await prompted(client, "go", "r1")
                batch = await seen.next("question_batch_request")
            late = await house.client()
            waiting = (await late.http.get(late.path("/snapshot"))).json()["questions"]
            assert [one["id"] for one in waiting] == [batch["id"]]
            async with late.events() as watched:
                await client.cancel(session)
                assert await watched.next("question_batch_notification") == {"batch_id": batch["id"]}
            assert (await ended(client, "r1"))["outcome"] == "cancelled"
    assert said == []


async def test_a_question_without_an_answer_in_time_or_without_anybody_there_is_declined() -> None:
    said: list[Answers] = []
    knobs = replace(QUICK, question_seconds=0.01)
    script = [using("question", {"ask": "A?"}), turn(Say("x")), using("question", {"ask": "B?"}), turn(Say("y"))]
    with fail_after(10):
        async with front(*script, tools=[asker(said)], knobs=knobs) as house:
            client = await house.client()
            await prompted(client, "go", "r1")
            await ended(client, "r1")
            await prompted(client, "go", "r2", interactive=False)
            await ended(client, "r2")
    assert said == [Answers(cancelled=True)] * 2


MIXED = [
    Question("sure", QuestionType.YES_NO, "Sure?"),
    Question("one", QuestionType.SINGLE_CHOICE, "Which?", choices=(Choice("a", "A"), Choice("b", "B"))),
    Question("some", QuestionType.MULTI_CHOICE, "Which ones?", choices=(Choice("a", "A"), Choice("b", "B"))),
    Question("name", QuestionType.FREE_TEXT, "What name?"),
]
UNFIT: list[tuple[dict[str, Any], str]] = [
    ({"request_id": "one", "selected_ids": ["zzz", "a"]}, "one choice can be selected"),
    ({"request_id": "one", "selected_ids": ["zzz"]}, "there is no choice 'zzz'; known: a, b"),
    ({"request_id": "some", "selected_ids": ["a", "c"]}, "there is no choice 'c'; known: a, b"),
    ({"request_id": "one", "yes": True}, "it is not answered by yes or no"),
    ({"request_id": "name", "yes": False}, "it is not answered by yes or no"),
    ({"request_id": "name", "selected_ids": ["a"]}, "there is no choice 'a'; known: none"),
    ({"request_id": "sure", "fill_in_text": "perhaps"}, "it is answered by yes or no, not by a text"),
    ({"request_id": "other", "yes": True}, "there is no question 'other'; known: sure, one, some, name"),
]
FIT: list[dict[str, Any]] = [
    {"request_id": "sure", "yes": False, "selected_ids": [], "fill_in_text": "", "notes": {"": "really"}},
    {"request_id": "one", "selected_ids": ["b"], "fill_in_text": "or so", "notes": {"b": "best"}},
    {"request_id": "some", "selected_ids": ["a", "b"], "yes": None},
    {"request_id": "name"},
    {"request_id": ""},
]


async def test_answers_that_do_not_fit_are_refused_with_what_is_wrong_and_the_questions_wait_on() -> None:
    said: list[Answers] = []

    async def ask(call: Call, hands: Hands) -> str:
        said.append(await hands.question(MIXED))
        return "asked"

    with fail_after(10):
        async with front(using("question", {}), turn(Say("x")), tools=[PlainTool("question", ask)]) as house:
            client = await house.client()
            async with client.events() as seen:
                await prompted(client, "go", "r1")
                batch = (await seen.next("question_batch_request"))["id"]
                for named in (batch, ""):
                    for unfit, why in UNFIT:
                        assert why in await refusal(client, named, unfit)
                assert "'sure' is answered twice" in await refusal(client, batch, FIT[0], FIT[0])
                body = {"responses": FIT}
                fitting = await client.http.post(client.path("/questions/answer"), body)
                assert fitting.json() == {"resolved": True}
                await ended(client, "r1")
    assert [response.request_id for response in said[0].responses] == ["sure", "one", "some", "name", ""]


async def refusal(client: Client, batch: str, *responses: Any) -> str:
    body = {"batch_request_id": batch, "responses": list(responses)}
    answered = await client.http.post(client.path("/questions/answer"), body)
    assert answered.status == 400
    return answered.json()["message"]
