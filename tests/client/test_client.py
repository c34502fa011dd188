"""Every question a client can ask, asked of a real server on a real socket."""

import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from tests.client.scene import served, told
from turnkeeper.client.client import Client
from turnkeeper.client.http import ServerUnreachable
from turnkeeper.models.scripted import Hold, Say, turn
from turnkeeper.protocol.config import Scope, SelectedModel
from turnkeeper.protocol.hosts import Host
from turnkeeper.protocol.problems import BadRequest, Conflict, NotFound, Problem
from turnkeeper.server.guard import Guard


async def test_a_prompt_is_submitted_followed_and_its_ending_read() -> None:
    async with served(turn(Say("Hello, you."))) as server, server.workspace() as workspace:
        session = await workspace.sessions.create("Greetings")
        async with workspace.follow() as heard:
            run_id = await workspace.runs.submit(session.id, "hi", run_id="r1")
            ending = await told(heard, "run_complete", run_id="r1")
        run = await workspace.runs.wait(run_id)
        said = await workspace.messages.list(session.id)
    assert run_id == "r1"
    assert (run.state, run.outcome, run.text) == ("ended", "completed", "Hello, you.")
    assert ending.payload.text == "Hello, you."  # type: ignore[union-attr]
    assert [(message.role, message.text) for message in said] == [("user", "hi"), ("assistant", "Hello, you.")]


async def test_submitting_twice_under_one_id_is_submitting_once() -> None:
    async with served(turn(Say("once"))) as server, server.workspace() as workspace:
        session = await workspace.sessions.create()
        for _ in range(2):
            await workspace.runs.submit(session.id, "hi", run_id="same")
        await workspace.runs.wait("same")
        assert [run.run_id for run in await workspace.runs.list(session.id)] == ["same"]
        with pytest.raises(Problem, match="already used"):
            await workspace.runs.submit(session.id, "something else", run_id="same")


async def test_the_line_that_waits_is_read_edited_moved_steered_and_cleared() -> None:
    async with served(turn(Hold("go"), Say("first")), turn(Say("more"))) as server, server.workspace() as workspace:
        session = await workspace.sessions.create()
        for id in ("a", "b", "c"):
            await workspace.runs.submit(session.id, f"prompt {id}", run_id=id, foldable=False)
        assert [run.run_id for run in (await workspace.runs.queue(session.id)).runs] == ["b", "c"]
        assert [run.run_id for run in (await workspace.runs.move("c", 0)).runs] == ["c", "b"]
        assert (await workspace.runs.edit("b", "another")).prompt == "another"
        assert (await workspace.runs.steer("b")).foldable
        assert await workspace.runs.waiting(session.id) == ["prompt c", "another"]
        assert await workspace.runs.waiting_count(session.id) == 2
        await workspace.runs.clear(session.id)
        assert (await workspace.runs.get("b")).outcome == "cancelled"
        await workspace.runs.release(session.id)
        receipt = await workspace.runs.cancel_session(session.id)
    assert receipt.stopping == ("a",)


async def test_one_run_is_stopped_and_ends_as_cancelled() -> None:
    async with served(turn(Say("begin"), Hold("never"))) as server, server.workspace() as workspace:
        session = await workspace.sessions.create()
        await workspace.runs.submit(session.id, "hi", run_id="r")
        with anyio.fail_after(5):
            await server.front.model().reached("never")
        assert (await workspace.runs.cancel("r")).outcome == "cancelled"
        assert (await workspace.runs.wait("r", seconds=0)).outcome == "cancelled"


async def test_a_wait_that_is_too_short_answers_with_the_run_as_it_stands() -> None:
    async with served(turn(Hold("never"))) as server, server.workspace() as workspace:
        session = await workspace.sessions.create()
        await workspace.runs.submit(session.id, "hi", run_id="r")
        assert (await workspace.runs.wait("r", seconds=0)).state == "active"
        await workspace.runs.cancel("r")


async def test_sessions_are_listed_renamed_given_todos_and_forgotten() -> None:
    from turnkeeper.protocol.sessions import Todo, TodoStatus

    async with served() as server, server.workspace() as workspace:
        first = await workspace.sessions.create("One")
        await workspace.sessions.create("Two")
        assert (await workspace.sessions.rename(first.id, "Uno")).title == "Uno"
        changed = await workspace.sessions.set_todos(first.id, (Todo("dig", TodoStatus.PENDING),))
        assert [(todo.content, todo.status) for todo in changed.todos] == [("dig", "pending")]
        assert {session.title for session in await workspace.sessions.list()} == {"Uno", "Two"}
        await workspace.sessions.delete(first.id)
        assert [session.title for session in await workspace.sessions.list()] == ["Two"]
        with pytest.raises(NotFound):
            await workspace.sessions.get(first.id)


async def test_everything_else_there_is_to_ask_is_answered() -> None:
    async with served(turn(Say("ok"))) as server, server.workspace() as workspace:
        session = await workspace.sessions.create()
        await workspace.runs.submit(session.id, "hi", run_id="r")
        await workspace.runs.wait("r")
        assert [message.text for message in await workspace.messages.of_people(session.id)] == ["hi"]
        assert [message.text for message in await workspace.messages.of_people()] == ["hi"]
        assert (await workspace.agent.info()).is_ready
        assert (await workspace.agent.session(session.id)).id == session.id
        await workspace.agent.init(interactive=True)
        await workspace.agent.update()
        assert (await workspace.agent.shell(session.id, "echo hello")).output == "hello\n"
        assert (await workspace.agent.default_small_model("scripted")).model == "scripted"
        assert (await workspace.permissions.skip()).skip is False
        await workspace.permissions.set_skip(True)
        assert (await workspace.permissions.skip()).skip is True
        assert await workspace.permissions.grants() == []
        assert await workspace.permissions.audit() == []
        assert await workspace.questions.refuse("nobody asked") is False
        await workspace.files.note_seen(session.id, "a.txt")
        assert await workspace.files.seen(session.id) == ["/front/a.txt"]
        assert (await workspace.files.names()).paths == ()
        assert await workspace.files.last_seen(session.id, "a.txt") > 0
        assert await workspace.files.last_seen(session.id, "b.txt") == 0
        assert await workspace.files.history(session.id) == []
        assert await workspace.files.changes(session.id) == []
        assert await workspace.files.undo(session.id) == []
        assert await workspace.files.redo(session.id) == []
        assert await workspace.jobs.list(session.id) == []
        assert await workspace.jobs.all() == []
        with pytest.raises(NotFound):
            await workspace.jobs.output(session.id, "001")
        assert [hit.excerpt for hit in await workspace.overview.search("OK")] == ["ok"]
        assert not (await workspace.overview.why(session.id)).busy
        assert (await workspace.overview.statistics(offset_minutes=-60)).total.runs == 1
        assert [one.state for one in await workspace.overview.providers()] == ["ready"]
        fork = await workspace.overview.fork(session.id, title="Another")
        assert [message.text for message in await workspace.messages.list(fork.id)][1] == "ok"
        assert (await workspace.overview.check_database()).wrong == ()
        assert (await workspace.overview.compact_database()).pages == 0
        with pytest.raises(Conflict):
            await workspace.overview.back_up_database()
        with pytest.raises(NotFound):
            await workspace.overview.import_crush("/nowhere.db")
        assert (await workspace.config.state()).problem == ""
        with pytest.raises(Conflict):
            await workspace.config.trust("/front/crush.json", "digest")
        assert await workspace.config.providers() == []
        assert (await workspace.config.get()).models["large"] == SelectedModel(model="scripted", provider="scripted")
        await workspace.config.set(Scope.WORKSPACE, "options.debug", True)
        await workspace.config.set_compact(Scope.WORKSPACE, True)
        await workspace.config.set_model(Scope.WORKSPACE, "large", SelectedModel(model="m", provider="p"))
        await workspace.config.remove(Scope.WORKSPACE, "options.debug")
        assert (await workspace.config.import_copilot()).success is False
        assert await workspace.config.needs_init()
        await workspace.config.mark_initialized()
        assert not await workspace.config.needs_init()
        assert await workspace.config.init_prompt() == "Describe this project."
        assert await workspace.lsps.list() == {}
        await workspace.lsps.start("a.py")
        await workspace.lsps.stop()
        assert await workspace.mcp.states() == {}
        assert await workspace.mcp.prompts() == []
        assert await workspace.mcp.pending_sign_ins() == []
        assert await workspace.mcp.sign_in_url("x") == ""
        await workspace.mcp.refresh("x", "tools")
        assert await workspace.skills.list() == []
        assert (await workspace.snapshot()).position > 0
        assert (await workspace.describe()).path == "/front"


async def test_the_server_says_what_it_is_and_what_it_can_do() -> None:
    async with served() as server, Client(server.host) as client:
        await client.health()
        assert (await client.version()).version == "test"
        assert "/v1/health" in (await client.describe())["paths"]
        assert await client.workspaces() == []
        await client.open("/front")
        assert [workspace.path for workspace in await client.workspaces()] == ["/front"]
        with pytest.raises(Problem, match="hosting live workspaces"):
            await client.control("shutdown_if_idle")


async def test_a_client_that_leaves_lets_go_of_its_workspaces() -> None:
    async with served() as server:
        async with server.workspace():
            assert len(server.front.reception.rooms()) == 1
        assert server.front.reception.rooms() == []


async def test_a_client_that_leaves_while_it_still_waits_for_its_workspace_leaves_none_behind() -> None:
    reached, ready = anyio.Event(), anyio.Event()

    async def slowly(_: Path) -> None:
        reached.set()
        await ready.wait()

    with anyio.fail_after(10):
        async with served(opening=slowly) as server:
            async with Client(server.host) as client, anyio.create_task_group() as opening:
                opening.start_soon(client.open, "/front")
                await reached.wait()
                opening.cancel_scope.cancel()
            ready.set()
            # Whoever comes to the same directory then is there alone.
            async with server.workspace() as workspace:
                (room,) = server.front.reception.rooms()
                holders = set(room.held.by_client)
            with pytest.raises(Problem, match="client has been retired"):
                await client.open("/front")
    assert holders == {workspace.place.client_id}


async def test_what_a_server_refuses_is_raised_as_the_problem_it_is() -> None:
    async with served() as server, server.workspace() as workspace:
        with pytest.raises(BadRequest, match="prompt is empty"):
            await workspace.runs.submit("s", "")
        with pytest.raises(NotFound, match="run not found"):
            await workspace.runs.get("no such run")
        with pytest.raises(NotFound, match="LSP client not found"):
            await workspace.lsps.diagnostics("x")
        with pytest.raises(Problem) as refused:
            await workspace.skills.read("x")
        assert refused.value.status == 404


async def test_a_server_that_is_not_there_is_unreachable_and_says_where() -> None:
    with pytest.raises(ServerUnreachable, match=r"no server answers at unix:///nowhere\.sock: no such file"):
        await Client(Host("unix", "/nowhere.sock")).health()
    with pytest.raises(ServerUnreachable, match="refused"):
        await Client("tcp://127.0.0.1:1").health()
    with pytest.raises(ServerUnreachable, match=r"tcp://no\.such\.host\.invalid:1: [a-z ]+$"):
        await Client("tcp://no.such.host.invalid:1").health()


async def test_over_tcp_a_token_is_sent_and_without_it_nothing_is_said() -> None:
    from turnkeeper.client.asking import Unauthorized

    door = Host("tcp", "127.0.0.1:0")
    async with served(host=door, guard=Guard(token="secret")) as server:
        async with Client(server.host, token="secret") as client:
            assert (await client.version()).version == "test"
        with pytest.raises(Unauthorized):
            await Client(server.host, token="wrong").version()


async def test_a_workspace_that_was_closed_meanwhile_is_opened_again_by_asking() -> None:
    async with served() as server, server.workspace() as workspace:
        before = workspace.id
        await workspace.leave()
        session = await workspace.sessions.create("still here")
        assert workspace.id != before
        assert (await workspace.sessions.get(session.id)).title == "still here"


def test_importing_the_package_imports_nothing_of_the_client_until_it_is_asked_for() -> None:
    said = subprocess.run(
        [sys.executable, "-c", "import sys, turnkeeper; print('anyio' in sys.modules, turnkeeper.Client.__name__)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout == "False Client\n"
