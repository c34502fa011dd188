"""The system prompt, rendered from facts: the same facts always make the same text, so that it can be cached.

The templates are the `.md` files beside this one; reading them, like gathering the facts, is somebody else's work.
Everything that comes from outside has a limit, and says so where it was cut.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

import msgspec

from turnkeeper.core.excerpt import excerpt
from turnkeeper.protocol.sessions import Todo

CONTEXT_FILE_BYTES_MAX = 65_536
CONTEXT_BYTES_MAX = 262_144
"""All context files of one group together."""
MCP_SERVER_BYTES_MAX = 16_384
MCP_BYTES_MAX = 65_536
SKILL_BYTES_MAX = 2_048
GIT_BYTES_MAX = 8_192
GIT_STATUS_LINES_MAX = 20
INITIALIZE_AS = "AGENTS.md"
SMALLEST_EXCERPT_BYTES = 256


class Template(StrEnum):
    """The prompts there are; `value + ".md"` is the file."""

    CODER = "coder"
    TASK = "task"
    RESEARCH = "research"
    TITLE = "title"
    SUMMARY = "summary"
    INITIALIZE = "initialize"


class Git(msgspec.Struct, frozen=True):
    """A repository as git describes it; what could not be found out is empty."""

    branch: str = ""
    status: str = ""
    """As of `git status --short`; empty: clean."""
    commits: str = ""
    """The last few, one a line."""


class Document(msgspec.Struct, frozen=True):
    """A file of instructions, as it was read."""

    path: str
    content: str


class Skill(msgspec.Struct, frozen=True):
    name: str
    description: str
    location: str
    builtin: bool = False
    hidden: bool = False
    """Only a person calls for it; the model is not told."""


class Facts(msgspec.Struct, frozen=True):
    """What is known of the workspace when the prompt is made."""

    workdir: str
    platform: str
    date: str
    git: Git | None = None
    """None: it is no repository."""
    project_files: tuple[Document, ...] = ()
    global_files: tuple[Document, ...] = ()
    skills: tuple[Skill, ...] = ()
    mcp_instructions: Mapping[str, str] = {}
    """By server."""
    has_lsp: bool = False


def coder(template: str, facts: Facts) -> str:
    """Rules first and facts after them, what changes most at the end."""
    return joined(
        template,
        lsp_note() if facts.has_lsp else "",
        skills(facts.skills),
        documents("project_context", facts.project_files),
        documents("user_preferences", facts.global_files),
        mcp(facts.mcp_instructions),
        environment(facts),
    )


def helper(template: str, facts: Facts) -> str:
    """The prompt of a sub-agent (task or research): rules and where it is, nothing else."""
    return joined(template, environment(facts))


def initialize(template: str, *, initialize_as: str = INITIALIZE_AS) -> str:
    return template.strip().replace("{{initialize_as}}", initialize_as or INITIALIZE_AS)


def summary_request(todos: Sequence[Todo]) -> str:
    """What is asked of the model that summarises, after the conversation."""
    asked = "Write the summary of this conversation now."
    if not todos:
        return asked
    lines = "\n".join(f"- [{todo.status}] {todo.content}" for todo in todos)
    return f"{asked} The todo list as it stands, to be taken over into it:\n\n{lines}"


def joined(*sections: str) -> str:
    return "\n\n".join(filter(None, (section.strip() for section in sections)))


def environment(facts: Facts) -> str:
    lines = [
        f"Working directory: {facts.workdir}",
        f"Git repository: {'yes' if facts.git else 'no'}",
        f"Platform: {facts.platform}",
        f"Date: {facts.date}",
        *(git_lines(facts.git) if facts.git else ()),
    ]
    return element("environment", "\n".join(lines))


def git_lines(git: Git) -> Iterable[str]:
    if git.branch:
        yield f"Branch: {git.branch}"
    status = git.status.strip("\n").splitlines()
    shown = "\n".join(status[:GIT_STATUS_LINES_MAX])
    more = len(status) - GIT_STATUS_LINES_MAX
    note = f"\n[… {more} more …]" if more > 0 else ""
    yield f"Status when the session was opened:\n{excerpt(shown, bytes_max=GIT_BYTES_MAX) or 'clean'}{note}"
    if commits := git.commits.strip():
        yield f"Latest commits:\n{excerpt(commits, bytes_max=GIT_BYTES_MAX)}"


def lsp_note() -> str:
    return element(
        "lsp",
        "Language servers watch the files you edit: their diagnostics follow an edit. Resolve those your change has "
        "caused. Others were there before: leave them unless they are what was asked for.",
    )


def skills(known: Sequence[Skill]) -> str:
    """Sorted by name; nothing if there is none the model may use."""
    offered = sorted((skill for skill in known if not skill.hidden), key=lambda skill: (skill.name, skill.location))
    if not offered:
        return ""
    usage = (
        "Skills are instructions for particular work. When a task matches a description, read the file at its location "
        "before you begin, and follow it; paths in it are relative to its directory. Read only those you need."
    )
    return joined(element("available_skills", "\n".join(map(skill_element, offered))), element("skills_usage", usage))


def skill_element(skill: Skill) -> str:
    fields = {
        "name": skill.name,
        "description": excerpt(skill.description, bytes_max=SKILL_BYTES_MAX),
        "location": skill.location,
        **({"type": "builtin"} if skill.builtin else {}),
    }
    inner = "\n".join(f"  <{key}>{xml_escaped(value)}</{key}>" for key, value in fields.items())
    return f"<skill>\n{inner}\n</skill>"


def documents(name: str, files: Sequence[Document]) -> str:
    """In the order given. When the whole is used up, what remains is named, so that it can be read."""
    shown: list[str] = []
    left_out: list[str] = []
    room = CONTEXT_BYTES_MAX
    for file in files:
        content = file.content.strip()
        if not content:
            continue
        if room < SMALLEST_EXCERPT_BYTES:
            left_out.append(file.path)
            continue
        text = excerpt(content, bytes_max=min(CONTEXT_FILE_BYTES_MAX, room))
        room -= len(text.encode("utf-8", errors="replace"))
        shown.append(f'<file path="{xml_escaped(file.path)}">\n{text}\n</file>')
    if left_out:
        shown.append(f"[Left out for their size; read them if they matter: {', '.join(left_out)}]")
    return element(name, "\n".join(shown)) if shown else ""


def mcp(instructions: Mapping[str, str]) -> str:
    """Sorted by server, so that the order in which they connected does not show."""
    shown: list[str] = []
    room = MCP_BYTES_MAX
    for server, text in sorted(instructions.items()):
        if not text.strip():
            continue
        if room < SMALLEST_EXCERPT_BYTES:
            shown.append(f"[The instructions of {server} are left out for their size.]")
            continue
        cut = excerpt(text.strip(), bytes_max=min(MCP_SERVER_BYTES_MAX, room))
        room -= len(cut.encode("utf-8", errors="replace"))
        shown.append(f'<server name="{xml_escaped(server)}">\n{cut}\n</server>')
    return element("mcp_instructions", "\n".join(shown)) if shown else ""


def element(name: str, content: str) -> str:
    return f"<{name}>\n{content}\n</{name}>"


def xml_escaped(text: str) -> str:
    for raw, name in (("&", "amp"), ("<", "lt"), (">", "gt"), ('"', "quot"), ("'", "apos")):
        text = text.replace(raw, f"&{name};")
    return text
