"""What the offline assistant tells of a tool's answer: a sentence, and as much of the answer as one looks at."""

import re

from turnkeeper.models.offline_requests import Call
from turnkeeper.protocol.messages import ToolResult

SHOWN_LINES_MAX = 30
NUMBERED = re.compile(r"^\s*\d+\|", re.MULTILINE)
WRAPPING = re.compile(r"^</?[a-z_]+(?: [^>]*)?>$")


def report(call: Call, result: ToolResult) -> str:
    lines = [line.rstrip() for line in result.content.splitlines()]
    lines = [line for line in lines if line and not WRAPPING.match(line)]
    if result.is_error:
        return f"{call.intention}, but that did not work: {' '.join(lines) or 'no reason was given'}"
    if call.counts:
        return counted(call, lines)
    match call.tool:
        case "ls":
            return listed(f"Here is what is in {call.arguments.get('path') or 'this directory'}", lines)
        case "glob":
            return found(call.arguments["pattern"], lines)
        case "grep":
            return matched(call.arguments["pattern"], lines)
        case "view":
            shown = [NUMBERED.sub("", line) for line in lines]
            return listed(f"This is {call.arguments['file_path']}", shown)
        case _:
            return listed(f"`{call.arguments['command']}` says", lines) if lines else "It ran and said nothing."


def counted(call: Call, lines: list[str]) -> str:
    """A number: the tool's own where it tells one, else how many lines it answered."""
    text = "\n".join(lines)
    told = re.search(r"\b(\d+)\b", text) if call.tool != "glob" else None
    files = 0 if text.lower().startswith("no ") else len(paths(lines))
    number = int(told[1]) if told else files
    where = call.arguments.get("command", "").rpartition(" ")[2] if call.counts == "lines" else "this directory"
    kind = call.counts[:-1] if number == 1 and call.counts in ("files", "lines") else call.counts
    return f"There {'is' if number == 1 else 'are'} {number} {kind} in {where}."


def found(pattern: str, lines: list[str]) -> str:
    files = paths(lines)
    if not files or lines[0].lower().startswith("no files"):
        return f"No file matches {pattern}."
    return listed(f"{len(files)} {'file matches' if len(files) == 1 else 'files match'} {pattern}", files)


def matched(pattern: str, lines: list[str]) -> str:
    if not lines or lines[0].lower().startswith("no "):
        return f"I found {pattern!r} nowhere."
    told = re.search(r"\b(\d+) match", lines[0])
    number = told[1] if told else str(len(lines))
    return listed(f"{pattern!r} is there {number} {'time' if number == '1' else 'times'}", lines[1:] or lines)


def paths(lines: list[str]) -> list[str]:
    """The lines that name a file; a note about what was left out is in brackets."""
    return [line for line in lines if not line.startswith("(")]


def listed(sentence: str, lines: list[str]) -> str:
    shown = "\n".join(lines[:SHOWN_LINES_MAX])
    more = len(lines) - SHOWN_LINES_MAX
    rest = f"\n\n… and {more} more lines." if more > 0 else ""
    return f"{sentence}:\n\n```\n{shown}\n```{rest}"
