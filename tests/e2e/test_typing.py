"""Keys as terminals really send them: raw bytes, several in one write, to the program on a real screen."""

from collections.abc import Generator

import pytest

from tests.cli.scene import Home, home
from tests.e2e.screens import screen, shows
from turnkeeper.models.scripted import Pause, Say, turn

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.fixture
def at() -> Generator[Home]:
    with home(TURNKEEPER_SERVER_IDLE_TIMEOUT="10") as scene:
        yield scene


@pytest.mark.parametrize("editor", ["false", "/nonexistent"])
def test_an_editor_that_fails_gives_the_terminal_back_and_leaves_the_draft(at: Home, editor: str) -> None:
    at.env.update(EDITOR=editor)
    with screen("emulated", env=at.env, cwd=at.project) as one:
        shows(one, "Say what to do")
        one.type("abc")
        shows(one, "abc", "⏎ send")
        one.press("ctrl+o")
        shows(one, "abc", "the draft is as it was", "⏎ send")
        one.type("def")
        shows(one, "abcdef")


ESC = "\x1b"
BURSTS = [
    ("abcX\x7fdef", "❯ abcdef\n"),
    (f"abcX{ESC}[Ddef", "❯ abcdefX\n"),
    ("hello\x15bye", "❯ bye\n"),
    ("aa\nbb", "❯ aa\n   bb\n"),
    (f"aa{ESC}\rbb", "❯ aa\n   bb\n"),
    (f"aa{ESC}[27;2;13~bb", "❯ aa\n   bb\n"),
    (f"one two\x01{ESC}dX", "❯ X two\n"),
    (f"one two{ESC}[D{ESC}[D{ESC}kX", "❯ one tX\n"),
    (f"one{ESC}bX{ESC}fY", "❯ XoneY\n"),
]


def test_keys_that_arrive_in_one_piece_are_obeyed_in_their_order(at: Home) -> None:
    with screen("emulated", env=at.env, cwd=at.project) as one:
        shows(one, "Say what to do")
        for burst, written in BURSTS:
            one.type(burst)
            shows(one, written)
            # Everything is marked, and deleted.
            one.type(f"{ESC}a\x7f")
            shows(one, "Say what to do")


def test_prompts_that_arrive_in_one_piece_are_sent_whole_and_in_order_to_one_session(at: Home) -> None:
    at.script(turn(Say("Counting"), Pause(600), Say(" done")))
    with screen("emulated", env=at.env, cwd=at.project) as one:
        shows(one, "Say what to do")
        one.type("first\rsecond\rthird\r/foo bar\r")
        shows(one, "▌ first", "2 waiting", "1 second", "2 third", "❯ /foo bar", "There is no command /foo", "Counting")
        # What is mistaken is taken back, and esc esc stops, also from where one reads.
        one.type("\x15")
        shows(one, "Say what comes next")
        one.press("tab")
        shows(one, "next item")
        one.press("esc", "esc")
        shows(one, "Stopped after")
