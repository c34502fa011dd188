"""A command a person types: run in the workspace, and kept in the conversation when there is one."""

from collections.abc import Awaitable, Callable

from turnkeeper.engine.workspace import Workspace
from turnkeeper.protocol import events as e
from turnkeeper.protocol.ids import MessageId, SessionId
from turnkeeper.protocol.messages import STOPPED, Message, Role, ShellCommand

RunOnce = Callable[[str], Awaitable[tuple[str, int]]]


async def run_shell(workspace: Workspace, session_id: SessionId, command: str, *, run: RunOnce) -> tuple[str, int]:
    output, exit_code = await run(command)
    if await workspace.means.store.session(session_id) is None:
        return output, exit_code
    seconds = workspace.means.now() // 1000
    message = Message(
        id=MessageId(workspace.means.new_id()),
        session_id=session_id,
        role=Role.USER,
        parts=(ShellCommand(command, output, exit_code), STOPPED),
        created_at=seconds,
        updated_at=seconds,
    )
    await workspace.note(session_id, e.MessageSaid(message))
    return output, exit_code
