"""Questions of every kind, answered by every key; put off, overtaken and refused, and nothing typed is lost."""

from collections.abc import Sequence
from typing import Any

import pytest
from textual._xterm_parser import XTermParser
from textual.widgets import Input, OptionList

from tests.server.asking import using
from tests.tui.dialogs.scene import Table, table
from tests.tui.scene import presses, snapshot
from turnkeeper.models.scripted import Say, turn
from turnkeeper.protocol.requests import Answers, Choice, Question, QuestionResponse, QuestionType
from turnkeeper.testing.scene import PlainTool
from turnkeeper.tools.tool import Call, Hands
from turnkeeper.tui.dialogs.question import QuestionDialog
from turnkeeper.tui.dialogs.question_page import Draft, QuestionPage
from turnkeeper.tui.wishes import Put

COLOURS = (Choice("r", "Red", "like a rose"), Choice("g", "Green"), Choice("b", "Blue"))
YES_NO = Question("q1", QuestionType.YES_NO, "Shall it be deleted?", "Delete", "It cannot be had back.")
SINGLE = Question("q2", QuestionType.SINGLE_CHOICE, "Which colour?", "Colour", choices=COLOURS)
MULTI = Question("q3", QuestionType.MULTI_CHOICE, "Which colours?", "Colours", choices=COLOURS)
TEXT = Question("q4", QuestionType.FREE_TEXT, "What is it called?", "Name")


def asks(said: list[Answers], questions: Sequence[Question]) -> PlainTool:
    async def act(call: Call, hands: Hands) -> str:
        said.append(await hands.question(questions, title="Sure?", description="Look it over."))
        return "asked"

    return PlainTool("question", act)


async def shown(at: Table) -> list[Any]:
    await at.prompt("go")
    await at.until(lambda: at.live.view.questions)
    return await again(at)


async def again(at: Table) -> list[Any]:
    (request,) = at.live.view.questions.values()
    left = await at.open(QuestionDialog(at.live, request.id))
    await at.calm()
    await at.until(lambda: at.app.focused is not None)
    return left


async def answered(keys: Sequence[str], *questions: Question) -> Answers:
    said: list[Answers] = []
    async with table(using("question", {}), turn(Say("done")), tools=[asks(said, questions)]) as at:
        await shown(at)
        await at.press(*keys)
        await at.until(lambda: at.is_closed)
        await at.workspace.runs.wait("r1")
    return said[0]


@presses("question.yes", "question.no")
@pytest.mark.parametrize(
    ("keys", "yes"), [("y", True), ("n", False), ("2", False), (["enter"], True), (["down", "enter"], False)]
)
async def test_yes_or_no_is_one_key(keys: Sequence[str], yes: bool) -> None:
    assert await answered(keys, YES_NO) == Answers((QuestionResponse("q1", yes=yes),))


@presses("question.pick")
@pytest.mark.parametrize("keys", [["3"], ["down", "down", "enter"]])
async def test_one_of_several_is_chosen_by_number_or_where_one_stands(keys: Sequence[str]) -> None:
    assert await answered(keys, SINGLE) == Answers((QuestionResponse("q2", ("b",)),))


@presses("question.mark")
async def test_several_of_several_are_marked_and_sent_with_enter() -> None:
    given = await answered(["space", "down", "space", "3", "2", "enter"], MULTI)
    assert given == Answers((QuestionResponse("q3", ("r", "b")),))


async def test_what_is_not_among_the_choices_can_be_written() -> None:
    given = await answered(["tab", *"y 1n".replace(" ", ""), "enter"], SINGLE)
    assert given == Answers((QuestionResponse("q2", (), "y1n"),))


async def test_enter_goes_on_with_the_choice_where_one_stands_if_none_was_chosen_and_a_click_only_chooses() -> None:
    said: list[Answers] = []
    async with table(using("question", {}), turn(Say("done")), tools=[asks(said, [MULTI])]) as at:
        await shown(at)
        await at.shows("⏎ go on")
        await at.pilot.click(OptionList, offset=(6, 2))
        await at.pilot.click(OptionList, offset=(6, 3))
        await at.pilot.click(OptionList, offset=(6, 2))
        await at.until(lambda: at.app.screen.query_one(QuestionPage).draft.chosen == ("b",))
        await at.press("3", "enter")
        await at.until(lambda: said)
    assert said == [Answers((QuestionResponse("q3", ("b",)),))]


@presses("question.note", "question.send")
async def test_a_note_goes_with_an_answer() -> None:
    said: list[Answers] = []
    async with table(using("question", {}), turn(Say("done")), tools=[asks(said, [TEXT])]) as at:
        await shown(at)
        await at.type("Bob")
        await at.press("ctrl+o")
        await at.type("for now")
        await at.press("ctrl+s")
        await at.until(lambda: said)
    assert said == [Answers((QuestionResponse("q4", (), "Bob", notes={"": "for now"}),))]


@presses("question.next", "question.previous", "question.go")
async def test_several_questions_are_pages_that_are_looked_over_before_they_are_sent() -> None:
    said: list[Answers] = []
    async with table(using("question", {}), turn(Say("done")), tools=[asks(said, [YES_NO, SINGLE, TEXT])]) as at:
        await shown(at)
        await at.shows("Delete", "Colour", "Name", "Confirm", "It cannot be had back.")
        await at.press("y", "2")
        await at.type("Bob\n")
        await at.shows("Sure?", "Look it over.", "Yes", "Green", "Bob")
        await at.press("ctrl+p")
        await at.type("by")
        await at.press("ctrl+n", "enter")
        await at.until(lambda: said)
    assert said == [
        Answers((QuestionResponse("q1", yes=True), QuestionResponse("q2", ("g",)), QuestionResponse("q4", (), "Bobby")))
    ]


@presses("question.decline")
async def test_questions_can_be_declined() -> None:
    assert await answered(["ctrl+x"], TEXT) == Answers(cancelled=True)


@presses("question.later")
async def test_what_was_written_is_there_again_when_the_question_was_put_off() -> None:
    said: list[Answers] = []
    async with table(using("question", {}), turn(Say("done")), tools=[asks(said, [TEXT])]) as at:
        await shown(at)
        await at.type("Half a n")
        await at.press("escape")
        assert at.is_closed
        await again(at)
        assert at.app.screen.query(Input).first().value == "Half a n"
        await at.press("end")
        await at.type("ame\n")
        await at.until(lambda: said)
    assert said[0].responses[0].fill_in_text == "Half a name"


async def test_it_goes_by_itself_when_somebody_else_has_answered_and_gives_back_what_was_written() -> None:
    async with table(using("question", {}), turn(Say("done")), tools=[asks([], [TEXT])]) as at:
        left = await shown(at)
        await at.type("my answer")
        (request,) = at.live.view.questions.values()
        await at.workspace.questions.answer(request.id, Answers((QuestionResponse("q4", (), "his answer"),)))
        await at.until(lambda: left == [Put("my answer")])
        await at.shows("Bob@desk answered")


async def test_whoever_was_typing_when_it_appeared_has_answered_nothing() -> None:
    async with table(using("question", {}), tools=[asks([], [YES_NO])]) as at:
        await at.prompt("go")
        await at.until(lambda: at.live.view.questions)
        (request,) = at.live.view.questions.values()
        await at.open(QuestionDialog(at.live, request.id))
        await at.press("y", "enter", "ctrl+x", "ctrl+s", "n")
        assert not at.is_closed
        assert at.live.view.questions


async def test_a_note_is_begun_by_the_key_as_a_terminal_sends_it() -> None:
    async with table(using("question", {}), tools=[asks([], [TEXT])]) as at:
        await shown(at)
        for said in ("Bib\x7f\x7fob\x1bn", "for\x7f\x7fx now"):
            for event in XTermParser().feed(said):
                at.app.post_message(event)
            await at.until(lambda: at.app.screen.query_one(".note").has_focus)
        await at.until(lambda: at.app.screen.query_one(QuestionPage).draft == Draft((), "Bob", "fx now"))


async def test_what_is_typed_while_it_appears_goes_on_where_it_was_begun() -> None:
    async with table(using("question", {}), tools=[asks([], [YES_NO])]) as at:
        session_id = await at.prompt("go")
        await at.until(lambda: at.live.view.questions)
        main = at.app.main
        assert main is not None
        await main.open(session_id)
        main.ask_next()
        await at.until(lambda: not at.is_closed)
        await at.type("yes, and now")
        await at.until(lambda: main.composer._area.text == "yes, and now")
        assert at.live.view.questions


async def test_an_answer_is_given_with_the_mouse() -> None:
    said: list[Answers] = []
    async with table(using("question", {}), turn(Say("done")), tools=[asks(said, [YES_NO])]) as at:
        await shown(at)
        await at.pilot.click(OptionList, offset=(6, 1))
        await at.until(lambda: said)
    assert said == [Answers((QuestionResponse("q1", yes=False),))]


@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=lambda size: f"{size[0]}")
@pytest.mark.parametrize("theme", ["turnkeeper-dark", "turnkeeper-light"])
async def test_how_it_looks(size: tuple[int, int], theme: str) -> None:
    async with table(using("question", {}), tools=[asks([], [YES_NO, MULTI, TEXT])], size=size) as at:
        await at.blank()
        await shown(at)
        at.app.theme = theme
        await at.press("y", "2")
        at.app.screen.query_one("#page-1").query_one(Input).cursor_blink = False
        await at.pilot.pause()
        snapshot(at.app, f"question-{size[0]}-{theme.removeprefix('turnkeeper-')}")
