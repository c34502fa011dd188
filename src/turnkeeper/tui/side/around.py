"""What stands around a conversation and comes by asking: its model, its changed files, its jobs, what is connected.

Asked for when the view says that it may have changed, never on the draw path, one question of a kind at a time. What
cannot be learnt now is left as it was known.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import anyio
import anyio.to_thread

from turnkeeper.client.view import View
from turnkeeper.protocol.differences import changed
from turnkeeper.protocol.problems import Problem
from turnkeeper.protocol.wire_changes import ChangeView, JobRow
from turnkeeper.protocol.wire_config import ConfigState
from turnkeeper.protocol.wire_overview import ProjectNotes
from turnkeeper.protocol.wire_servers import LSPClientInfo, MCPClientInfo
from turnkeeper.protocol.wire_workspaces import AgentInfo
from turnkeeper.tui.live import Live

PAUSE_SECONDS = 0.25
"""Changes come in bursts; a burst is asked about once."""
LINES_MAX = 20_000
OF_THE_SETTINGS = ("agent", "servers", "init", "project", "settings")


@dataclass(frozen=True, slots=True)
class Change:
    path: str
    added: int
    removed: int


@dataclass(frozen=True, slots=True)
class Facts:
    agent: AgentInfo | None = None
    changes: tuple[Change, ...] = ()
    jobs: tuple[JobRow, ...] = ()
    lsps: tuple[tuple[str, LSPClientInfo], ...] = ()
    mcp: tuple[tuple[str, MCPClientInfo], ...] = ()
    needs_init: bool = False
    project: ProjectNotes = field(default_factory=ProjectNotes)
    settings: ConfigState = field(default_factory=ConfigState)


class Around:
    """Owns the facts about the session that is shown; tells of them when they have changed."""

    def __init__(self, live: Live, told: Callable[[Facts], None]) -> None:
        self.facts = Facts()
        self._live = live
        self._told = told
        self._session_id = ""
        self._asked: set[str] = {*OF_THE_SETTINGS}
        self._wake = anyio.Event()
        self._wake.set()

    def show(self, session_id: str) -> None:
        """From now on it is about this session."""
        self._session_id = session_id
        self.facts = replace(self.facts, changes=(), jobs=())
        self._ask("changes", "jobs", *(() if session_id else ("init", "project")))

    def heard(self, before: View, now: View) -> None:
        id = self._session_id
        if before.config_revision != now.config_revision:
            self._ask(*OF_THE_SETTINGS)
        if before.mcp is not now.mcp or before.lsps is not now.lsps:
            self._ask("servers")
        if before.files.get(id) is not now.files.get(id):
            self._ask("changes")
        if before.active(id) is not now.active(id):
            self._ask("jobs", "agent")
        elif len(before.conversation(id).messages) != len(now.conversation(id).messages):
            self._ask("jobs")

    async def keep(self) -> None:
        """Ask what there is to ask, until cancelled."""
        while True:
            await self._wake.wait()
            self._wake = anyio.Event()
            asked, self._asked = self._asked, set()
            before = self.facts
            for what in sorted(asked):
                try:
                    await self._learn(what)
                except Problem:
                    # The banner says that the server is away; what was known stands until it is back.
                    continue
            if self.facts != before:
                self._told(self.facts)
            await anyio.sleep(PAUSE_SECONDS)

    def _ask(self, *what: str) -> None:
        self._asked.update(what)
        self._wake.set()

    async def _learn(self, what: str) -> None:
        workspace, session_id = self._live.workspace, self._session_id
        match what:
            case "agent":
                self.facts = replace(self.facts, agent=await workspace.agent.info())
            case "servers":
                lsps, mcp = await workspace.lsps.list(), await workspace.mcp.states()
                self.facts = replace(self.facts, lsps=tuple(sorted(lsps.items())), mcp=tuple(sorted(mcp.items())))
            case "init":
                self.facts = replace(self.facts, needs_init=await workspace.config.needs_init())
            case "project":
                self.facts = replace(self.facts, project=await workspace.overview.project())
            case "settings":
                self.facts = replace(self.facts, settings=await workspace.config.state())
            case "changes" if session_id:
                found = await workspace.files.changes(session_id)
                counted = await anyio.to_thread.run_sync(counted_changes, found)
                self._put(session_id, changes=counted)
            case "jobs" if session_id:
                self._put(session_id, jobs=tuple(await workspace.jobs.list(session_id)))
            case _:
                return

    def _put(self, session_id: str, **learnt: tuple[Change, ...] | tuple[JobRow, ...]) -> None:
        """What was learnt of a session that is no longer shown is of no use."""
        if session_id == self._session_id:
            self.facts = replace(self.facts, **learnt)


def counted_changes(changes: list[ChangeView]) -> tuple[Change, ...]:
    """How many lines each file gained and lost."""
    return tuple(counted(change) for change in changes)


def counted(change: ChangeView) -> Change:
    before, after = (change.before or "").splitlines(), (change.after or "").splitlines()
    if len(before) + len(after) > LINES_MAX:
        return Change(change.path, max(0, len(after) - len(before)), max(0, len(before) - len(after)))
    added = removed = 0
    for low, high, new_low, new_high in changed(before, after):
        removed, added = removed + high - low, added + new_high - new_low
    return Change(change.path, added, removed)
