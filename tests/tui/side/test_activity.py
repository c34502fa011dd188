"""What a session is doing, in words, and how numbers are said."""

from msgspec.structs import replace

from turnkeeper.client.conversation import Conversation, Spot
from turnkeeper.client.rope import rope
from turnkeeper.client.view import View
from turnkeeper.protocol.ids import MessageId, SessionId, ToolCallId
from turnkeeper.protocol.messages import Message, Part, PartKind, Role, ShellCommand, Text, ToolCall, ToolResult
from turnkeeper.protocol.wire_clients import ShellLine
from turnkeeper.protocol.wire_own import RunView
from turnkeeper.protocol.wire_requests import PermissionRequest, QuestionRequest
from turnkeeper.protocol.wire_sessions import Session
from turnkeeper.tui.side.activity import Activity, activity, ago, amount, clock, family, money, requests_of

RUN = RunView(run_id="r", session_id="s", state="active", started_at=5)
SESSIONS = {
    "s": Session(id="s"),
    "child": Session(id="child", parent_session_id="s"),
    "grandchild": Session(id="grandchild", parent_session_id="child"),
    "other": Session(id="other"),
}


def view(run: RunView | None = RUN, *messages: Message, **more: object) -> View:
    talk = Conversation({message.id: message for message in messages}, is_whole=True)
    runs = {run.run_id: run} if run else {}
    return replace(View(sessions=SESSIONS, runs=runs, conversations={"s": talk}), **more)


def said(id: str, role: Role, *parts: Part) -> Message:
    return Message(MessageId(id), SessionId("s"), role, parts)


CALL = ToolCall(ToolCallId("c"), "bash", "{}", finished=True)
RESULT = ToolResult(ToolCallId("c"), "bash", "done")


def test_a_session_without_a_run_does_nothing() -> None:
    assert activity(view(None), "s") == Activity()
    assert not activity(view(None), "s").is_busy


def test_a_run_that_has_said_nothing_yet_is_thinking() -> None:
    assert activity(view(), "s") == Activity("thinking", "", 5)


def test_a_run_whose_words_are_coming_is_writing() -> None:
    talk = Conversation(drafts={Spot("m", 0, PartKind.TEXT): rope("hel")})
    assert activity(view(conversations={"s": talk}), "s") == Activity("writing", "", 5)


def test_a_call_without_a_result_is_a_tool_in_use() -> None:
    asked, answered = said("m", Role.ASSISTANT, CALL), said("t", Role.TOOL, RESULT)
    assert activity(view(RUN, asked), "s") == Activity("using", "bash", 5)
    assert activity(view(RUN, asked, answered), "s") == Activity("thinking", "", 5)


def test_what_a_person_runs_beside_a_run_says_nothing_of_the_run() -> None:
    asked, typed = said("m", Role.ASSISTANT, CALL), said("u", Role.USER, ShellCommand("ls", "a\n", 0))
    assert activity(view(RUN, asked, typed), "s") == Activity("using", "bash", 5)
    again = said("u", Role.USER, Text("and now?"))
    assert activity(view(RUN, asked, again), "s") == Activity("thinking", "", 5)


def test_a_line_that_a_person_runs_is_said_beside_what_the_run_does() -> None:
    line = ShellLine("l", "s", "make  all", "anna", 7)
    assert activity(view(None, lines={"l": line}), "s") == Activity("running", "!make all", 7)
    assert activity(view(None, lines={"l": replace(line, stopping=True)}), "s") == Activity("stopping", "!make all", 7)
    assert activity(view(lines={"l": line}), "s") == Activity("thinking", "!make all", 5)
    assert activity(view(None, lines={"l": replace(line, session_id="other")}), "s") == Activity()
    long = activity(view(None, lines={"l": replace(line, command="x" * 99)}), "s")
    assert long.detail == f"!{'x' * 32}..."


def test_whoever_waits_for_a_person_says_so_also_for_its_children() -> None:
    asked = PermissionRequest(id="p", session_id="grandchild")
    assert activity(view(permissions={"p": asked}), "s") == Activity("waiting", "for a permission", 5, True)
    question = QuestionRequest(id="q", session_id="s")
    assert activity(view(questions={"q": question}), "s") == Activity("waiting", "for an answer", 5, True)
    elsewhere = PermissionRequest(id="p", session_id="other")
    assert activity(view(permissions={"p": elsewhere}), "s") == Activity("thinking", "", 5)


def test_stopping_and_held_are_said() -> None:
    assert activity(view(replace(RUN, state="stopping")), "s") == Activity("stopping", "", 5)
    held = view(None, gates={"s": "held"}, queues={"s": ("r2",)})
    assert activity(held, "s") == Activity("held", "the line waits to be released", needs_person=True)


def test_a_family_is_a_session_and_all_that_came_of_it() -> None:
    assert family(view(), "s") == {"s", "child", "grandchild"}
    assert family(view(), "") == frozenset()
    asked = {"p": PermissionRequest(id="p", session_id="child"), "o": PermissionRequest(id="o", session_id="other")}
    assert requests_of(view(permissions=asked), family(view(), "s")) == ["p"]


def test_numbers_are_said_as_people_read_them() -> None:
    assert [clock(seconds) for seconds in (0.4, 59.9, 60, 3599, 3600, 7265)] == [
        *("0s", "59s", "1m00s", "59m59s", "1h00m", "2h01m"),
    ]
    assert [ago(seconds) for seconds in (-3, 59, 60, 3600, 90_000, 8 * 86400)] == [
        *("just now", "just now", "1 min", "1 h", "1 d", "1 w"),
    ]
    assert [amount(tokens) for tokens in (0, 999, 1000, 12_345, 123_456, 1_234_567)] == [
        *("0", "999", "1.0k", "12.3k", "123k", "1.2M"),
    ]
    assert [money(dollars) for dollars in (0, 0.0012, 0.01, 1.239)] == ["$0.00", "$0.0012", "$0.01", "$1.24"]
