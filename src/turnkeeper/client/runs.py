"""Prompts and their runs, the line that waits, and the agent that takes them."""

import time
import uuid
from collections.abc import Sequence

from turnkeeper.client.asking import query, segment, value
from turnkeeper.client.place import Place
from turnkeeper.protocol.config import SelectedModel
from turnkeeper.protocol.ids import RunId
from turnkeeper.protocol.runs import Attachment, RunOptions
from turnkeeper.protocol.wire_changes import QueueMove
from turnkeeper.protocol.wire_own import CancelReceipt, Queue, QueueEdit, RunView
from turnkeeper.protocol.wire_prompts import (
    AgentMessage,
    ShellCommandRequest,
    ShellCommandResponse,
    attachments_to_wire,
)
from turnkeeper.protocol.wire_sessions import Session
from turnkeeper.protocol.wire_workspaces import AgentInfo, AgentInit

WAIT_SECONDS_STEP = 300.0
"""A long wait is asked for in pieces, so that no connection is silent for longer."""
ANSWER_SECONDS = 30.0
STOP_SECONDS = 120.0
"""A cancel is answered when everything it stopped has stopped."""
LONG_SECONDS = 3600.0


class Runs:
    """A prompt that was taken ends exactly once; its id, minted here, makes sending it twice harmless."""

    def __init__(self, place: Place) -> None:
        self._place = place

    async def submit(
        self,
        session_id: str,
        prompt: str,
        *,
        attachments: Sequence[Attachment] = (),
        run_id: str = "",
        options: RunOptions | None = None,
        foldable: bool | None = None,
    ) -> RunId:
        """Submit a prompt; when this returns, it is kept. One that is `foldable` joins a run that goes on."""
        run_id = run_id or str(uuid.uuid4())
        message = AgentMessage(
            session_id=session_id,
            run_id=run_id,
            prompt=prompt,
            attachments=attachments_to_wire(tuple(attachments)),
            options=options,
            foldable=foldable,
        )
        await self._place.post("/agent", message, repeatable=True)
        return RunId(run_id)

    async def get(self, run_id: str) -> RunView:
        return await self._place.get(self._one(run_id), RunView)

    async def wait(self, run_id: str, *, seconds: float | None = None) -> RunView:
        """The run when it has ended; or as it stands, when `seconds` are over before."""
        deadline = None if seconds is None else time.monotonic() + seconds
        while True:
            left = WAIT_SECONDS_STEP if deadline is None else max(0.0, deadline - time.monotonic())
            step = min(left, WAIT_SECONDS_STEP)
            rest = self._one(run_id) + "/wait"
            known = await self._place.get(rest, RunView, seconds=step + ANSWER_SECONDS, timeout=step)
            if known.has_ended or (deadline is not None and time.monotonic() >= deadline):
                return known

    async def cancel(self, run_id: str) -> RunView:
        """Stop one run, wherever it stands; answers when it has stopped. The line moves on."""
        return await self._place.tell(self._one(run_id) + "/cancel", None, RunView, seconds=STOP_SECONDS)

    async def cancel_session(self, session_id: str) -> CancelReceipt:
        """Stop a session and empty its line; answers when all has stopped."""
        rest = self._session(session_id) + "/cancel" + query(receipt=1)
        answer = await self._place.post(rest, seconds=STOP_SECONDS, repeatable=True)
        # A server of the original gives no receipt.
        return value(answer, CancelReceipt) if answer.body else CancelReceipt()

    async def queue(self, session_id: str) -> Queue:
        """What waits in a session, first to run first, with ids and authors."""
        return await self._place.get(self._session(session_id) + "/queue", Queue)

    async def edit(self, run_id: str, prompt: str) -> RunView:
        """Give a waiting prompt another text."""
        return await self._patch(run_id, QueueEdit(prompt=prompt))

    async def steer(self, run_id: str, *, foldable: bool = True) -> RunView:
        """Let a waiting prompt join the run that goes on, or stand on its own again."""
        return await self._patch(run_id, QueueEdit(foldable=foldable))

    async def move(self, run_id: str, index: int) -> Queue:
        """Put a waiting prompt at a place in its line; 0 is next."""
        return await self._place.tell(self._one(run_id) + "/move", QueueMove(index), Queue)

    async def release(self, session_id: str) -> None:
        """Let a held line go on."""
        await self._place.post(self._session(session_id) + "/queue/release", repeatable=True)

    async def clear(self, session_id: str) -> None:
        """Cancel what waits."""
        await self._place.post(self._session(session_id) + "/prompts/clear", repeatable=True)

    async def waiting(self, session_id: str) -> list[str]:
        """The texts of what waits, as every server tells them."""
        return await self._place.get_list(self._session(session_id) + "/prompts/list", str)

    async def waiting_count(self, session_id: str) -> int:
        """How many of them there are."""
        return await self._place.get(self._session(session_id) + "/prompts/queued", int)

    async def list(self, session_id: str = "") -> list[RunView]:
        """Runs, newest first."""
        return await self._place.get_list("/runs", RunView, session_id=session_id or None)

    async def _patch(self, run_id: str, edit: QueueEdit) -> RunView:
        return value(await self._place.ask("PATCH", self._one(run_id), edit), RunView)

    def _one(self, run_id: str) -> str:
        return f"/runs/{segment(run_id)}"

    def _session(self, session_id: str) -> str:
        return f"/agent/sessions/{segment(session_id)}"


class Agent:
    def __init__(self, place: Place) -> None:
        self._place = place

    async def info(self) -> AgentInfo:
        """Whether the agent is there and busy, and its model."""
        return await self._place.get("/agent", AgentInfo)

    async def init(self, *, interactive: bool) -> None:
        """Say whether somebody is there to be asked."""
        await self._place.post("/agent/init", AgentInit(interactive), repeatable=True)

    async def update(self) -> None:
        await self._place.post("/agent/update", repeatable=True)

    async def session(self, session_id: str) -> Session:
        """Its id, its title, and whether the agent works in it."""
        return await self._place.get(f"/agent/sessions/{segment(session_id)}", Session)

    async def summarize(self, session_id: str) -> None:
        """Summarise the conversation; answers when that is done."""
        await self._place.post(f"/agent/sessions/{segment(session_id)}/summarize", seconds=LONG_SECONDS)

    async def shell(self, session_id: str, command: str, *, width: int = 80) -> ShellCommandResponse:
        """Run a command as a person would. It is stopped when the caller stops waiting."""
        said = ShellCommandRequest(session_id, command, width)
        rest = f"/agent/sessions/{segment(session_id)}/shell"
        return await self._place.tell(rest, said, ShellCommandResponse, seconds=LONG_SECONDS)

    async def stop_shell(self, session_id: str, line_id: str) -> None:
        """Stop a command that somebody runs so; what it said is kept."""
        rest = f"/agent/sessions/{segment(session_id)}/shell/{segment(line_id)}/cancel"
        await self._place.post(rest, repeatable=True)

    async def default_small_model(self, provider_id: str) -> SelectedModel:
        return await self._place.get("/agent/default-small-model", SelectedModel, provider_id=provider_id)
