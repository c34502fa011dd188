"""A sub-agent: a child session with a run of its own, joined by the call that asked for it.

It ends with its parent: the parent's cancel cancels it, the parent pays for it and its limits hold for both
(`engine/spending.py`), and what it asks of a person is asked in the parent's workspace like everything else.
"""

from pathlib import Path

import anyio

from turnkeeper.core import commands as told
from turnkeeper.engine.running import Running
from turnkeeper.protocol import events as e
from turnkeeper.protocol.ids import MessageId, RunId, SessionId
from turnkeeper.protocol.runs import Outcome, Prompt, Run, RunOptions
from turnkeeper.tools.tool import Call


class SubAgentFailed(Exception):
    """The sub-agent came to no answer."""


async def delegate(running: Running, call: Call, prompt: str, *, title: str, kind: str, workdir: Path | None) -> str:
    """Give the prompt to a sub-agent and wait for its text; raises `SubAgentFailed` when there is none."""
    workspace = running.workspace
    child = SessionId(f"{running.last.id if running.last else workspace.means.new_id()}$${call.id}")
    run_id = RunId(workspace.means.new_id())
    seconds = workspace.means.knobs.sub_agent_seconds
    try:
        with anyio.fail_after(seconds):
            await workspace.found(child, e.SessionCreated(title, running.session.id, workspace.means.now()))
            await workspace.tell(child, _submission(running, run_id, prompt, kind, workdir))
            run = await workspace.ended(run_id)
    except TimeoutError as late:
        await workspace.cancel(child, told.Cancel(run_id))
        raise SubAgentFailed(
            f"Failed to generate response: the sub-agent was not done in {seconds:g} seconds"
        ) from late
    except anyio.get_cancelled_exc_class():
        # What was sent is carried out, so that also a sub-agent nobody has seen begin is stopped.
        with anyio.move_on_after(workspace.means.knobs.stop_seconds, shield=True):
            await workspace.cancel(child, told.Cancel(run_id))
        raise
    running.denied += run.denied
    return _text(run)


def _submission(running: Running, run_id: RunId, prompt: str, kind: str, workdir: Path | None) -> told.Submit:
    parent = running.run.options
    options = RunOptions(
        large_model=parent.large_model,
        small_model=parent.small_model,
        agent=kind,
        workdir=str(workdir or parent.workdir),
        interactive=parent.interactive,
        yolo=parent.yolo or kind == "research",
        allow=parent.allow,
        deny=parent.deny,
    )
    means = running.workspace.means
    return told.Submit(
        run_id=run_id,
        prompt=Prompt(prompt),
        minted=True,
        options=options,
        by=running.run.by,
        user_message_id=MessageId(means.new_id()),
        at=means.now(),
        parent=running.run.run_id,
    )


def _text(run: Run) -> str:
    if run.outcome is Outcome.COMPLETED and run.text.strip():
        return run.text
    if run.outcome is Outcome.COMPLETED:
        raise SubAgentFailed("Sub-agent completed but produced no text output.")
    reason = run.failure.message if run.failure else str(run.outcome)
    raise SubAgentFailed(f"Failed to generate response: {reason}")
