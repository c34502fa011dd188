"""One use of every tool, and how it reads when it is done: 80 cells wide, below its heading ten lines at most."""

import json
from dataclasses import dataclass
from typing import Any

from tests.tui.chat import gallery
from turnkeeper.tui.chat.items import Item, Standing, Used


@dataclass(frozen=True)
class Sample:
    name: str
    given: dict[str, Any]
    said: str
    title: str
    """How its heading begins: the title and what it was used on."""
    reads: tuple[str, ...]
    """All of it, line by line."""
    told: dict[str, Any] | None = None
    mime_type: str = ""
    nested: tuple[Item, ...] = ()


def used(sample: Sample, standing: Standing, **more: Any) -> Used:
    is_over = not standing.is_going_on
    said = {
        Standing.DONE: sample.said,
        Standing.FAILED: "it broke",
        Standing.DENIED: "User denied permission: too early",
        Standing.CANCELLED: "Error: user cancelled assistant tool calling",
        Standing.INTERRUPTED: "Error: the server stopped before this tool had finished",
        Standing.UNUSED: "The turn ended before this tool was used",
    }
    return Used(
        key="m:0",
        call_id="c",
        name=sample.name,
        input=json.dumps(sample.given),
        standing=standing,
        content=said.get(standing, ""),
        metadata=json.dumps(sample.told) if sample.told and standing is Standing.DONE else "",
        mime_type=sample.mime_type if standing is Standing.DONE else "",
        is_error=is_over and standing is not Standing.DONE,
        nested=sample.nested,
        **more,
    )


_CHILD = Sample("grep", {"pattern": "x"}, "Found 2 matches", "", (), {"number_of_matches": 2})

SAMPLES = (
    Sample(
        "bash",
        {"command": "ls\nls -l", "description": "List"},
        "x",
        "Bash ls ls -l",
        (
            "✓ Bash ls ls -l · List",
            "  x",
            "  y",
        ),
        {"output": "x\ny\n"},
    ),
    Sample(
        "view",
        {"file_path": "/repo/a.py", "offset": 4},
        "<file>\n     5|import re\n</file>",
        "View a.py",
        (
            "✓ View a.py · offset=4",
            "    5 import re",
        ),
        {"content": "import re"},
    ),
    Sample(
        "write",
        {"file_path": "/repo/a.txt", "content": "one\ntwo\n"},
        "ok",
        "Write a.txt",
        (
            "✓ Write a.txt · +2 -0",
            "    1 one",
            "    2 two",
        ),
        {"diff": "--- a/a.txt\n+++ b/a.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n"},
    ),
    Sample(
        "edit",
        {"file_path": "/repo/src/parser.py", "old_string": "a", "new_string": "b"},
        "ok",
        "Edit src/parser.py",
        (
            "✓ Edit src/parser.py · +3 -1",
            "  12   def tokenize(text: str) -> Iterator[Token]:",
            '  13       held = ""',
            "  14       for letter in text:",
            '  15 -         if letter == " ":',
            "  15 +         if letter.isspace():",
            "  16               yield Token(held)",
            '  17               held = ""',
            "  18 +     if held:",
            "  19 +         yield Token(held)",
            "  20       return",
        ),
        {"diff": gallery.DIFF},
    ),
    Sample(
        "multiedit",
        {
            "file_path": "/repo/a.txt",
            "edits": [{"old_string": "a", "new_string": "b"}, {"old_string": "q", "new_string": "r"}],
        },
        "ok",
        "Multi-edit a.txt",
        (
            "✓ Multi-edit a.txt · +1 -1 · 2 edits · 1 of them failed",
            "  1 - a",
            "  1 + b",
            "  edit 2: not found",
        ),
        {"old_content": "a\n", "new_content": "b\n", "edits_failed": [{"index": 2, "error": "not found"}]},
    ),
    Sample(
        "ls",
        {"path": "/repo"},
        "- /repo/\n  - a.py\n  - b/",
        "List .",
        (
            "✓ List . · 2 entries",
            "  - /repo/",
            "    - a.py",
            "    - b/",
        ),
        {"number_of_files": 2, "truncated": False},
    ),
    Sample(
        "glob",
        {"pattern": "**/*.py", "path": "/repo/src"},
        "/repo/src/a.py\n/repo/src/b.py",
        "Glob **/*.py",
        (
            "✓ Glob **/*.py · in src · 2 files or more",
            "  src/a.py",
            "  src/b.py",
        ),
        {"number_of_files": 2, "truncated": True},
    ),
    Sample(
        "grep",
        {"pattern": "def (\\w+)", "include": "*.py"},
        "Found 1 match\n/repo/a.py:\n  Line 3, Char 1: def f():",
        "Grep def (\\w+)",
        (
            "✓ Grep def (\\w+) · only *.py · 1 match",
            "  a.py:",
            "    Line 3, Char 1: def f():",
        ),
        {"number_of_matches": 1, "truncated": False},
    ),
    Sample(
        "fetch",
        {"url": "https://example.org/a", "format": "markdown"},
        "```markdown\n# Title\n\nText\n```",
        "Fetch https://example.org/a",
        (
            "✓ Fetch https://example.org/a · format=markdown",
            "  # Title",
            "",
            "  Text",
        ),
    ),
    Sample(
        "web_fetch",
        {"url": "https://example.org/b"},
        "plain text",
        "Fetch https://example.org/b",
        (
            "✓ Fetch https://example.org/b",
            "  plain text",
        ),
    ),
    Sample(
        "web_search",
        {"query": "lost tokens"},
        "- [A](https://example.org/a)\n- [B](https://example.org/b)",
        "Web search lost tokens",
        (
            "✓ Web search lost tokens",
            "  • A (https://example.org/a)",
            "  • B (https://example.org/b)",
        ),
    ),
    Sample(
        "sourcegraph",
        {"query": "tokenize lang:python"},
        "# Sourcegraph Search Results\nFound 0 matches",
        "Sourcegraph tokenize lang:python",
        (
            "✓ Sourcegraph tokenize lang:python",
            "  # Sourcegraph Search Results",
            "",
            "  Found 0 matches",
        ),
    ),
    Sample(
        "download",
        {"url": "https://example.org/a.bin", "file_path": "/repo/a.bin"},
        "Saved 12 bytes",
        "Download https://example.org/a.bin",
        (
            "✓ Download https://example.org/a.bin · to a.bin",
            "  Saved 12 bytes",
        ),
    ),
    Sample(
        "todos",
        {"todos": gallery.TODOS},
        "Updated.",
        "To-dos",
        (
            "✓ To-dos · 1 of 3 done",
            "  ✓ Find where the token is lost",
            "  ▸ Flushing the held token",
            "  ◌ Add a test",
        ),
        {"todos": gallery.TODOS, "just_started": "Flushing the held token"},
    ),
    Sample(
        "question",
        {
            "questions": [
                {
                    "type": "single_choice",
                    "question": "Which one?",
                    "choices": [{"id": "a", "label": "The first"}, {"id": "b", "label": "The second"}],
                }
            ]
        },
        'Q1: Which one?\nSelected: ["b"]\nNote on b: please',
        "Question",
        (
            "✓ Question",
            "  Q  Which one?",
            "  A  The second",
            "     Note on b: please",
        ),
    ),
    Sample(
        "agent",
        {"prompt": "Find the callers"},
        "There are **two**.",
        "Agent Find the callers",
        (
            "✓ Agent Find the callers · 1 call",
            "  └─ ✓ Grep x · 2 matches",
            "  There are two.",
        ),
        None,
        "",
        (used(_CHILD, Standing.DONE),),
    ),
    Sample(
        "agentic_fetch",
        {"prompt": "What is new?", "url": "https://example.org"},
        "Nothing.",
        "Fetch and read What is new?",
        (
            "✓ Fetch and read What is new? · https://example.org",
            "  Nothing.",
        ),
    ),
    Sample(
        "job_output",
        {"shell_id": "003", "wait": False},
        "Status: running\n\nline\nNext position: 5",
        "Job output 003",
        (
            "✓ Job output 003 Serve · running",
            "  line",
        ),
        {"description": "Serve"},
    ),
    Sample(
        "job_kill",
        {"shell_id": "003"},
        "Background job 003 was stopped.",
        "Job kill 003",
        (
            "✓ Job kill 003 serve",
            "  Background job 003 was stopped.",
        ),
        {"command": "serve"},
    ),
    Sample(
        "mcp_tracker_get_report",
        {"id": 7, "verbose": True},
        '{"id": 7}',
        "tracker: get report",
        (
            "✓ tracker: get report · id=7, verbose=true",
            "  {",
            '    "id": 7',
            "  }",
        ),
    ),
    Sample(
        "lsp_definition",
        {"symbol": "tokenize"},
        "src/parser.py:12",
        "Lsp definition tokenize",
        (
            "✓ Lsp definition tokenize",
            "  src/parser.py:12",
        ),
    ),
)
