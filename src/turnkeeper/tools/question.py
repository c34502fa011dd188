"""Tool `question`: ask the person, and wait for the answer."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, cast

import msgspec
from msgspec import Meta

from turnkeeper.protocol.requests import Answers, Choice, Question, QuestionResponse, QuestionType
from turnkeeper.tools.arguments import parsed
from turnkeeper.tools.making import Made, Parameters, Refusal
from turnkeeper.tools.tool import Answer, Call, Hands, Tool

QUESTIONS_MAX = 5
CHOICES_MIN = 2
CHOICES_MAX = 5
QUESTION_BYTES_MAX = 240
DESCRIPTION_BYTES_MAX = 600
CHOICE_BYTES_MAX = 200
CONFIRM_TITLE = "Ready to go?"
CONFIRM_DESCRIPTION = "Review your answers above and confirm."


class AskedChoice(Parameters, frozen=True):
    id: Annotated[str, Meta(description="A short name by which the answer refers to it.")]
    label: Annotated[str, Meta(description="What the person reads (at most 200 bytes).")]
    description: Annotated[str, Meta(description="What choosing it means (at most 200 bytes).")] = ""


class AskedQuestion(Parameters, frozen=True):
    type: Annotated[str, Meta(description="yes_no, single_choice, multi_choice or free_text.")]
    question: Annotated[str, Meta(description="The question (at most 240 bytes).")]
    description: Annotated[str, Meta(description="What the person needs to know to answer (at most 600 bytes).")]
    label: Annotated[str, Meta(description="One or two words for its tab.")] = ""
    choices: Annotated[
        tuple[AskedChoice, ...], Meta(description="2 to 5 choices, for single_choice and multi_choice.")
    ] = ()


class QuestionParameters(Parameters, frozen=True):
    questions: Annotated[tuple[AskedQuestion, ...], Meta(description="1 to 5 questions, asked together.")]
    confirm_title: Annotated[str, Meta(description="Heads the last page, where the answers are confirmed.")] = ""
    confirm_description: Annotated[str, Meta(description="Stands below that title.")] = ""


def question_tool() -> Tool:
    return QuestionTool()


class QuestionTool:
    """Made by hand, since its list may come as text, and `options` for `choices`."""

    name = "question"
    parallel = False
    _made = Made("question", QuestionParameters, lambda asked, hands: ask(asked, hands))

    @property
    def description(self) -> str:
        return self._made.description

    @property
    def parameters(self) -> Mapping[str, Any]:
        return self._made.parameters

    async def use(self, call: Call, hands: Hands) -> Answer:
        return await self._made.use(msgspec.structs.replace(call, input=normal(call.input)), hands)


def normal(given: Mapping[str, Any]) -> dict[str, Any]:
    """The list as a list, and each question's choices by their name."""
    questions: Any = given.get("questions")
    if isinstance(questions, str):
        questions = parsed(questions)[0]
    if isinstance(questions, list):
        questions = [renamed(one) for one in cast(list[Any], questions)]
    return {**given, "questions": questions}


def renamed(question: Any) -> Any:
    if not isinstance(question, dict):
        return question
    known = {key: value for key, value in cast(dict[str, Any], question).items() if value is not None}
    return {"choices": known.pop("options"), **known} if "options" in known else known


async def ask(asked: QuestionParameters, hands: Hands) -> Answer:
    questions = read(asked.questions)
    several = len(questions) > 1
    answers = await hands.question(
        questions,
        title=asked.confirm_title or (CONFIRM_TITLE if several else ""),
        description=asked.confirm_description or (CONFIRM_DESCRIPTION if several else ""),
    )
    if answers.cancelled:
        return Answer(content="The user did not answer and wants to go on differently.", stop_turn=True)
    return Answer(content=told(questions, answers))


def read(asked: Sequence[AskedQuestion]) -> tuple[Question, ...]:
    if not 1 <= len(asked) <= QUESTIONS_MAX:
        raise Refusal(f"1 to {QUESTIONS_MAX} questions can be asked at once, not {len(asked)}")
    questions = tuple(one(number, question) for number, question in enumerate(asked, start=1))
    if problems := [text for number, question in enumerate(questions, start=1) for text in misfits(number, question)]:
        raise Refusal("; ".join(problems))
    return questions


def one(number: int, asked: AskedQuestion) -> Question:
    try:
        kind = QuestionType(asked.type)
    except ValueError as error:
        raise Refusal(f"question {number}: {asked.type!r} is no type; use one of {', '.join(QuestionType)}") from error
    choices = tuple(Choice(choice.id, choice.label, choice.description) for choice in asked.choices)
    return Question(f"q{number}", kind, asked.question, asked.label, asked.description, choices)


def misfits(number: int, question: Question) -> Iterable[str]:
    where = f"question {number}"
    yield from sized(f"{where}: question", question.question, QUESTION_BYTES_MAX)
    yield from sized(f"{where}: description", question.description, DESCRIPTION_BYTES_MAX)
    if question.type not in (QuestionType.SINGLE_CHOICE, QuestionType.MULTI_CHOICE):
        return
    if not CHOICES_MIN <= len(question.choices) <= CHOICES_MAX:
        yield f"{where}: {CHOICES_MIN} to {CHOICES_MAX} choices are needed, not {len(question.choices)}"
    ids = [choice.id for choice in question.choices]
    if "" in ids or len(set(ids)) < len(ids):
        yield f"{where}: each choice needs an id of its own"
    for choice in question.choices:
        yield from sized(f"{where}: label of choice {choice.id}", choice.label, CHOICE_BYTES_MAX)
        if len(choice.description.encode()) > CHOICE_BYTES_MAX:
            yield f"{where}: description of choice {choice.id} is longer than {CHOICE_BYTES_MAX} bytes"


def sized(what: str, text: str, bytes_max: int) -> Iterable[str]:
    if not text.strip():
        yield f"{what} is empty"
    elif len(text.encode()) > bytes_max:
        yield f"{what} is longer than {bytes_max} bytes"


def told(questions: Sequence[Question], answers: Answers) -> str:
    known = {response.request_id: response for response in answers.responses}
    parts: list[str] = []
    for number, question in enumerate(questions, start=1):
        response = known.get(question.id, QuestionResponse(question.id))
        parts.append(f"Q{number}: {question.question}\n{answer_of(response)}")
    return "\n\n".join(parts)


def answer_of(response: QuestionResponse) -> str:
    parts: list[str] = []
    if response.selected_ids:
        parts.append(f"Selected: {msgspec.json.encode(list(response.selected_ids)).decode()}")
    if response.fill_in_text:
        parts.append(f"Answer: {response.fill_in_text}")
    if response.yes is not None:
        parts.append("Answer: yes" if response.yes else "Answer: no")
    if not parts:
        parts.append("Skipped")
    parts += [f"Note on {key}: {text}" if key else f"Note: {text}" for key, text in sorted(response.notes.items())]
    return "\n".join(parts)
