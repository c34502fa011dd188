"""The offline model holds a whole conversation with tools, and never pretends to be more than it is."""

import json

import pytest

from tests.models.scenes import message, user
from turnkeeper.models.model import Chunk, Finished, Purpose, Question, TextSaid, ToolCallDone, ToolSpec
from turnkeeper.models.offline import HONESTY, OfflineModel
from turnkeeper.protocol.ids import MessageId, SessionId, ToolCallId
from turnkeeper.protocol.messages import FinishReason, Message, Role, Text, ToolCall, ToolResult

pytestmark = pytest.mark.anyio

TOOLS = tuple(ToolSpec(name, "", {"type": "object"}) for name in ("ls", "glob", "grep", "view", "bash"))


async def heard(
    *messages: Message, tools: tuple[ToolSpec, ...] = TOOLS, purpose: Purpose = Purpose.ANSWER
) -> list[Chunk]:
    question = Question(("You write titles and summaries.",), messages, tools, purpose=purpose)
    return [chunk async for chunk in OfflineModel().stream(question)]


def text_of(chunks: list[Chunk]) -> str:
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, TextSaid))


def calls_of(chunks: list[Chunk]) -> list[tuple[str, dict[str, object]]]:
    return [(chunk.name, json.loads(chunk.input)) for chunk in chunks if isinstance(chunk, ToolCallDone)]


def used(name: str, output: str, id: str = "offline-1", *, is_error: bool = False) -> tuple[Message, Message]:
    """A call that was made, and what came of it."""
    called = message(Role.ASSISTANT, Text("I look."), ToolCall(ToolCallId(id), name, "{}", finished=True))
    result = ToolResult(ToolCallId(id), name, output, is_error=is_error)
    return called, Message(MessageId("t"), SessionId("s"), Role.TOOL, (result,))


@pytest.mark.parametrize(
    ("request_text", "tool", "arguments"),
    [
        ("What is in this directory?", "ls", {}),
        ("list files", "ls", {}),
        ("ls src/app", "ls", {"path": "src/app"}),
        ("what's in the docs folder", "ls", {"path": "docs"}),
        ("find files named *.py", "glob", {"pattern": "**/*.py"}),
        ("where is the file `main.go`?", "glob", {"pattern": "**/main.go"}),
        ('search for "def main"', "grep", {"pattern": "def main", "literal_text": True}),
        ("grep needle in src/", "grep", {"pattern": "needle", "literal_text": True, "path": "src/"}),
        ("where is parse_config used?", "grep", {"pattern": "parse_config", "literal_text": True}),
        ("please show me README.md", "view", {"file_path": "README.md"}),
        ("read the file src/app.py.", "view", {"file_path": "src/app.py"}),
        ("count TODOs", "grep", {"pattern": "TODO", "literal_text": True}),
        ("how many *.py files are there?", "glob", {"pattern": "**/*.py"}),
        ("run `ls -la; pwd`", "bash", {"command": "ls -la; pwd", "description": "Run what was asked"}),
        ("run make test", "bash", {"command": "make test", "description": "Run what was asked"}),
        (
            "git status",
            "bash",
            {"command": "git status --short --branch", "description": "Look at what changed"},
        ),
        (
            "count lines in README.md",
            "bash",
            {"command": "wc -l -- README.md", "description": "Count the lines of README.md"},
        ),
    ],
)
async def test_a_plain_request_becomes_a_call_with_the_tool_s_own_parameters(
    request_text: str, tool: str, arguments: dict[str, object]
) -> None:
    chunks = await heard(user(request_text))
    assert calls_of(chunks) == [(tool, arguments)]
    assert chunks[-1] == Finished(FinishReason.TOOL_USE)


@pytest.mark.parametrize(
    ("request_text", "tool", "output", "told"),
    [
        ("list", "ls", "- app/\n  - a.py", "Here is what is in this directory:\n\n```\n- app/\n  - a.py\n```"),
        ("find files named *.py", "glob", "/w/a.py\n/w/b.py", "2 files match **/*.py:\n\n```\n/w/a.py\n/w/b.py\n```"),
        ("find files named *.py", "glob", "No files found", "No file matches **/*.py."),
        ("count *.py files", "glob", "/w/a.py\n/w/b.py", "There are 2 files in this directory."),
        (
            "count TODOs",
            "grep",
            "Found 3 matches\na.py:\n  Line 1, Char 2: TODO",
            "There are 3 TODO in this directory.",
        ),
        ("count TODOs", "grep", "No files found", "There are 0 TODO in this directory."),
        ("count lines in a.py", "bash", "12 a.py", "There are 12 lines in a.py."),
        ("show a.py", "view", "<file>\n     1|import os\n     2|\n</file>", "This is a.py:\n\n```\nimport os\n\n```"),
        ("run `true`", "bash", "", "It ran and said nothing."),
    ],
)
async def test_what_a_tool_answered_is_told_in_a_sentence(request_text: str, tool: str, output: str, told: str) -> None:
    chunks = await heard(user(request_text), *used(tool, output))
    assert text_of(chunks) == f"{told}\n\n{HONESTY}"
    assert chunks[-1] == Finished(FinishReason.END_TURN)


async def test_requests_joined_by_then_are_done_one_after_the_other() -> None:
    asked = user("list files, then show a.py")
    assert calls_of(await heard(asked)) == [("ls", {})]
    first = used("ls", "- a.py", "offline-1")
    assert calls_of(await heard(asked, *first)) == [("view", {"file_path": "a.py"})]
    second = used("view", "1|x", "offline-3")
    assert text_of(await heard(asked, *first, *second)).startswith("Here is what is in this directory")


async def test_a_tool_that_failed_is_told_as_a_failure() -> None:
    told = text_of(await heard(user("show a.py"), *used("view", "File not found: a.py", is_error=True)))
    assert told.startswith("I read a.py, but that did not work: File not found: a.py")


async def test_what_it_does_not_understand_it_says_and_tells_what_it_can() -> None:
    chunks = await heard(user("refactor everything"))
    assert text_of(chunks).startswith(HONESTY)
    assert "git status" in text_of(chunks)
    assert calls_of(chunks) == []


async def test_a_tool_it_was_not_given_is_not_called() -> None:
    assert calls_of(await heard(user("run `ls`"), tools=())) == []


async def test_it_says_what_it_is_once_and_streams_in_small_pieces() -> None:
    before = (user("list"), *used("ls", "- a.py"), message(Role.ASSISTANT, Text("Here.")))
    chunks = await heard(*before, user("show a.py"), *used("view", "1|x", "offline-5"))
    assert HONESTY not in text_of(chunks)
    assert len([chunk for chunk in chunks if isinstance(chunk, TextSaid)]) > 3


async def test_the_same_question_gets_the_same_answer() -> None:
    assert await heard(user("list")) == await heard(user("list"))


async def test_a_title_is_the_request_itself_cut_at_a_word() -> None:
    asked = user("Generate a concise title for this:\n\nlist the files of the project and count them, then show a.py")
    told = text_of(await heard(asked, tools=(), purpose=Purpose.TITLE))
    assert told == "list the files of the project and count them…"


async def test_a_summary_names_what_was_asked_and_what_was_used() -> None:
    talk = (user("list"), *used("ls", "- a.py"), user("Summarize our conversation."))
    told = text_of(await heard(*talk, tools=(), purpose=Purpose.SUMMARY))
    assert told == f"The user asked, in this order:\n- list\n\nTools used: ls (1×).\n\n{HONESTY}"
