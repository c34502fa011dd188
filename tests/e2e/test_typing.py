"""Keys as terminals really send them: raw bytes, several in one write, to the program on a real screen."""

from collections.abc import Generator

import pytest

from tests.cli.scene import Home, home
from tests.e2e.screens import screen, shows

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
