"""A run at a server of the original: what that needs is done, what it cannot do is refused before anything begins.

Such a server asks whoever is there and waits for ever, so a run for which nobody is there answers for itself. It knows
no rules and no limits of a single run, and keeps no runs.
"""

from typing import TYPE_CHECKING, Any, cast

import anyio
import click

from turnkeeper.protocol.problems import Problem, ServerClosing

if TYPE_CHECKING:
    from turnkeeper.client.workspace import WorkspaceClient
    from turnkeeper.protocol.runs import RunOptions
    from turnkeeper.protocol.wire_requests import PermissionRequest

READY_SECONDS = 30.0
POLL_SECONDS = 0.2


class NotReady(ServerClosing):
    """The server's agent does not become ready."""


async def prepared(workspace: "WorkspaceClient", options: "RunOptions", *, detach: bool) -> None:
    """Refuse what cannot be, and wait until prompts are taken."""
    if wanted := beyond(options, detach=detach):
        raise click.UsageError(f"this is a server of the original's, which does not know {', '.join(wanted)}")
    await workspace.agent.init(interactive=options.interactive)
    with anyio.move_on_after(READY_SECONDS):
        while not (await workspace.agent.info()).is_ready:  # noqa: ASYNC110 - another computer tells no event
            await anyio.sleep(POLL_SECONDS)
        return
    raise NotReady(f"the server's agent is not ready after {READY_SECONDS:g} seconds")


def beyond(options: "RunOptions", *, detach: bool) -> list[str]:
    """The options of the command line that only our own servers know."""
    asked = {
        "--model": options.large_model,
        "--small-model": options.small_model,
        "--allow": options.allow,
        "--deny": options.deny,
        "--max-steps": options.steps_max,
        "--max-tokens": options.tokens_max,
        "--max-cost": options.cost_max,
        "--time-limit": options.seconds_max,
        "--detach": detach,
    }
    return [name for name, value in asked.items() if value]


async def answered(workspace: "WorkspaceClient", request: "PermissionRequest", *, yolo: bool) -> str:
    """Answer what a run of ours asks, since nobody else would; what was refused, if it was."""
    from turnkeeper.protocol.requests import Decision

    try:
        settled = await workspace.permissions.answer(request, Decision(allowed=yolo))
    except Problem:
        return ""  # it is gone already, and so is the question
    if yolo or not settled.resolved:
        return ""
    params: Any = request.params
    command = cast("dict[str, Any]", params).get("command") if isinstance(params, dict) else ""
    return f"{request.tool_name}({command or request.path})"
