"""Tool `multiedit`: several edits of one file, one after the other, written once."""

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from turnkeeper.tools.edit import applied
from turnkeeper.tools.editing import (
    Diagnose,
    answered,
    carry_out,
    computed,
    denied_with_diff,
    no_diagnosis,
    opened,
    require_fresh,
)
from turnkeeper.tools.making import Made, Parameters, Refusal
from turnkeeper.tools.places import located
from turnkeeper.tools.tool import Answer, Denied, Hands, Tool

EDITS_MAX = 200


class Edit(Parameters, frozen=True):
    old_string: Annotated[str, Meta(description="The text to replace.")]
    new_string: Annotated[str, Meta(description="What stands there afterwards.")]
    replace_all: Annotated[bool, Meta(description="Replace every occurrence (default false).")] = False


class MultieditParameters(Parameters, frozen=True):
    file_path: Annotated[str, Meta(description="The file to change; relative paths start at the working directory.")]
    edits: Annotated[
        tuple[Edit, ...], Meta(description="The edits, in order; each works on the result of those before it.")
    ]


class Failure(msgspec.Struct, frozen=True):
    """An edit that could not be made; counted from 1."""

    index: int
    error: str
    edit: Edit


def multiedit_tool(diagnose: Diagnose = no_diagnosis) -> Tool:
    async def act(asked: MultieditParameters, hands: Hands) -> Answer:
        require_sensible(asked.edits)
        place = located(hands, asked.file_path)
        draft = await opened(place)
        creating = not asked.edits[0].old_string
        if creating and draft.before:
            raise Refusal(f"the file already exists: {place.path}. An empty old_string only begins an empty file.")
        if not creating and draft.found is None:
            raise Refusal(f"file not found: {place.path}")
        await require_fresh(hands, draft)
        after, failures = await computed(len(draft.before or ""), all_applied, draft.before, asked.edits)
        outcome = outcome_of(asked.edits, failures)
        if after is None or after == draft.before:
            raise Refusal(nothing_done(asked.edits, failures), metadata=outcome)
        try:
            changed = await carry_out(hands, draft, after, tool="multiedit")
        except Denied as denied:
            return await denied_with_diff(hands, denied, draft, after, **outcome)
        text = told(asked, failures)
        return await answered(hands, place, text, {**changed.metadata, **outcome}, diagnose)

    return Made("multiedit", MultieditParameters, act)


def require_sensible(edits: Sequence[Edit]) -> None:
    if not 1 <= len(edits) <= EDITS_MAX:
        raise Refusal(f"edits must hold 1 to {EDITS_MAX} edits, not {len(edits)}")
    for number, edit in enumerate(edits[1:], start=2):
        if not edit.old_string:
            raise Refusal(f"edit {number}: old_string is empty; only the first edit may create a file")


def all_applied(before: str | None, edits: Sequence[Edit]) -> tuple[str | None, list[Failure]]:
    """The text after every edit that could be made, and those that could not."""
    text, failures = before, list[Failure]()
    for number, edit in enumerate(edits, start=1):
        try:
            if text is None or not edit.old_string:
                text = edit.new_string
            elif edit.old_string == edit.new_string:
                raise Refusal("no changes: old_string and new_string are the same")
            else:
                text, _ = applied(text, edit.old_string, edit.new_string, replace_all=edit.replace_all)
        except Refusal as refusal:
            failures.append(Failure(number, str(refusal), edit))
    return text, failures


def outcome_of(edits: Sequence[Edit], failures: Sequence[Failure]) -> dict[str, Any]:
    failed = [msgspec.to_builtins(failure) for failure in failures]
    return {"edits_applied": len(edits) - len(failures)} | ({"edits_failed": failed} if failed else {})


def nothing_done(edits: Sequence[Edit], failures: Sequence[Failure]) -> str:
    if len(failures) == len(edits):
        return f"none of the {len(edits)} edits could be applied\n{listed(failures)}"
    return f"no changes: the file reads the same after these edits\n{listed(failures)}".rstrip()


def told(asked: MultieditParameters, failures: Sequence[Failure]) -> str:
    count = len(asked.edits)
    if not failures:
        return f"Applied {count} edits to file: {asked.file_path}"
    done = f"Applied {count - len(failures)} of {count} edits to file: {asked.file_path} ({len(failures)} failed)"
    return f"{done}\n{listed(failures)}"


def listed(failures: Sequence[Failure]) -> str:
    return "\n".join(f"Edit {failure.index}: {failure.error}" for failure in failures)
