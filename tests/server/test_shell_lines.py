"""A command that a person runs beside a conversation: seen while it runs, stopped by anybody, and never lost."""

from collections.abc import Callable
from dataclasses import dataclass, field

import anyio
from anyio import fail_after

from tests.server.plain import connect, request, served, watch
from tests.server.test_cancel import A, begun, entered
from turnkeeper.store.memory import MemoryStore
from turnkeeper.testing.front import front


@dataclass
class Endless:
    """A shell in which every command says something and goes on for ever."""

    begun: anyio.Event = field(default_factory=anyio.Event)
    stopped: anyio.Event = field(default_factory=anyio.Event)

    async def run(self, command: str, heard: Callable[[str], None]) -> tuple[str, int]:
        heard(f"{command}: one\n")
        self.begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            self.stopped.set()
        return "", 0


SAID_UNTIL_STOPPED = {"command": "sleep", "output": "sleep: one\n[stopped]", "exit_code": 130}


async def test_a_person_who_leaves_takes_the_command_they_typed_along_and_what_it_said_is_kept() -> None:
    shell = Endless()

    with fail_after(10):
        async with served(shell=shell.run) as door:
            here = await entered(door, A)
            session = await begun(door, here)
            async with watch(door.socket, f"{here}/events?client_id={A}") as a:
                async with await connect(door.socket) as line:
                    await line.send(
                        request(
                            "POST", f"{here}/agent/sessions/{session}/shell", {"session_id": "", "command": "sleep"}
                        )
                    )
                    await shell.begun.wait()
                await shell.stopped.wait()
                said = await a.next("message")
    assert said["parts"][0] == {"type": "shell_command", "data": SAID_UNTIL_STOPPED}


async def test_a_command_a_person_runs_is_seen_by_everybody_and_stopped_by_anybody() -> None:
    """The original's clients are told nothing of it until it has ended."""
    shell = Endless()
    with fail_after(10):
        async with served(shell=shell.run) as door:
            here = await entered(door, A)
            session = await begun(door, here)
            typed = {"session_id": "", "command": "sleep"}
            async with (
                watch(door.socket, f"{here}/events?client_id={A}") as plain,
                watch(door.socket, f"{here}/events?client_id={A}&detail=delta") as fine,
                anyio.create_task_group() as tasks,
            ):
                tasks.start_soon(door.post, f"{here}/agent/sessions/{session}/shell", typed)
                seen = await fine.next("presence")
                while not seen.get("lines"):
                    seen = await fine.next("presence")
                (line,) = seen["lines"]
                answered = await door.post(f"{here}/agent/sessions/{session}/shell/{line['id']}/cancel")
                told = await plain.next("message")
                while seen.get("lines"):
                    seen = await fine.next("presence")
                again = await door.post(f"{here}/agent/sessions/{session}/shell/{line['id']}/cancel")
                assert (line["session_id"], line["command"], line["output"]) == (session, "sleep", "sleep: one\n")
                assert (answered.status, again.status) == (200, 404)
                assert (told["id"], told["parts"][0]["data"]) == (line["id"], SAID_UNTIL_STOPPED)
                assert "presence" not in {heard.kind for heard in plain.seen}


async def test_a_command_a_person_runs_ends_with_its_workspace_and_what_it_said_is_kept() -> None:
    shell = Endless()
    stores: dict[str, MemoryStore] = {}
    with fail_after(10):
        async with front(shell=shell.run, stores=stores) as house:
            client = await house.client()
            session = await client.session()
            async with anyio.create_task_group() as tasks:
                typed = {"session_id": "", "command": "sleep"}
                tasks.start_soon(client.http.post, client.path(f"/agent/sessions/{session}/shell"), typed)
                await shell.begun.wait()
                await client.retire()
                await shell.stopped.wait()
        async with front(stores=stores) as house:
            client = await house.client()
            (message,) = await client.messages(session)
    assert message["parts"][0]["data"] == SAID_UNTIL_STOPPED
