"""Which tools there are, and which of them an agent gets."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from tests.tools.scene import use
from turnkeeper.testing.hands import FakeHands
from turnkeeper.tools.agent import agent_tool
from turnkeeper.tools.registry import Surroundings, all_tools, built_in
from turnkeeper.tools.searching import PlainSearch
from turnkeeper.tools.tool import Tool
from turnkeeper.tools.web import Web
from turnkeeper.tools.web_search import DuckDuckGo

CODER = [
    "agent",
    "agentic_fetch",
    "crush_info",
    "crush_logs",
    "download",
    "edit",
    "fetch",
    "glob",
    "grep",
    "ls",
    "multiedit",
    "question",
    "sourcegraph",
    "todos",
    "view",
    "write",
]
RESEARCH = ["glob", "grep", "sourcegraph", "view", "web_fetch", "web_search"]
PARALLEL = {"agent", "agentic_fetch", "download", "fetch", "sourcegraph", "web_fetch", "web_search"}

# Each parameter by name, an asterisk where it is required.
PARAMETERS = {
    "agent": "prompt*",
    "agentic_fetch": "prompt* url",
    "crush_info": "",
    "crush_logs": "lines",
    "download": "file_path* timeout url*",
    "edit": "file_path* new_string* old_string* replace_all",
    "fetch": "format* timeout url*",
    "glob": "path pattern*",
    "grep": "context include literal_text offset output_mode path pattern*",
    "ls": "depth ignore path",
    "multiedit": "edits* file_path*",
    "question": "confirm_description confirm_title questions*",
    "sourcegraph": "context_window count query* timeout",
    "todos": "todos*",
    "view": "file_path* limit offset",
    "web_fetch": "url*",
    "web_search": "max_results query*",
    "write": "content* file_path*",
}


def made() -> tuple[Tool, ...]:
    web = Web()
    around = Surroundings(PlainSearch(), DuckDuckGo(web), Path("/nowhere/log"), dict, web)
    return built_in(around)


def names(tools: tuple[Tool, ...]) -> list[str]:
    return [tool.name for tool in tools]


def test_a_coder_has_every_tool_but_those_of_research_in_order() -> None:
    assert names(all_tools("coder", made(), interactive=True)) == CODER


def test_a_question_needs_somebody_who_answers() -> None:
    assert "question" not in names(all_tools("coder", made(), interactive=False))
    for kind in ("task", "research"):
        assert "question" not in names(all_tools(kind, made(), interactive=True))


def test_sub_agents_have_tools_that_change_nothing() -> None:
    assert names(all_tools("task", made(), interactive=True)) == ["glob", "grep", "ls", "sourcegraph", "view"]
    assert names(all_tools("research", made(), interactive=True)) == RESEARCH
    assert all_tools("stranger", made(), interactive=True) == ()


def test_a_disabled_tool_is_gone_and_an_allowed_list_keeps_to_itself() -> None:
    left = names(all_tools("coder", made(), interactive=True, disabled=["edit", "unknown"]))
    assert left == [name for name in CODER if name != "edit"]
    assert names(all_tools("coder", made(), interactive=True, allowed=["view", "edit"], disabled=["edit"])) == ["view"]
    assert all_tools("coder", made(), interactive=True, allowed=[]) == ()


def test_of_two_tools_with_one_name_the_first_counts() -> None:
    first, second = agent_tool(), agent_tool()
    assert all_tools("coder", [first, second], interactive=True) == (first,)
    assert all_tools("coder", [first, second], interactive=True)[0] is first


def test_parameters_are_as_promised_and_each_says_what_it_is() -> None:
    told = {tool.name: parameters(tool.parameters) for tool in made()}
    assert told == PARAMETERS
    for tool in made():
        assert undescribed(tool.parameters) == [], tool.name
        assert "$ref" not in str(tool.parameters)


def parameters(schema: Mapping[str, Any]) -> str:
    required = cast(list[str], schema["required"])
    return " ".join(f"{name}*" if name in required else name for name in sorted(schema["properties"]))


def undescribed(schema: Mapping[str, Any]) -> list[str]:
    return [name for name, one in cast(Mapping[str, Any], schema["properties"]).items() if not one.get("description")]


def test_only_tools_that_touch_nothing_in_common_may_overlap() -> None:
    assert {tool.name for tool in made() if tool.parallel} == PARALLEL


def test_every_tool_is_described_in_its_own_words() -> None:
    texts = {tool.name: tool.description for tool in made()}
    assert all(len(text) > 80 for text in texts.values())
    assert len(set(texts.values())) == len(texts)


@pytest.mark.parametrize(
    "given", [{}, {"url": 7, "prompt": [], "file_path": {}, "pattern": None, "query": [], "lines": "x"}]
)
async def test_no_tool_raises_for_parameters_that_make_no_sense(tmp_path: Path, given: dict[str, Any]) -> None:
    for tool in made():
        if tool.name in ("ls", "crush_info", "crush_logs") and not given:
            continue
        answer = await use(tool, FakeHands(tmp_path), **given)
        assert answer.is_error or tool.name in ("crush_info", "ls"), tool.name
