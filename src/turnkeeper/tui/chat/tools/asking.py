"""Lists of what is to do, and questions with their answers."""

import json
import re
from collections.abc import Mapping
from typing import Any, cast

from textual.content import Content

from turnkeeper.tui.chat.ink import Ink, cleaned, counted, indented, lines_of, styled, wrapped
from turnkeeper.tui.chat.items import Used
from turnkeeper.tui.chat.shown import Body, Facts, Note, Shown, failure_body, output_body

_ANSWER = re.compile(r"^Q\d+: ", re.MULTILINE)


def todos(used: Used, facts: Facts, ink: Ink) -> Shown:
    items = facts.items("todos")
    done = sum(one.get("status") == "completed" for one in items)
    notes: tuple[Note, ...] = ((f"{done} of {len(items)} done", "muted"),) if items else ()
    if used.is_error:
        return Shown("To-dos", "", notes, (failure_body(used, ink),))
    finished = facts.told.get("just_completed")
    new = frozenset(cast(list[str], finished)) if isinstance(finished, list) else frozenset[str]()
    lines = [line for one in items for line in _todo(one, new, ink)]
    shown = lines if ink.expanded else lines[: ink.room]
    return Shown("To-dos", "", notes, (Body(lines_of(shown), len(lines) - len(shown)),))


def _todo(one: Mapping[str, Any], new: frozenset[str], ink: Ink) -> list[Content]:
    content = cleaned(str(one.get("content", "")))
    match one.get("status"):
        case "completed":
            sign, word, style = ink.glyphs.ok, "done", "good" if content in new else "muted"
        case "in_progress":
            sign, word, style = ink.glyphs.here, "now", "accent"
            content = cleaned(str(one.get("active_form") or content))
        case _:
            sign, word, style = ink.glyphs.waiting, "to do", ""
    first = f"{word}: " if ink.plain else f"{sign} "
    return indented(wrapped(styled(content, style), ink.text_width - len(first)), styled(first, style or "muted"))


def question(used: Used, facts: Facts, ink: Ink) -> Shown:
    questions = facts.items("questions")
    notes: tuple[Note, ...] = ((counted(len(questions), "question"), "muted"),) if len(questions) > 1 else ()
    if used.is_error:
        return Shown("Question", "", notes, (failure_body(used, ink),))
    answers = [part.partition("\n")[2] for part in _ANSWER.split(used.content)[1:]]
    lines: list[Content] = []
    for at, one in enumerate(questions):
        text = cleaned(str(one.get("question", "")))
        lines += indented(wrapped(styled(text, "strong"), ink.text_width - 3), styled("Q  ", "accent"))
        if at < len(answers):
            said = _answered(answers[at].strip(), one)
            lines += indented(wrapped(Content(cleaned(said)), ink.text_width - 3), styled("A  ", "good"))
    if not answers and used.content:
        return Shown("Question", "", notes, (Body(lines_of(lines)), output_body(used.content, ink)))
    return Shown("Question", "", notes, (Body(lines_of(lines)),))


def _answered(said: str, question: Mapping[str, Any]) -> str:
    """An answer in the words of its choices."""
    choices: Any = question.get("choices") or question.get("options") or []
    labels = {str(one.get("id")): str(one.get("label")) for one in choices if isinstance(one, dict)}
    lines: list[str] = []
    for line in said.split("\n"):
        name, _, value = line.partition(": ")
        if name == "Selected":
            try:
                lines.append(", ".join(labels.get(str(id), str(id)) for id in json.loads(value)))
            except (ValueError, TypeError):
                lines.append(value)
        else:
            lines.append(value if name == "Answer" else line)
    return "\n".join(lines)
