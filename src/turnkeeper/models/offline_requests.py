"""The plain requests the offline assistant understands, and the tool calls they become."""

import json
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

REQUESTS_MAX = 5

EXAMPLES = """- what is in this directory?
- find files named *.py
- search for "def main"
- show README.md
- count files · count lines in README.md · count TODOs
- git status
- run `python --version`"""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool, and why."""

    tool: str
    arguments: dict[str, Any]
    intention: str
    counts: str = ""
    """What is counted, when the request was for a number."""

    @property
    def input(self) -> str:
        return json.dumps(self.arguments, ensure_ascii=False)


def calls_for(text: str) -> list[Call]:
    """The calls a text asks for, in its order: requests may be joined by `then`, by lines or by semicolons."""
    outside = re.split(r"(`[^`]*`|\"[^\"]*\")", text)
    # What stands in quotes belongs to one request, whatever it holds.
    marked = "".join(
        piece if i % 2 else re.sub(r"[;\n]|,? (?:and )?then ", "\0", piece) for i, piece in enumerate(outside)
    )
    pieces = [piece.strip() for piece in marked.split("\0") if piece.strip()]
    return [call for piece in pieces[:REQUESTS_MAX] if (call := call_for(piece)) is not None]


def call_for(text: str) -> Call | None:
    """The call one request asks for; the first pattern that fits decides."""
    for pattern, become in PATTERNS:
        found = pattern.search(text)
        if found:
            return become(named(found))
    return None


def named(found: re.Match[str]) -> str:
    """What a request is about: what stands in quotes, else the words at its place without their punctuation."""
    words = (found.groupdict().get("what") or "").strip()
    quoted = re.search(r"`([^`]+)`|\"([^\"]+)\"|'([^']+)'", words)
    if quoted:
        return next(group for group in quoted.groups() if group is not None)
    words = re.sub(r"^(?:(?:the|a|an|file|files|folder|directory|word|text|all)\s+)+", "", words.rstrip("?!.,: "))
    return re.sub(r"(?<!\bthis)\s+(?:file|folder|directory)$", "", words).strip()


def run(command: str) -> Call:
    return Call("bash", {"command": command, "description": "Run what was asked"}, f"I run `{command}`")


def git_status(_what: str) -> Call:
    arguments = {"command": "git status --short --branch", "description": "Look at what changed"}
    return Call("bash", arguments, "I ask git what changed")


def count_lines(path: str) -> Call:
    arguments = {"command": f"wc -l -- {shlex.quote(path)}", "description": f"Count the lines of {path}"}
    return Call("bash", arguments, f"I count the lines of {path}", counts="lines")


def count_files(pattern: str) -> Call:
    if any(letter in pattern for letter in "*?."):
        return Call("glob", {"pattern": anywhere(pattern)}, f"I look for {pattern}", counts="files")
    command = "find . -type f -not -path '*/.git/*' | wc -l"
    return Call("bash", {"command": command, "description": "Count the files"}, "I count the files", counts="files")


def count_word(word: str) -> Call:
    plain = word[:-1] if word.endswith("s") and word[:-1].isupper() else word
    return Call("grep", {"pattern": plain, "literal_text": True}, f"I search for {plain}", counts=plain)


def find_files(name: str) -> Call:
    return Call("glob", {"pattern": anywhere(name)}, f"I look for files named {name}")


def search(text: str) -> Call:
    words, _, path = text.rpartition(" in ") if re.search(r" in \S+$", text) else (text, "", "")
    place = path if "/" in path or "." in path else ""
    pattern = words if place else text
    arguments: dict[str, Any] = {"pattern": pattern.strip("\"'`"), "literal_text": True}
    return Call("grep", arguments | ({"path": place} if place else {}), f"I search for {arguments['pattern']!r}")


def show(path: str) -> Call:
    return Call("view", {"file_path": path}, f"I read {path}")


def list_directory(path: str) -> Call:
    here = path in ("", ".", "here", "this", "this directory", "this folder", "this project", "current directory")
    arguments: dict[str, Any] = {} if here else {"path": path}
    return Call("ls", arguments, "I look into this directory" if here else f"I look into {path}")


def anywhere(name: str) -> str:
    """A file's name as a pattern that finds it in every directory."""
    return name if "/" in name else f"**/{name}"


def pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.DOTALL)


PATTERNS: tuple[tuple[re.Pattern[str], Callable[[str], Call]], ...] = (
    (pattern(r"\b(?:run|execute)\b\s*(?:the )?(?:command)?\s*:?\s*(?P<what>`[^`]+`)"), run),
    (pattern(r"^\s*(?:please )?(?:run|execute)\s*(?:the )?(?:command)?:?\s+(?P<what>[^`]+)$"), run),
    (pattern(r"^\s*\$\s+(?P<what>.+)$"), run),
    (pattern(r"\bgit status\b|\bwhat (?:has |have i )?changed\b"), git_status),
    (pattern(r"\b(?:count|how many)\b.*\blines\b.*?\b(?:in|of|does|has)\s+(?P<what>\S+)"), count_lines),
    (pattern(r"\b(?:count|how many)\s+(?:the |all )?(?P<what>\S*?)\s*files\b"), count_files),
    (pattern(r"\b(?:count|how many)\s+(?:the |all )?(?P<what>`[^`]+`|\"[^\"]+\"|\w+)"), count_word),
    (
        pattern(
            r"\b(?:find|locate|where is|where are)\b.*?\bfiles?\b(?: named| called| matching| like)?\s+(?P<what>.+)$"
        ),
        find_files,
    ),
    (pattern(r"\b(?:find|list|show)\s+(?:all |the )?(?P<what>\S*\*\S*)"), find_files),
    (pattern(r"\b(?:search|grep|look)\s+(?:for\s+)?(?P<what>.+)$"), search),
    (pattern(r"\bwhere is\s+(?P<what>.+?)\s+(?:used|called|defined)\b"), search),
    (
        pattern(
            r"^\s*(?:please )?(?:list|ls)\b\s*(?:the )?(?:files|contents?|everything)?\s*(?:in|of)?\s*(?P<what>.*)$"
        ),
        list_directory,
    ),
    (pattern(r"\bwhat(?:'s| is| are)\b.*?\b(?:in|inside)\s+(?P<what>.+)$"), list_directory),
    (pattern(r"\b(?:show|read|view|open|cat|print|display)\s+(?:me\s+)?(?P<what>\S.*)$"), show),
    (pattern(r"\bfind\s+(?P<what>\S*\.\w+)\s*\W*$"), find_files),
)
