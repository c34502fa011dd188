"""Conversations written down: nothing said is lost, and nothing said becomes something else."""

import json
import re
from html.parser import HTMLParser

import pytest

from turnkeeper.client.exporting import EXPORTS, as_json, markdown, page
from turnkeeper.protocol.ids import MessageId, SessionId, ToolCallId
from turnkeeper.protocol.messages import (
    STOPPED,
    Binary,
    Finish,
    FinishReason,
    Message,
    Part,
    Reasoning,
    Role,
    ShellCommand,
    Text,
    ToolCall,
    ToolResult,
)
from turnkeeper.protocol.wire_messages import WireMessage, message_from_wire
from turnkeeper.protocol.wire_reading import read
from turnkeeper.protocol.wire_sessions import Session

AT = 1_700_000_000
SESSION = Session(
    "s1", title="Fix <the> bug", message_count=4, prompt_tokens=1200, cost=0.5, created_at=AT, updated_at=AT
)


def said(role: Role, *parts: Part, model: str = "") -> Message:
    return Message(MessageId(f"m{len(parts)}{role}"), SessionId("s1"), role, parts, model=model, created_at=AT)


MESSAGES = [
    said(Role.USER, Text("What does <b>this</b> do?"), Binary("/p/a.png", "image/png", b"\x89PNG"), STOPPED),
    said(
        Role.ASSISTANT,
        Reasoning("hm\nlet me see"),
        ToolCall(ToolCallId("c1"), "bash", '{"command":"cat x"}', finished=True),
        Finish(FinishReason.TOOL_USE),
        model="gpt-x",
    ),
    said(Role.TOOL, ToolResult(ToolCallId("c1"), "bash", "```\n</pre><script>alert(1)</script>\n````"), STOPPED),
    said(
        Role.ASSISTANT, Text("# It prints"), Finish(FinishReason.ERROR, AT, "Provider Error", "too busy"), model="gpt-x"
    ),
    said(Role.USER, ShellCommand("ls", "a\nb\n", 0), STOPPED),
]


def test_markdown_tells_it_in_order_and_no_fence_is_ended_by_what_is_inside() -> None:
    assert markdown(SESSION, MESSAGES) == (
        "# Fix <the> bug\n\n- session s1\n"
        "- begun 2023-11-14 22:13 UTC, last changed 2023-11-14 22:13 UTC\n"
        "- 4 messages, 1,200 + 0 tokens in the model's window, $0.5000\n\n"
        "## You\n\nWhat does <b>this</b> do?\n\n*Attached: /p/a.png (image/png, 4 bytes)*\n\n"
        "## Assistant (gpt-x)\n\n> hm\n> let me see\n\n"
        '**bash**\n\n```json\n{\n  "command": "cat x"\n}\n```\n\n'
        "Result of bash:\n\n`````\n```\n</pre><script>alert(1)</script>\n````\n`````\n\n"
        "## Assistant (gpt-x)\n\n# It prints\n\n*error: Provider Error: too busy*\n\n"
        "## You\n\n```console\n$ ls\na\nb\n```\n"
    )


def test_json_holds_everything_that_was_said() -> None:
    told = json.loads(as_json(SESSION, MESSAGES))
    assert told["session"]["title"] == SESSION.title
    back = [message_from_wire(read(json.dumps(message).encode(), WireMessage)) for message in told["messages"]]
    assert back == MESSAGES


class Elements(HTMLParser):
    """The elements of a page, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_page_shows_what_was_said_as_text_and_reaches_for_nothing() -> None:
    elements = Elements()
    elements.feed(written := page(SESSION, MESSAGES))
    assert "script" not in elements.found
    assert elements.found.count("article") == len(MESSAGES)
    for text in ("What does <b>this</b> do?", "</pre><script>alert(1)</script>", "hm\nlet me see", "$ ls\na\nb"):
        assert text in elements.text
    assert 'src="data:image/png;base64,iVBORw=="' in written
    assert re.findall(r"(?:src|href)=\"(?!data:)", written) == []
    assert "default-src 'none'" in written


@pytest.mark.parametrize("way", EXPORTS)
def test_a_session_in_which_nothing_was_said_is_a_document_too(way: str) -> None:
    assert "Untitled Session" in EXPORTS[way](Session("s"), []) or way == "json"


def test_what_was_said_cannot_fill_in_the_page() -> None:
    assert "{{articles}}" in page(SESSION, [said(Role.USER, Text("{{articles}}"))])
