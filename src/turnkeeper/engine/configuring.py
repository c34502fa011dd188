"""A configuration that changed while work goes on: read again, and told to everybody."""

from collections.abc import Awaitable

from turnkeeper.engine.desk import Desk
from turnkeeper.engine.workspace import Workspace
from turnkeeper.protocol.events import ConfigChanged
from turnkeeper.protocol.ids import WORKSPACE


async def refreshed(workspace: Workspace, desk: Desk) -> None:
    """Use what the files say now. When they cannot be used, what they said before goes on to hold."""
    if await desk.refresh():
        await announce(workspace)


async def changed(workspace: Workspace, change: Awaitable[None]) -> None:
    """Carry out a change; if it worked, everybody is told."""
    await change
    await announce(workspace)


async def announce(workspace: Workspace) -> None:
    await workspace.means.store.append(WORKSPACE, [ConfigChanged()], after=None, at=workspace.means.now())
