"""The same facts make the same prompt, in bounds, and every template says what it is for."""

import re
from pathlib import Path

import pytest

from turnkeeper.core.prompt import (
    CONTEXT_BYTES_MAX,
    CONTEXT_FILE_BYTES_MAX,
    MCP_BYTES_MAX,
    MCP_SERVER_BYTES_MAX,
    Document,
    Facts,
    Git,
    Skill,
    Template,
    coder,
    helper,
    initialize,
    summary_request,
)
from turnkeeper.protocol.sessions import Todo, TodoStatus

TEMPLATES = Path(__file__).parent.parent.parent / "src" / "turnkeeper" / "core" / "prompts"
BARE = Facts(workdir="/home/ada/app", platform="linux", date="2031-02-03")


def test_rules_come_first_and_what_changes_most_comes_last() -> None:
    facts = Facts(
        workdir="/home/ada/app",
        platform="linux",
        date="2031-02-03",
        git=Git(branch="main", status=" M a.py\n?? b.py\n", commits="abc Begin\n"),
        project_files=(Document("AGENTS.md", "Use tabs.\n"),),
        global_files=(Document("/home/ada/.config/AGENTS.md", "Be kind."),),
        skills=(Skill("fix", "Fixes <things>", "/skills/fix/SKILL.md", builtin=True),),
        mcp_instructions={"issues": "Ask first."},
        has_lsp=True,
    )
    assert re.sub(r"(?s)(<(lsp|skills_usage)>\n).*?(\n</)", r"\1…\3", coder("Rules.\n", facts)) == (
        "Rules.\n\n"
        "<lsp>\n…\n</lsp>\n\n"
        "<available_skills>\n<skill>\n  <name>fix</name>\n  <description>Fixes &lt;things&gt;</description>\n"
        "  <location>/skills/fix/SKILL.md</location>\n  <type>builtin</type>\n</skill>\n</available_skills>\n\n"
        "<skills_usage>\n…\n</skills_usage>\n\n"
        '<project_context>\n<file path="AGENTS.md">\nUse tabs.\n</file>\n</project_context>\n\n'
        '<user_preferences>\n<file path="/home/ada/.config/AGENTS.md">\nBe kind.\n</file>\n</user_preferences>\n\n'
        '<mcp_instructions>\n<server name="issues">\nAsk first.\n</server>\n</mcp_instructions>\n\n'
        "<environment>\nWorking directory: /home/ada/app\nGit repository: yes\nPlatform: linux\nDate: 2031-02-03\n"
        "Branch: main\nStatus when the session was opened:\n M a.py\n?? b.py\n"
        "Latest commits:\nabc Begin\n</environment>"
    )


def test_what_is_not_there_is_not_mentioned() -> None:
    environment = (
        "<environment>\nWorking directory: /home/ada/app\nGit repository: no\nPlatform: linux\nDate: 2031-02-03\n"
        "</environment>"
    )
    assert coder("Rules.", BARE) == helper("Rules.", BARE) == f"Rules.\n\n{environment}"


def test_a_helper_is_told_where_it_is_and_no_more() -> None:
    facts = Facts("/w", "linux", "today", project_files=(Document("AGENTS.md", "x"),), has_lsp=True)
    assert helper("Rules.", facts) == coder("Rules.", Facts("/w", "linux", "today"))


def test_the_order_in_which_servers_and_skills_were_found_does_not_show() -> None:
    skills = (Skill("b", "second", "/b"), Skill("a", "first", "/a"))
    one = Facts("/w", "linux", "today", skills=skills, mcp_instructions={"y": "2", "x": "1"})
    other = Facts("/w", "linux", "today", skills=skills[::-1], mcp_instructions={"x": "1", "y": "2"})
    assert coder("Rules.", one) == coder("Rules.", other)


def test_a_skill_only_a_person_calls_for_is_not_offered() -> None:
    hidden = Skill("secret", "x", "/x", hidden=True)
    assert coder("Rules.", Facts("/w", "linux", "today", skills=(hidden,))) == coder(
        "Rules.", Facts("/w", "linux", "today")
    )


def test_a_clean_repository_and_a_long_status_are_told_as_such() -> None:
    clean = coder("", Facts("/w", "linux", "today", git=Git(branch="main")))
    assert "Branch: main\nStatus when the session was opened:\nclean\n</environment>" in clean
    status = "\n".join(f"?? {n}" for n in range(25))
    dirty = coder("", Facts("/w", "linux", "today", git=Git(status=status)))
    assert "?? 19\n[… 5 more …]" in dirty
    assert "?? 20" not in dirty


def test_a_large_context_file_is_cut_and_the_rest_of_too_many_is_named() -> None:
    large = "x" * CONTEXT_FILE_BYTES_MAX
    files = tuple(Document(f"{n}.md", f"<{n}>{large}") for n in range(6))
    prompt = coder("", Facts("/w", "linux", "today", project_files=files))
    assert len(prompt) < CONTEXT_BYTES_MAX + 2_000
    assert prompt.count("bytes left out here") == 4
    assert "[Left out for their size; read them if they matter: 4.md, 5.md]" in prompt


def test_the_instructions_of_servers_have_limits_of_their_own() -> None:
    prompt = coder("", Facts("/w", "linux", "today", mcp_instructions={f"s{n}": "x" * 20_000 for n in range(6)}))
    assert len(prompt) < MCP_BYTES_MAX + 2_000
    assert prompt.count("bytes left out here") == MCP_BYTES_MAX // MCP_SERVER_BYTES_MAX
    assert "[The instructions of s4 are left out for their size.]\n[The instructions of s5 are" in prompt


def test_the_file_to_initialize_is_named() -> None:
    assert initialize("Write `{{initialize_as}}`.\n", initialize_as="CRUSH.md") == "Write `CRUSH.md`."
    assert initialize("Write `{{initialize_as}}`.", initialize_as="") == "Write `AGENTS.md`."


def test_the_request_for_a_summary_carries_the_todo_list() -> None:
    assert summary_request(()) == "Write the summary of this conversation now."
    todos = [Todo("read", TodoStatus.COMPLETED), Todo("write", TodoStatus.PENDING)]
    assert summary_request(todos).endswith("\n\n- [completed] read\n- [pending] write")


@pytest.mark.parametrize("template", list(Template))
def test_every_template_has_a_text_with_nothing_left_to_fill_in(template: Template) -> None:
    text = (TEMPLATES / f"{template}.md").read_text("utf-8")
    assert len(text) > 300
    placeholders = set(re.findall(r"\{\{.*?\}\}", text))
    assert placeholders == ({"{{initialize_as}}"} if template is Template.INITIALIZE else set())
    for name in re.findall(r"^<(\w+)>$", text, re.MULTILINE):
        assert text.count(f"<{name}>") == text.count(f"</{name}>") == 1


def test_there_is_no_text_without_a_template() -> None:
    assert {path.stem for path in TEMPLATES.iterdir()} == set(Template)


@pytest.mark.parametrize(
    "duty",
    ["project_context", "<git>", "<editing>", "<checking>", "secret", "not instruction", "Commit only when asked"],
)
def test_the_coder_is_told_its_duties(duty: str) -> None:
    assert duty in (TEMPLATES / "coder.md").read_text("utf-8")
