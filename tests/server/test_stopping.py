"""The server stops while it is used: whoever watches is told what was said last, and that it was the last."""

import json
import uuid
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import pytest
from anyio import fail_after, to_thread

from tests.server.process import Process, process
from tests.server.sockets import Line, request

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

WATCHERS = 200
RUNS = 5


@pytest.fixture
def waiting(tmp_path: Path) -> dict[str, object]:
    """A configuration whose model says a word and then nothing, for ever."""
    script = tmp_path / "script.json"
    steps = [{"kind": "say", "text": "a word"}, {"kind": "hold", "gate": "never"}]
    script.write_text(json.dumps({"turns": [{"steps": steps}], "again": True}))
    model = {"id": "m", "name": "m", "context_window": 1000, "default_max_tokens": 100}
    provider = {"type": "scripted", "base_url": str(script), "models": [model]}
    chosen = {"model": "m", "provider": "waits"}
    return {"providers": {"waits": provider}, "models": {"large": chosen, "small": chosen}}


async def test_under_load_every_stream_ends_with_its_last_words_and_the_process_is_gone_in_time(
    waiting: dict[str, object],
) -> None:
    heard: list[bytes] = []
    with process(config=waiting) as door, fail_after(60):
        me = str(uuid.uuid4())
        here = await door.workspace("busy", me)
        async with AsyncExitStack() as stack, anyio.create_task_group() as tasks:
            watchers = [await stack.enter_async_context(door.unix()) for _ in range(WATCHERS)]
            for line in watchers:
                await line.say(request("GET", f"{here}/events?client_id={uuid.uuid4()}&detail=delta"))
                assert (await line.head()).status == 200
            for number in range(RUNS):
                session = (await door.ask("POST", f"{here}/sessions", {"title": "busy"})).json()["id"]
                body = {"session_id": session, "prompt": "wait", "run_id": f"run-{number}"}
                assert (await door.ask("POST", f"{here}/agent", body)).status == 202
                await watchers[0].until(b"a word")
            tasks.start_soon(knock, door)
            begun = anyio.current_time()
            door.stop()
            heard += [await to_the_end(line) for line in watchers]
            assert await to_thread.run_sync(door.running.wait, 15) == 0
            assert anyio.current_time() - begun < 15
            tasks.cancel_scope.cancel()
        assert {said.count(b'{"type":"run_complete"') for said in heard} == {RUNS}
        assert not door.path.exists()
        assert "Traceback" not in door.log


async def to_the_end(line: Line) -> bytes:
    """What is still said on a stream, up to its terminating chunk."""
    heard = b""
    while chunk := await line.chunk():
        heard += chunk
    assert chunk is not None, "cut"
    return heard


async def knock(door: Process) -> None:
    """Requests without a pause, until nobody answers."""
    try:
        while True:
            await door.ask("GET", "/v1/version")
    except (OSError, anyio.EndOfStream, anyio.BrokenResourceError):
        pass


async def test_a_watcher_that_does_not_read_does_not_keep_the_server(waiting: dict[str, object]) -> None:
    with process(config=waiting, env={"TURNKEEPER_SERVER_SHUTDOWN_SECONDS": "1"}) as door, fail_after(60):
        me = str(uuid.uuid4())
        here = await door.workspace("deaf", me)
        async with door.unix() as deaf, door.unix() as line:
            await deaf.say(request("GET", f"{here}/events?client_id={me}"))
            assert (await deaf.head()).status == 200
            for _ in range(4):
                await line.ask("POST", f"{here}/sessions", {"title": "x" * 500_000})
            # A body that never comes, and a head that never ends, do not keep it either.
            async with door.tcp() as slow, door.tcp() as slower:
                await slow.say(b"POST /v1/workspaces HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{")
                await slower.say(b"GET /v1/")
                door.stop()
                assert await to_thread.run_sync(door.running.wait, 15) == 0
