"""Clients that mean no good, against a server in a process of its own: it goes on answering everybody else.

What they may cost is measured in the server's own memory and open files, with room to spare: a leak of what they send
would be many times as much.
"""

import random
import socket
import uuid
from collections.abc import Generator
from contextlib import AsyncExitStack

import anyio
import pytest
from anyio import fail_after

from tests.server.process import Process, process
from tests.server.sockets import Answer, request
from turnkeeper.server.bounds import raise_file_limit
from turnkeeper.server.routes import all_routes

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

MIB = 1024 * 1024
HEALTH = request("GET", "/v1/health")
ME = "8f14e45f-ceea-467f-9575-2f1d0a6f5a10"
SEED = 20_261_119
CONNECTIONS = 1000


@pytest.fixture(scope="module")
def door() -> Generator[Process]:
    with process() as running:
        yield running
        # Nothing that anybody did here is a defect of the server's.
        assert "Traceback" not in running.log


async def is_well(door: Process) -> bool:
    with fail_after(5):
        return (await door.ask("GET", "/v1/health")).status == 200


async def quiet(door: Process, files: int) -> None:
    """Wait until the server has let go of what it had open for others."""
    while door.files_open() > files:
        assert await is_well(door)


async def test_random_bytes_end_their_own_connection_and_no_other(door: Process) -> None:
    dice = random.Random(SEED)
    before = door.files_open()
    with fail_after(60):
        async with door.unix() as bystander:
            for _ in range(300):
                said = dice.randbytes(dice.randint(1, 3000))
                if dice.random() < 0.5:
                    # Nearly a request: one with a few bytes changed.
                    whole = bytearray(request("POST", "/v1/workspaces/none/agent", {"session_id": "s", "prompt": "p"}))
                    for _ in range(dice.randint(1, 5)):
                        whole[dice.randrange(len(whole))] = dice.randrange(256)
                    said = bytes(whole)
                async with door.unix() as line:
                    await line.say(said)
                    await line.stream.send_eof()
                    answered = await line.closed()
                assert b" 500 " not in answered.split(b"\r\n")[0], said
            assert (await bystander.ask("GET", "/v1/health")).status == 200
        await quiet(door, before + 2)


BROKEN = [
    b"",
    b"{",
    b"nul",
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b'{"path": 1e999999}',
    b'{"path": NaN}',
    b'{"path": ' + b"9" * 10_000 + b"}",
    b'{"path": "\xff\xfe"}',
    b'{"path": "\\ud800"}',
    b'{"path": "\\u0000"}',
    b'{"path": "x", "path": {}}',
    b"\xef\xbb\xbf{}",
    b"\x00" * 100,
    b'"text"',
    b"[]",
    b"true",
    b'{"session_id": [], "prompt": {}, "key": 1, "skip": "x", "title": [], "client_id": 7, "id": null}',
]


async def test_broken_json_is_told_as_the_clients_mistake_by_every_route_that_reads_some(door: Process) -> None:
    with fail_after(60):
        here = await door.workspace("broken", ME)
        strange: list[tuple[str, bytes, int]] = []
        async with door.unix() as line:
            for route in all_routes():
                if route.body is None:
                    continue
                path = route.path.replace("/v1/workspaces/{id}", here).replace("{sid}", "s").replace("{run_id}", "r")
                for body in BROKEN:
                    answer = await line.ask(route.method, f"{path}?client_id={ME}", body)
                    if answer.status >= 500 and answer.status != 503:
                        strange.append((route.path, body[:40], answer.status))
        assert strange == []


async def test_wrong_methods_are_refused_on_every_path(door: Process) -> None:
    paths = {route.path: {r.method for r in all_routes() if r.path == route.path} for route in all_routes()}
    with fail_after(60):
        async with door.unix() as line:
            for path, methods in paths.items():
                for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"} - methods:
                    answer = await line.ask(method, path)
                    assert (answer.status, answer.headers["allow"] != "") == (405, True), (method, path)
        for said in (b"CONNECT example.org:443 HTTP/1.1\r\nhost: x\r\n\r\n", b"GET http://[ HTTP/1.1\r\n\r\n"):
            async with door.unix() as line:
                await line.say(said)
                assert b" 200 " not in (await line.head_or_end())


async def test_giant_bodies_are_refused_and_not_kept(door: Process) -> None:
    before = door.peak_bytes()
    with fail_after(60):
        async with door.unix() as line:
            await line.say(b"POST /v1/workspaces HTTP/1.1\r\nhost: x\r\ncontent-length: 99999999999\r\n\r\n")
            assert (await line.answer()).status == 413
        answers: list[int] = []

        async def pour() -> None:
            """As much as one may, in chunks, and never the end."""
            async with door.unix() as line:
                await line.say(b"POST /v1/workspaces HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n")
                chunk = b"100000\r\n" + b"a" * 0x100000 + b"\r\n"
                try:
                    for _ in range(65):
                        await line.say(chunk)
                except anyio.BrokenResourceError:
                    pass
                try:
                    answers.append((await line.answer()).status)
                except (anyio.EndOfStream, anyio.BrokenResourceError):
                    answers.append(0)

        async with anyio.create_task_group() as tasks:
            for _ in range(8):
                tasks.start_soon(pour)
        assert set(answers) <= {413, 503, 0}
        assert await is_well(door)
    # Eight times the limit was sent, and twice the limit may be held.
    assert door.peak_bytes() - before < 300 * MIB


async def test_a_thousand_connections_that_want_nothing_cost_the_others_nothing(door: Process) -> None:
    assert raise_file_limit(2 * CONNECTIONS) >= 2 * CONNECTIONS, "allow more open files: ulimit -Hn"
    files, memory = door.files_open(), door.memory_bytes()
    with fail_after(60):
        here = await door.workspace("crowd", ME)
        events = request("GET", f"{here}/events?client_id={ME}")
        async with AsyncExitStack() as stack:
            for number in range(CONNECTIONS):
                line = await stack.enter_async_context(door.unix() if number % 2 else door.tcp())
                match number % 4:
                    case 0:
                        pass
                    case 1:
                        await line.say(HEALTH[:20])
                    case 2:
                        await line.say(b"POST /v1/workspaces HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{")
                    case _:
                        await line.say(events)
            assert await is_well(door)
            assert (await door.ask("POST", f"{here}/sessions", {"title": "mine"})).status == 200
            assert door.memory_bytes() - memory < 200 * MIB
        await quiet(door, files + 20)
        assert await is_well(door)


async def test_readers_that_stop_cost_a_place_and_not_what_they_did_not_read(door: Process) -> None:
    """Twenty readers stop; forty half-megabytes are told meanwhile. Kept for each, that would be 400 MiB."""
    with fail_after(60):
        here = await door.workspace("deaf", ME)
        async with AsyncExitStack() as stack:
            for _ in range(20):
                deaf = stack.enter_context(socket.socket(socket.AF_UNIX))
                deaf.connect(str(door.path))
                deaf.sendall(request("GET", f"{here}/events?client_id={ME}"))
                assert deaf.recv(1).startswith(b"H")
            before = door.memory_bytes()
            async with door.unix() as heard:
                await heard.say(request("GET", f"{here}/events?client_id={uuid.UUID(int=7)}"))
                assert (await heard.head()).status == 200
                for number in range(40):
                    session = await told(door, here, f"{number} " + "x" * 500_000)
                    await heard.until(session.encode())
            assert door.memory_bytes() - before < 150 * MIB
        assert await is_well(door)


async def told(door: Process, here: str, title: str) -> str:
    answer: Answer = await door.ask("POST", f"{here}/sessions", {"title": title})
    return answer.json()["id"]


async def test_a_stream_whose_client_is_gone_without_a_word_lets_go_of_its_workspace(door: Process) -> None:
    with fail_after(30):
        files = door.files_open()
        here = await door.workspace("gone", ME)
        for hard in (True, False):
            line = socket.create_connection(("127.0.0.1", door.port))
            line.sendall(request("GET", f"{here}/events?client_id={ME}", headers={"host": "localhost"}))
            assert line.recv(12) == b"HTTP/1.1 200"
            if hard:
                # Closing sends a reset rather than a goodbye.
                line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            line.close()
        assert (await door.ask("DELETE", f"/v1/clients/{ME}")).status == 200
        await quiet(door, files + 20)
        assert (await door.ask("GET", here)).status == 404
