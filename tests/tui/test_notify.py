"""What somebody who looks elsewhere is told, and in which bytes."""

from msgspec.structs import replace

from turnkeeper.client.view import View
from turnkeeper.protocol.wire_own import RunView
from turnkeeper.protocol.wire_requests import PermissionRequest
from turnkeeper.protocol.wire_sessions import Session
from turnkeeper.tui.notify import News, clean, news, sequence, style_here, window_title

RUN = RunView(run_id="r", session_id="s", state="active", prompt="do it", by="me")
HERE = frozenset(("s",))


def view(*runs: RunView, **more: object) -> View:
    known = View(sessions={"s": Session(id="s", title="Work")}, runs={run.run_id: run for run in runs})
    return replace(known, **more)


def ended(outcome: str, **more: object) -> RunView:
    return replace(RUN, state="ended", outcome=outcome, text="all of it", **more)


def told(before: View, now: View, sessions: frozenset[str] = HERE, me: str = "me") -> list[News]:
    return list(news(before, now, sessions, me))


def test_a_run_that_ends_is_news_once() -> None:
    assert told(view(RUN), view(ended("completed"))) == [News("Done: Work", "all of it")]
    assert told(view(ended("completed")), view(ended("completed"))) == []
    assert told(view(RUN), view(ended("failed"))) == [News("Failed: Work", "all of it")]


def test_what_somebody_stopped_or_nobody_waits_for_is_no_news() -> None:
    assert told(view(RUN), view(ended("cancelled"))) == []
    assert told(view(RUN), view(ended("folded"))) == []
    assert told(view(RUN), view(ended("completed", parent="other"))) == []


def test_a_run_elsewhere_is_news_to_whoever_asked_for_it_alone() -> None:
    assert told(view(RUN), view(ended("completed")), frozenset()) == [News("Done: Work", "all of it")]
    assert told(view(RUN), view(ended("completed")), frozenset(), me="somebody else") == []


def test_an_ending_that_was_there_before_we_came_is_no_news() -> None:
    assert told(View(), view(ended("completed"))) == []


def test_a_permission_that_is_asked_for_is_news() -> None:
    asked = PermissionRequest(id="p", session_id="s", tool_name="bash", description="run the tests")
    assert told(view(), view(permissions={"p": asked})) == [News("May it? Work", "bash: run the tests")]
    assert told(view(permissions={"p": asked}), view(permissions={"p": asked})) == []


def test_nothing_that_was_said_reaches_the_terminal_as_a_command() -> None:
    hostile = News("a\x1b]0;owned\x07", "b\x1b[2J;c\r\n\x9c\x00")
    said = sequence("osc", hostile)
    assert said == "\x1b]777;notify;a ]0,owned ;b [2J,c   \x1b\\\x1b]9;a ]0;owned \x1b\\\x07"
    assert "\x1b" not in clean(hostile.text)
    assert "\x9c" not in clean(hostile.text)
    assert window_title("x\x07\x1b]52;c;?\x07") == "\x1b]2;x  ]52;c;? \x07"


def test_over_a_wire_the_terminal_is_told_and_a_wish_goes_before_all() -> None:
    assert style_here("auto", {"SSH_CONNECTION": "1.2.3.4"}) == "osc"
    assert style_here("auto", {"TMUX": "/tmp/x"}) == "osc"
    assert style_here("bell", {"SSH_CONNECTION": "1.2.3.4"}) == "bell"
    assert sequence("disabled", News("a", "b")) == ""
