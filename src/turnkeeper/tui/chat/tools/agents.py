"""Sub-agents: what they were asked, what they do as a compact tree, and what they answered."""

from collections.abc import Callable
from dataclasses import replace

from textual.content import Content

from turnkeeper.tui.chat.ink import Ink, counted, joined, lines_of, one_line, styled, wrapped
from turnkeeper.tui.chat.items import Standing, Used
from turnkeeper.tui.chat.shown import Body, Facts, Note, Shown, failure_body, markdown_body

Heading = Callable[[Used, Ink], Content]
"""One use of a tool in one line."""


def agent(used: Used, facts: Facts, ink: Ink, *, title: str, heading: Heading) -> Shown:
    prompt = facts.text("prompt")
    notes: list[Note] = []
    if url := one_line(facts.text("url")):
        notes.append((url, "muted"))
    if used.nested:
        notes.append((counted(len(used.nested), "call"), "muted"))
    bodies: list[Body] = []
    if ink.expanded and len(prompt) > 60:
        lines = [line for text in prompt.split("\n") for line in wrapped(styled(text, "muted"), ink.text_width)]
        bodies.append(Body(lines_of(lines)))
    bodies.append(tree(used, ink, heading))
    if used.is_error:
        bodies.append(failure_body(used, ink))
    elif used.standing is Standing.DONE:
        bodies.append(markdown_body(used.content, ink))
    return Shown(title, one_line(prompt), tuple(notes), tuple(bodies))


def tree(used: Used, ink: Ink, heading: Heading) -> Body:
    """The calls a sub-agent made, the last ones if not all are to be shown; below each the calls of its own."""
    narrow = replace(ink, width=ink.width - 3)
    calls = [one for one in used.nested if isinstance(one, Used)]
    shown = calls[-ink.room :]
    lines: list[Content] = []
    for at, call in enumerate(shown):
        is_last = at == len(shown) - 1
        sign = ink.glyphs.corner if is_last else ink.glyphs.branch
        branch = styled("- " if ink.plain else f"{sign} ", "rule")
        lines.append(joined(branch, heading(call, narrow)))
        if call.nested and ink.expanded:
            below = tree(call, narrow, heading)
            side = "  " if is_last or ink.plain else f"{ink.glyphs.bar}  "
            lines += [joined((side, "rule"), line.content) for line in below.lines]
    return Body(lines_of(lines), len(calls) - len(shown), is_end=True)
