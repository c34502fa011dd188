"""Bad days of a server as people start it: its disk takes nothing more, its files are taken away, it is killed."""

import resource
import shutil
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from anyio import fail_after

from tests.e2e.process import Home, Running, server
from tests.engine.survival import looked_at
from tests.server.plain import watch
from turnkeeper.models.scripted import Hold, Say, turn
from turnkeeper.protocol.ids import RunId
from turnkeeper.settings.dirs import find_data_dir

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]

REFUSALS = 300
"""More is said of so many failures than a pipe holds that nobody reads."""


@pytest.fixture
def root() -> Iterator[Path]:
    """Short, since a socket has to fit in it."""
    with TemporaryDirectory(prefix="tk-") as folder:
        yield Path(folder)


@contextmanager
def nothing_can_be_written(process: Running) -> Generator[None]:
    """Every write of the process to a file fails, while what it has open stays open."""
    unlimited = resource.RLIM_INFINITY
    resource.prlimit(process.process.pid, resource.RLIMIT_FSIZE, (1, unlimited))
    yield
    resource.prlimit(process.process.pid, resource.RLIMIT_FSIZE, (unlimited, unlimited))


async def test_a_server_whose_disk_takes_nothing_more_refuses_clearly_and_goes_on_once_it_does(root: Path) -> None:
    home = Home(root, (turn(Say("before"), Hold("for ever")), turn(Say("after"))))
    with fail_after(100):
        async with server(home) as process:
            client, here = await process.enter()
            session = await process.session(here)
            async with watch(process.socket, f"{here}/events?client_id={client}&detail=delta") as stream:
                await process.prompt(here, session, "r1", "first")
                await stream.next("delta", text="before")
                with nothing_can_be_written(process):
                    refused = [
                        await process.ask(
                            "POST", f"{here}/agent", {"session_id": session, "run_id": f"no{number}", "prompt": "hi"}
                        )
                        for number in range(REFUSALS)
                    ]
                    known = await process.ask("GET", f"{here}/runs/r1")
                assert await process.prompt(here, session, "r2", "second") == 202
                await process.ask("POST", f"{here}/runs/r1/cancel")
                ending = await stream.next("run_complete", run_id="r2")
            assert await process.stop() == 0
        entries = await looked_at(find_data_dir(home.project), {RunId("r1"): "first", RunId("r2"): "second"})
    assert {answer.status for answer in refused} == {503}
    assert {"nothing was accepted" in answer.json()["message"] for answer in refused} == {True}
    assert (known.status, known.json()["state"]) == (200, "active")
    assert ending["text"] == "after"
    assert not [entry for entry in entries if "no" in getattr(entry.event, "run_id", "")]


async def test_a_server_whose_files_were_taken_away_says_so_and_the_next_begins_anew(root: Path) -> None:
    home = Home(root, (turn(Say("first")), turn(Say("second"))))
    with fail_after(100):
        async with server(home) as process:
            client, here = await process.enter()
            session = await process.session(here)
            async with watch(process.socket, f"{here}/events?client_id={client}") as stream:
                await process.prompt(here, session, "r1")
                await stream.next("run_complete")
                shutil.rmtree(find_data_dir(home.project))
                refused = await process.ask(
                    "POST", f"{here}/agent", {"session_id": session, "run_id": "r2", "prompt": "hi"}
                )
            assert await process.stop() == 0
        async with server(home) as process:
            _, here = await process.enter()
            accepted = await process.prompt(here, await process.session(here), "r3")
            assert await process.stop() == 0
    assert (refused.status, accepted) == (503, 202)
    assert "was removed or replaced" in refused.json()["message"]
