"""A command a person types: run in the workspace, seen while it runs, and kept in the conversation when there is one.

Whether it ends by itself, somebody stops it or its client leaves: what it said until then is kept.
"""

from collections.abc import Awaitable, Callable

import anyio

from turnkeeper.engine.shell_lines import STOPPED_STATUS, Line
from turnkeeper.engine.workspace import Workspace
from turnkeeper.protocol import events as e
from turnkeeper.protocol.ids import NO_CLIENT, ClientId, MessageId, SessionId
from turnkeeper.protocol.messages import STOPPED, Message, Role, ShellCommand
from turnkeeper.protocol.problems import NotFound, WorkspaceClosing

RunOnce = Callable[[str, Callable[[str], None]], Awaitable[tuple[str, int]]]
"""Runs a command, and hands on what it says while it runs; answers with all it said and its exit code."""


class LineGone(NotFound):
    """This line does not run any more."""


async def run_shell(
    workspace: Workspace, session_id: SessionId, command: str, *, run: RunOnce, by: ClientId = NO_CLIENT
) -> tuple[str, int]:
    if workspace.closing:
        raise WorkspaceClosing
    means = workspace.means
    line = Line(MessageId(means.new_id()), session_id, command, by=by, since=means.now())
    workspace.lines.begin(line)
    ended: tuple[str, int] | None = None
    try:
        with line.scope:
            ended = await run(command, line.heard)
    finally:
        # Whoever left does not wait for it, but it was run, and is told.
        said = ended or (line.until_stopped(), STOPPED_STATUS)
        try:
            with anyio.move_on_after(means.knobs.store_seconds, shield=True):
                await _keep(workspace, line, ShellCommand(command, *said), by)
        finally:
            workspace.lines.over(line)
    return said


def stop_shell(workspace: Workspace, session_id: SessionId, line_id: str) -> None:
    """Stop a line, whoever runs it; its own caller is answered when it has stopped."""
    line = workspace.lines.find(line_id)
    if line is None or line.session_id != session_id:
        raise LineGone(f"line {line_id} does not run any more")
    line.stop()


async def _keep(workspace: Workspace, line: Line, said: ShellCommand, by: ClientId) -> None:
    session_id = SessionId(line.session_id)
    if await workspace.means.store.session(session_id) is None:
        return
    seconds = workspace.means.now() // 1000
    message = Message(
        id=MessageId(line.id),
        session_id=session_id,
        role=Role.USER,
        parts=(said, STOPPED),
        created_at=seconds,
        updated_at=seconds,
        author=by,
    )
    await workspace.note(session_id, e.MessageSaid(message))
