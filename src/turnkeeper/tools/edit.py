"""Tool `edit`: create a file, or replace or delete a piece of one that was read."""

from typing import Annotated

from msgspec import Meta

from turnkeeper.tools.editing import (
    Diagnose,
    Draft,
    answered,
    carry_out,
    computed,
    denied_with_diff,
    no_diagnosis,
    opened,
    require_fresh,
)
from turnkeeper.tools.making import Made, Parameters, Refusal
from turnkeeper.tools.matching import Match, matched
from turnkeeper.tools.places import Place, located
from turnkeeper.tools.texts import Lined
from turnkeeper.tools.tool import Answer, Denied, Hands, Tool

NOT_EXACT = "Note: old_string matched only when white space was ignored; the file's own indentation was used."


class EditParameters(Parameters, frozen=True):
    file_path: Annotated[str, Meta(description="The file to change; relative paths start at the working directory.")]
    old_string: Annotated[
        str, Meta(description="The text to replace; empty to create a new file or to fill an empty one.")
    ]
    new_string: Annotated[str, Meta(description="What stands there afterwards; empty to delete the text.")]
    replace_all: Annotated[bool, Meta(description="Replace every occurrence (default false).")] = False


def edit_tool(diagnose: Diagnose = no_diagnosis) -> Tool:
    async def act(asked: EditParameters, hands: Hands) -> Answer:
        place = located(hands, asked.file_path)
        if not asked.old_string:
            return await create(hands, place, asked.new_string, diagnose)
        draft = await existing(hands, place)
        after, exact = await computed(len(draft.before or ""), edited, draft.before or "", asked)
        verb = "replaced in" if asked.new_string else "deleted from"
        text = f"Content {verb} file: {place.path}" + ("" if exact else f"\n{NOT_EXACT}")
        return await finish(hands, draft, after, text, diagnose)

    return Made("edit", EditParameters, act)


async def create(hands: Hands, place: Place, text: str, diagnose: Diagnose) -> Answer:
    draft = await opened(place)
    if draft.before:
        raise Refusal(f"the file already exists: {place.path}. Give the text to replace as old_string.")
    await require_fresh(hands, draft)
    if draft.before == text:
        raise Refusal(f"no changes: the file is empty already: {place.path}")
    did = "created" if draft.found is None else "written"
    return await finish(hands, draft, text, f"File {did}: {place.path}", diagnose)


async def existing(hands: Hands, place: Place) -> Draft:
    draft = await opened(place)
    if draft.found is None:
        raise Refusal(f"file not found: {place.path}")
    await require_fresh(hands, draft)
    return draft


async def finish(hands: Hands, draft: Draft, after: str, text: str, diagnose: Diagnose) -> Answer:
    try:
        changed = await carry_out(hands, draft, after, tool="edit")
    except Denied as denied:
        return await denied_with_diff(hands, denied, draft, after)
    return await answered(hands, draft.place, text, changed.metadata, diagnose)


def edited(before: str, asked: EditParameters) -> tuple[str, bool]:
    """The text after the edit, and whether the match was exact."""
    after, match = applied(before, asked.old_string, asked.new_string, replace_all=asked.replace_all)
    if after == before:
        raise Refusal("no changes: the file reads the same after this edit")
    return after, match.exact


def applied(before: str, old: str, new: str, *, replace_all: bool) -> tuple[str, Match]:
    """One edit of a text whose lines keep their own endings."""
    lined = Lined(before)
    match = matched(lined.text, plain_endings(old), plain_endings(new), replace_all=replace_all)
    return lined.replaced(list(match.changes)), match


def plain_endings(text: str) -> str:
    return text.replace("\r\n", "\n")
