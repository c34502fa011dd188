"""Two people at two terminals, one session, a real server: what one does the other sees, and neither loses anything."""

import os
import signal
import time
from collections.abc import Generator
from contextlib import AbstractContextManager

import pytest

from tests.cli.scene import Home, home
from tests.e2e.screens import KINDS, PROGRAM, WAIT_SECONDS, Emulated, Screen, is_here, over, screen, shows
from turnkeeper.models.scripted import CallTool, Pause, Say, turn

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    if not is_here(request.param):
        pytest.skip("tmux is not installed; the same is proved on the emulated screen")
    return request.param


@pytest.fixture
def at() -> Generator[Home]:
    with home(TURNKEEPER_SERVER_IDLE_TIMEOUT="10") as scene:
        yield scene


def opened(at: Home, kind: str, *arguments: str) -> AbstractContextManager[Screen]:
    return screen(kind, *arguments, env=at.env, cwd=at.project)


def said(one: Screen, text: str) -> None:
    one.type(text)
    one.press("enter")


def test_two_terminals_show_one_conversation_and_leave_it_to_the_server(at: Home, kind: str) -> None:
    at.script(turn(Say("The first answer.")), turn(Say("The second answer.")))
    with opened(at, kind) as first:
        shows(first, "Say what to do")
        said(first, "hello from the first")
        shows(first, "hello from the first", "The first answer.", "ready")
        with opened(at, kind, "--continue") as second:
            shows(second, "hello from the first", "The first answer.")
            shows(first, "with ")
            said(second, "and from the second")
            for one in (first, second):
                shows(one, "and from the second", "The second answer.")
            second.press("ctrl+c", "ctrl+c")
            over(second)
        shows(first, "The second answer.", without="with ")


def test_what_one_stops_has_stopped_for_both(at: Home, kind: str) -> None:
    at.script(turn(Say("Counting"), Pause(600), Say(" done")))
    with opened(at, kind) as first:
        shows(first, "Say what to do")
        said(first, "count")
        shows(first, "Counting", "esc esc to stop")
        with opened(at, kind, "--continue") as second:
            shows(second, "Counting", "esc esc to stop")
            said(second, "then this")
            shows(first, "1 waiting", "then this")
            first.press("esc", "esc")
            shows(first, "Stopped after")
            # What somebody else has in line is theirs, and goes on.
            shows(second, "then this", without="1 waiting")


def test_a_server_that_is_killed_comes_back_and_with_it_the_conversation_and_what_was_being_typed(
    at: Home, kind: str
) -> None:
    # Another server begins the script again.
    at.script(turn(Say("An answer.")))
    with opened(at, kind) as first:
        shows(first, "Say what to do")
        said(first, "one")
        shows(first, "An answer.", "ready")
        first.type("half a thou")
        shows(first, "half a thou")
        (server,) = at.server_pids()
        os.kill(server, signal.SIGKILL)
        first.type("ght")
        shows(first, "half a thought", "An answer.")
        first.press("enter")
        seen = shows(first, "you\n  ▌ half a thought", "ready")
        assert seen.count("An answer.") == 2
        assert len(at.server_pids()) == 1


def test_a_draft_survives_the_terminal_it_was_written_in(at: Home, kind: str) -> None:
    at.script(turn(Say("Yes.")))
    with opened(at, kind) as first:
        shows(first, "Say what to do")
        first.type("not sent yet")
        shows(first, "not sent yet")
        first.press("ctrl+c", "ctrl+c")
        over(first)
    with opened(at, kind) as again:
        shows(again, "not sent yet")
        again.press("enter")
        shows(again, "Yes.")


def test_a_permission_is_answered_in_one_terminal_and_closes_in_the_other(at: Home, kind: str) -> None:
    wants = CallTool("c1", "bash", {"command": "touch made-it", "description": "make a file"})
    at.script(turn(wants), turn(Say("It is made.")))
    with opened(at, kind) as first:
        shows(first, "Say what to do")
        said(first, "make it")
        shows(first, "Run a command?", "touch made-it")
        with opened(at, kind, "--continue") as second:
            shows(second, "Run a command?", "touch made-it")
            # For a moment after it appears no key is an answer.
            shows(second, "choose", "answer")
            until_gone(second, "Run a command?", "a")
            shows(second, "It is made.")
            shows(first, "It is made.", "allowed it", without="Run a command?")
    assert (at.project / "made-it").exists()


def test_a_line_that_one_puts_in_order_is_in_order_for_both(at: Home, kind: str) -> None:
    at.script(turn(Say("Counting"), Pause(600), Say(" done")))
    with opened(at, kind) as first:
        shows(first, "Say what to do")
        said(first, "count")
        shows(first, "Counting")
        with opened(at, kind, "--continue") as second:
            shows(second, "Counting")
            for text in ("sweep", "polish"):
                said(second, text)
            shows(first, "1 sweep", "2 polish")
            first.press("ctrl+t", "down", "K")
            shows(second, "1 polish", "2 sweep")
            first.press("d")
            shows(second, "1 waiting", without="polish")
            first.press("esc", "esc", "esc")
            shows(first, "Stopped after")


def until_gone(one: Screen, text: str, key: str) -> None:
    """Press a key until something has left the screen."""
    deadline = time.monotonic() + WAIT_SECONDS
    while text in one.text():
        assert time.monotonic() < deadline, one.text()
        one.press(key)


def test_a_terminal_without_unicode_is_shown_none(at: Home, kind: str) -> None:
    at.script(turn(Say("An answer.")))
    at.env.update(LANG="C", LC_ALL="C")
    with opened(at, kind) as one:
        shows(one, "Say what to do")
        said(one, "hello")
        seen = shows(one, "An answer.", "ready")
        assert seen.isascii(), [char for char in seen if not char.isascii()]


def test_to_a_screen_reader_states_are_words(at: Home, kind: str) -> None:
    wants = CallTool("c1", "bash", {"command": "echo done", "description": "say it"})
    at.script(turn(wants), turn(Say("It is said.")))
    at.env.update(TURNKEEPER_PLAIN="1")
    with opened(at, kind, "--yolo") as one:
        shows(one, "Say what to do")
        said(one, "say it")
        seen = shows(one, "It is said.", "Tool Bash, done")
        assert not {"✓", "◆", "•", "─"} & set(seen)


def test_a_terminal_that_is_made_tiny_and_wide_again_goes_on(at: Home) -> None:
    at.script(turn(Say("word " * 200, characters=5, every_seconds=0.02), Say("The end.")))
    with opened(at, "emulated") as one:
        assert isinstance(one, Emulated)
        shows(one, "Say what to do")
        said(one, "talk")
        shows(one, "word word")
        for size in ((40, 12), (20, 5), (200, 60), (80, 24)):
            one.resize(size)
            one.text()
        shows(one, "The end.", "ready")


def test_a_terminal_that_nothing_can_be_drawn_on_is_refused_with_what_to_do(at: Home) -> None:
    one = Emulated(PROGRAM, env=at.env | {"TERM": "dumb"}, cwd=at.project, size=(100, 20))
    try:
        shows(one, "TERM is dumb", "turnkeeper run PROMPT")
        over(one)
    finally:
        one.close()


def test_who_leaves_is_told_how_to_come_back(at: Home) -> None:
    at.script(turn(Say("The answer.")), turn(Say("A title")))
    with opened(at, "emulated") as one:
        shows(one, "Say what to do")
        said(one, "hello there")
        shows(one, "The answer.", "ready")
        one.press("ctrl+c")
        shows(one, "Leave?")
        one.press("enter")
        over(one)
        shows(one, ": turnkeeper --continue")
