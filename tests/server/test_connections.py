"""What one connection may take of the server, over real sockets: time, bytes, and a place."""

import select
import socket
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import pytest
from anyio import fail_after, to_thread

from tests.server.sockets import Line, Server, request, server
from turnkeeper.server.bounds import Bounds, Patience, connections_for, raise_file_limit
from turnkeeper.server.listen import Host, bind
from turnkeeper.server.protocol import probe

HEALTH = request("GET", "/v1/health")
SOON = 0.05
"""A limit that is meant to be reached. Those that are not are left at their default."""


@pytest.mark.parametrize("said", [b"", b"GET /v1/health HTTP/1.1\r\nhost: api.crush.localhost\r\n"])
async def test_a_head_that_does_not_come_in_time_ends_its_connection(said: bytes) -> None:
    with fail_after(10):
        async with server(bounds=Bounds(head_seconds=SOON)) as door, door.unix() as line:
            await line.say(said)
            assert await line.closed() == b""
            async with door.unix() as other:
                assert (await other.ask("GET", "/v1/health")).status == 200


async def test_a_head_that_trickles_gets_no_more_time_for_every_byte() -> None:
    with fail_after(10):
        async with server(bounds=Bounds(head_seconds=SOON, head_bytes_max=10**9)) as door, door.unix() as line:
            await line.say(b"GET /v1/health HTTP/1.1\r\nx: ")
            assert await is_cut_off_while_saying(line, b"a")


async def is_cut_off_while_saying(line: Line, word: bytes) -> bool:
    while True:
        try:
            await line.say(word)
        except anyio.BrokenResourceError:
            return True


async def test_time_runs_for_the_head_of_a_later_request_too() -> None:
    with fail_after(10):
        async with server(bounds=Bounds(head_seconds=SOON)) as door, door.unix() as line:
            assert (await line.ask("GET", "/v1/health")).status == 200
            await line.say(b"GET /v1/hea")
            assert await line.closed() == b""


@pytest.mark.parametrize("pieces", [1, 50])
async def test_a_head_that_is_too_large_is_refused_however_it_is_cut_into_pieces(pieces: int) -> None:
    head = b"GET /v1/health HTTP/1.1\r\nhost: api.crush.localhost\r\nx-large: %b" % (b"a" * 5000)
    size = -(-len(head) // pieces)
    with fail_after(10):
        async with server(bounds=Bounds(head_bytes_max=4096)) as door, door.unix() as line:
            try:
                for start in range(0, len(head), size):
                    await line.say(head[start : start + size])
            except anyio.BrokenResourceError:
                pass
            assert (await line.closed()).startswith(b"HTTP/1.1 431 ")


async def test_many_small_headers_are_too_large_together_though_they_came_in_one_packet_with_their_end() -> None:
    head = b"GET /v1/health HTTP/1.1\r\nhost: x\r\n" + b"".join(b"h%d: v\r\n" % n for n in range(1000)) + b"\r\n"
    with fail_after(10):
        async with server(bounds=Bounds(head_bytes_max=4096)) as door, door.unix() as line:
            await line.say(head)
            assert (await line.closed()).startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize("size", [10_000, 200_000, 900_000])
async def test_a_body_is_not_taken_for_a_large_head_whatever_packets_it_comes_in(size: int) -> None:
    with fail_after(10):
        async with server(bounds=Bounds(head_bytes_max=4096)) as door, door.unix() as line:
            for _ in range(2):
                answer = await line.ask("POST", "/v1/workspaces", {"path": "", "env": ["A=" + "x" * size]})
                assert (answer.status, answer.json()) == (400, {"message": "path is required"})


async def test_a_body_that_does_not_come_in_time_is_told_so() -> None:
    with fail_after(10):
        async with server(patience=Patience(seconds=SOON)) as door, door.unix() as line:
            await line.say(b"POST /v1/workspaces HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{")
            answer = await line.answer()
            assert (answer.status, answer.json()) == (408, {"message": "The body did not arrive in time."})


async def test_a_body_that_keeps_coming_is_waited_for_while_one_that_does_not_is_given_up() -> None:
    body = b'{"path": "", "env": ["' + b"x" * 1000
    head = b"POST /v1/workspaces HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % (len(body) + 3)
    patience = Patience(seconds=SOON, bytes_per_second_min=1)
    with fail_after(10):
        async with server(patience=patience) as door, door.unix() as coming, door.unix() as silent:
            await coming.say(head + body)
            await silent.say(head)
            assert (await silent.answer()).status == 408
            await coming.say(b'"]}')
            assert (await coming.answer()).json() == {"message": "path is required"}


def test_what_has_arrived_of_a_body_earns_time_for_the_rest() -> None:
    patience = Patience(seconds=30, bytes_per_second_min=1000)
    assert patience.deadline(100.0, 0) == 130.0
    assert patience.deadline(100.0, 60_000) == 190.0


@pytest.mark.parametrize("how", [b"content-length: 5000", b"transfer-encoding: chunked"])
async def test_a_body_that_is_too_large_is_refused_before_it_is_read(how: bytes) -> None:
    with fail_after(10):
        async with server(body_bytes_max=1000) as door, door.unix() as line:
            await line.say(b"POST /v1/workspaces HTTP/1.1\r\nhost: x\r\n%b\r\n\r\n" % how)
            if b"chunked" in how:
                await line.say(b"5dc\r\n" + b"a" * 1500 + b"\r\n")
            answer = await line.answer()
            assert (answer.status, answer.json()) == (413, {"message": "the body is larger than 1000 bytes"})


async def test_large_bodies_that_come_at_once_have_only_so_much_room_and_small_ones_always_have_theirs() -> None:
    large = b"POST /v1/workspaces HTTP/1.1\r\nhost: x\r\ncontent-length: 200000\r\n\r\n"
    with fail_after(10):
        async with server(body_bytes_max=200_000) as door, door.unix() as line, AsyncExitStack() as stack:
            others = [await stack.enter_async_context(door.unix()) for _ in range(3)]
            said: list[int] = []

            async def send(other: Line) -> None:
                """All but the last byte; the two that have room are sent theirs when the third was refused."""
                await other.say(large + b"a" * 199_999)
                with anyio.CancelScope() as waiting:
                    scopes.append(waiting)
                    said.append((await other.answer()).status)
                    for scope in scopes:
                        scope.cancel()
                    return
                await other.say(b"a")
                said.append((await other.answer()).status)

            scopes: list[anyio.CancelScope] = []
            async with anyio.create_task_group() as tasks:
                for other in others:
                    tasks.start_soon(send, other)
            assert said == [503, 400, 400]
            assert (await line.ask("POST", "/v1/workspaces", {"path": ""})).status == 400
            answer = await line.ask("POST", "/v1/workspaces", {"path": "", "env": ["x" * 199_900]})
            assert (answer.status, answer.json()) == (400, {"message": "path is required"})


async def test_after_a_refusal_the_rest_of_the_body_may_come_and_the_next_request_is_answered() -> None:
    with fail_after(10):
        async with server(body_bytes_max=1000) as door, door.unix() as line:
            await line.say(b"POST /v1/workspaces HTTP/1.1\r\nhost: x\r\ncontent-length: 5000\r\n\r\n")
            assert (await line.answer()).status == 413
            await line.say(b"a" * 5000)
            assert (await line.ask("GET", "/v1/health")).status == 200


@pytest.mark.parametrize("bounds", [Bounds(drain_seconds=SOON), Bounds(drain_bytes_max=2000, drain_seconds=60)])
async def test_the_rest_of_a_refused_body_has_little_time_and_little_room(bounds: Bounds) -> None:
    with fail_after(10):
        async with server(bounds=bounds, body_bytes_max=1000) as door, door.unix() as line:
            await line.say(b"POST /v1/workspaces HTTP/1.1\r\nhost: x\r\ncontent-length: 5000\r\n\r\n")
            assert (await line.answer()).status == 413
            if bounds.drain_bytes_max == 2000:
                await line.say(b"a" * 2001)
            assert await line.closed() == b""


async def test_a_connection_that_is_not_used_any_more_is_closed_also_after_a_refused_body() -> None:
    with fail_after(10):
        bounds = Bounds(keep_alive_seconds=1)
        async with server(bounds=bounds, body_bytes_max=10) as door, door.unix() as used, door.unix() as refused:
            assert (await used.ask("GET", "/v1/health")).status == 200
            await refused.say(b"POST /v1/workspaces HTTP/1.1\r\nhost: x\r\ncontent-length: 50\r\n\r\n")
            assert (await refused.answer()).status == 413
            await refused.say(b"a" * 50)
            assert await used.closed() == b""
            assert await refused.closed() == b""


async def test_requests_that_come_at_once_are_answered_one_after_the_other() -> None:
    with fail_after(10):
        async with server() as door, door.unix() as line:
            await line.say(HEALTH + request("GET", "/v1/nowhere") + request("GET", "/v1/version"))
            assert [(await line.answer()).status for _ in range(3)] == [200, 404, 200]


async def test_one_connection_too_many_is_refused_until_another_leaves() -> None:
    with fail_after(10):
        async with server(bounds=Bounds(connections_max=2)) as door, door.unix() as one:
            async with door.tcp() as other:
                assert (await one.ask("GET", "/v1/health")).status == 200
                assert (await other.ask("GET", "/v1/health", host="localhost")).status == 200
                # Each kind of socket has its own count, so that strangers cannot use up the owner's.
                async with door.unix() as second, door.unix() as third:
                    assert (await second.ask("GET", "/v1/health")).status == 200
                    assert (await third.closed()).startswith(b"HTTP/1.1 503 ")
            assert await settles(door)
            assert (await one.ask("GET", "/v1/health")).status == 200


async def settles(door: Server) -> bool:
    """Whether a place is free again: that a connection has gone is noticed a moment later."""
    while True:
        async with door.unix() as line:
            try:
                return (await line.ask("GET", "/v1/health")).status == 200
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                continue


async def test_a_client_that_takes_no_answer_is_cut_and_a_slow_one_is_not() -> None:
    """The many answers are more than the sockets between hold."""
    many = request("GET", "/v1/openapi.json") * 100
    with fail_after(20):
        async with server(bounds=Bounds(take_seconds=SOON)) as door:
            with socket.socket(socket.AF_UNIX) as deaf:
                deaf.connect(str(door.path))
                deaf.sendall(many)
                assert await to_thread.run_sync(is_hung_up, deaf, 10)
            async with door.unix() as line:
                assert (await line.ask("GET", "/v1/health")).status == 200
        async with server() as door, door.unix() as line:
            await line.say(many)
            assert {(await line.answer()).status for _ in range(100)} == {200}


def is_hung_up(sock: socket.socket, seconds: float) -> bool:
    """Whether the other side closes the connection, without anything of it being read."""
    poll = select.poll()
    poll.register(sock, 0)
    return bool(poll.poll(seconds * 1000))


async def test_a_stream_whose_reader_stops_is_let_go_and_holds_nothing_open() -> None:
    """The watcher is cut for not reading; its claim goes with it, and everybody else is told what happens."""
    with fail_after(20):
        async with server(send_seconds=SOON, heartbeat_seconds=0.001) as door:
            me = await door.house.client("/here")
            with socket.socket(socket.AF_UNIX) as deaf:
                deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                deaf.connect(str(door.path))
                deaf.sendall(request("GET", me.path(f"/events?client_id={me.id}")))
                await streams_open(door, 1)
                async with me.events() as heard:
                    for _ in range(4):
                        session = await me.session("x" * 500_000)
                        await heard.next("session", id=session)
                    assert await to_thread.run_sync(is_hung_up, deaf, 10)
            await streams_open(door, 0)


async def streams_open(door: Server, number: int) -> None:
    while door.house.reception.streams != number:
        await anyio.lowlevel.checkpoint()


async def test_only_so_many_streams_are_open_at_a_time() -> None:
    with fail_after(10):
        async with server(streams_max=2) as door:
            me = await door.house.client("/here")
            events = me.path(f"/events?client_id={me.id}")
            async with door.unix() as first, door.unix() as second, door.unix() as third:
                for line in (first, second):
                    await line.say(request("GET", events))
                    assert (await line.head()).status == 200
                refused = await third.ask("GET", events)
                assert (refused.status, refused.json()) == (
                    503,
                    {"message": "too many event streams are open on this server"},
                )


def test_the_system_is_asked_to_notice_when_a_computer_is_gone(tmp_path: Path) -> None:
    with bind(Host("tcp", "127.0.0.1:0")) as door, socket.create_connection(door.getsockname()):
        accepted, _ = door.accept()
        with accepted:
            probe(accepted)
            assert accepted.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
            if hasattr(socket, "TCP_USER_TIMEOUT"):
                assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 90_000


def test_connections_are_at_most_half_of_what_may_be_open() -> None:
    assert [connections_for(files) for files in (1, 256, 8192, 10**6)] == [1, 128, 4096, 4096]
    assert raise_file_limit(1) >= 1
