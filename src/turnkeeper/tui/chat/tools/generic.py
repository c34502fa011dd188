"""Any tool: MCP servers', language servers', and whatever comes after this was written."""

from turnkeeper.tui.chat.ink import Ink, one_line
from turnkeeper.tui.chat.items import Used
from turnkeeper.tui.chat.shown import Facts, Shown, any_body, arguments, failure_body, output_body

SUBJECTS = ("file_path", "path", "url", "query", "pattern", "symbol", "name", "uri", "command", "prompt")
"""Of what a tool was given, what most likely says what it was used on."""


def generic(used: Used, facts: Facts, ink: Ink) -> Shown:
    name = next((name for name in SUBJECTS if facts.text(name)), "")
    subject = ink.path(one_line(facts.text(name))) if name else ""
    if used.is_error:
        body = failure_body(used, ink)
    elif used.standing.is_going_on:
        body = output_body(used.output, ink, is_end=True)
    else:
        body = any_body(used.content, ink)
    return Shown(title_of(used.name), subject, arguments(facts.given, (name,)), (body,))


def title_of(name: str) -> str:
    """`mcp_github_list_issues` is read `github: list issues`; other names are read as they are written."""
    if name.startswith("mcp_") and name.count("_") >= 2:
        server, _, tool = name.removeprefix("mcp_").partition("_")
        return f"{server}: {one_line(tool).replace('_', ' ')}"
    words = one_line(name).replace("_", " ").strip() or "tool"
    return words[:1].upper() + words[1:]
