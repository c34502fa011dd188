"""The conversation of a real server: shown as it happens, by whoever looks, and whole for who comes later."""

from typing import Any

import anyio

from tests.tui.scene import At, another, terminal
from turnkeeper.models.model import Trouble
from turnkeeper.models.scripted import CallTool, Fail, Hold, Say, Think, turn
from turnkeeper.testing.scene import PlainTool
from turnkeeper.tools.agent import agent_tool
from turnkeeper.tools.tool import Answer, Call, Hands


async def begun(at: At, prompt: str) -> str:
    """A session of this terminal's workspace, in which somebody else sent a prompt; shown here."""
    session = await at.workspace.sessions.create("here")
    await at.until(lambda: session.id in at.live.view.sessions)
    assert at.app.main is not None
    await at.app.main.open(session.id)
    await at.workspace.runs.submit(session.id, prompt)
    return session.id


def waiting_tool(gate: anyio.Event) -> PlainTool:
    async def look(call: Call, hands: Hands) -> Answer:
        hands.progress("half of it\n")
        await gate.wait()
        return Answer("all of it")

    return PlainTool("look", look)


async def test_an_answer_is_seen_while_it_is_thought_written_and_over() -> None:
    said = (Say("It **is** so", characters=3), Hold("gate"), Say(".\n\n- a\n- b"))
    thinking = turn(Think("Let me see.", characters=2), *said)
    async with terminal(thinking) as at:
        await begun(at, "Is it?")
        await at.shows("Is it?", "Thought", "Let me see.", "It is so")
        at.server.front.model().release("gate")
        await at.shows("It is so.", "• a", "• b", "◆ scripted")


async def test_a_tool_is_seen_running_with_what_it_says_and_then_done() -> None:
    gate = anyio.Event()
    async with terminal(turn(CallTool("c", "look")), turn(Say("Seen.")), tools=[waiting_tool(gate)]) as at:
        await begun(at, "Look.")
        await at.shows("● Look · running", "half of it")
        gate.set()
        await at.shows("✓ Look", "all of it", "Seen.")
        assert "half of it" not in at.screen_text()


async def test_what_a_stop_stopped_is_told() -> None:
    async with terminal(turn(CallTool("c", "look")), tools=[waiting_tool(anyio.Event())]) as at:
        session_id = await begun(at, "Look.")
        await at.shows("running")
        await at.workspace.runs.cancel_session(session_id)
        await at.shows("■ Look · cancelled", "Cancelled; stopped: look")


async def test_a_failure_says_what_to_do() -> None:
    async with terminal(turn(Fail(Trouble.AUTH, "the key is wrong"))) as at:
        await begun(at, "Hello")
        await at.shows("Failed", "the key is wrong", "Check the provider's key")


async def test_who_comes_later_sees_what_a_sub_agent_did() -> None:
    async def look(call: Call, hands: Hands) -> Answer:
        return Answer("nothing")

    turns = (
        turn(CallTool("c", "agent", {"prompt": "Count them"}), when="Go"),
        turn(CallTool("x", "glob", {"pattern": "*.py"}), when="Count them"),
        turn(Say("There are two.")),
        turn(Say("Two, it says.")),
    )
    tools: list[Any] = [agent_tool(), PlainTool("glob", look)]
    async with terminal(*turns, tools=tools) as at:
        session_id = await begun(at, "Go")
        tree = ("✓ Agent Count them · 1 call", "└─ ✓ Glob *.py", "There are two.", "Two, it says.")
        await at.shows(*tree)
        async with another(at.server, at.workspace, session=session_id) as later:
            await later.shows(*tree)


async def test_two_terminals_on_one_session_show_the_same() -> None:
    async with terminal(turn(Say("Once. ", characters=1), Hold("gate"), Say("Twice."))) as at:
        session_id = await begun(at, "Say it")
        async with another(at.server, at.workspace, session=session_id) as other:
            await at.shows("Once.")
            await other.shows("Once.")
            at.server.front.model().release("gate")
            await at.shows("Once. Twice.")
            await other.shows("Once. Twice.")
            await at.until(lambda: at.live.view.active(session_id) is other.live.view.active(session_id) is None)
            await at.until(lambda: conversation(at) == conversation(other))


def conversation(at: At) -> list[str]:
    assert at.app.main is not None
    return [line.content.plain for _, _, line in at.app.main.transcript.rows]
