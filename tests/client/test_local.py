"""This user's own server: found, started once however many ask, and asked to leave only where it may."""

import fcntl
import os
import signal
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import pytest

from tests.cli.scene import Home, home
from tests.client.original import original
from turnkeeper import __version__
from turnkeeper.client.client import Client
from turnkeeper.client.local import LocalServer, ServerNotStarted, local_server
from turnkeeper.protocol.hosts import parse_host
from turnkeeper.settings.build import build_id

OURS = {"version": __version__, "build_id": build_id(), "go_version": "python"}


class Watched(LocalServer, frozen=True):
    """Starts nothing, and notes that it would have."""

    def _spawn(self) -> subprocess.Popen[bytes]:
        raise Spawned


class Spawned(Exception):
    """A server would be started now."""


@contextmanager
def place() -> Generator[Path]:
    """A directory whose path fits into that of a socket."""
    with TemporaryDirectory(prefix="tk-") as folder:
        yield Path(folder)


def watched(folder: Path) -> Watched:
    return Watched(parse_host(f"unix://{folder / 's'}"), folder / "cache", is_default=False, ready_seconds=5)


async def commands(folder: Path, **how: Any) -> tuple[list[str], bool]:
    """What a server that is found is told, and whether another is then started."""
    async with original(str(folder / "s"), **how) as (_, server):
        try:
            await watched(folder).ensure()
        except Spawned:
            return [one.body["command"] for one in server.calls("POST /v1/control")], True
        return [one.body["command"] for one in server.calls("POST /v1/control")], False


async def test_a_server_of_this_build_is_used_and_told_nothing() -> None:
    with place() as folder:
        assert await commands(folder, version=OURS) == ([], False)


@pytest.mark.parametrize("other", [OURS | {"version": "0.0.1"}, OURS | {"build_id": "x"}])
async def test_one_of_another_build_is_asked_once_to_leave_and_replaced_if_it_does(other: dict[str, str]) -> None:
    with place() as folder:
        assert await commands(folder, version=other, control=200) == (["shutdown_if_idle"], True)


@pytest.mark.parametrize("status", [409, 500, 403])
async def test_one_that_is_needed_stays_and_is_used_as_it_is(status: int) -> None:
    with place() as folder:
        assert await commands(folder, control=status) == (["shutdown_if_idle"], False)


async def test_one_too_old_for_the_polite_word_is_asked_plainly_and_only_if_nobody_has_it_open() -> None:
    with place() as folder:
        assert await commands(folder, control=400) == (["shutdown_if_idle", "shutdown"], True)
    with place() as folder:
        busy = {"w1": "/a", "w2": "/b", "w3": "/c"}
        assert await commands(folder, control=400, workspaces=busy) == (["shutdown_if_idle"], False)


async def test_a_socket_that_nobody_serves_any_more_is_no_server() -> None:
    with place() as folder:
        async with original(str(folder / "s")) as (_, server):
            server.left.set()
        (folder / "s").touch()
        with pytest.raises(Spawned):
            await watched(folder).ensure()


async def test_a_server_that_does_not_come_up_says_why() -> None:
    with place() as folder:
        (folder / "s").mkdir()
        local = local_server(f"unix://{folder / 's'}", env={"HOME": str(folder), "PATH": os.environ["PATH"]})
        assert local is not None
        with pytest.raises(ServerNotStarted, match="the server did not start: ") as failed:
            await local.ensure()
    assert "did not start: exit code" not in failed.value.message


async def test_a_lock_that_is_held_for_ever_is_not_waited_for_without_end() -> None:
    with place() as folder:
        local = LocalServer(parse_host(f"unix://{folder / 's'}"), folder, is_default=False, ready_seconds=0.05)
        holding = os.open(folder / "start.lock", os.O_RDWR | os.O_CREAT)
        fcntl.flock(holding, fcntl.LOCK_EX)
        try:
            with pytest.raises(ServerNotStarted, match="another client has been starting"), anyio.fail_after(5):
                await local.ensure()
        finally:
            os.close(holding)


def test_an_address_elsewhere_is_no_server_of_ours() -> None:
    assert local_server("tcp://127.0.0.1:1", env={}) is None


@pytest.mark.e2e
@pytest.mark.slow
async def test_twenty_clients_that_begin_at_once_find_one_server() -> None:
    with home(TURNKEEPER_SERVER_IDLE_TIMEOUT="60") as at:
        projects = [at.at(f"p{number}") for number in range(20)]
        answers: list[str] = []

        async def begin(where: Home) -> None:
            async with Client.connect(env=at.env) as client:
                workspace = await client.open(where.project)
                answers.append((await workspace.sessions.create("here")).title)

        with anyio.fail_after(30):
            async with anyio.create_task_group() as tasks:
                for project in projects:
                    tasks.start_soon(begin, project)
        assert answers == ["here"] * 20
        assert len(at.server_pids()) == 1


@pytest.mark.e2e
@pytest.mark.slow
async def test_a_server_that_was_killed_is_started_again_for_whoever_asks_next() -> None:
    with home(TURNKEEPER_SERVER_IDLE_TIMEOUT="60") as at:
        async with Client.connect(env=at.env) as client:
            workspace = await client.open(at.project)
            session = await workspace.sessions.create("kept")
            (pid,) = at.server_pids()
            os.kill(pid, signal.SIGKILL)
            await workspace.reopen()
            assert (await workspace.sessions.get(session.id)).title == "kept"
            assert at.server_pids() not in ([], [pid])
