"""Telling the user's programs what happens: beside whatever goes on, and ending with the workspace."""

import logging
from collections.abc import Mapping

from turnkeeper.engine.running import Running

log = logging.getLogger(__name__)


def tell_hooks(running: Running, event: str, payload: Mapping[str, object]) -> None:
    """Nobody waits for it, and a program that fails is not worth a workspace."""
    workspace = running.workspace
    hooks = workspace.means.hooks
    if hooks is None or workspace.closing:
        return

    async def happened() -> None:
        try:
            await hooks.happened(event, payload)
        except Exception:  # a stranger's program
            log.exception("a hook failed", extra={"hook_event": event})

    workspace.tasks.start_soon(happened)
