"""A line for the shell from its first instant on: in sight, with what it says and a clock, and easily stopped."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import anyio
import psutil

from tests.tui.dialogs.house import at_home
from tests.tui.scene import another, terminal
from turnkeeper.models.scripted import CallTool, Hold, Say, turn
from turnkeeper.testing.scene import PlainTool
from turnkeeper.tools.tool import Call, Hands


@dataclass
class Long:
    """A shell in which every command says something, and ends when it may."""

    may_end: anyio.Event = field(default_factory=anyio.Event)

    async def run(self, command: str, heard: Callable[[str], None]) -> tuple[str, int]:
        heard("beginning\n")
        await self.may_end.wait()
        return "beginning\nfinished\n", 0


async def test_a_line_is_in_sight_with_what_it_says_until_now_and_a_clock() -> None:
    shell = Long()
    async with terminal(shell=shell.run) as at:
        await at.type("!make all\n")
        await at.shows("make all running", "beginning", "esc esc to stop")
        await at.until(lambda: re.search(r"running !make all \d+\w+  esc esc", at.screen_text()))
        shell.may_end.set()
        await at.shows("beginning", "finished", "ready")
        assert at.screen_text().count("make all") == 1


async def test_a_line_is_stopped_by_two_escapes_and_what_it_said_is_kept() -> None:
    async with terminal(shell=Long().run) as at:
        await at.type("!make all\n")
        await at.shows("make all running", "beginning")
        await at.press("escape")
        await at.shows("esc again to stop")
        await at.press("escape")
        await at.shows("make all exit 130", "beginning", "[stopped]", "ready")


async def test_why_nothing_else_happens_is_said_of_a_line_too() -> None:
    async with terminal(shell=Long().run) as at:
        await at.type("!make all\n")
        await at.shows("make all running")
        await at.type("/why\n")
        await at.shows("runs a command for a person: make all for")


async def test_whoever_leaves_is_told_that_their_line_ends() -> None:
    async with terminal(shell=Long().run) as at:
        await at.type("!make all\n")
        await at.shows("make all running")
        await at.press("ctrl+c")
        await at.shows("Leave?", "The command that you run ends when you leave")


async def test_whoever_comes_sees_what_runs_and_can_stop_it() -> None:
    async with terminal(shell=Long().run) as at:
        await at.type("!make all\n")
        await at.shows("make all running")
        assert at.app.main is not None
        async with another(at.server, at.workspace, session=at.app.main.session_id) as other:
            await other.shows("make all running", "beginning", "running !make all")
            await other.press("escape", "escape")
            await other.shows("exit 130", "ready")
        await at.shows("exit 130", "ready")


async def test_a_line_beside_a_run_changes_nothing_of_what_is_said_of_the_run() -> None:
    waits = anyio.Event()

    async def act(call: Call, hands: Hands) -> str:
        await waits.wait()
        return "done"

    asks = turn(CallTool("c1", "bash", {"command": "make it"}))
    async with terminal(asks, turn(Say("It is made.")), tools=[PlainTool("bash", act)]) as at:
        await at.type("make it\n")
        await at.shows("using bash")
        await at.type("!echo during\n")
        await at.shows("echo during", "  during", "using bash")
        assert "waiting for the model" not in at.screen_text()
        waits.set()
        await at.shows("It is made.")


async def test_two_escapes_stop_a_run_and_the_line_beside_it() -> None:
    async with terminal(turn(Say("One moment"), Hold("gate")), shell=Long().run) as at:
        await at.type("first\n")
        await at.shows("One moment")
        await at.type("!make all\n")
        await at.shows("!make all", "make all running")
        await at.press("escape", "escape")
        await at.shows("exit 130", "Stopped after", "ready")


async def test_the_whole_family_of_a_line_is_stopped() -> None:
    async with at_home() as at:
        await at.type("!echo $$ > pid; sleep 1234 & sleep 1235; echo never\n")
        await at.shows("running !echo")
        await at.until(lambda: (at.project / "pid").exists() and (at.project / "pid").read_text().strip())
        shell = psutil.Process(int((at.project / "pid").read_text()))
        family = [shell, *shell.children(recursive=True)]
        await at.press("escape", "escape")
        await at.shows("exit 130", "[stopped]")
        await at.until(lambda: not any(one.is_running() for one in family))


async def test_of_a_bar_that_is_drawn_anew_only_the_last_state_is_shown() -> None:
    async with at_home() as at:
        await at.type("!printf 'progress 10%%\\rprogress 100%%\\n'\n")
        await at.shows("  progress 100%")
        assert "  progress 10%" not in at.screen_text().replace("progress 100%", "")


async def test_what_wants_a_screen_of_its_own_fails_at_once_and_says_why() -> None:
    async with at_home() as at:
        await at.type("!printf '\\033[?1049h'; sleep 1236\n")
        await at.shows("exit 1", "this wants a screen and a keyboard of its own")
