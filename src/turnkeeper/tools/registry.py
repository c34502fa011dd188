"""Which tools an agent has: all that were made, of those the ones of its kind, in the order of their names."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from turnkeeper.tools.agent import agent_tool
from turnkeeper.tools.agentic_fetch import agentic_fetch_tool
from turnkeeper.tools.download import download_tool
from turnkeeper.tools.edit import edit_tool
from turnkeeper.tools.editing import Diagnose, no_diagnosis
from turnkeeper.tools.fetch import fetch_tool
from turnkeeper.tools.glob import GLOB_SECONDS_DEFAULT, glob_tool
from turnkeeper.tools.grep import GREP_SECONDS_DEFAULT, grep_tool
from turnkeeper.tools.info import Facts, info_tool
from turnkeeper.tools.logs import logs_tool
from turnkeeper.tools.ls import ls_tool
from turnkeeper.tools.multiedit import multiedit_tool
from turnkeeper.tools.question import question_tool
from turnkeeper.tools.searching import Searcher
from turnkeeper.tools.sourcegraph import sourcegraph_tool
from turnkeeper.tools.todos import todos_tool
from turnkeeper.tools.tool import Tool
from turnkeeper.tools.view import Skill, view_tool
from turnkeeper.tools.web import Web
from turnkeeper.tools.web_fetch import web_fetch_tool
from turnkeeper.tools.web_search import SearchEngine, web_search_tool
from turnkeeper.tools.write import write_tool

CODER = "coder"
RESEARCH_ONLY = frozenset({"web_fetch", "web_search"})
READING = frozenset({"glob", "grep", "ls", "sourcegraph", "view"})
OF_KIND: Mapping[str, frozenset[str]] = {
    "task": READING | {"lsp_call_hierarchy", "lsp_definition", "lsp_symbols"},
    "research": READING - {"ls"} | RESEARCH_ONLY,
}


@dataclass(frozen=True)
class Limits:
    """What the configuration may set; 0 means the usual."""

    ls_depth: int = 0
    ls_items: int = 0
    glob_seconds: float = GLOB_SECONDS_DEFAULT
    grep_seconds: float = GREP_SECONDS_DEFAULT


@dataclass(frozen=True)
class Surroundings:
    """What the built-in tools of a workspace stand on."""

    searcher: Searcher
    engine: SearchEngine
    log_file: Path
    facts: Callable[[], Facts]
    web: Web = field(default_factory=Web)
    skills: tuple[Skill, ...] = ()
    diagnose: Diagnose = no_diagnosis
    limits: Limits = field(default_factory=Limits)


def built_in(around: Surroundings) -> tuple[Tool, ...]:
    """Every tool of this room but the shell's."""
    limits = around.limits
    return (
        agent_tool(),
        agentic_fetch_tool(around.web),
        info_tool(around.facts),
        logs_tool(around.log_file),
        download_tool(around.web),
        edit_tool(around.diagnose),
        fetch_tool(around.web),
        glob_tool(around.searcher, seconds=limits.glob_seconds),
        grep_tool(around.searcher, seconds=limits.grep_seconds),
        ls_tool(depth_max=limits.ls_depth, items_max=limits.ls_items),
        multiedit_tool(around.diagnose),
        question_tool(),
        sourcegraph_tool(around.web),
        todos_tool(),
        view_tool(around.skills, around.diagnose),
        web_fetch_tool(around.web),
        web_search_tool(around.engine),
        write_tool(around.diagnose),
    )


def all_tools(
    kind: str,
    made: Iterable[Tool],
    *,
    interactive: bool,
    disabled: Collection[str] = (),
    allowed: Collection[str] | None = None,
) -> tuple[Tool, ...]:
    """The tools of an agent of this kind: `coder`, `task` or `research`.

    A question can be asked only where somebody answers; `allowed` None means all of its kind. Of two tools with one
    name the first counts.
    """
    chosen: dict[str, Tool] = {}
    for tool in made:
        if is_of_kind(tool.name, kind) and tool.name not in disabled and (allowed is None or tool.name in allowed):
            chosen.setdefault(tool.name, tool)
    if not interactive or kind != CODER:
        chosen.pop("question", None)
    return tuple(chosen[name] for name in sorted(chosen))


def is_of_kind(name: str, kind: str) -> bool:
    return name not in RESEARCH_ONLY if kind == CODER else name in OF_KIND.get(kind, frozenset())
