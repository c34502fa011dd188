"""Rules as people write and read them.

| text | means |
|---|---|
| `bash` | every use of the tool |
| `edit:write` | one action of it |
| `bash(git commit:*)`, `bash(npm run *)` | commands that begin with these words |
| `edit(src/**)`, `view(/etc/hosts)` | paths, relative to the workspace unless absolute |
| `fetch(domain:example.com)`, `fetch(https://example.com/docs/**)` | addresses |
| `mcp__server__tool`, `Bash(…)`, `Read(…)` | the spellings of other agents |
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

from turnkeeper.core.commandline import shape_of
from turnkeeper.core.patterns import DOMAIN
from turnkeeper.protocol.problems import BadRequest
from turnkeeper.protocol.requests import Rule, Verdict

COMMAND_TOOLS = frozenset({"bash"})
RULE = re.compile(r"(?P<tool>[A-Za-z0-9_.*?-]+)(?::(?P<action>[A-Za-z0-9_.*?-]+))?(?:\((?P<subject>.*)\))?", re.DOTALL)
EVERYTHING = ("", "*", ":*")
KNOWN_NAMES = {
    "bash": "bash",
    "edit": "edit",
    "fetch": "fetch",
    "glob": "glob",
    "grep": "grep",
    "ls": "ls",
    "multiedit": "multiedit",
    "read": "view",
    "task": "agent",
    "todowrite": "todos",
    "webfetch": "fetch",
    "websearch": "web_search",
    "write": "write",
}
WORDS = {
    "agent": "give work to a sub-agent",
    "agentic_fetch": "research",
    "download": "download",
    "edit": "edit",
    "fetch": "fetch",
    "ls": "list",
    "multiedit": "edit",
    "view": "read",
    "write": "write",
}

Kind = Literal["command", "address", "path", "name"]


def kind_of(tool: str, subject: str) -> Kind:
    """What a call's subject is, and so how patterns are compared with it."""
    if tool in COMMAND_TOOLS:
        return "command"
    if tool.startswith("mcp_"):
        return "name"
    return "address" if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", subject) else "path"


def told(tool: str, subject: str) -> str:
    """A call as a rule about it would be written."""
    return f"{tool}({subject})" if subject else tool


def parse_rules(texts: Iterable[str], verdict: Verdict) -> tuple[Rule, ...]:
    return tuple(parse_rule(text, verdict) for text in texts)


@lru_cache(maxsize=1024)
def parse_rule(text: str, verdict: Verdict = Verdict.ALLOW) -> Rule:
    """Raises `BadRequest` for what is no rule, rather than guessing what was to be allowed."""
    found = RULE.fullmatch(text.strip())
    if found is None or found["subject"] == "":
        raise BadRequest(f"not a permission rule: {text!r}; write tool, tool:action or tool(pattern)")
    subject = (found["subject"] or "").strip()
    return Rule(
        verdict=verdict,
        tool=own_name(found["tool"]),
        action=found["action"] or "",
        subject="" if subject in EVERYTHING else subject,
    )


def own_name(tool: str) -> str:
    if tool == "*":
        return ""
    if tool.startswith("mcp__"):
        server, _, name = tool.removeprefix("mcp__").partition("__")
        return f"mcp_{server}_{name or '*'}"
    return KNOWN_NAMES.get(tool.casefold(), tool) if tool[:1].isupper() else tool


def rule_text(rule: Rule) -> str:
    """What `parse_rule` reads back as the same rule."""
    action = f":{rule.action}" if rule.action else ""
    subject = f"({rule.subject})" if rule.subject else ""
    return f"{rule.tool or '*'}{action}{subject}"


def explain(rule: Rule) -> str:
    """What a rule is about, for a person who has to decide on it."""
    verb = {Verdict.ALLOW: "Allow", Verdict.ASK: "Ask before", Verdict.DENY: "Never allow"}[rule.verdict]
    return f"{verb}: {deed(rule)}"


def deed(rule: Rule) -> str:
    action = f" ({rule.action})" if rule.action and not rule.subject else ""
    if not rule.subject:
        return f"every use of {rule.tool or 'any tool'}{action}"
    if rule.tool in COMMAND_TOOLS:
        words, open_end = shape_of(rule.subject)
        return f"run “{' '.join(words)}”{' with any arguments' if open_end else ', exactly so'}"
    verb = WORDS.get(rule.tool, f"use {rule.tool or 'any tool'} on")
    return f"{verb} {place(rule.subject)}"


def place(subject: str) -> str:
    if subject.startswith(DOMAIN):
        return f"anything at {subject.removeprefix(DOMAIN)}"
    parent, _, last = subject.rpartition("/")
    match last:
        case "*":
            return f"any file directly in {'the workspace' if parent in ('.', '') else parent}"
        case "**":
            return f"anything under {parent or 'the workspace'}"
        case _:
            return subject
