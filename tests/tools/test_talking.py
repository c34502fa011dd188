"""Tools that speak with the person or with another agent: todos, question, agent."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.tools.scene import deeds, metadata, use
from turnkeeper.protocol.requests import Answers, Choice, Question, QuestionResponse, QuestionType
from turnkeeper.protocol.sessions import Todo, TodoStatus
from turnkeeper.testing.hands import FakeHands
from turnkeeper.tools.agent import agent_tool
from turnkeeper.tools.question import question_tool
from turnkeeper.tools.todos import todos_tool
from turnkeeper.tools.tool import Answer


def item(content: str, status: str) -> dict[str, str]:
    return {"content": content, "status": status, "active_form": f"{content}ing"}


async def test_the_list_is_replaced_and_counted(tmp_path: Path) -> None:
    hands = FakeHands(tmp_path)
    answer = await use(todos_tool(), hands, todos=[item("a", "in_progress"), item("b", "pending")])
    assert "1 pending, 1 in progress, 0 completed" in answer.content
    assert metadata(answer) == {
        "is_new": True,
        "todos": [item("a", "in_progress"), item("b", "pending")],
        "just_started": "aing",
        "completed": 0,
        "total": 2,
    }
    assert hands.memory.todos[hands.session_id] == (
        Todo("a", TodoStatus.IN_PROGRESS, "aing"),
        Todo("b", TodoStatus.PENDING, "bing"),
    )


async def test_what_was_just_completed_and_started_is_told(tmp_path: Path) -> None:
    hands = FakeHands(tmp_path)
    await use(todos_tool(), hands, todos=[item("a", "in_progress"), item("b", "pending"), item("c", "completed")])
    answer = await use(todos_tool(), hands, todos=[item("a", "completed"), item("b", "in_progress")])
    told = metadata(answer)
    assert (told["is_new"], told["just_completed"], told["just_started"]) == (False, ["a"], "bing")
    assert (told["completed"], told["total"]) == (1, 2)


async def test_an_empty_list_clears_the_list(tmp_path: Path) -> None:
    hands = FakeHands(tmp_path)
    await use(todos_tool(), hands, todos=[item("a", "pending")])
    answer = await use(todos_tool(), hands, todos=[])
    assert not answer.is_error
    assert hands.memory.todos[hands.session_id] == ()
    assert metadata(answer)["total"] == 0


@pytest.mark.parametrize(
    ("todos", "told"),
    [
        ([item("a", "pending"), item("b", "done")], "item 2: 'done' is no status"),
        ([item("", "pending")], "item 1: content"),
        ([{"content": "a", "status": "pending"}], "active_form"),
        ("nothing", "invalid parameters"),
        ([item("a", "pending")] * 201, "at most 200"),
    ],
)
async def test_a_list_that_cannot_be_kept_is_an_answer_and_the_old_one_stays(
    tmp_path: Path, todos: Any, told: str
) -> None:
    hands = FakeHands(tmp_path)
    answer = await use(todos_tool(), hands, todos=todos)
    assert answer.is_error
    assert told in answer.content
    assert not answer.stop_turn
    assert deeds(hands) == []


def asked(**more: Any) -> dict[str, Any]:
    return {"type": "yes_no", "question": "Go?", "description": "It is time.", "label": "Go"} | more


def choices(count: int) -> list[dict[str, str]]:
    return [{"id": f"c{number}", "label": f"Choice {number}"} for number in range(1, count + 1)]


async def ask(folder: Path, questions: Any, **more: Any) -> tuple[Answer, list[Question]]:
    seen: list[Question] = []

    def answer(given: Sequence[Question]) -> Answers:
        seen.extend(given)
        return Answers(tuple(QuestionResponse(question.id, yes=True) for question in given))

    hands = FakeHands(folder, answers=answer)
    return await use(question_tool(), hands, questions=questions, **more), seen


async def test_questions_come_as_a_list_or_as_its_text(tmp_path: Path) -> None:
    questions = [asked(), asked(type="single_choice", choices=choices(2))]
    native, seen = await ask(tmp_path, questions)
    for text in (json.dumps(questions), f"\n  {json.dumps(questions, indent=2)}  \n"):
        assert await ask(tmp_path, text) == (native, seen)
    assert seen[1] == Question(
        "q2",
        QuestionType.SINGLE_CHOICE,
        "Go?",
        "Go",
        "It is time.",
        (Choice("c1", "Choice 1"), Choice("c2", "Choice 2")),
    )


async def test_options_are_another_word_for_choices(tmp_path: Path) -> None:
    _, seen = await ask(tmp_path, [asked(type="multi_choice", options=choices(3))])
    assert [choice.id for choice in seen[0].choices] == ["c1", "c2", "c3"]


@pytest.mark.parametrize(
    ("questions", "told"),
    [
        ([], "1 to 5 questions"),
        ([asked()] * 6, "1 to 5 questions"),
        ([asked(question="x" * 241)], "question 1: question is longer than 240"),
        ([asked(question="é" * 121)], "question 1: question is longer than 240"),
        ([asked(question=" ")], "question 1: question is empty"),
        ([asked(description="")], "description is empty"),
        ([asked(description="x" * 601)], "longer than 600"),
        ([asked(), asked(type="single_choice", choices=choices(1))], "question 2: 2 to 5 choices"),
        ([asked(type="multi_choice", choices=choices(6))], "2 to 5 choices"),
        ([asked(type="multi_choice", choices=[*choices(1), *choices(1)])], "an id of its own"),
        ([asked(type="single_choice", choices=[*choices(1), {"id": "", "label": "x"}])], "an id of its own"),
        ([asked(type="single_choice", choices=[*choices(1), {"id": "b", "label": "x" * 201}])], "longer than 200"),
        (
            [asked(type="single_choice", choices=[*choices(1), {"id": "b", "label": "x", "description": "x" * 201}])],
            "longer than 200",
        ),
        ([asked(type="maybe")], "'maybe' is no type"),
        ("not a list", "invalid parameters"),
        (None, "invalid parameters"),
        ([7], "invalid parameters"),
    ],
)
async def test_questions_beyond_the_limits_are_refused_before_anybody_is_asked(
    tmp_path: Path, questions: Any, told: str
) -> None:
    answer, seen = await ask(tmp_path, questions)
    assert answer.is_error
    assert told in answer.content
    assert seen == []


async def test_exactly_the_limits_are_allowed(tmp_path: Path) -> None:
    five = [{"id": f"c{n}", "label": "x" * 200, "description": "x" * 200} for n in range(5)]
    question = asked(type="multi_choice", question="x" * 240, description="x" * 600, choices=five)
    answer, seen = await ask(tmp_path, [question] * 5)
    assert not answer.is_error
    assert len(seen) == 5


async def test_several_questions_are_headed_and_one_is_not(tmp_path: Path) -> None:
    titles: list[tuple[str, str]] = []

    class Noting(FakeHands):
        async def question(self, questions: Sequence[Question], *, title: str = "", description: str = "") -> Answers:
            titles.append((title, description))
            return Answers()

    hands = Noting(tmp_path)
    for questions, title in (([asked()], ""), ([asked(), asked()], ""), ([asked(), asked()], "Sure?")):
        await use(question_tool(), hands, questions=questions, confirm_title=title)
    standard = ("Ready to go?", "Review your answers above and confirm.")
    assert titles == [("", ""), standard, ("Sure?", standard[1])]


async def test_answers_are_told_in_the_order_of_the_questions(tmp_path: Path) -> None:
    responses = (
        QuestionResponse("q3", fill_in_text="my own"),
        QuestionResponse("q1", yes=False, notes={"": "not today"}),
        QuestionResponse("q2", selected_ids=("a", "b"), notes={"a": "mostly"}),
    )
    hands = FakeHands(tmp_path, answers=lambda questions: Answers(responses))
    questions = [asked(question=f"Question {number}?") for number in range(1, 5)]
    answer = await use(question_tool(), hands, questions=questions)
    assert answer.content == (
        "Q1: Question 1?\nAnswer: no\nNote: not today\n\n"
        'Q2: Question 2?\nSelected: ["a","b"]\nNote on a: mostly\n\n'
        "Q3: Question 3?\nAnswer: my own\n\n"
        "Q4: Question 4?\nSkipped"
    )


async def test_a_person_who_declines_ends_the_turn(tmp_path: Path) -> None:
    answer = await use(question_tool(), FakeHands(tmp_path), questions=[asked()])
    assert answer.stop_turn
    assert not answer.is_error


async def test_a_task_goes_to_a_sub_agent_and_its_text_comes_back(tmp_path: Path) -> None:
    hands = FakeHands(tmp_path)
    answer = await use(agent_tool(), hands, prompt="Find it")
    assert answer.content == "done: Find it"
    assert hands.delegations == [{"prompt": "Find it", "title": "New Agent Session", "kind": "task", "workdir": ""}]
    assert agent_tool().parallel


async def test_a_sub_agent_without_words_or_without_a_task_is_an_error_the_model_can_read(tmp_path: Path) -> None:
    silent = await use(agent_tool(), FakeHands(tmp_path, delegated=lambda prompt: "\n "), prompt="Find it")
    assert silent.is_error
    assert "no text output" in silent.content
    assert (await use(agent_tool(), FakeHands(tmp_path), prompt=" ")).is_error
    assert (await use(agent_tool(), FakeHands(tmp_path))).is_error
