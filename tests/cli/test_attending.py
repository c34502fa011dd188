"""Attending a run: heard to its end among others, and said to be lost when nobody can say how it ended."""

import io
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

from tests.cli.inside import Inside, inside
from tests.client.original import Original, original
from turnkeeper.cli import attending
from turnkeeper.cli.attending import attend
from turnkeeper.cli.ending import Ending, of_problem
from turnkeeper.cli.exits import Exit
from turnkeeper.cli.leaving import Attended
from turnkeeper.cli.printing import TextPrinter
from turnkeeper.cli.progress import Progress, Wanted
from turnkeeper.client.client import Client
from turnkeeper.client.http import ServerLost
from turnkeeper.client.workspace import WorkspaceClient
from turnkeeper.models.scripted import Hold, Say, turn


def progress(out: io.StringIO, *, live: bool = False) -> Progress:
    return Progress(TextPrinter(out, live=live), io.StringIO(), wanted=Wanted(quiet=True))


def submitting(workspace: WorkspaceClient, attended: Attended, prompt: str) -> Callable[[], Awaitable[bool]]:
    async def submit() -> bool:
        await workspace.runs.submit(attended.session_id, prompt, run_id=attended.run_id, foldable=False)
        return True

    return submit


async def run(at: Inside, session_id: str, run_id: str, endings: dict[str, Ending], out: io.StringIO) -> None:
    """One `turnkeeper run` of a client of its own."""
    attended = Attended(run_id, session_id)
    async with at.server.workspace(at.cwd) as workspace:
        submit = submitting(workspace, attended, f"prompt {run_id}")
        endings[run_id] = await attend(workspace, attended, progress(out, live=True), submit)


async def test_a_run_in_a_busy_session_waits_for_its_turn_and_neither_shows_nor_ends_as_another() -> None:
    script = (turn(Say("one"), Hold("first")), turn(Say("two")))
    async with inside(*script) as at:
        session = await at.workspace.sessions.create("Busy")
        endings: dict[str, Ending] = {}
        shown = {"r1": io.StringIO(), "r2": io.StringIO()}
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run, at, session.id, "r1", endings, shown["r1"])
            model = at.server.front.model(at.cwd)
            await model.reached("first")
            tasks.start_soon(run, at, session.id, "r2", endings, shown["r2"])
            with anyio.fail_after(10):
                async with at.workspace.follow(after=0) as heard:
                    async for one in heard:
                        if getattr(getattr(one, "envelope", None), "kind", "") == "run_accepted" and "r2" in str(one):
                            break
            assert endings == {}
            model.release("first")
    assert {name: (one.outcome, one.text) for name, one in endings.items()} == {
        "r1": ("completed", "one"),
        "r2": ("completed", "two"),
    }
    # What is live shows only its own words.
    assert {name: out.getvalue() for name, out in shown.items()} == {"r1": "one", "r2": "two"}


async def test_a_run_that_is_cancelled_by_somebody_else_ends_as_cancelled_with_what_it_had_said() -> None:
    async with inside(turn(Say("half"), Hold("never"))) as at:
        session = await at.workspace.sessions.create()
        endings: dict[str, Ending] = {}
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run, at, session.id, "r1", endings, io.StringIO())
            await at.server.front.model(at.cwd).reached("never")
            await at.workspace.runs.cancel("r1")
    ending = endings["r1"]
    assert (ending.outcome, ending.exit_code, ending.text) == ("cancelled", Exit.CANCELLED, "half")


async def test_a_server_that_stays_lost_is_waited_for_a_while_and_then_nobody_can_say_how_it_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def die(server: Original, said: dict[str, Any]) -> None:
        server.left.set()
        await server.end_streams(properly=False)

    monkeypatch.setattr(attending, "LOST_SECONDS", 0.2)
    attended = Attended("r1", "s")
    async with original(answer=die, is_ready=True) as (host, _), Client(host) as client:
        workspace = await client.open("/p")
        with pytest.raises(ServerLost, match="no server answers at") as lost, anyio.fail_after(10):
            await attend(workspace, attended, progress(io.StringIO()), submitting(workspace, attended, "hi"))
    ending = of_problem(lost.value, run_id=attended.run_id, session_id=attended.session_id)
    assert (ending.outcome, ending.exit_code, ending.run_id) == ("lost", Exit.LOST, "r1")
