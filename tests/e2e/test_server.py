"""`turnkeeper server` as a process: how it starts, what it leaves behind, and how it goes."""

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import psutil
import pytest
from anyio import fail_after

from tests.e2e.process import Home, refused, server
from tests.server.plain import watch
from turnkeeper import __version__
from turnkeeper.models.scripted import CallTool, Hold, Say, turn

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]


@pytest.fixture
def root() -> Iterator[Path]:
    """Short, since a socket has to fit in it."""
    with TemporaryDirectory(prefix="tk-") as folder:
        yield Path(folder)


async def test_a_server_answers_on_a_socket_that_is_its_owners_alone_and_goes_quietly(root: Path) -> None:
    with fail_after(60):
        async with server(Home(root)) as process:
            modes = [process.socket.stat().st_mode & 0o777, process.socket.parent.stat().st_mode & 0o777]
            health = await process.ask("GET", "/v1/health")
            version = (await process.ask("GET", "/v1/version")).json()
            code = await process.stop()
            gone = not process.socket.exists()
    assert process.said == f"Turnkeeper {__version__} listens on unix://{root}/run/tk.sock\n".encode()
    assert modes == [0o600, 0o700]
    assert (health.line, health.body) == ("HTTP/1.1 200 OK", b"")
    assert (version["version"], set(version)) == (
        __version__,
        {"version", "commit", "build_id", "go_version", "platform"},
    )
    assert (code, gone) == (0, True)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
async def test_a_server_told_to_stop_ends_what_runs_tells_it_and_ends_its_streams_properly(
    root: Path, how: signal.Signals
) -> None:
    home = Home(root, (turn(Say("half"), Hold("for ever")),))
    with fail_after(60):
        async with server(home) as process:
            client, here = await process.enter()
            session = await process.session(here)
            async with watch(process.socket, f"{here}/events?client_id={client}") as stream:
                assert await process.prompt(here, session, "r1") == 202
                while "half" not in str((await stream.event())[0].payload.get("parts")):
                    pass
                process.process.send_signal(how)
                # The reader comes to the terminating chunk, or this fails.
                heard = await stream.until_end()
            code = await process.left()
    (ending,) = [one.payload for one in heard if one.kind == "run_complete"]
    assert code == 0
    assert (ending["run_id"], ending["text"], "cancelled" in ending) == ("r1", "half", False)
    assert ending["error"].startswith("The server stopped while this run was going on")


async def test_a_server_that_goes_takes_along_whatever_its_runs_have_started(root: Path) -> None:
    command = {"command": "echo pid $$; sleep 600", "description": "wait"}
    home = Home(root, (turn(CallTool("c1", "bash", command)),))
    with fail_after(60):
        async with server(home) as process:
            client, here = await process.enter()
            session = await process.session(here)
            async with watch(process.socket, f"{here}/events?client_id={client}&detail=delta") as stream:
                await process.prompt(here, session, "r1")
                said = ""
                while "pid" not in said or not said.endswith("\n"):
                    said += (await stream.next("delta", part="output"))["text"]
                child = psutil.Process(int(said.split()[1]))
                family = [child, *child.children(recursive=True)]
                code = await process.stop()
            gone, alive = psutil.wait_procs(family, timeout=10)
    assert code == 0
    assert (len(gone), alive) == (len(family), [])


async def test_a_server_that_is_killed_leaves_no_process_of_its_runs_three_seconds_later(root: Path) -> None:
    # One that ignores being asked, one in a session of its own, and one whose parent has gone.
    line = "trap '' TERM HUP; setsid sleep 600 & (sleep 601 &) ; echo pid $$; while :; do sleep 1; done"
    home = Home(root, (turn(CallTool("c1", "bash", {"command": line, "description": "stay"})),))
    with fail_after(60):
        async with server(home) as process:
            client, here = await process.enter()
            session = await process.session(here)
            async with watch(process.socket, f"{here}/events?client_id={client}&detail=delta") as stream:
                await process.prompt(here, session, "r1")
                said = ""
                while "pid" not in said or not said.endswith("\n"):
                    said += (await stream.next("delta", part="output"))["text"]
                shell = psutil.Process(int(said.split()[1]))
                launcher = shell.parent()
                assert launcher is not None
                family = [launcher, *launcher.children(recursive=True)]
                await process.stop(signal.SIGKILL)
            gone, alive = psutil.wait_procs(family, timeout=3)
    assert len(family) >= 4
    assert (len(gone), alive) == (len(family), [])


async def test_what_a_killed_server_left_is_put_right_by_the_next_and_streams_go_on(root: Path) -> None:
    with fail_after(90):
        home = Home(root, (turn(Say("half"), Hold("for ever")),))
        async with server(home) as process:
            client, here = await process.enter()
            session = await process.session(here)
            async with watch(process.socket, f"{here}/events?client_id={client}&detail=delta") as stream:
                for run_id in ("r1", "r2"):
                    assert await process.prompt(here, session, run_id, f"go {run_id}") == 202
                await stream.next("delta", text="half")
                # What is streamed may come before the log has told that the second was accepted.
                while sum(one.kind == "run_accepted" for one in stream.seen) < 2:
                    await stream.event()
                last = next(heard.id for heard in reversed(stream.seen) if heard.id is not None)
                await process.stop(signal.SIGKILL)
            left = process.socket.exists()
        home.turns = (turn(Say("second")),)
        async with server(home) as process:
            _, here = await process.enter(client)
            resumed = f"{here}/events?client_id={client}&detail=delta"
            async with watch(process.socket, resumed, f"Last-Event-ID: {last}") as stream:
                endings = [await stream.next("run_complete") for _ in range(2)]
                accepted_again = [one.id for one in stream.seen if one.kind == "run_accepted"]
            run = (await process.ask("GET", f"{here}/runs/r1")).json()
            code = await process.stop()
    # A dead server's socket file was in the way, and is no more.
    assert left
    assert [(one["run_id"], one["outcome"]) for one in endings] == [("r1", "interrupted"), ("r2", "completed")]
    assert endings[1]["text"] == "second"
    assert accepted_again == []
    assert (run["state"], run["outcome"], run["failure"]["retryable"]) == ("ended", "interrupted", True)
    assert code == 0


async def test_a_socket_that_is_served_is_never_taken_away(root: Path) -> None:
    with fail_after(60):
        async with server(Home(root)) as process:
            code, said = await refused(process.home, f"unix://{process.socket}")
            health = await process.ask("GET", "/v1/health")
            await process.stop()
    assert (code, health.status) == (1, 200)
    assert said == f"turnkeeper: cannot listen on {process.socket}: Address already in use\n"


async def test_a_new_server_may_take_the_place_of_one_that_is_still_leaving(root: Path) -> None:
    """Between two servers nobody's socket is removed by the other."""
    home = Home(root)
    with fail_after(90):
        async with server(home) as old:
            client, here = await old.enter()
            async with watch(old.socket, f"{here}/events?client_id={client}") as stream:
                old.process.send_signal(signal.SIGTERM)
                await stream.until_end()
                async with server(home) as new:
                    await old.left()
                    health = await new.ask("GET", "/v1/health")
                    await new.stop()
    assert health.status == 200


async def test_one_server_can_listen_in_two_places_and_both_see_the_same(root: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    home = Home(root)
    with fail_after(60):
        async with server(home, f"unix://{home.socket}", f"tcp://127.0.0.1:{port}") as process:
            _, here = await process.enter()
            async with await anyio.connect_tcp("127.0.0.1", port) as line:
                await line.send(f"GET {here} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
                answer = b""
                with anyio.fail_after(10):
                    while chunk := await received(line):
                        answer += chunk
            code = await process.stop()
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert here.removeprefix("/v1/workspaces/").encode() in answer
    assert code == 0


async def received(line: anyio.abc.SocketStream) -> bytes:
    try:
        return await line.receive()
    except anyio.EndOfStream:
        return b""


async def test_a_server_nobody_needs_any_more_leaves_by_itself(root: Path) -> None:
    with fail_after(60):
        async with server(Home(root, env={"TURNKEEPER_SERVER_IDLE_TIMEOUT": "0"})) as process:
            client, _ = await process.enter()
            retired = await process.ask("DELETE", f"/v1/clients/{client}")
            code = await process.left()
    assert (retired.status, retired.body, code) == (200, b"", 0)


async def test_a_server_that_is_asked_to_go_answers_before_it_goes(root: Path) -> None:
    with fail_after(60):
        async with server(Home(root)) as process:
            client, _ = await process.enter()
            busy = await process.ask("POST", "/v1/control", b'{"command":"shutdown_if_idle"}')
            await process.ask("DELETE", f"/v1/clients/{client}")
            granted = await process.ask("POST", "/v1/control", b'{"command":"shutdown_if_idle"}')
            code = await process.left()
    assert (busy.status, granted.line, granted.body, code) == (409, "HTTP/1.1 200 OK", b"", 0)


@pytest.mark.parametrize(
    ("host", "code", "said"),
    [
        ("nonsense", 2, "turnkeeper: invalid host format: nonsense\n"),
        ("tcp://127.0.0.1", 2, "turnkeeper: tcp://127.0.0.1 needs a host and a port: tcp://127.0.0.1:4096\n"),
    ],
)
async def test_a_server_that_cannot_listen_says_why(root: Path, host: str, code: int, said: str) -> None:
    assert await refused(Home(root), host) == (code, said)


async def test_without_a_host_a_server_listens_where_its_users_clients_look(root: Path) -> None:
    (root / "run").mkdir(mode=0o700)
    with fail_after(60):
        async with server(Home(root), anywhere=True) as process:
            health = await process.ask("GET", "/v1/health")
            code = await process.stop()
    assert process.socket == root / "run" / f"turnkeeper-{os.getuid()}.sock"
    assert (health.status, code) == (200, 0)
