"""Do these answers fit the questions they are given to? What is left empty is skipped, and fits everything."""

from collections.abc import Iterator

from turnkeeper.protocol.requests import Answers, Question, QuestionResponse, Questions, QuestionType


def misfits(asked: Questions, said: Answers) -> Iterator[str]:
    """What is wrong, each in a sentence for whoever answered."""
    questions = {question.id: question for question in asked.questions}
    answered: set[str] = set()
    for response in said.responses:
        if is_empty(response):
            continue
        if response.request_id in answered:
            yield f"question {response.request_id!r} is answered twice"
        answered.add(response.request_id)
        question = questions.get(response.request_id)
        if question is None:
            yield f"there is no question {response.request_id!r}; known: {', '.join(questions)}"
        else:
            yield from (f"question {question.id!r}: {wrong}" for wrong in _misfits_of(question, response))


def is_empty(response: QuestionResponse) -> bool:
    """Whether it says nothing, but for notes."""
    return not (response.selected_ids or response.fill_in_text.strip() or response.yes is not None)


def _misfits_of(question: Question, response: QuestionResponse) -> Iterator[str]:
    match question.type:
        case QuestionType.YES_NO:
            if response.fill_in_text.strip():
                yield "it is answered by yes or no, not by a text"
        case QuestionType.SINGLE_CHOICE if len(response.selected_ids) > 1:
            yield "one choice can be selected"
        case _:
            pass
    if response.yes is not None and question.type is not QuestionType.YES_NO:
        yield "it is not answered by yes or no"
    known = [choice.id for choice in question.choices]
    if unknown := [id for id in response.selected_ids if id not in known]:
        yield f"there is no choice {', '.join(map(repr, unknown))}; known: {', '.join(known) or 'none'}"
