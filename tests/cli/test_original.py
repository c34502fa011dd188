"""`turnkeeper run` at a server of the original: the same promises, kept with what that server can do."""

import json
from subprocess import CompletedProcess
from typing import Any

import anyio
import anyio.to_thread
import pytest

from tests.cli.scene import home
from tests.client.original import Original, original, plainly

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


async def run(server: tuple[str, Original], *words: str) -> CompletedProcess[str]:
    with home() as at:
        return await anyio.to_thread.run_sync(lambda: at.run("run", "--host", server[0], *words))


async def test_the_answer_is_printed_once_and_the_agent_is_told_that_nobody_is_there() -> None:
    async with original() as server:
        said = await run(server, "hi")
        calls = [f"{one.method} {one.path.rpartition('/')[2]}" for one in server[1].asked]
        (init,) = server[1].calls(r"POST .*/agent/init")
    assert (said.returncode, said.stdout) == (0, "The answer.\n")
    assert init.body == {"interactive": False}
    assert calls.index("POST init") < calls.index("GET events") < calls.index("POST agent")


async def test_what_somebody_else_says_in_the_session_is_neither_printed_nor_believed() -> None:
    async def answer(server: Original, said: dict[str, Any]) -> None:
        session = said["session_id"]
        await server.say(session, "somebody else's", id="other")
        await server.tell(
            "run_complete", {"session_id": session, "run_id": "other", "message_id": "other", "text": "no"}
        )
        await plainly(server, said)

    async with original(answer=answer) as server:
        said = await run(server, "hi")
    assert (said.returncode, said.stdout) == (0, "The answer.\n")


async def test_a_run_that_went_wrong_ends_with_what_it_said_and_a_code() -> None:
    async def fail(server: Original, said: dict[str, Any]) -> None:
        await server.finish(said["session_id"], said["run_id"], error="overloaded")

    async with original(answer=fail) as server:
        said = await run(server, "hi")
    assert (said.returncode, said.stdout, "overloaded" in said.stderr) == (1, "", True)


@pytest.mark.parametrize(("more", "action", "code"), [((), "deny", 5), (("--yolo",), "allow", 0)])
async def test_what_the_server_asks_is_answered_from_here_and_never_waited_for(
    more: tuple[str, ...], action: str, code: int
) -> None:
    answers: list[str] = []

    async def ask(server: Original, said: dict[str, Any]) -> None:
        answers.append(await server.ask_permission(said["session_id"], {"command": "make"}))
        await plainly(server, said)

    async with original(answer=ask) as server:
        said = await run(server, "-o", "json", *more, "hi")
    ending = json.loads(said.stdout)
    assert (said.returncode, answers) == (code, [action])
    assert ending["denied"] == (["bash(make)"] if code else [])


@pytest.mark.parametrize(
    ("option", "name"),
    [(("--model", "x"), "--model"), (("--max-steps", "3"), "--max-steps"), (("--allow", "bash(ls)"), "--allow")],
)
async def test_what_such_a_server_cannot_do_is_refused_before_anything_begins(
    option: tuple[str, ...], name: str
) -> None:
    async with original() as server:
        said = await run(server, *option, "hi")
        assert server[1].calls(r"POST .*/agent") == []
    assert (said.returncode, name in said.stderr) == (2, True)


async def test_a_stream_that_is_cut_before_the_ending_is_no_success_and_the_answer_is_found_all_the_same() -> None:
    async def cut(server: Original, said: dict[str, Any]) -> None:
        await server.say(said["session_id"], "The ans")
        await server.end_streams(properly=False)
        await server.say(said["session_id"], "The answer.", finished=True)
        server.busy.discard(said["session_id"])

    async with original(answer=cut) as server:
        said = await run(server, "hi")
    assert (said.returncode, said.stdout) == (0, "The answer.\n")


async def test_a_prompt_that_is_refused_is_a_usage_error_with_the_servers_words() -> None:
    async with original(sent={"POST agent": (400, {"message": "prompt is too strange"})}) as server:
        said = await run(server, "hi")
        assert server[1].sessions == {}
    assert (said.returncode, "prompt is too strange" in said.stderr) == (2, True)
