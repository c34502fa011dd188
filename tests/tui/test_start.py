"""A terminal begins, says why when it cannot, and leaves."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from tests.client.scene import served
from tests.tui.scene import presses, terminal, until
from turnkeeper.client.client import Client
from turnkeeper.client.http import ServerUnreachable
from turnkeeper.models.scripted import Say, turn
from turnkeeper.tui.app import Terminal
from turnkeeper.tui.live import Live
from turnkeeper.tui.main import LATEST
from turnkeeper.tui.starting import Starting


async def test_a_terminal_lands_on_the_workspace_it_was_opened_in() -> None:
    async with terminal() as at:
        await at.shows("turnkeeper", "/front", "Scripted")


@presses("starting.again", "starting.leave")
async def test_a_server_that_cannot_be_reached_is_said_and_tried_again_on_a_key() -> None:
    tries = 0

    async with served() as server:

        @asynccontextmanager
        async def connect() -> AsyncGenerator[Live]:
            nonlocal tries
            tries += 1
            if tries < 3:
                raise ServerUnreachable("nobody listens there")
            async with Client(server.host) as client:
                yield Live(client, await client.open("/front"))

        app = Terminal(connect, env={"LANG": "C.UTF-8"})
        async with app.run_test() as pilot:
            for count in (1, 2):
                await until(pilot, lambda: isinstance(app.screen, Starting) and tries == count)  # noqa: B023 - at once
                await until(pilot, lambda: "Nobody listens there" in str(app.screen.query_one("#what").render()))
                await pilot.press("r")
            await until(pilot, lambda: app.is_ready)


async def test_whoever_leaves_while_there_is_no_server_leaves_at_once() -> None:
    @asynccontextmanager
    async def connect() -> AsyncGenerator[Live]:
        raise ServerUnreachable("nobody listens there")
        yield

    app = Terminal(connect, env={"LANG": "C.UTF-8"})
    async with app.run_test() as pilot:
        await until(pilot, lambda: "Nobody listens there" in str(app.screen.query_one("#what").render()))
        await pilot.press("q")
        await until(pilot, lambda: app.return_code == 0 and not app.is_running)


async def test_a_session_is_opened_by_the_beginning_of_its_id_or_as_the_latest() -> None:
    async with served(turn(Say("An old answer.")), turn(Say("A newer answer."))) as server, server.workspace() as other:
        ids: list[str] = []
        for prompt in ("first", "second"):
            ids.append((await other.sessions.create(prompt)).id)
            await other.runs.wait(await other.runs.submit(ids[-1], prompt))

        @asynccontextmanager
        async def connect() -> AsyncGenerator[Live]:
            async with Client(server.host) as client:
                yield Live(client, await client.open("/front"))

        for said, shown in ((ids[0], "An old answer."), (LATEST, "A newer answer.")):
            app = Terminal(connect, session=said, env={"LANG": "C.UTF-8"})
            async with app.run_test(size=(100, 30)) as pilot:
                await until(pilot, lambda: app.is_ready)  # noqa: B023 - at once
                main = app.main
                assert main is not None
                await until(pilot, lambda: shown in _text(app))  # noqa: B023 - at once


def _text(app: Terminal) -> str:
    from tests.tui.scene import screen_text

    return screen_text(app)
