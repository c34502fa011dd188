"""Conversations to look at, made by hand: one with everything in it, and words for making others."""

import json
from collections.abc import Iterable
from typing import Any

from turnkeeper.client.conversation import Conversation, Spot
from turnkeeper.client.rope import rope
from turnkeeper.client.view import View
from turnkeeper.protocol.ids import ClientId, MessageId, RunId, SessionId, ToolCallId
from turnkeeper.protocol.messages import (
    STOPPED,
    Binary,
    Finish,
    FinishReason,
    Message,
    Part,
    PartKind,
    Reasoning,
    Role,
    ShellCommand,
    Text,
    ToolCall,
    ToolResult,
)
from turnkeeper.protocol.runs import RunState, Usage
from turnkeeper.protocol.wire_own import FailureView, RunView
from turnkeeper.protocol.wire_requests import PermissionRequest
from turnkeeper.protocol.wire_sessions import Session

HERE = "s1"
AT = 1_700_000_000
END = Finish(FinishReason.END_TURN, AT + 42)
TOOLS = Finish(FinishReason.TOOL_USE, AT + 9)


def message(id: str, role: Role, *parts: Part, run: str = "", by: str = "me", **more: Any) -> Message:
    is_model = role is Role.ASSISTANT
    return Message(
        MessageId(id),
        SessionId(HERE),
        role,
        parts,
        created_at=AT,
        run_id=RunId(run) if run else None,
        author=ClientId(by if role is Role.USER else ""),
        model="sonata-4" if is_model else "",
        provider="harmony" if is_model else "",
        **more,
    )


def person(id: str, text: str, *more: Part, run: str = "", by: str = "me") -> Message:
    return message(id, Role.USER, Text(text), *more, STOPPED, run=run, by=by)


def model(id: str, *parts: Part, run: str = "", **more: Any) -> Message:
    return message(id, Role.ASSISTANT, *parts, run=run, **more)


def results(id: str, *said: ToolResult, run: str = "") -> Message:
    return message(id, Role.TOOL, *said, STOPPED, run=run)


def call(id: str, name: str, /, **given: Any) -> ToolCall:
    return ToolCall(ToolCallId(id), name, json.dumps(given), finished=True)


def result(id: str, name: str, said: str, /, *, error: bool = False, mime: str = "", **told: Any) -> ToolResult:
    metadata = json.dumps(told) if told else ""
    return ToolResult(ToolCallId(id), name, said, mime_type=mime, metadata=metadata, is_error=error)


def ended(run: str, outcome: str = "completed", **more: Any) -> RunView:
    told: dict[str, Any] = {"started_at": AT * 1000, "ended_at": AT * 1000 + 42_300, "steps": 3} | more
    return RunView(run, HERE, RunState.ENDED.value, outcome=outcome, by="me", **told)


def active(run: str, **more: Any) -> RunView:
    return RunView(run, HERE, RunState.ACTIVE.value, started_at=AT * 1000, by="me", **more)


def view_of(
    messages: Iterable[Message],
    *runs: RunView,
    drafts: dict[Spot, str] | None = None,
    permissions: Iterable[PermissionRequest] = (),
    children: dict[str, Iterable[Message]] | None = None,
    **more: Any,
) -> View:
    written = {spot: rope(text) for spot, text in (drafts or {}).items()}
    conversations = {HERE: Conversation({m.id: m for m in messages}, written, is_whole=True)}
    for child, said in (children or {}).items():
        conversations[child] = Conversation({m.id: m for m in said}, is_whole=True)
    return View(
        sessions={HERE: Session(id=HERE, title="Here")},
        conversations=conversations,
        runs={run.run_id: run for run in runs},
        permissions={one.id: one for one in permissions},
        **more,
    )


MARKDOWN = """\
The parser drops the **last** token when a file does not end with a newline. Two things follow:

1. `tokenize()` must flush what it holds, and
2. the test in `tests/test_parser.py` should say so.

| case | before | after |
|------|-------:|------:|
| newline at the end | 14 | 14 |
| none | 13 | 14 |

```python
def flush(self) -> Iterator[Token]:
    # What is held back is a token of its own.
    if self.held:
        yield Token("word", self.held, line=self.line + 1)
```

> See [the report](https://example.org/reports/77) for how it was found.
"""
DIFF = """\
--- a/src/parser.py
+++ b/src/parser.py
@@ -12,7 +12,9 @@
 def tokenize(text: str) -> Iterator[Token]:
     held = ""
     for letter in text:
-        if letter == " ":
+        if letter.isspace():
             yield Token(held)
             held = ""
+    if held:
+        yield Token(held)
     return
"""
SOURCE = "\n".join(
    ["import re", "", "", "class Parser:", '    """Reads tokens."""', "", "    def __init__(self) -> None:"]
    + [f"        self.field_{n} = {n}" for n in range(20)]
)
NUMBERED = "\n".join(f"{n:6d}|{line}" for n, line in enumerate(SOURCE.split("\n"), 1))
TODOS = [
    {"content": "Find where the token is lost", "status": "completed", "active_form": "Finding it"},
    {"content": "Flush the held token", "status": "in_progress", "active_form": "Flushing the held token"},
    {"content": "Add a test", "status": "pending", "active_form": "Adding a test"},
]
FAILING = "....F.\n\nE   AssertionError: assert 13 == 14\n" + "\n".join(f"trace line {n}" for n in range(12))
THOUGHT = (
    "The last token is lost.\nIt may be held back until a space comes.\nSo at the end it is never yielded.\n"
    "Let me look at the tokenizer first.\nThen run its tests."
)


def everything() -> View:
    """One of each: what people and models say, every kind of tool, and how runs end."""
    nested = [
        person("n1", "Find every caller"),
        model("n2", call("x1", "grep", pattern="tokenize\\("), call("x2", "view", file_path="/repo/src/cli.py"), TOOLS),
        results("n3", result("x1", "grep", "Found 2 matches", number_of_matches=2)),
        results("n4", result("x2", "view", "<file>\n     1|import parser\n</file>", content="import parser")),
    ]
    failure = FailureView("provider", "The provider is overloaded (503).", retryable=True)
    used = Usage(input_tokens=18_400, output_tokens=1_250, cache_read_tokens=40_000, cost=0.0731)
    return view_of(
        [*first_run(), *second_run()],
        ended("r1", usage=used),
        ended("r2", "cancelled", steps=1, usage=Usage(2_000, 80, cost=0.004)),
        ended("r3", "failed", failure=failure, steps=1),
        children={"a2$$c6": nested},
    )


def first_run() -> list[Message]:
    picture = Binary("/repo/docs/screen.png", "image/png", b"x" * 20_480)
    found = "Found 1 match\n/repo/src/parser.py:\n  Line 12, Char 1: def tokenize(text: str)"
    shell: dict[str, Any] = {"output": FAILING, "start_time": AT * 1000, "end_time": AT * 1000 + 3_200}
    about = {"title": "Lost token", "id": 77, "open": True}
    return [
        model("sum", Text("The project is a small parser; its tests are in `tests/`."), END, is_summary=True),
        person("u1", "The parser loses the last token.\nPlease find out why, and fix it.", picture, run="r1"),
        model(
            "a1",
            Reasoning(THOUGHT, started_at=AT, finished_at=AT + 4),
            Text("I'll look at the tokenizer first."),
            call("c1", "view", file_path="/repo/src/parser.py"),
            call("c2", "grep", pattern="def tokenize", path="/repo/src"),
            call("c3", "bash", command="pytest -q tests/test_parser.py", description="Run the parser's tests"),
            TOOLS,
            run="r1",
        ),
        results("t1", result("c1", "view", f"<file>\n{NUMBERED}\n</file>", content=SOURCE), run="r1"),
        results("t2", result("c2", "grep", found, number_of_matches=1, truncated=False), run="r1"),
        results("t3", result("c3", "bash", f"{FAILING}\nExit code 1\n\n<cwd>/repo</cwd>", **shell), run="r1"),
        model(
            "a2",
            call("c4", "todos", todos=TODOS),
            call("c5", "edit", file_path="/repo/src/parser.py", old_string="a", new_string="b"),
            call("c6", "agent", prompt="Find every caller of tokenize and say which of them strip the text first."),
            call("c7", "mcp_tracker_get_report", report=77),
            TOOLS,
            run="r1",
        ),
        results("t4", result("c4", "todos", "Updated.", todos=TODOS, completed=1, total=3, is_new=False), run="r1"),
        results("t5", result("c5", "edit", "<result>ok</result>", additions=3, removals=1, diff=DIFF), run="r1"),
        results("t6", result("c6", "agent", "Two callers, and **neither** strips the text first."), run="r1"),
        results("t7", result("c7", "mcp_tracker_get_report", json.dumps(about)), run="r1"),
        model("a3", Text(MARKDOWN), END, run="r1"),
    ]


def second_run() -> list[Message]:
    return [
        message("sh", Role.USER, ShellCommand("git status --short", " M src/parser.py\n", 0), STOPPED),
        person("u2", "Now publish it.", run="r2", by="anna"),
        model(
            "b1",
            call("d1", "bash", command="git push", description="Publish the branch"),
            call("d2", "write", file_path="/repo/CHANGES", content="- The last token is no longer lost.\n"),
            Finish(FinishReason.CANCELED, AT + 60, "User canceled request"),
            run="r2",
        ),
        results("s1", result("d1", "bash", "User denied permission: not today", error=True), run="r2"),
        results("s2", result("d2", "write", "Error: user cancelled assistant tool calling", error=True), run="r2"),
        person("u3", "Then only tell me what you would do.", run="r3"),
        model("c1m", Finish(FinishReason.ERROR, AT + 70, "Provider Error", "503: overloaded"), run="r3"),
    ]


def going_on() -> View:
    """A run in the middle of its work: a tool running, and one that waits for permission."""
    thought = Reasoning("First the tests.", started_at=AT, finished_at=AT + 2)
    calls = (call("c1", "bash", command="pytest -q"), call("c2", "bash", command="git push origin main"))
    messages = [
        person("u1", "Run the tests and push.", run="r1"),
        model("a1", thought, Text("Running them now."), *calls, run="r1"),
    ]
    asked = PermissionRequest(id="p1", session_id=HERE, tool_call_id="c2", tool_name="bash")
    output = Spot("a1", 2, PartKind.OUTPUT)
    return view_of(messages, active("r1"), drafts={output: "....\n....\n"}, permissions=[asked])
