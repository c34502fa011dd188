"""What somebody is told who still asks something while a workspace closes, or while the server leaves."""

from typing import Any

import anyio
from anyio import fail_after

from tests.server.plain import Answer, ask, served
from turnkeeper.models.scripted import Hold, Say, turn
from turnkeeper.protocol.ids import RunId, SessionId
from turnkeeper.protocol.runs import RunState
from turnkeeper.server.bounds import Bounds
from turnkeeper.store.memory import MemoryStore
from turnkeeper.store.store import SessionInfo
from turnkeeper.testing.bridge import Answered
from turnkeeper.testing.front import front

CLOSING = (409, {"message": "workspace closing"})
LEAVING = (503, {"message": "server is shutting down"})


class Slow(MemoryStore):
    """A store that takes its time to find a session, once somebody has said so."""

    def __init__(self) -> None:
        super().__init__()
        self.is_slow = False
        self.asked = anyio.Event()
        self.go_on = anyio.Event()

    async def session(self, session_id: SessionId) -> SessionInfo | None:
        if self.is_slow:
            self.asked.set()
            await self.go_on.wait()
        return await super().session(session_id)


def said(answer: Answered | Answer) -> tuple[int, Any]:
    return answer.status, answer.json()


async def test_a_cancel_that_was_on_its_way_when_the_workspace_closed_is_told_so() -> None:
    store = Slow()
    answers: list[Answered] = []
    with fail_after(10):
        async with front(turn(Say("hello")), stores={"/front": store}) as house:
            client = await house.client()
            session = await client.session()

            async def cancel() -> None:
                answers.append(await client.cancel(session))

            store.is_slow = True
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(cancel)
                await store.asked.wait()
                await house.reception.close()
                store.go_on.set()
    assert [said(answer) for answer in answers] == [CLOSING]


async def test_whoever_waits_for_a_prompt_that_is_kept_in_line_is_told_when_the_workspace_has_closed() -> None:
    answers: list[Answered] = []
    with fail_after(10):
        async with front(turn(Say("half"), Hold("here"))) as house:
            client = await house.client()
            session = await client.session()
            await client.prompt(session, "go", "r1")
            await house.model().reached("here")
            await client.prompt(session, "then", "r2")

            async def wait(run_id: str) -> None:
                answers.append(await house.http.get(client.path(f"/runs/{run_id}/wait?timeout=3600")))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(wait, "r2")
                await anyio.wait_all_tasks_blocked()
                await house.reception.close()
            kept = await house.stores["/front"].run(RunId("r2"))
    assert [said(answer) for answer in answers] == [CLOSING]
    assert kept is not None
    assert kept.state is RunState.QUEUED


async def test_a_request_that_outlasts_the_patience_of_a_leaving_server_is_told_that_it_leaves() -> None:
    store = Slow()
    answers: list[Answer] = []
    with fail_after(20):
        async with served(turn(Say("hello")), stores={"/front": store}, bounds=Bounds(stop_seconds=0)) as door:
            client = await door.house.client()
            session = await client.session()

            async def cancel() -> None:
                answers.append(await ask(door.socket, "POST", client.path(f"/agent/sessions/{session}/cancel")))

            store.is_slow = True
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(cancel)
                await store.asked.wait()
                door.house.reception.leaving.set()
    assert [said(answer) for answer in answers] == [LEAVING]
