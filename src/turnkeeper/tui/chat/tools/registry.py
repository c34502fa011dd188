"""Which renderer shows which tool; a tool that is not here is shown by the generic one."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from textual.content import Content

from turnkeeper.tui.chat.ink import Ink
from turnkeeper.tui.chat.items import Used
from turnkeeper.tui.chat.shown import Renderer, Shown, facts_of
from turnkeeper.tui.chat.tools import asking, files, searching, shell
from turnkeeper.tui.chat.tools.agents import agent
from turnkeeper.tui.chat.tools.generic import generic
from turnkeeper.tui.chat.tools.heading import heading
from turnkeeper.tui.chat.tools.hooked import hooked


def shown(used: Used, ink: Ink) -> Shown:
    """What the tool's renderer says of this use, below what hooks said to it."""
    facts = facts_of(used)
    said = RENDERERS.get(used.name, generic)(used, facts, ink)
    return replace(said, bodies=(hooked(facts, ink), *said.bodies)) if "hook" in used.metadata else said


def in_one_line(used: Used, ink: Ink) -> Content:
    return heading(used, shown(used, ink), ink)


RENDERERS: Mapping[str, Renderer] = {
    "agent": partial(agent, title="Agent", heading=in_one_line),
    "agentic_fetch": partial(agent, title="Fetch and read", heading=in_one_line),
    "bash": shell.bash,
    "download": files.download,
    "edit": files.edit,
    "fetch": searching.fetch,
    "glob": searching.glob,
    "grep": searching.grep,
    "job_kill": shell.job_kill,
    "job_output": shell.job_output,
    "ls": searching.ls,
    "multiedit": files.multiedit,
    "question": asking.question,
    "sourcegraph": searching.sourcegraph,
    "todos": asking.todos,
    "view": files.view,
    "web_fetch": searching.fetch,
    "web_search": searching.web_search,
    "write": files.write,
}
