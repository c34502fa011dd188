"""Tool `write`: create a file, or put a whole new text into one that was read."""

from typing import Annotated

from msgspec import Meta

from turnkeeper.tools.editing import (
    Diagnose,
    Draft,
    answered,
    carry_out,
    denied_with_diff,
    no_diagnosis,
    opened,
    require_fresh,
)
from turnkeeper.tools.making import Made, Parameters, Refusal
from turnkeeper.tools.places import located
from turnkeeper.tools.texts import newline_of, with_newline
from turnkeeper.tools.tool import Answer, Denied, Hands, Tool


class WriteParameters(Parameters, frozen=True):
    file_path: Annotated[str, Meta(description="The file to write; relative paths start at the working directory.")]
    content: Annotated[str, Meta(description="The whole text of the file; may be empty for a new file.")]


def write_tool(diagnose: Diagnose = no_diagnosis) -> Tool:
    async def act(asked: WriteParameters, hands: Hands) -> Answer:
        place = located(hands, asked.file_path)
        draft = await opened(place)
        await require_fresh(hands, draft)
        after = with_the_files_endings(draft, asked.content)
        if draft.found is not None and after == draft.before:
            raise Refusal(f"no changes: the file already contains exactly this text: {place.path}")
        try:
            changed = await carry_out(hands, draft, after, tool="write", keep=False)
        except Denied as denied:
            return await denied_with_diff(hands, denied, draft, after)
        return await answered(hands, place, f"File written: {place.path}", changed.metadata, diagnose)

    return Made("write", WriteParameters, act)


def with_the_files_endings(draft: Draft, text: str) -> str:
    """A text that was written with plain line feeds takes the endings of the file it replaces."""
    if not draft.before or "\r" in text or "\n" not in draft.before.replace("\r", "\n"):
        return text
    return with_newline(text, newline_of(draft.before))
